/* SPDX-License-Identifier: Apache-2.0 */
#include "fractal_log/points.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/room.h"

#define LINE UINT64_C(64)

/* Adds a milestone. Returns its number, or UINT32_MAX when out of memory. */
static uint32_t add(struct ct_fractal_milestones *m, uint64_t lo, uint64_t hi, const char *name,
                    bool by_address)
{
    const char *kept = CT_PUSH_ROOM(m->all, m->count) ? ct_arena_strdup(&m->texts, name) : NULL;
    if (!kept)
        return UINT32_MAX;
    m->all[m->count] = (struct ct_fractal_milestone){lo, hi, kept, by_address};
    return m->count++;
}

/* Finds a milestone, or adds it. Returns UINT32_MAX when out of memory. */
static uint32_t find(struct ct_fractal_milestones *m, uint64_t lo, uint64_t hi, const char *name)
{
    /* searches backwards: lines of an object are consecutive, so the last milestone usually matches */
    for (uint32_t i = m->count; i--;)
        if (m->all[i].lo == lo && m->all[i].hi == hi && strcmp(m->all[i].name, name) == 0)
            return i;
    return add(m, lo, hi, name, m->unit < LINE || !((lo | hi) & (LINE - 1)));
}

/* Adds the line of a point. Returns false when out of memory, also if `milestone` is UINT32_MAX for that
 * reason. */
static bool add_line(struct ct_fractal_milestones *m, uint64_t point, uint32_t milestone)
{
    if (milestone == UINT32_MAX || !CT_PUSH_ROOM(m->lines, m->line_count))
        return false;
    m->lines[m->line_count++] = (struct ct_fractal_observed){point, milestone};
    return true;
}

/* Combines process and point into a key, by which lines are sorted. */
static uint64_t key_of(unsigned process, unsigned point)
{
    return (uint64_t)process << 32 | point;
}

/* Reads what follows "point=": [PROCESS:]NUMBER, address and name. Ignores malformed text. Returns false when
 * out of memory. */
static bool read_one(struct ct_fractal_milestones *m, const char *text)
{
    char name[256];
    unsigned point, process = 0;
    unsigned long long lo, hi;
    int at = 0;
    if (sscanf(text, "%u:%n", &process, &at) == 1 && at)
        text += at;
    else
        process = 0;
    at = 0;
    const bool object = sscanf(text, "%u 0x%llx..0x%llx %n", &point, &lo, &hi, &at) == 3 && at && lo < hi;
    if (!object) {
        if (sscanf(text, "%u 0x%llx %n", &point, &lo, &at) != 2 || !at)
            return true;
        hi = lo + 1;
    }
    const int length = (int)strcspn(text + at, "\n");
    if (process)
        snprintf(name, sizeof name, "%u:%.*s", process, length, text + at);
    else
        snprintf(name, sizeof name, "%.*s", length, text + at);
    return add_line(m, key_of(process, point), find(m, lo, hi, name));
}

/* Orders lines by point, then by their order in the log. */
static int by_point(const void *a, const void *b)
{
    const struct ct_fractal_observed *x = a, *y = b;
    return ct_order(x->point, y->point) ?: ct_order(x->milestone, y->milestone);
}

/* Adds a milestone for all milestones of one line, `first` to `end`, because a hit of the line may mean any
 * of them, or something else there. Returns false when out of memory. */
static bool join(struct ct_fractal_milestones *m, uint32_t first, uint32_t end)
{
    char name[1024];
    size_t used = 0;
    const struct ct_fractal_milestone *one = &m->all[m->lines[first].milestone];
    const uint64_t lo = one->lo, hi = one->hi;
    for (uint32_t i = first; i < end && used + 1 < sizeof name; i++)
        used += (size_t)snprintf(name + used, sizeof name - used, "%s%s", i > first ? ", " : "",
                                 m->all[m->lines[i].milestone].name);
    if (m->unit < LINE && used + 1 < sizeof name)
        snprintf(name + used, sizeof name - used, " (line)");
    return add_line(m, m->lines[first].point, add(m, lo, hi, name, false));
}

/* Adds a combined milestone to each line with several milestones, and to each line whose addresses are told
 * apart, for hits that belong to no single one. Returns false when out of memory. */
static bool join_all(struct ct_fractal_milestones *m)
{
    const uint32_t count = m->line_count;
    bool fine = true;
    for (uint32_t first = 0, end; fine && first < count; first = end) {
        end = first + 1;
        while (end < count && m->lines[end].point == m->lines[first].point)
            end++;
        if (m->unit < LINE || end - first > 1)
            fine = join(m, first, end);
    }
    return fine;
}

bool ct_fractal_milestones_read(struct ct_fractal_milestones *m, const char *text, uint32_t unit)
{
    bool fine = true;
    m->unit = unit;
    for (; fine && text && *text; text = strchr(text, '\n'), text = text ? text + 1 : NULL)
        if (strncmp(text, "point=", 6) == 0)
            fine = read_one(m, text + 6);
    if (m->line_count)
        qsort(m->lines, m->line_count, sizeof *m->lines, by_point);
    fine = fine && join_all(m);
    if (m->line_count)
        qsort(m->lines, m->line_count, sizeof *m->lines, by_point);
    return fine;
}

void ct_fractal_milestones_free(struct ct_fractal_milestones *m)
{
    ct_arena_free(&m->texts);
    free(m->all);
    free(m->lines);
}

uint32_t ct_fractal_milestones_of(const struct ct_fractal_milestones *m, uint8_t process, uint32_t number,
                                  uint64_t va)
{
    const uint64_t point = key_of(process, number);
    const size_t first = CT_COUNT_WHILE(m->line_count, i, m->lines[i].point < point);
    size_t end = first;
    while (end < m->line_count && m->lines[end].point == point)
        end++;
    if (end == first)
        return UINT32_MAX;
    const uint32_t last = m->lines[end - 1].milestone;
    uint32_t found = last, hits = 0;
    for (size_t i = first; m->unit < LINE && i + 1 < end; i++) {
        const struct ct_fractal_milestone *one = &m->all[m->lines[i].milestone];
        if (va < one->hi && va + m->unit > one->lo) {
            found = m->lines[i].milestone;
            hits++;
        }
    }
    return hits == 1 ? found : last;
}
