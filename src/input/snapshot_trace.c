/* SPDX-License-Identifier: Apache-2.0 */
/* The trace file of a snapshot (docs/formats.md): the buffers, their sources, and the core of each source. */
#include "input/snapshot.h"

#include <string.h>

struct trace_parser {
    struct ct_opening *opening;
    struct ct_trace_file *trace;
    const char *folder; /* of the snapshot: file names are relative to it */
    int in_buffer;      /* the section is not one of the fixed ones: the last of trace->sections */
};

int ct_pair_add(struct ct_opening *opening, const struct ct_ini_item *item, struct ct_ini_pair **pairs,
                size_t *count)
{
    if (*count == CT_ITEMS_MAX)
        return ct_fail(item->ctx, CT_ERR_LIMIT,
                       "%s:%u: there are more than %d lines in [%.100s], which is "
                       "the limit; remove some",
                       item->path, item->line, CT_ITEMS_MAX, item->section);
    struct ct_ini_pair pair = {
        .key = ct_arena_strdup(opening->arena, item->key),
        .value = ct_arena_strdup(opening->arena, item->value),
        .line = item->line,
    };
    struct ct_ini_pair *room = ct_arena_push(opening->arena, *pairs, count, sizeof pair);
    if (!pair.key || !pair.value || !room)
        return ct_fail_nomem(item->ctx, item->path);
    room[*count - 1] = pair;
    *pairs = room;
    return CT_OK;
}

static int is_fixed(const char *section)
{
    static const char *const names[] = {"trace_buffers", "source_buffers", "core_trace_sources", "timestamp",
                                        ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(section, names[i]) == 0)
            return 1;
    return 0;
}

static int section_begin(struct trace_parser *p, const struct ct_ini_item *item)
{
    struct ct_trace_file *trace = p->trace;
    p->in_buffer = !is_fixed(item->section);
    if (!p->in_buffer)
        return CT_OK;
    if (trace->section_count == CT_ITEMS_MAX)
        return ct_fail(item->ctx, CT_ERR_LIMIT,
                       "%s:%u: there are more than %d sections, which is the limit; "
                       "remove some",
                       item->path, item->line, CT_ITEMS_MAX);
    const char *name = ct_arena_strdup(p->opening->arena, item->section);
    struct ct_buffer_section *sections =
        ct_arena_push(p->opening->arena, trace->sections, &trace->section_count, sizeof *sections);
    if (!name || !sections)
        return ct_fail_nomem(item->ctx, item->path);
    trace->sections = sections;
    sections[trace->section_count - 1] = (struct ct_buffer_section){.section = name, .line = item->line};
    return CT_OK;
}

static int on_buffer(struct trace_parser *p, const struct ct_ini_item *item)
{
    struct ct_buffer_section *section = &p->trace->sections[p->trace->section_count - 1];
    const char **slot = strcmp(item->key, "name") == 0     ? &section->name
                        : strcmp(item->key, "file") == 0   ? &section->file
                        : strcmp(item->key, "format") == 0 ? &section->format
                                                           : NULL;
    if (!slot)
        return CT_OK;
    const char *value = ct_ini_unquote(item);
    if (!value)
        return CT_ERR_FORMAT;
    *slot = ct_arena_strdup(p->opening->arena, value);
    return *slot ? CT_OK : ct_fail_nomem(item->ctx, item->path);
}

static int on_item(void *user, const struct ct_ini_item *item)
{
    struct trace_parser *p = user;
    struct ct_trace_file *trace = p->trace;
    if (ct_snapshot_states_has(item->section))
        return ct_snapshot_states_item(p->opening, p->folder, item, &trace->states);
    if (!item->key)
        return section_begin(p, item);
    if (p->in_buffer)
        return on_buffer(p, item);
    if (strcmp(item->section, "source_buffers") == 0)
        return ct_pair_add(p->opening, item, &trace->sources, &trace->source_count);
    if (strcmp(item->section, "core_trace_sources") == 0)
        return ct_pair_add(p->opening, item, &trace->cores, &trace->core_count);
    if (strcmp(item->section, "trace_buffers") == 0 && strcmp(item->key, "buffers") == 0) {
        trace->buffers = ct_arena_strdup(p->opening->arena, item->value);
        trace->buffers_line = item->line;
        return trace->buffers ? CT_OK : ct_fail_nomem(item->ctx, item->path);
    }
    return CT_OK;
}

int ct_trace_file_read(struct ct_opening *opening, const char *path, const char *wanted_by,
                       const char *folder, struct ct_trace_file *trace)
{
    *trace = (struct ct_trace_file){.path = path};
    struct trace_parser p = {.opening = opening, .trace = trace, .folder = folder};
    const int status = ct_read_ini(opening, path, wanted_by, on_item, &p);
    return status ? status : ct_snapshot_states_finish(opening, path, &trace->states);
}
