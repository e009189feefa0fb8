/* SPDX-License-Identifier: Apache-2.0 */
#include "base/search.h"
#include "format/wcet_source.h"

#include <stdlib.h>

#include "base/room.h"
#include "format/source_text.h"

/* most lines outside of the path that are shown between two lines of the path */
#define BETWEEN 4

/* ---- cycles by line ---- */

/* Returns the share of the cycles for the first `part` of `all` bytes. */
static uint64_t share(uint64_t cycles, uint64_t part, uint64_t all)
{
    return (uint64_t)((unsigned __int128)cycles * part / all);
}

static int add(struct ct_wcet_source *s, size_t *room, const struct ct_wcet_line *line)
{
    if (!CT_MAKE_ROOM(s->lines, *room, s->count + 1))
        return CT_ERR_NOMEM;
    s->lines[s->count++] = *line;
    return CT_OK;
}

static int add_step(struct ct_wcet_source *s, size_t *room, const struct ct_wcet_step *step)
{
    const struct ct_wcet_view *v = s->view;
    const struct ct_cfg_block *block = ct_wcet_view_block(v, step->block);
    const uint64_t bytes = block->end - block->start;
    int rc = CT_OK;
    for (uint64_t at = block->start; at < block->end && !rc;) {
        const struct ct_line *row = v->lines ? ct_lines_at(v->lines, at) : NULL;
        uint64_t end = row ? row->end : at + 2; /* the shortest instruction has 2 bytes */
        if (end > block->end)
            end = block->end;
        const uint64_t cycles =
            share(step->cycles, end - block->start, bytes) - share(step->cycles, at - block->start, bytes);
        if (row && row->line && row->file != CT_LINE_NONE)
            rc = add(s, room,
                     &(struct ct_wcet_line){row->file, row->line, step->count, cycles, step->assumed});
        else
            s->elsewhere += cycles;
        at = end;
    }
    return rc;
}

static int by_line(const void *a, const void *b)
{
    const struct ct_wcet_line *x = a, *y = b;
    return ct_order(x->file, y->file) ?: ct_order(x->line, y->line);
}

static void join(struct ct_wcet_source *s)
{
    size_t used = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct ct_wcet_line *line = &s->lines[i];
        if (!used || by_line(&s->lines[used - 1], line) != 0) {
            s->lines[used++] = *line;
            continue;
        }
        struct ct_wcet_line *into = &s->lines[used - 1];
        into->cycles += line->cycles;
        into->assumed |= line->assumed;
        if (line->count > into->count)
            into->count = line->count;
    }
    s->count = used;
}

int ct_wcet_source_make(const struct ct_wcet_view *view, struct ct_wcet_source *out)
{
    size_t room = 0;
    int rc = CT_OK;
    *out = (struct ct_wcet_source){.view = view};
    for (size_t i = 0; i < view->result->path_count && !rc; i++)
        rc = add_step(out, &room, &view->result->path[i]);
    if (out->count)
        qsort(out->lines, out->count, sizeof *out->lines, by_line);
    join(out);
    if (rc)
        ct_wcet_source_free(out);
    return rc;
}

void ct_wcet_source_free(struct ct_wcet_source *source)
{
    free(source->lines);
    source->lines = NULL;
    source->count = 0;
}

/* ---- excerpts ---- */

/* Passes on the lines [first, end), which are of one file. */
static void walk_file(const struct ct_wcet_source *s, size_t first, size_t end, ct_wcet_source_fn *give,
                      void *user)
{
    const char *path = ct_lines_file(s->view->lines, s->lines[first].file);
    struct ct_source_text text = ct_source_text_read(s->view->lines, s->lines[first].file);
    struct ct_wcet_source_row row = {.path = path, .all = s->view->result->wcet, .text = "", .first = true};
    uint32_t number = 0; /* of the last line read */
    for (size_t i = first; i < end; i++) {
        const uint32_t wanted = s->lines[i].line;
        const uint32_t gap = i == first ? 0 : wanted - s->lines[i - 1].line - 1;
        if (gap > BETWEEN) {
            row.number = 0;
            row.line = NULL;
            give(user, &row);
        }
        while (number < wanted) {
            number++;
            if (!ct_source_text_next(&text, &row.text, &row.size)) {
                row.text = "";
                row.size = 0;
                number = wanted;
            }
            if (number < wanted && (gap > BETWEEN || i == first))
                continue;
            row.number = number;
            row.line = number == wanted ? &s->lines[i] : NULL;
            give(user, &row);
            row.first = false;
        }
    }
    ct_source_text_free(&text);
}

void ct_wcet_source_walk(const struct ct_wcet_source *s, ct_wcet_source_fn *give, void *user)
{
    for (size_t first = 0; first < s->count;) {
        size_t end = first + 1;
        while (end < s->count && s->lines[end].file == s->lines[first].file)
            end++;
        walk_file(s, first, end, give, user);
        first = end;
    }
}
