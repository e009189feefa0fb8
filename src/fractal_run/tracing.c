/* SPDX-License-Identifier: Apache-2.0 */
/* What is traced of a program after it is loaded, and the log of it. */
#include <stdarg.h>
#include <stdio.h>

#include "base/options.h"
#include "fractal_run/simulation.h"

/* ---- the log ---- */

#define KRIA_SETS 1024 /* sets of the last-level cache in a log that does not say otherwise */

/* Begins the log and the list of misses. */
static int open_log(const struct ct_fractal_process *p, uint64_t bias)
{
    struct ct_fractal_simulation *s = p->simulation;
    uint64_t lo = UINT64_MAX, hi = 0;
    for (size_t i = 0; i < p->ranges.count; i++) {
        lo = p->ranges.span[i].lo < lo ? p->ranges.span[i].lo : lo;
        hi = p->ranges.span[i].hi > hi ? p->ranges.span[i].hi : hi;
    }
    const struct ct_fractal_simulate_options *o = &s->options;
    const struct ct_fractal_bench *b = &s->bench[0];
    char text[4096];
    const uint32_t sets = s->config.l2_bytes / CT_FRACTAL_LINE / s->config.l2_ways;
    int n = snprintf(text, sizeof text, "program=%.3000s\nbias=0x%llx\nsource=simulated cluster\n",
                     o->argv[0], (unsigned long long)bias);
    if (s->config.port_bytes < CT_FRACTAL_LINE)
        n += snprintf(text + n, sizeof text - (size_t)n, "unit=%u\n", s->config.port_bytes);
    if (sets != KRIA_SETS)
        snprintf(text + n, sizeof text - (size_t)n, "sets=%u\n", sets);
    const struct ct_fractal_log_info info = {.clock_hz = CT_SOC_CLOCK_HZ,
                                             .pgd = ct_soc_pgd(b->soc, b->pid),
                                             .range_lo = lo,
                                             .range_hi = hi,
                                             .fields = CT_FRACTAL_FIELD_ALL,
                                             .asid = ct_soc_asid(b->soc, b->pid),
                                             .mode = o->mode,
                                             .granule = s->config.granule,
                                             .text = text};
    int rc = CT_OK;
    if (o->log)
        rc = ct_fractal_writer_to(s->ctx, o->log, o->log_user, o->log_name ? o->log_name : "log", &info,
                                  &s->writer);
    if (!rc && o->truth)
        rc = o->truth(o->truth_user, CT_FRACTAL_CSV_HEADER, sizeof CT_FRACTAL_CSV_HEADER - 1);
    return rc;
}

int ct_fractal_simulation_end_log(struct ct_fractal_simulation *s)
{
    size_t count = 0;
    const struct ct_fractal_name *all = ct_fractal_names_all(s->process[0].names, &count);
    int rc = CT_OK;
    for (size_t i = 0; i < count && !rc; i++)
        if (all[i].kind == CT_FRACTAL_REGION)
            rc =
                ct_fractal_simulation_text(s, "region=0x%llx..0x%llx %.900s\n", (unsigned long long)all[i].lo,
                                           (unsigned long long)all[i].hi, all[i].text);
    const int closed = ct_fractal_writer_close(s->writer);
    s->writer = NULL;
    return rc ? rc : closed;
}

int ct_fractal_simulation_text(struct ct_fractal_simulation *s, const char *format, ...)
{
    char text[1024];
    va_list args;
    if (!s->writer)
        return CT_OK;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return ct_fractal_writer_text(s->writer, text);
}

/* ---- selections ---- */

/* Gets selection number `index` of the options, ranges before points. Returns 0 after the last. */
static int wish_at(const struct ct_fractal_simulate_options *o, size_t index,
                   struct ct_fractal_selection *out)
{
    for (unsigned points = 0; points < 2; points++)
        for (size_t i = 0; i < o->selection_count; i++) {
            *out = o->selections[i];
            if ((out->kind == CT_FRACTAL_SELECT_POINT) == (points != 0) && !index--)
                return 1;
        }
    return 0;
}

/* Which process a selection belongs to. */
enum whose {
    OTHERS,
    MINE,
    OF_ANCESTOR, /* to the process that this one replaced, which had another program */
};

/* Returns the first process of a line of forks and execs. */
static const struct ct_fractal_process *origin(const struct ct_fractal_process *p)
{
    while (p->image_of || p->parent)
        p = p->image_of ? p->image_of : p->parent;
    return p;
}

