/* SPDX-License-Identifier: Apache-2.0 */
/* An event log, the names of its addresses, and which event belongs to which name. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"
#include "base/room.h"
#include "fractal_log/names.h"
#include "fractal_log/points.h"

/* A region described in the log. */
struct region {
    uint64_t low;
    size_t size; /* length of the name */
    char *area;  /* the name, plus a number for further regions of the same name, in the order of the log */
};

#define REGION_NUMBER 16 /* bytes after a name, for the number and the NUL */

#define PROCESSES 256

/* A process with names of its own. */
struct process {
    struct ct_fractal_names *names; /* NULL: it has the names of the first program */
    uint64_t bias;
    char area[80]; /* name of its program in sums */
};

struct ct_fractal_log {
    struct ct_ctx *ctx;
    char *path;
    struct ct_fractal_reader *reader;
    const struct ct_fractal_log_info *info;
    struct ct_fractal_names *names;
    uint64_t bias;
    struct region *regions;
    size_t region_count;
    struct ct_fractal_milestones milestones;
    struct process process[PROCESSES]; /* by number; only processes with another program than the first, or
                                        * another load address */
};

int ct_fractal_log_open(struct ct_ctx *ctx, const char *path, struct ct_fractal_log **out)
{
    CT_REQUIRE_OUT(ctx, out, path);
    struct ct_fractal_log *log = calloc(1, sizeof *log);
    if (!log)
        return ct_fail_nomem(ctx, path);
    log->ctx = ctx;
    log->path = strdup(path);
    const int rc = log->path ? ct_fractal_reader_open(ctx, path, &log->reader) : ct_fail_nomem(ctx, path);
    if (rc != CT_OK) {
        free(log->path);
        free(log);
        return rc;
    }
    log->info = ct_fractal_reader_info(log->reader);
    *out = log;
    return CT_OK;
}

void ct_fractal_log_free(struct ct_fractal_log *log)
{
    if (!log)
        return;
    ct_fractal_milestones_free(&log->milestones);
    ct_fractal_reader_free(log->reader);
    ct_fractal_names_free(log->names);
    for (unsigned i = 0; i < PROCESSES; i++)
        ct_fractal_names_free(log->process[i].names);
    for (size_t i = 0; i < log->region_count; i++)
        free(log->regions[i].area);
    free(log->regions);
    free(log->path);
    free(log);
}

struct ct_fractal_reader *ct_fractal_log_reader(struct ct_fractal_log *log)
{
    return log ? log->reader : NULL;
}

const struct ct_fractal_names *ct_fractal_log_names(const struct ct_fractal_log *log)
{
    return log ? log->names : NULL;
}

uint64_t ct_fractal_log_bias(const struct ct_fractal_log *log)
{
    return log ? log->bias : 0;
}

/* Returns the value after "key=" at the start of a line. NULL: there is none. */
static const char *log_value(const char *text, const char *key)
{
    const size_t n = strlen(key);
    for (; text; text = strchr(text, '\n')) {
        text += *text == '\n';
        if (!strncmp(text, key, n))
            return text + n;
    }
    return NULL;
}

/* Returns whether a region has this name. */
static bool has_name(const struct region *region, const char *name)
{
    return strncmp(region->area, name, region->size) == 0 && !name[region->size];
}

/* Adds a region, and takes over its name. Returns false when out of memory. */
static bool add_region(struct ct_fractal_log *log, uint64_t low, uint64_t high, char *name)
{
    unsigned number = 1;
    const size_t size = strlen(name);
    if (!CT_PUSH_ROOM(log->regions, log->region_count) ||
        ct_fractal_names_region(log->names, low, high, name)) {
        free(name);
        return false;
    }
    for (size_t i = 0; i < log->region_count; i++)
        number += has_name(&log->regions[i], name);
    log->regions[log->region_count++] = (struct region){low, size, name};
    if (number > 1)
        snprintf(name + size, REGION_NUMBER, " %u", number);
    return true;
}

static int take_regions(struct ct_fractal_log *log)
{
    const char *at = log->info->text;
    bool fine = true;
    while (fine && (at = log_value(at, "region="))) {
        int n = 0;
        unsigned long long lo, hi;
        if (sscanf(at, "0x%llx..0x%llx %n", &lo, &hi, &n) != 2 || !n || lo >= hi)
            continue;
        const size_t size = strcspn(at + n, "\n");
        char *name = calloc(1, size + REGION_NUMBER);
        if (name)
            memcpy(name, at + n, size);
        fine = name && add_region(log, lo, hi, name);
    }
    return fine ? CT_OK : ct_fail_nomem(log->ctx, "regions of a log");
}

