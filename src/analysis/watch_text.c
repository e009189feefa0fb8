/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/watch_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/require.h"
#include "base/room.h"

#define MOST_BYTES ((size_t)64 << 20) /* of all different texts in a set */

int ct_watches_want_text(struct ct_watches *w, uint32_t watch)
{
    CT_REQUIRE_OF(w, watch < w->count);
    struct ct_watchpoint *point = &w->points[watch];
    const struct ct_named_entry *entry = NULL;
    size_t count;
    if (point->kind == CT_WATCH_NAMED)
        entry = &ct_named_table_entries(w->named, &count)[point->number];
    if (point->kind != CT_WATCH_ITM && point->kind != CT_WATCH_STM && point->kind != CT_WATCH_CONTEXT &&
        (!entry || entry->kind != CT_NAMED_TEXT))
        return ct_fail(w->ctx, CT_ERR_CONFIG,
                       "watchpoint '%s': its events have no text; use itm:PORT or stm:CHANNEL (lines written "
                       "there), text:FORMAT (printed text) or context (name of the process)",
                       point->name);
    if (!w->texts) {
        w->texts = ct_arena_alloc(&w->arena, sizeof *w->texts);
        if (!w->texts)
            return ct_fail_nomem(w->ctx, "watchpoints");
        pthread_mutex_init(&w->texts->lock, NULL);
    }
    point->form = CT_WATCH_TEXT;
    return CT_OK;
}

void ct_watches_free_texts(struct ct_watches *w)
{
    if (!w->texts)
        return;
    ct_names_free(&w->texts->all);
    pthread_mutex_destroy(&w->texts->lock);
}

int ct_watches_set_text(const struct ct_watches *w, const char *text, size_t size, struct ct_watch_event *e)
{
    CT_REQUIRE_OF(w, w->texts, text || !size, e);
    struct ct_ctx *ctx = w->ctx;
    struct ct_watched_texts *t = w->texts;
    pthread_mutex_lock(&t->lock);
    const uint32_t before = t->all.count;
    const uint32_t number = ct_names_add(&t->all, text, size);
    t->bytes += t->all.count > before ? size : 0;
    const bool fits = t->bytes <= MOST_BYTES;
    const char *kept = number == CT_NAMES_NONE ? NULL : t->all.names[number];
    pthread_mutex_unlock(&t->lock);
    if (!kept)
        return ct_fail_nomem(ctx, "texts of watchpoints");
    if (!fits)
        return ct_fail(
            ctx, CT_ERR_LIMIT,
            "texts of watchpoints: the different texts are longer than 64 MiB in all, which is the limit; "
            "declare the input as Events[Unit] or Events[Int], or select a part of the trace");
    e->value = (uint64_t)(uintptr_t)kept;
    return CT_OK;
}

/* ---- lines ---- */

/* Finds or begins the line of a watchpoint and port. Returns NULL when out of memory. */
static struct ct_watch_line *line_of(struct ct_watch_lines *lines, uint32_t watch, uint64_t port)
{
    for (size_t i = 0; i < lines->count; i++)
        if (lines->all[i].watch == watch && lines->all[i].port == port)
            return &lines->all[i];
    char *text =
        CT_PUSH_ROOM(lines->all, lines->count) ? malloc(CT_WATCH_LINE_MOST + sizeof(uint64_t)) : NULL;
    if (!text)
        return NULL;
    lines->all[lines->count] = (struct ct_watch_line){.watch = watch, .port = port, .text = text};
    return &lines->all[lines->count++];
}

int ct_watch_lines_take(struct ct_watch_lines *lines, uint32_t watch, uint64_t port, uint64_t bytes,
                        unsigned bits, const char **line, size_t *size)
{
    struct ct_watch_line *l = line_of(lines, watch, port);
    size_t end = 0;
    *line = NULL;
    *size = 0;
    if (!l)
        return CT_ERR_NOMEM;
    l->size -= l->given;
    memmove(l->text, l->text + l->given, l->size);
    l->given = 0;
    for (unsigned i = 0; i < bits / 8 && i < sizeof bytes; i++) {
        const char c = (char)(bytes >> 8 * i);
        if (c)
            l->text[l->size++] = c;
        if (c == '\n')
            end = l->size;
    }
    if (!end && l->size < CT_WATCH_LINE_MOST)
        return CT_OK;
    l->given = end ? end : l->size;
    *line = l->text;
    *size = end ? end - 1 : l->size;
    *size -= end && *size && l->text[*size - 1] == '\r';
    return CT_OK;
}

void ct_watch_lines_cut(struct ct_watch_lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        lines->all[i].size = lines->all[i].given = 0;
}

void ct_watch_lines_free(struct ct_watch_lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        free(lines->all[i].text);
    free(lines->all);
    *lines = (struct ct_watch_lines){0};
}
