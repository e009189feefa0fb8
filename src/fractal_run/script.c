/* SPDX-License-Identifier: Apache-2.0 */
#include "fractal_run/script.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/ctx.h"
#include "base/room.h"
#include "base/text_line.h"
#include "coretap/soc.h"

/* Reads a time and moves *at past it. Returns false when there is none. */
static bool read_time(const char **at, uint64_t *cycles)
{
    CT_C_LOCALE;
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
    char *end;
    const double value = strtod(*at, &end);
    if (end == *at || !(value >= 0) || value > 1e18)
        return false;
    double scale = 1;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t n = strlen(units[i].name);
        if (strncmp(end, units[i].name, n) == 0 && scale == 1) {
            scale = units[i].seconds * (double)CT_SOC_CLOCK_HZ;
            end += n;
        }
    }
    *at = end + strspn(end, " \t");
    *cycles = value * scale < 9e18 ? (uint64_t)(value * scale) : UINT64_MAX;
    return *at > end && **at;
}

/* Parses a line, after cutting off its comment. */
static int take_line(struct ct_ctx *ctx, struct ct_fractal_script *script, unsigned number, char *line)
{
    struct ct_fractal_script_step step = {.line = number};
    line[strcspn(line, "#\r")] = 0;
    for (size_t n = strlen(line); n && strchr(" \t", line[n - 1]); n--)
        line[n - 1] = 0;
    const char *at = line + strspn(line, " \t");
    if (!*at)
        return CT_OK;
    if (!read_time(&at, &step.cycles))
        return ct_fail(
            ctx, CT_ERR_FORMAT,
            "%s:%u: '%s': the line is not TIME COMMAND; nothing was run; write it like '2ms point add main'",
            script->path, number, line);
    if (script->count && step.cycles < script->steps[script->count - 1].cycles)
        return ct_fail(
            ctx, CT_ERR_FORMAT,
            "%s:%u: the time is earlier than that of line %u; nothing was run; sort the lines by time",
            script->path, number, script->steps[script->count - 1].line);
    step.command = CT_PUSH_ROOM(script->steps, script->count) ? strdup(at) : NULL;
    if (!step.command)
        return ct_fail_nomem(ctx, script->path);
    script->steps[script->count++] = step;
    return CT_OK;
}

int ct_fractal_script_load(struct ct_ctx *ctx, const char *path, struct ct_fractal_script *script)
{
    char line[1024];
    unsigned number = 1;
    int rc;
    *script = (struct ct_fractal_script){.path = path};
    FILE *file = fopen(path, "r");
    if (!file)
        return ct_fail(ctx, errno == ENOMEM ? CT_ERR_NOMEM : CT_ERR_IO, "%s: cannot be opened: %s", path,
                       strerror(errno));
    while ((rc = ct_text_line(ctx, file, path, number, line, sizeof line)) > 0 &&
           !(rc = take_line(ctx, script, number, line)))
        number++;
    fclose(file);
    return rc;
}

void ct_fractal_script_free(struct ct_fractal_script *script)
{
    for (size_t i = 0; i < script->count; i++)
        free(script->steps[i].command);
    free(script->steps);
}
