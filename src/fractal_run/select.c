/* SPDX-License-Identifier: Apache-2.0 */
/* The selections of a process: ranges and observation points. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/room.h"
#include "fractal_run/simulation.h"

#define LINE UINT64_C(64) /* bytes of a cache line */

/* names of the kinds in options and commands */
static const char *const kinds[] = {"range", "section", "symbol", "point"};

/* Returns the path of a process's program, for messages. */
static const char *program_of(const struct ct_fractal_process *p)
{
    return p->program ? p->program : "the process";
}

/* ---- lookup ---- */

/* Finds a section or symbol. */
static int find_named(struct ct_fractal_process *p, const char *text, int section,
                      struct ct_fractal_span *span)
{
    const struct ct_fractal_name *name = ct_fractal_names_find(p->names, text, section);
    if (!name)
        return ct_fail(p->simulation->ctx, CT_ERR_NOT_FOUND,
                       "%s: the program has no %s '%s'; nothing was traced; correct the name", program_of(p),
                       section ? "section" : "symbol", text);
    *span = (struct ct_fractal_span){.lo = name->lo, .hi = name->hi};
    return CT_OK;
}

/* Finds a point: all lines of an object, or the entry of a function. */
static int find_point(struct ct_fractal_process *p, const char *text, struct ct_fractal_span *span)
{
    char *end = NULL;
    const struct ct_fractal_name *name = ct_fractal_names_find(p->names, text, 0);
    if (name) {
        *span = (struct ct_fractal_span){name->lo, name->kind == CT_FRACTAL_OBJECT ? name->hi : name->lo + 1,
                                         NULL};
        return CT_OK;
    }
    if (strstr(text, ".."))
        return ct_fractal_range_parse(p->simulation->ctx, text, &span->lo, &span->hi);
    span->lo = strtoull(text, &end, 16);
    span->hi = span->lo + 1;
    if (!*end && end != text && span->lo >> 48 == 0)
        return CT_OK;
    return ct_fail(
        p->simulation->ctx, CT_ERR_FORMAT,
        "--point: '%s' is neither a symbol of %s nor a hexadecimal address; it was not set; correct it", text,
        program_of(p));
}

/* Finds the addresses that a text selects in a process that has begun. `kind`: kind of the selection. Leaves
 * the name of *span empty. Errors: CT_ERR_NOT_FOUND, CT_ERR_FORMAT. */
static int find(struct ct_fractal_process *p, unsigned kind, const char *text, struct ct_fractal_span *span)
{
    *span = (struct ct_fractal_span){0};
    switch (kind) {
    case CT_FRACTAL_SELECT_RANGE:
        return ct_fractal_range_parse(p->simulation->ctx, text, &span->lo, &span->hi);
    case CT_FRACTAL_SELECT_SECTION:
        return find_named(p, text, 1, span);
    case CT_FRACTAL_SELECT_SYMBOL:
        return find_named(p, text, 0, span);
    default:
        return find_point(p, text, span);
    }
}

/* ---- lists ---- */

void ct_fractal_selected_free(struct ct_fractal_selected *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->span[i].name);
    free(s->span);
}

/* Appends a span with a copy of its name. Returns 0 when out of memory. */
static int push(struct ct_fractal_selected *s, const struct ct_fractal_span *span, const char *name)
{
    if (!CT_MAKE_ROOM(s->span, s->room, s->count + 1))
        return 0;
    s->span[s->count] = (struct ct_fractal_span){span->lo, span->hi, strdup(name)};
    return s->span[s->count].name ? (int)++s->count : 0;
}

/* Removes the span at an index. */
static void drop(struct ct_fractal_selected *s, size_t index)
{
    free(s->span[index].name);
    s->count--;
    memmove(s->span + index, s->span + index + 1, (s->count - index) * sizeof *s->span);
}

/* Returns the index of the span with these bounds, or the count when there is none. */
static size_t with_ends(const struct ct_fractal_selected *s, const struct ct_fractal_span *span)
{
    size_t i = 0;
    while (i < s->count && (s->span[i].lo != span->lo || s->span[i].hi != span->hi))
        i++;
    return i;
}

/* Returns the index of a span with one of the addresses from `first` to `last`, or the count when there is
 * none. */
static size_t touching(const struct ct_fractal_selected *s, uint64_t first, uint64_t last)
{
    size_t i = 0;
    while (i < s->count && (s->span[i].lo > last || s->span[i].hi <= first))
        i++;
    return i;
}

bool ct_fractal_process_traces(const struct ct_fractal_process *p, uint64_t first, uint64_t last)
{
    return touching(&p->ranges, first, last) < p->ranges.count;
}

