/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/timing_view.h"

#include <stdlib.h>
#include <string.h>

/* Splits a pair into FROM and TO. The caller frees *from. Returns false after a message. */
static bool split(const struct cli_args *args, const char *option, char **from, const char **to)
{
    char *text = strdup(option);
    char *space = text ? strchr(text, ' ') : NULL;
    if (!text)
        cli_no_memory();
    else if (!space)
        cli_usage_error(args->command,
                        "--pair '%s': this is not two places separated by a space; write 'FROM TO'", option);
    if (!space) {
        free(text);
        return false;
    }
    *space = '\0';
    *from = text;
    *to = space + 1 + strspn(space + 1, " ");
    return true;
}

typedef int add_fn(void *to, const char *from_place, const char *to_place);

/* Calls `add` for each pair. Returns false after a message. */
static bool each_pair(const struct cli_args *args, size_t option, add_fn *add, void *user)
{
    int rc = CT_OK;
    for (size_t i = 0; !rc && i < args->list_count; i++) {
        char *from;
        const char *to;
        if (args->list[i].option != option)
            continue;
        if (!split(args, args->list[i].text, &from, &to))
            return false;
        rc = add(user, from, to);
        free(from);
        if (rc)
            cli_library_error(args->ctx);
    }
    return rc == CT_OK;
}

struct measured {
    struct ct_timing *timing;
    struct ct_watches *watches;
};

static int add_to_stream(void *user, const char *from, const char *to)
{
    const struct measured *m = user;
    return ct_timing_add_pair(m->timing, m->watches, from, to);
}

static int add_to_sums(void *user, const char *from, const char *to)
{
    return ct_timing_sums_add_pair(user, from, to);
}

bool cli_timing_add_pairs(struct ct_timing *timing, struct ct_watches *watches, const struct cli_args *args,
                          size_t option)
{
    struct measured m = {timing, watches};
    return each_pair(args, option, add_to_stream, &m);
}

static int add_to_live(void *user, const char *from, const char *to)
{
    return ct_live_add_pair(user, from, to);
}

bool cli_timing_live_pairs(struct ct_live *live, const struct cli_args *args, size_t option)
{
    return each_pair(args, option, add_to_live, live);
}

bool cli_timing_sum_pairs(struct ct_timing_sums *sums, const struct cli_args *args, size_t option)
{
    return each_pair(args, option, add_to_sums, sums);
}
