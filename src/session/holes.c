/* SPDX-License-Identifier: Apache-2.0 */
/* Code that ran although its memory is missing, by module. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/append.h"
#include "coretap/ran.h"

/* Modules and regions that are listed, those with the highest counts first. */
#define SHOWN 6

struct place {
    const char *name; /* NULL: unknown */
    struct ct_hole hole;
};

/* Returns the name of code that is in no program, or NULL. */
static const char *name_outside(struct ct_programs *programs, uint64_t addr)
{
    struct ct_program_where where;
    const bool found = programs && ct_programs_where(programs, addr, &where) == CT_OK && !where.program;
    return found && where.function && !strstr(where.function, "+0x") ? where.function : NULL;
}

/* Returns the file that was mapped where a hole begins, or the name of code that is in no program; or NULL.
 */
static const char *name_of(const struct ct_capture *capture, struct ct_programs *programs,
                           const struct ct_hole *hole)
{
    for (size_t i = 0; capture && i < capture->gone_count; i++)
        if (hole->low - capture->gone[i].addr < capture->gone[i].size)
            return capture->gone[i].path;
    const char *first = name_outside(programs, hole->low);
    const char *last = first ? name_outside(programs, hole->high) : NULL;
    return first && (!last || strcmp(first, last) != 0) ? "generated code" : first;
}

int ct_holes_are_named(const struct ct_holes *holes, struct ct_programs *programs)
{
    size_t i = 0;
    if (!holes)
        return 0;
    while (i < holes->count && name_of(NULL, programs, &holes->all[i]))
        i++;
    return i == holes->count && !holes->others;
}

/* Returns whether a hole belongs to a place: as a region of the same module or, without a module, as an
 * adjacent region. */
static bool joins(const struct place *place, const char *name, const struct ct_hole *hole)
{
    if (name || place->name)
        return name && place->name && strcmp(name, place->name) == 0;
    return hole->low >> 16 <= (place->hole.high >> 16) + 1;
}

static int by_count(const void *a, const void *b)
{
    const struct place *x = a;
    const struct place *y = b;
    if (x->hole.count != y->hole.count)
        return x->hole.count > y->hole.count ? -1 : 1;
    return x->hole.low < y->hole.low ? -1 : x->hole.low > y->hole.low;
}

static size_t find_places(struct place places[CT_HOLES], const struct ct_holes *holes,
                          const struct ct_capture *capture, struct ct_programs *programs)
{
    size_t count = 0;
    for (size_t i = 0; i < holes->count; i++) {
        const struct ct_hole *hole = &holes->all[i];
        const char *name = name_of(capture, programs, hole);
        size_t k = 0;
        while (k < count && !joins(&places[k], name, hole))
            k++;
        if (k == count)
            places[count++] = (struct place){name, {hole->low, hole->high, 0}};
        places[k].hole.high = hole->high;
        places[k].hole.count += hole->count;
    }
    return count;
}

/* Appends "/lib/libc.so (12 times)" or "0x8000..0x8fc4 (12 times)". */
static void append_place(char text[CT_RAN_WORDS], size_t *used, const struct place *place, const char *unit)
{
    const struct ct_hole *h = &place->hole;
    ct_append(text, CT_RAN_WORDS, used, "%s", *used ? ", " : "");
    if (place->name)
        ct_append(text, CT_RAN_WORDS, used, "%.255s (%" PRIu64 " %s)", place->name, h->count, unit);
    else
        ct_append(text, CT_RAN_WORDS, used, "0x%" PRIx64 "..0x%" PRIx64 " (%" PRIu64 " %s)", h->low, h->high,
                  h->count, unit);
}

const char *ct_holes_words(char text[CT_RAN_WORDS], const struct ct_holes *holes,
                           const struct ct_capture *capture, struct ct_programs *programs, const char *one,
                           const char *many)
{
    struct place places[CT_HOLES];
    if (!text || !holes || !one || !many)
        return NULL;
    text[0] = '\0';
    const size_t count = find_places(places, holes, capture, programs);
    uint64_t others = holes->others;
    size_t used = 0;
    qsort(places, count, sizeof *places, by_count);
    for (size_t i = 0; i < count; i++) {
        if (i < SHOWN)
            append_place(text, &used, &places[i], places[i].hole.count == 1 ? one : many);
        else
            others += places[i].hole.count;
    }
    if (others)
        ct_append(text, CT_RAN_WORDS, &used, ", elsewhere (%" PRIu64 " %s)", others, many);
    return text;
}

/* ---- missing files ---- */

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

int ct_holes_in_missing(const struct ct_holes *holes, const struct ct_capture *capture, size_t i)
{
    bool placed = false;
    if (!holes || !capture || i >= capture->missing_count)
        return 0;
    for (size_t k = 0; k < capture->gone_count; k++) {
        if (!is_about(capture->missing[i], capture->gone[k].path))
            continue;
        placed = true;
        if (has_hole(holes, &capture->gone[k]))
            return 1;
    }
    return !placed && holes->count;
}
