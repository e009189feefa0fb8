/* SPDX-License-Identifier: Apache-2.0 */
/* Parses one end of a window from its text form. */
#include "coretap/filter.h"

#include "base/ctx.h"
#include "base/require.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static const struct unit {
    const char *name;
    uint64_t scale; /* value of one unit, in the numbers of the point */
    uint8_t kind;   /* enum ct_filter_point_kind */
} units[] = {
    {"s", 1000000000, CT_POINT_TIME},   {"ms", 1000000, CT_POINT_TIME}, {"us", 1000, CT_POINT_TIME},
    {"ns", 1, CT_POINT_TIME},           {"ticks", 1, CT_POINT_TICKS},   {"cyc", 1, CT_POINT_CYCLES},
    {"insn", 1, CT_POINT_INSTRUCTIONS},
};

static int refuse(struct ct_ctx *ctx, const char *text, const char *why)
{
    return ct_fail(ctx, CT_ERR_FORMAT,
                   "'%s': %s; give a time (12.5s, 3ms, 20us, 700ns, 190327ticks), a number of cycles "
                   "(500000cyc) or instructions (1000000insn), or a place (main, main.c:32, 0x4010), with #N "
                   "behind it for the N-th time that execution reaches it",
                   text, why);
}

/* Reads digits. For each, multiplies *number by ten and, if `scale` is not NULL, divides *scale by ten.
 * Returns false when the number is too large or the scale is not divisible by ten. */
static bool read_digits(const char **text, uint64_t *number, uint64_t *scale)
{
    for (; isdigit((unsigned char)**text); ++*text) {
        if (__builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, (uint64_t)(**text - '0'), number))
            return false;
        if (scale && *scale % 10)
            return false;
        if (scale)
            *scale /= 10;
    }
    return true;
}

static const struct unit *find_unit(const char *name)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(units[i].name, name) == 0)
            return &units[i];
    return NULL;
}

static int read_number(struct ct_ctx *ctx, const char *text, struct ct_filter_point *out)
{
    const char *at = text + strspn(text, "0123456789.");
    const struct unit *unit = find_unit(at);
    if (!unit)
        return refuse(ctx, text, *at ? "the unit is unknown" : "the number has no unit");
    uint64_t number = 0;
    uint64_t scale = unit->scale;
    const char *rest = text;
    bool fits = read_digits(&rest, &number, NULL);
    if (fits && *rest == '.') {
        rest++;
        fits = isdigit((unsigned char)*rest) && read_digits(&rest, &number, &scale);
    }
    if (!fits || rest != at || __builtin_mul_overflow(number, scale, &number))
        return refuse(ctx, text,
                      "the number is too large, or is not a whole number of nanoseconds, ticks, "
                      "cycles or instructions");
    out->kind = unit->kind;
    out->value = number;
    return CT_OK;
}

static int read_place(struct ct_ctx *ctx, char *text, struct ct_filter_point *out)
{
    char *times = strrchr(text, '#');
    out->kind = CT_POINT_PLACE;
    out->place = text;
    if (!times)
        return *text ? CT_OK : refuse(ctx, text, "the place is empty");
    uint64_t number = 0;
    const char *rest = times + 1;
    if (times == text || !isdigit((unsigned char)*rest) || !read_digits(&rest, &number, NULL) || *rest ||
        number == 0 || number > UINT32_MAX)
        return refuse(ctx, text, "#N must follow a place, and N must be from 1 to 4294967295");
    out->times = (uint32_t)number;
    *times = '\0';
    return CT_OK;
}

int ct_filter_point_parse(struct ct_ctx *ctx, char *text, struct ct_filter_point *out)
{
    CT_REQUIRE(ctx, text, out);
    struct ct_filter_point point = {0};
    const size_t sign = strspn(text, "+-.");
    if (sign && isdigit((unsigned char)text[sign]) && !strchr(text, ':'))
        return refuse(ctx, text, "a number must begin with a digit");
    const bool is_number = isdigit((unsigned char)*text) && strncmp(text, "0x", 2) != 0 && !strchr(text, ':');
    const int rc = is_number ? read_number(ctx, text, &point) : read_place(ctx, text, &point);
    if (!rc)
        *out = point;
    return rc;
}
