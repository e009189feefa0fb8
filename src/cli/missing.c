/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/missing.h"

#include <string.h>

/* Returns whether a text is about this file. Texts begin with the file's name. */
static bool is_about(const char *text, const char *name)
{
    const size_t size = strlen(name);
    return strncmp(text, name, size) == 0 && (text[size] == ',' || text[size] == ':' || text[size] == ' ');
}

static bool has_hole(const struct ct_holes *holes, const struct ct_image *gone)
{
    bool has = false;
    for (uint64_t i = 0; i < holes->count && !has; i++)
        has = holes->all[i].low < gone->addr + gone->size && holes->all[i].high >= gone->addr;
    return has || holes->others;
}

/* Returns whether trace lies in a missing file. One with an unknown address may have been anywhere. */
static bool lies_in(const struct cli_capture *c, const char *text)
{
    bool placed = false;
    for (size_t i = 0; i < c->capture->gone_count; i++) {
        if (!is_about(text, c->capture->gone[i].path))
            continue;
        placed = true;
        if (has_hole(&c->seen.holes, &c->capture->gone[i]))
            return true;
    }
    return !placed && c->seen.holes.count;
}

void cli_missing_tell(const struct cli_capture *c)
{
    const struct ct_capture *capture = c->capture;
    for (size_t i = 0; !c->args->quiet && i < capture->missing_count; i++)
        if (c->args->verbose || lies_in(c, capture->missing[i]))
            cli_note(capture->missing[i]);
}