/* Returns the name of a region in sums. Programs map their regions in the same order in each run, so numbers
 * match. */
static const char *area_of(const struct ct_fractal_log *log, const struct ct_fractal_name *name)
{
    size_t i = 0;
    while (i < log->region_count &&
           (log->regions[i].low != name->lo || !has_name(&log->regions[i], name->text)))
        i++;
    return i < log->region_count ? log->regions[i].area : name->text;
}

/* Returns the load bias of a further process: the text after "process=N bias=" at the start of a line. NULL:
 * there is none. */
static const char *bias_of_process(const char *text, unsigned process)
{
    while ((text = log_value(text, "process="))) {
        char *rest;
        if (strtoul(text, &rest, 10) == process && strncmp(rest, " bias=", 6) == 0)
            return rest + 6;
    }
    return NULL;
}

/* Finds the load bias of a process's program; 0 when the log does not give it. Error: CT_ERR_CONFIG when the
 * log has no such process, or its records do not tell processes apart. */
static int find_bias(const struct ct_fractal_log *log, const struct ct_fractal_names_options *options,
                     uint64_t *bias)
{
    const bool one = options->one_process && options->process;
    const char *told = log_value(log->info->text, "bias=");
    if (one && !(log->info->fields & CT_FRACTAL_FIELD_TARGET))
        return ct_fail(log->ctx, CT_ERR_CONFIG,
                       "%s: its records have no field target, so the records of process %u are unknown; "
                       "record the log with this field",
                       log->path, options->process);
    if (one)
        told = bias_of_process(log->info->text, options->process);
    if (one && !told)
        return ct_fail(log->ctx, CT_ERR_CONFIG,
                       "%s: the log has no process %u; choose process 0, the program, or one of the lines "
                       "process=N in the text of the log",
                       log->path, options->process);
    *bias = options->bias ? *options->bias : told ? strtoull(told, NULL, 16) : 0;
    return CT_OK;
}

/* Returns the last component of a path that ends at a newline; its length is *size. */
static const char *file_of(const char *path, size_t *size)
{
    const char *end = path + strcspn(path, "\n"), *name = end;
    while (name > path && name[-1] != '/')
        name--;
    *size = (size_t)(end - name);
    return name;
}

/* Gives a process its own names. If its program cannot be read, all its addresses get one name, because names
 * of another program would be wrong. */
static int name_process(struct ct_fractal_log *log, const struct ct_fractal_names_options *options,
                        unsigned number, const char *path, bool same)
{
    struct process *p = &log->process[number];
    struct ct_fractal_names_options own = *options;
    char file[4096], whole[96];
    size_t size;
    const char *name = file_of(path, &size);
    snprintf(file, sizeof file, "%.*s", (int)strcspn(path, "\n"), path);
    snprintf(p->area, sizeof p->area, "%u:%.*s", number, size < 64 ? (int)size : 64, name);
    own.program = same ? options->program : file;
    own.bias = &p->bias;
    int rc = ct_fractal_names_new(log->ctx, &own, &p->names);
    if (rc == CT_ERR_NOMEM)
        return rc;
    if (rc) {
        snprintf(whole, sizeof whole, "[%.*s]", size < 64 ? (int)size : 64, name);
        own.program = NULL;
        rc = ct_fractal_names_new(log->ctx, &own, &p->names);
        if (!rc)
            rc = ct_fractal_names_region(p->names, 0, UINT64_C(1) << CT_FRACTAL_KEY_BITS, whole);
    }
    return rc ? rc : ct_fractal_names_join(log->names, p->names, (uint8_t)number);
}

/* Gives names to the processes that have another program than the first one, or another load address. */
static int name_processes(struct ct_fractal_log *log, const struct ct_fractal_names_options *options)
{
    const char *at = log->info->text, *program = log_value(at, "program=");
    size_t size = 0, other;
    const char *name = program ? file_of(program, &size) : "";
    int rc = CT_OK;
    while (!rc && (at = log_value(at, "process="))) {
        unsigned number;
        unsigned long long bias;
        int path = 0;
        if (sscanf(at, "%u bias=0x%llx %n", &number, &bias, &path) != 2 || !path || number >= PROCESSES ||
            !number || log->process[number].names)
            continue;
        const char *file = file_of(at + path, &other);
        const bool same = other == size && strncmp(file, name, size) == 0;
        if (same && bias == log->bias)
            continue;
        log->process[number].bias = bias;
        rc = name_process(log, options, number, at + path, same);
    }
    return rc;
}

