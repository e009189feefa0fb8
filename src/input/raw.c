#include "input/reader.h"

#include <stdio.h>
#include <string.h>

static int raw_probe(const struct ct_files *files, const struct ct_target *target, char *why, size_t cap)
{
    (void)files;
    if (strcmp(target->section, "capture") == 0)
        return 1;
    snprintf(why, cap,
             "does not begin with [capture]; a raw trace is described by an .ini file, see docs/formats.md");
    return 0;
}

static int raw_open(struct ct_opening *opening, const struct ct_target *target)
{
    return ct_fail(opening->ctx, CT_ERR_UNSUPPORTED, "%s", target->path);
}

const struct ct_reader ct_reader_raw = {.kind = "raw", .probe = raw_probe, .open = raw_open};
