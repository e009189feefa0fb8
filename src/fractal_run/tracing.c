/* SPDX-License-Identifier: Apache-2.0 */
/* What is traced of a program, once it is loaded, and the log of that. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/options.h"
#include "fractal_run/simulation.h"

/* ---- the range ---- */

/* Chooses the addresses of a section or symbol. */
static int choose_named(struct ct_fractal_simulation *s, const char *text, int section)
{
    const struct ct_fractal_name *name = ct_fractal_names_find(s->names, text, section);
    if (!name)
        return ct_fail(s->ctx, CT_ERR_NOT_FOUND, "%s: there is no %s '%s'; nothing was traced",
                       s->options.argv[0], section ? "section" : "symbol", text);
    s->lo = name->lo;
    s->hi = name->hi;
    return CT_OK;
}

/* Chooses the addresses that the options ask for. */
static int choose_range(struct ct_fractal_simulation *s)
{
    const struct ct_fractal_simulate_options *o = &s->options;
    s->lo = 0;
    s->hi = UINT64_C(1) << s->config.va_bits;
    if (o->section)
        return choose_named(s, o->section, 1);
    if (o->symbol)
        return choose_named(s, o->symbol, 0);
    return o->range ? ct_fractal_range_parse(s->ctx, o->range, &s->lo, &s->hi) : CT_OK;
}

/* ---- the log ---- */

/* Begins the log and the list of misses. */
static int open_log(struct ct_fractal_simulation *s, uint64_t bias)
{
    const struct ct_fractal_simulate_options *o = &s->options;
    const struct ct_fractal_bench *b = &s->bench[0];
    char text[4096];
    snprintf(text, sizeof text, "program=%.3000s\nbias=0x%llx\nsource=simulated cluster\n", o->argv[0],
             (unsigned long long)bias);
    const struct ct_fractal_log_info info = {.clock_hz = CT_SOC_CLOCK_HZ,
                                             .pgd = ct_soc_pgd(b->soc, b->pid),
                                             .range_lo = s->lo,
                                             .range_hi = s->hi,
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
    char text[128];
    int rc = CT_OK;
    for (unsigned i = 0; i < s->regions && s->writer && !rc; i++) {
        const struct ct_fractal_region *r = &s->region[i];
        snprintf(text, sizeof text, "region=0x%llx..0x%llx %s\n", (unsigned long long)r->lo,
                 (unsigned long long)r->hi, r->text);
        rc = ct_fractal_writer_text(s->writer, text);
    }
    const int closed = ct_fractal_writer_close(s->writer);
    s->writer = NULL;
    return rc ? rc : closed;
}

/* ---- points ---- */

/* Finds the address of a point. */
static int find_point(const struct ct_fractal_simulation *s, const char *text, uint64_t *va)
{
    char *end = NULL;
    const struct ct_fractal_name *name = ct_fractal_names_find(s->names, text, 0);
    *va = name ? name->lo : strtoull(text, &end, 16);
    if (name || (!*end && end != text))
        return CT_OK;
    return ct_fail(s->ctx, CT_ERR_FORMAT, "--point: '%s' is neither a symbol of %s nor a hexadecimal address",
                   text, s->options.argv[0]);
}

/* Sets the points, and tells the log their names. */
static int set_points(struct ct_fractal_simulation *s)
{
    char line[256];
    int rc = CT_OK;
    for (size_t i = 0; i < s->options.point_count && !rc; i++) {
        uint64_t va;
        rc = find_point(s, s->options.points[i], &va);
        if (rc)
            break;
        ct_fractal_simulation_register(s, CT_FRACTAL_REG_POINT_VA, va);
        ct_fractal_simulation_register(s, CT_FRACTAL_REG_POINT_CMD, CT_FRACTAL_POINT_ADD);
        snprintf(line, sizeof line, "point=%zu 0x%llx %.200s\n", i, (unsigned long long)va,
                 ct_fractal_names_at(s->names, va)->text);
        if (s->writer)
            rc = ct_fractal_writer_text(s->writer, line);
    }
    return rc;
}

/* ---- the begin ---- */

/* Names what the program's file holds, and says where that was loaded. */
static int name_program(struct ct_fractal_simulation *s, uint64_t start_code, uint64_t *bias)
{
    struct ct_fractal_names_options named;
    uint64_t code, end;
    int rc = ct_options_read(s->ctx, "ct_fractal_simulate", s->options.names, &named, sizeof named);
    named.program = s->options.argv[0];
    named.bias = NULL;
    if (!rc)
        rc = ct_fractal_names_new(s->ctx, &named, &s->names);
    if (rc)
        return rc;
    ct_fractal_names_extent(s->names, &code, &end);
    *bias = start_code - code;
    ct_fractal_names_move(s->names, *bias);
    ct_fractal_simulation_file(s, code + *bias, end + *bias);
    return CT_OK;
}

/* Sets the tracer up for the program. */
static void start_tracer(struct ct_fractal_simulation *s)
{
    const struct ct_fractal_bench *b = &s->bench[0];
    const uint32_t only = s->options.points_only ? CT_FRACTAL_CTRL_POINTS_ONLY : 0;
    const struct {
        uint32_t offset;
        uint64_t value;
    } registers[] = {
        {CT_FRACTAL_REG_PGD, ct_soc_pgd(b->soc, b->pid)},
        {CT_FRACTAL_REG_ASID, ct_soc_asid(b->soc, b->pid)},
        {CT_FRACTAL_REG_GEOM, s->config.granule | (uint32_t)s->config.va_bits << 8},
        {CT_FRACTAL_REG_RANGE_LO, s->lo},
        {CT_FRACTAL_REG_RANGE_HI, s->hi},
        {CT_FRACTAL_REG_RANGE_COMMIT, 1},
        {CT_FRACTAL_REG_CTRL, CT_FRACTAL_CTRL_ENABLE | CT_FRACTAL_CTRL_MODE(s->options.mode) | only},
    };
    for (size_t i = 0; i < sizeof registers / sizeof *registers; i++)
        ct_fractal_simulation_register(s, registers[i].offset, registers[i].value);
}

int ct_fractal_simulation_begin(struct ct_fractal_simulation *s, uint64_t start_code)
{
    uint64_t bias = 0;
    s->ran = true;
    int rc = name_program(s, start_code, &bias);
    if (!rc)
        rc = choose_range(s);
    if (!rc)
        rc = open_log(s, bias);
    if (rc)
        return rc;
    start_tracer(s);
    return set_points(s);
}

int ct_fractal_simulation_region(struct ct_fractal_simulation *s, uint64_t lo, uint64_t hi, const char *text)
{
    if (!s->names || s->regions == FRACTAL_REGIONS_MAX || lo >= hi)
        return CT_OK;
    s->region[s->regions++] = (struct ct_fractal_region){lo, hi, text};
    return ct_fractal_names_region(s->names, lo, hi, text);
}