/* ---- ranges ---- */

/* Writes the bounds of a range to registers, then a command. */
static int command_range(struct ct_fractal_process *p, const struct ct_fractal_span *span, uint64_t command)
{
    return ct_fractal_process_register(p, CT_FRACTAL_REG_RANGE_LO, span->lo)
           ?: ct_fractal_process_register(p, CT_FRACTAL_REG_RANGE_HI, span->hi)
           ?: ct_fractal_process_register(p, CT_FRACTAL_REG_RANGE_CMD, command);
}

/* Checks that a range overlaps no other, and that a register is left for it. */
static int check_range(struct ct_fractal_process *p, unsigned kind, const char *text,
                       const struct ct_fractal_span *span)
{
    uint64_t count;
    const size_t at = touching(&p->ranges, span->lo, span->hi - 1);
    ct_fractal_reg_read(p->tracer, CT_FRACTAL_REG_RANGE_COUNT, 4, &count);
    if (at < p->ranges.count)
        return ct_fail(p->simulation->ctx, CT_ERR_CONFIG,
                       "--%s %s: 0x%llx..0x%llx overlaps %s (0x%llx..0x%llx), but ranges must not overlap; "
                       "it is not traced; omit one of them",
                       kinds[kind], text, (unsigned long long)span->lo, (unsigned long long)span->hi,
                       p->ranges.span[at].name, (unsigned long long)p->ranges.span[at].lo,
                       (unsigned long long)p->ranges.span[at].hi);
    if (p->ranges.count == count >> 16)
        return ct_fail(p->simulation->ctx, CT_ERR_LIMIT,
                       "--%s %s: all %u range registers of the tracer are in use; it is not traced; give the "
                       "tracer more with --range-registers (256 at most)",
                       kinds[kind], text, (unsigned)(count >> 16));
    return CT_OK;
}

/* Adds or removes a range. */
static int select_range(struct ct_fractal_process *p, unsigned kind, const char *text,
                        const struct ct_fractal_span *span, bool add)
{
    const size_t at = with_ends(&p->ranges, span);
    int rc = CT_OK;
    if (!add && at == p->ranges.count)
        return ct_fail(p->simulation->ctx, CT_ERR_NOT_FOUND,
                       "%s %s: 0x%llx..0x%llx is not one of the traced ranges; nothing was removed",
                       kinds[kind], text, (unsigned long long)span->lo, (unsigned long long)span->hi);
    if (add)
        rc = check_range(p, kind, text, span);
    if (!rc)
        rc = command_range(p, span, add ? CT_FRACTAL_RANGE_ADD : CT_FRACTAL_RANGE_REMOVE);
    if (rc)
        return rc;
    if (!add)
        drop(&p->ranges, at);
    else if (!push(&p->ranges, span, text))
        return ct_fail_nomem(p->simulation->ctx, "ranges");
    return CT_OK;
}

/* ---- points ---- */

/* Checks that a point is in memory and in a traced range. */
static int check_point(struct ct_fractal_process *p, const char *text, const struct ct_fractal_span *span)
{
    uint64_t pa;
    const struct ct_fractal_simulation *s = p->simulation;
    const bool mapped = ct_fractal_names_at(p->names, span->lo)->kind != CT_FRACTAL_ELSEWHERE ||
                        ct_soc_translate(s->bench[0].soc, p->pid, span->lo, &pa);
    if (!mapped)
        return ct_fail(s->ctx, CT_ERR_CONFIG,
                       "--point %s: %s has no memory at 0x%llx yet, so the point was not set; set it with a "
                       "script (--script) at a time when the memory exists",
                       text, program_of(p), (unsigned long long)span->lo);
    if (ct_fractal_process_traces(p, span->lo, span->hi - 1))
        return CT_OK;
    return ct_fail(s->ctx, CT_ERR_CONFIG,
                   "--point %s: 0x%llx is in none of the traced ranges, so no hit would be logged; the point "
                   "was not set; select it with --range, --section or --symbol, too",
                   text, (unsigned long long)span->lo);
}

/* Adds or removes a line as a point of the tracer. */
static int command_line(struct ct_fractal_process *p, uint64_t line, uint64_t command)
{
    const int rc = ct_fractal_process_register(p, CT_FRACTAL_REG_POINT_VA, line);
    return rc ? rc : ct_fractal_process_register(p, CT_FRACTAL_REG_POINT_CMD, command);
}

