/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/fractal_log.h"

#include <stdlib.h>
#include <string.h>

bool cli_fractal_log_open(struct cli_fractal_log *log, const struct cli_args *args, const char *path)
{
    log->args = args;
    log->path = path;
    if (ct_fractal_reader_open(args->ctx, path, &log->reader)) {
        cli_library_error(args->ctx);
        return false;
    }
    log->info = ct_fractal_reader_info(log->reader);
    return true;
}

void cli_fractal_log_close(struct cli_fractal_log *log)
{
    for (size_t i = 0; i < FRACTAL_POINTS; i++)
        free(log->point_names[i]);
    ct_fractal_reader_free(log->reader);
    cli_names_free(log->names);
    free(log->regions);
    memset(log, 0, sizeof *log);
}

/* What the log says of its program: "key=" at the start of a line. */
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

/* False without memory. */
static bool add_region(struct cli_fractal_log *log, uint64_t low, uint64_t high, const char *name)
{
    unsigned number = 1;
    struct cli_fractal_region *regions = realloc(log->regions, (log->region_count + 1) * sizeof *regions);
    if (!regions)
        return false;
    log->regions = regions;
    for (size_t i = 0; i < log->region_count; i++)
        number += strcmp(regions[i].name, name) == 0;
    struct cli_fractal_region *region = &regions[log->region_count++];
    region->low = low;
    snprintf(region->name, sizeof region->name, "%s", name);
    if (number > 1)
        snprintf(region->area, sizeof region->area, "%s %u", name, number);
    else
        snprintf(region->area, sizeof region->area, "%s", name);
    return cli_names_region(log->names, low, high, name);
}

static bool take_regions(struct cli_fractal_log *log)
{
    const char *at = log->info->text;
    bool fine = true;
    while (fine && (at = log_value(at, "region="))) {
        char name[64];
        unsigned long long lo, hi;
        if (sscanf(at, "0x%llx..0x%llx %63[^\n]", &lo, &hi, name) == 3 && lo < hi)
            fine = add_region(log, lo, hi, name);
    }
    if (!fine)
        cli_no_memory();
    return fine;
}

/* What a region is called in sums: programs map their regions in the same order in each run. */
static const char *area_of(const struct cli_fractal_log *log, const struct cli_name *name)
{
    size_t i = 0;
    while (i < log->region_count && log->regions[i].low != name->lo)
        i++;
    return i < log->region_count ? log->regions[i].area : name->text;
}

bool cli_fractal_log_name(struct cli_fractal_log *log, const char *elf, const uint64_t *bias)
{
    const char *told = log_value(log->info->text, "bias=");
    log->bias = bias ? *bias : told ? strtoull(told, NULL, 16) : 0;
    log->names = cli_names_load(log->args, elf, log->bias);
    if (log->names)
        return take_regions(log);
    cli_library_error(log->args->ctx);
    return false;
}

void cli_fractal_log_program(const struct cli_fractal_log *log, char program[256])
{
    const char *path = log_value(log->info->text, "program=");
    const char *end = path ? path + strcspn(path, "\n") : NULL;
    const char *name = end;
    while (name && name > path && name[-1] != '/')
        name--;
    snprintf(program, 256, "%.*s", name ? (int)(end - name < 255 ? end - name : 255) : 0, name ? name : "");
}

/* A point is a line of memory; the log remembers what in it was meant. */
static char *point_name(const struct cli_fractal_log *log, uint32_t point, uint64_t va)
{
    char key[32];
    char told[256];
    snprintf(key, sizeof key, "point=%u 0x", point);
    const char *at = log_value(log->info->text, key);
    const char *name = at ? memchr(at, ' ', strcspn(at, "\n")) : NULL;
    if (name)
        snprintf(told, sizeof told, "%.*s", (int)strcspn(name + 1, "\n"), name + 1);
    return strdup(name ? told : cli_names_at(log->names, va)->text);
}

const char *cli_fractal_log_point(struct cli_fractal_log *log, uint32_t point, uint64_t va)
{
    char **name = &log->point_names[point];
    if (!*name)
        *name = point_name(log, point, va);
    if (!*name)
        cli_no_memory();
    return *name;
}

bool cli_fractal_log_place(struct cli_fractal_log *log, const struct ct_fractal_event *e,
                           struct ct_fractal_place *place)
{
    static const uint8_t kinds[] = {CT_FRACTAL_FUNCTION, CT_FRACTAL_OBJECT, CT_FRACTAL_SECTION,
                                    CT_FRACTAL_REGION, CT_FRACTAL_ELSEWHERE};
    const struct cli_name *name = cli_names_at(log->names, e->va);
    *place = (struct ct_fractal_place){.name = name->text, .kind = kinds[name->kind]};
    if (name->kind == NAME_REGION) {
        place->area = area_of(log, name);
        place->offset = e->va - name->lo;
    } else if (name->kind != NAME_UNKNOWN) {
        place->area = "";
        place->offset = e->va - log->bias;
    }
    if (e->point >= FRACTAL_POINTS)
        return true;
    place->point = cli_fractal_log_point(log, e->point, e->va);
    place->point_offset = e->va - log->bias;
    return place->point != NULL;
}
