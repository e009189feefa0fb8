/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/perf_options.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/branch_lists.h"

static const struct {
    const char *name;
    bool with_lists; /* branch lists of simpleperf use it, too */
} names[] = {{"symfs", true}, {"vmlinux", true}, {"kcore", false}, {"buildid-dir", false}};

static bool accepts_all;

void cli_perf_options_accept(void)
{
    accepts_all = true;
}

static bool is_given(const struct cli_args *args, const char *name)
{
    const struct cli_value *value = cli_value_of(args, name);
    return value && value->given;
}

/* Returns whether an operand can use the option. Also returns true when only opening it can tell. */
static bool can_use(const struct cli_args *args, const char *path, bool with_lists)
{
    static const char magic[] = "PERFILE2";
    char inner[PATH_MAX], start[sizeof magic - 1];
    struct stat st;
    if (is_given(args, "config"))
        return false;
    if (stat(path, &st) != 0 || S_ISFIFO(st.st_mode))
        return true;
    if (S_ISREG(st.st_mode) && cli_branch_lists_is_file(path))
        return with_lists;
    snprintf(inner, sizeof inner, "%s%s", path, S_ISDIR(st.st_mode) ? "/data" : "");
    return cli_results_begin(inner, start, sizeof start) == sizeof start &&
           memcmp(start, magic, sizeof start) == 0;
}

/* Returns whether the file or folder of an option can be read. Reports it if not, because without it code
 * would silently be missing. */
static bool is_readable(const struct cli_args *args, const char *name)
{
    const char *path = cli_value_of(args, name)->text;
    if (access(path, R_OK) == 0)
        return true;
    cli_say("%s: it cannot be read: %s; correct --%s, or leave it out", path, strerror(errno), name);
    return false;
}

bool cli_perf_options_check(const struct cli_args *args, const char *path)
{
    for (size_t i = 0; i < sizeof names / sizeof *names && !accepts_all; i++) {
        if (!is_given(args, names[i].name))
            continue;
        bool used = can_use(args, path, names[i].with_lists);
        for (int k = 0; k < args->rest_count && !used; k++)
            used = can_use(args, args->rest[k], names[i].with_lists);
        if (used && is_readable(args, names[i].name))
            continue;
        if (used)
            return false;
        cli_usage_error(args->command,
                        "--%s works only with perf.data files, but %s is not one; leave it out",
                        names[i].name, strcmp(path, "-") == 0 ? "standard input" : path);
        return false;
    }
    return true;
}