/* Gets selection number `index`, and returns its owner (enum whose). Returns -1 after the last, or with an
 * error in *rc. */
static int wish_of(struct ct_fractal_process *p, size_t index, struct ct_fractal_selection *out, int *rc)
{
    struct ct_fractal_process *whose;
    if (!wish_at(&p->simulation->options, index, out))
        return -1;
    const size_t name = ct_fractal_program_prefix(out->text);
    if (name) {
        const bool mine = ct_fractal_process_is(p, out->text, name);
        out->text += name + 1;
        return mine ? MINE : OTHERS;
    }
    *rc = ct_fractal_simulation_process(p->simulation, &out->text, &whose);
    if (*rc)
        return -1;
    return whose == p ? MINE : p->image_of && whose == origin(p) ? OF_ANCESTOR : OTHERS;
}

size_t ct_fractal_simulation_unmet(const struct ct_fractal_simulation *s)
{
    struct ct_fractal_selection wish;
    size_t unmet = 0, name;
    for (size_t i = 0; wish_at(&s->options, i, &wish); i++) {
        const struct ct_fractal_process *p = s->process, *end = p + s->processes;
        name = ct_fractal_program_prefix(wish.text);
        while (name && p < end && !(p->names && ct_fractal_process_is(p, wish.text, name)))
            p++;
        unmet += name && p == end;
    }
    return unmet;
}

/* Selects what was selected of the replaced process, if the new program has it, too. */
static int select_as_ancestor(struct ct_fractal_process *p, const struct ct_fractal_selection *wish)
{
    static const char *const kinds[] = {"range", "section", "symbol", "point"};
    const int rc = ct_fractal_process_select(p, wish->kind, wish->text, true);
    if (rc != CT_ERR_NOT_FOUND && rc != CT_ERR_CONFIG && rc != CT_ERR_FORMAT)
        return rc;
    return ct_fractal_simulation_text(p->simulation, "absent=%u %s %.800s\n", p->number, kinds[wish->kind],
                                      wish->text);
}

/* Selects what the options request of a process: ranges, before its tracer starts, or points. */
static int select_all(struct ct_fractal_process *p, bool points)
{
    struct ct_fractal_selection wish;
    int rc = CT_OK, mine;
    for (size_t i = 0; !rc && (mine = wish_of(p, i, &wish, &rc)) >= 0; i++) {
        if (mine == OTHERS || (wish.kind == CT_FRACTAL_SELECT_POINT) != points)
            continue;
        rc = mine == MINE ? ct_fractal_process_select(p, wish.kind, wish.text, true)
                          : select_as_ancestor(p, &wish);
    }
    return rc;
}

/* Sets *wanted if the options select something of the process, and *ranges if that includes a range. */
static int is_wanted(struct ct_fractal_process *p, bool *wanted, bool *ranges)
{
    struct ct_fractal_selection wish;
    int rc = CT_OK, mine;
    *wanted = p->number == 0 || (p->image_of && origin(p)->names);
    *ranges = false;
    for (size_t i = 0; (mine = wish_of(p, i, &wish, &rc)) >= 0; i++) {
        *wanted |= mine == MINE;
        *ranges |= mine != OTHERS && wish.kind != CT_FRACTAL_SELECT_POINT;
    }
    return rc;
}

/* ---- start ---- */

/* Loads the names in the process's file, and computes its load bias. */
static int name_program(struct ct_fractal_process *p)
{
    struct ct_fractal_simulation *s = p->simulation;
    struct ct_fractal_names_options named;
    uint64_t code, end;
    int rc = ct_options_read(s->ctx, "ct_fractal_simulate", s->options.names, &named, sizeof named);
    named.program = p->program;
    named.bias = NULL;
    if (!rc)
        rc = ct_fractal_names_new(s->ctx, &named, &p->names);
    if (rc)
        return rc;
    ct_fractal_names_extent(p->names, &code, &end);
    p->bias = p->start_code - code;
    ct_fractal_names_move(p->names, p->bias);
    ct_fractal_process_file(p, code + p->bias, end + p->bias);
    return CT_OK;
}

