/* SPDX-License-Identifier: Apache-2.0 */
/* Time literals (INT unit), converted into the base unit of the run. */
#include <string.h>

#include "monitor/elab.h"

/* time units, each a multiple of the one before */
static const struct {
    const char *name;
    unsigned factor; /* multiple of the unit before */
} UNITS[] = {{"fs", 1},   {"ps", 1000}, {"ns", 1000}, {"us", 1000}, {"ms", 1000},
             {"s", 1000}, {"min", 60},  {"h", 60},    {"d", 24}};

enum {
    UNIT_COUNT = sizeof UNITS / sizeof *UNITS
};

static int find(const char *name)
{
    /* the two characters that Unicode has for micro */
    if (!strcmp(name, "\u00b5s") || !strcmp(name, "\u03bcs"))
        name = "us";
    for (int i = 0; i < UNIT_COUNT; i++)
        if (!strcmp(UNITS[i].name, name))
            return i;
    return -1;
}

void ct_mon_unit_unknown(struct ct_mon_diags *diags, struct ct_mon_span at, const char *unit)
{
    ct_mon_diag_error(diags, at, "Unknown time unit %s; use one of fs ps ns us ms s min h d", unit);
}

bool ct_mon_unit_known(const char *unit)
{
    return find(unit) >= 0;
}

bool ct_mon_unit_convert(struct ct_mon_elab *e, int64_t integer, const char *unit, struct ct_mon_span at,
                         int64_t *out)
{
    int u = find(unit), base = e->time_unit ? find(e->time_unit) : -1;
    *out = 0;
    if (u < 0) {
        ct_mon_unit_unknown(e->diags, at, unit);
        return false;
    }
    if (base < 0) {
        ct_mon_diag_error(
            e->diags, at,
            "Time literal without a base unit; give the unit of the timestamps with --time-unit");
        return false;
    }
    if (u < base) {
        ct_mon_diag_error(
            e->diags, at,
            "Cannot convert from %s to %s; write a whole number of %s, the unit of the timestamps", unit,
            e->time_unit, e->time_unit);
        return false;
    }
    *out = integer;
    for (int i = base + 1; i <= u; i++) {
        if (__builtin_mul_overflow(*out, (int64_t)UNITS[i].factor, out)) {
            ct_mon_diag_error(e->diags, at, "Time literal does not fit 63 bits in %s", e->time_unit);
            return false;
        }
    }
    return true;
}