/* Returns whether the event's process has its own names. */
static bool has_own(const struct ct_fractal_log *log, const struct ct_fractal_event *e)
{
    return log->process[e->target].names != NULL;
}

uint64_t ct_fractal_log_key(const struct ct_fractal_log *log, const struct ct_fractal_event *e)
{
    return has_own(log, e) ? e->va | (uint64_t)e->target << CT_FRACTAL_KEY_BITS : e->va;
}

const struct ct_fractal_names *ct_fractal_log_names_of(const struct ct_fractal_log *log,
                                                       const struct ct_fractal_event *e)
{
    return has_own(log, e) ? log->process[e->target].names : log->names;
}

int ct_fractal_log_name(struct ct_fractal_log *log, const struct ct_fractal_names_options *options)
{
    struct ct_fractal_names_options own;
    CT_REQUIRE(NULL, log);
    if (log->names)
        return ct_fail(log->ctx, CT_ERR_ARG, "%s: the log has names already; nothing was changed", __func__);
    int rc = ct_options_read(log->ctx, __func__, options, &own, sizeof own);
    if (rc != CT_OK)
        return rc;
    rc = find_bias(log, &own, &log->bias);
    own.bias = &log->bias;
    if (rc == CT_OK)
        rc = ct_fractal_names_new(log->ctx, &own, &log->names);
    if (rc == CT_OK)
        rc = take_regions(log);
    if (rc == CT_OK && own.program && !own.one_process)
        rc = name_processes(log, &own);
    if (rc == CT_OK &&
        !ct_fractal_milestones_read(&log->milestones, log->info->text, ct_fractal_reader_unit(log->reader)))
        rc = ct_fail_nomem(log->ctx, "points of a log");
    return rc;
}

int ct_fractal_log_program(const struct ct_fractal_log *log, char program[CT_FRACTAL_LOG_PROGRAM])
{
    CT_REQUIRE_OF(log, program);
    const char *path = log_value(log->info->text, "program=");
    const char *end = path ? path + strcspn(path, "\n") : NULL;
    const char *name = end;
    while (name && name > path && name[-1] != '/')
        name--;
    snprintf(program, CT_FRACTAL_LOG_PROGRAM, "%.*s",
             name ? (int)(end - name < CT_FRACTAL_LOG_PROGRAM - 1 ? end - name : CT_FRACTAL_LOG_PROGRAM - 1)
                  : 0,
             name ? name : "");
    return CT_OK;
}

/* Finds what a hit of a point counts for: its milestone, or else its line. */
static void place_point(const struct ct_fractal_log *log, const struct ct_fractal_event *e,
                        struct ct_fractal_place *place)
{
    const struct ct_fractal_milestones *m = &log->milestones;
    const uint32_t number = ct_fractal_milestones_of(m, e->target, e->point, e->va);
    const struct ct_fractal_milestone *one = number == UINT32_MAX ? NULL : &m->all[number];
    place->point = one ? one->name : ct_fractal_names_at(log->names, ct_fractal_log_key(log, e))->text;
    place->point_offset =
        (one ? one->lo : e->va) - (has_own(log, e) ? log->process[e->target].bias : log->bias);
    place->point_is_line = !one || !one->by_address;
    place->point_number = one ? number + 1 : m->count + e->point + 1;
}

int ct_fractal_log_place(struct ct_fractal_log *log, const struct ct_fractal_event *e,
                         struct ct_fractal_place *place)
{
    CT_REQUIRE_OF(log, e, place);
    if (!log->names)
        return ct_fail(log->ctx, CT_ERR_ARG, "%s: the log has no names yet; call ct_fractal_log_name first",
                       __func__);
    const struct ct_fractal_name *name = ct_fractal_names_at(log->names, ct_fractal_log_key(log, e));
    *place = (struct ct_fractal_place){.name = name->text, .kind = name->kind};
    if (has_own(log, e) && name->kind != CT_FRACTAL_ELSEWHERE) {
        place->area = log->process[e->target].area;
        place->offset = e->va - log->process[e->target].bias;
    } else if (name->kind == CT_FRACTAL_REGION) {
        place->area = area_of(log, name);
        place->offset = e->va - name->lo;
    } else if (name->kind != CT_FRACTAL_ELSEWHERE) {
        place->area = "";
        place->offset = e->va - log->bias;
    }
    if (e->point != CT_FRACTAL_NO_POINT)
        place_point(log, e, place);
    return CT_OK;
}