/* Writes the parameters of the process to its tracer's registers. */
static int write_target(struct ct_fractal_process *p)
{
    const struct ct_fractal_simulation *s = p->simulation;
    const struct ct_fractal_bench *b = &s->bench[0];
    const uint32_t unit =
        s->config.port_bytes < CT_FRACTAL_LINE ? (uint32_t)__builtin_ctz(s->config.port_bytes) << 16 : 0;
    const struct {
        uint32_t offset;
        uint64_t value;
    } registers[] = {
        {CT_FRACTAL_REG_PGD, ct_soc_pgd(b->soc, p->pid)},
        {CT_FRACTAL_REG_ASID, ct_soc_asid(b->soc, p->pid)},
        {CT_FRACTAL_REG_GEOM, s->config.granule | (uint32_t)s->config.va_bits << 8 | unit},
        {CT_FRACTAL_REG_TARGET, p->number},
        {CT_FRACTAL_REG_CONTEXT, s->hooked ? p->running : UINT64_MAX},
    };
    int rc = CT_OK;
    for (size_t i = 0; i < sizeof registers / sizeof *registers && !rc; i++)
        rc = ct_fractal_process_register(p, registers[i].offset, registers[i].value);
    return rc;
}

/* Selects the ranges of a process that has none: those in the options, or else all addresses. */
static int choose_ranges(struct ct_fractal_process *p, bool first)
{
    char all[48];
    bool wanted, ranges = false;
    snprintf(all, sizeof all, "0..%llx", 1ULL << p->simulation->config.va_bits);
    int rc = is_wanted(p, &wanted, &ranges);
    if (!rc)
        rc = p->parent && !p->image_of ? ct_fractal_process_inherit(p, false) : select_all(p, false);
    if (!rc && !p->ranges.count && (!p->image_of || !ranges || !first))
        rc = ct_fractal_process_select(p, CT_FRACTAL_SELECT_RANGE, all, true);
    return rc;
}

/* Writes to the log that tracing of a process begins; the first process begins the log. */
static int tell_process(const struct ct_fractal_process *p)
{
    struct ct_fractal_simulation *s = p->simulation;
    int rc = p->number ? ct_fractal_simulation_text(s, "process=%u bias=0x%llx %.800s\n", p->number,
                                                    (unsigned long long)p->bias, p->program)
                       : open_log(p, p->bias);
    for (size_t i = 0; i < p->ranges.count && !rc && (p->number || p->ranges.count > 1); i++)
        rc = ct_fractal_simulation_text(s, "range=%u 0x%llx..0x%llx %.200s\n", p->number,
                                        (unsigned long long)p->ranges.span[i].lo,
                                        (unsigned long long)p->ranges.span[i].hi, p->ranges.span[i].name);
    return rc;
}

int ct_fractal_process_start(struct ct_fractal_process *p)
{
    const struct ct_fractal_simulation *s = p->simulation;
    const uint32_t only = s->options.points_only ? CT_FRACTAL_CTRL_POINTS_ONLY : 0;
    const bool first = !p->names;
    int rc = first ? name_program(p) : CT_OK;
    if (!rc && !p->tracer)
        rc = ct_fractal_process_attach(p);
    if (!rc)
        rc = write_target(p);
    if (!rc && !p->ranges.count)
        rc = choose_ranges(p, first);
    if (!rc && first)
        rc = tell_process(p);
    if (!rc && !p->ranges.count) /* its program has none of the selected ranges */
        return CT_OK;
    if (!rc)
        rc = ct_fractal_process_register(
            p, CT_FRACTAL_REG_CTRL, CT_FRACTAL_CTRL_ENABLE | CT_FRACTAL_CTRL_MODE(s->options.mode) | only);
    p->tracing = !rc;
    if (rc || !first)
        return rc;
    return p->parent && !p->image_of ? ct_fractal_process_inherit(p, true) : select_all(p, true);
}

int ct_fractal_process_begin(struct ct_fractal_process *p, uint64_t start_code)
{
    bool wanted, ranges;
    const int rc = is_wanted(p, &wanted, &ranges);
    p->begun = true;
    p->start_code = start_code;
    return rc || !wanted ? rc : ct_fractal_process_start(p);
}

int ct_fractal_simulation_begin(struct ct_fractal_simulation *s, uint64_t start_code)
{
    s->ran = true;
    return ct_fractal_process_begin(&s->process[0], start_code);
}

int ct_fractal_simulation_region(struct ct_fractal_simulation *s, uint64_t lo, uint64_t hi, const char *text)
{
    if (!s->process[0].names || lo >= hi)
        return CT_OK;
    return ct_fractal_names_region(s->process[0].names, lo, hi, text);
}
