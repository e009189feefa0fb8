/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/together.h"

#include <unistd.h>

#include "cli/monitor_run.h"

struct look {
    const struct cli_args *args;
    bool is_wished; /* it is an error when they are not together */
    bool refused;
};

static void on_refused(void *user, const char *why, bool repeats)
{
    struct look *look = user;
    look->refused = true;
    if (look->is_wished)
        cli_say("%s; leave out --captures together", why);
    else if (!repeats && !look->args->quiet)
        cli_say("%s; each capture is shown on its own time axis", why);
}

/* Returns whether all operands can be captures in files. */
static bool are_files(const struct cli_args *args)
{
    bool fine = true;
    for (int i = 0; i < args->rest_count && fine; i++)
        fine = access(args->rest[i], R_OK) == 0 && !cli_results_is_file(NULL, args->rest[i]);
    return fine;
}

/* Opens the captures, and finds whether they have a common clock. Sets *several when there are several
 * sources. Returns false after a message, or without a common clock. */
static bool look_at(struct look *look, size_t elf, bool *several)
{
    const struct cli_args *args = look->args;
    struct cli_results read = {.args = args, .elf = elf, .threads = 1};
    struct cli_axis axis = {.args = args, .read = &read, .refused = on_refused, .user = look};
    const bool fine = cli_filter_read(&read.filter, args, true) &&
                      cli_programs_new_moved(&read.programs, args, NULL) &&
                      cli_results_open(&read, args->rest[0]) && cli_axis_open(&axis, several);
    cli_axis_close(&axis);
    cli_results_close(&read);
    return fine;
}

bool cli_find_together(const struct cli_args *args, size_t elf, const struct cli_value *wish, bool *together)
{
    struct look look = {.args = args, .is_wished = wish->given && wish->number == CLI_TOGETHER};
    *together = false;
    if ((args->rest_count < 2 && !look.is_wished) || (wish->given && !look.is_wished))
        return true;
    if (!look.is_wished && (args->rest_count > CLI_TOGETHER_MOST || !are_files(args)))
        return true;
    bool several = false;
    const bool fine = look_at(&look, elf, &several);
    *together = fine && several;
    return fine || (look.refused && !look.is_wished);
}