/* Removes the lines of a point that belong to no other point. */
static int remove_lines(struct ct_fractal_process *p, const struct ct_fractal_span *span)
{
    int rc = CT_OK;
    for (uint64_t line = span->lo & ~(LINE - 1); line < span->hi && !rc; line += LINE)
        if (touching(&p->points, line, line + LINE - 1) == p->points.count)
            rc = command_line(p, line, CT_FRACTAL_POINT_REMOVE);
    return rc;
}

/* Writes to the log what the last added line stands for. */
static int tell_line(struct ct_fractal_process *p, const char *text, const struct ct_fractal_span *span)
{
    uint64_t id;
    char hi[32] = "", process[16] = "";
    const bool given = ct_fractal_names_find(p->names, text, 0) || strstr(text, "..");
    ct_fractal_reg_read(p->tracer, CT_FRACTAL_REG_POINT_ID, 4, &id);
    if (span->hi - span->lo > 1)
        snprintf(hi, sizeof hi, "..0x%llx", (unsigned long long)span->hi);
    if (p->number)
        snprintf(process, sizeof process, "%u:", p->number);
    return ct_fractal_simulation_text(p->simulation, "point=%s%u 0x%llx%s %.200s\n", process, (unsigned)id,
                                      (unsigned long long)span->lo, hi,
                                      given ? text : ct_fractal_names_at(p->names, span->lo)->text);
}

/* Adds all lines of a point, or none. */
static int add_lines(struct ct_fractal_process *p, const char *text, const struct ct_fractal_span *span)
{
    const uint64_t first = span->lo & ~(LINE - 1);
    uint64_t set = 0, line = first;
    int rc = CT_OK;
    for (; line < span->hi && !rc; line += LINE) {
        rc = command_line(p, line, CT_FRACTAL_POINT_ADD) ?: tell_line(p, text, span);
    }
    if (rc != CT_ERR_LIMIT)
        return rc;
    const struct ct_fractal_span done = {first, line - LINE, NULL};
    (void)remove_lines(p, &done);
    ct_fractal_reg_read(p->tracer, CT_FRACTAL_REG_POINT_COUNT, 4, &set);
    return ct_fail(p->simulation->ctx, CT_ERR_LIMIT,
                   "--point %s: the point needs %llu registers, but %llu are in use and too few are left; it "
                   "was not set; give the tracer more with --point-registers (1048576 at most)",
                   text, (unsigned long long)((span->hi - first + LINE - 1) / LINE), (unsigned long long)set);
}

/* Adds a new point. */
static int set_point(struct ct_fractal_process *p, const char *text, const struct ct_fractal_span *span)
{
    const int rc = add_lines(p, text, span);
    return rc || push(&p->points, span, text) ? rc : ct_fail_nomem(p->simulation->ctx, "points");
}

/* Adds or removes a point. */
static int select_point(struct ct_fractal_process *p, const char *text, const struct ct_fractal_span *span,
                        bool add)
{
    const size_t at = with_ends(&p->points, span);
    if (add) {
        const int rc = at < p->points.count ? CT_OK : check_point(p, text, span);
        return rc || at < p->points.count ? rc : set_point(p, text, span);
    }
    if (at == p->points.count)
        return ct_fail(p->simulation->ctx, CT_ERR_NOT_FOUND,
                       "point %s: this point is not set; nothing was removed", text);
    drop(&p->points, at);
    return remove_lines(p, span);
}

size_t ct_fractal_process_stranded(const struct ct_fractal_process *p, const char **name)
{
    size_t count = 0;
    for (size_t i = p->points.count; i--;) {
        const struct ct_fractal_span *point = &p->points.span[i];
        if (ct_fractal_process_traces(p, point->lo, point->hi - 1))
            continue;
        *name = point->name;
        count++;
    }
    return count;
}

int ct_fractal_process_inherit(struct ct_fractal_process *p, bool points)
{
    const struct ct_fractal_selected *from = points ? &p->parent->points : &p->parent->ranges;
    int rc = CT_OK;
    for (size_t i = 0; i < from->count && !rc; i++)
        rc = points ? set_point(p, from->span[i].name, &from->span[i])
                    : select_range(p, CT_FRACTAL_SELECT_RANGE, from->span[i].name, &from->span[i], true);
    return rc;
}

int ct_fractal_process_select(struct ct_fractal_process *p, unsigned kind, const char *text, bool add)
{
    struct ct_fractal_span span;
    const int rc = find(p, kind, text, &span);
    if (rc)
        return rc;
    return kind == CT_FRACTAL_SELECT_POINT ? select_point(p, text, &span, add)
                                           : select_range(p, kind, text, &span, add);
}
