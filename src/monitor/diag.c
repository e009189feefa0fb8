/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "coretap/base.h"

void ct_mon_names_add(struct ct_mon_arena *arena, struct ct_mon_names *names, const char *name)
{
    names->n -= names->n > 0; /* overwrites the NULL at the end */
    ARENA_PUSH(arena, names->at, names->n, names->cap, name);
    ARENA_PUSH(arena, names->at, names->n, names->cap, NULL);
}

const char *ct_mon_did_you_mean(struct ct_mon_arena *arena, const char *name,
                                const struct ct_mon_names *names)
{
    const char *near = ct_nearest_name(name, names->at);
    return near ? ct_mon_arena_printf(arena, "; did you mean '%s'?", near) : "";
}

void ct_mon_diags_init(struct ct_mon_diags *d, struct ct_mon_arena *arena)
{
    *d = (struct ct_mon_diags){.arena = arena};
    d->tail = &d->first;
}

static void add(struct ct_mon_diags *d, struct ct_mon_span at, bool warning, const char *fmt, va_list ap)
{
    unsigned *count = warning ? &d->warnings : &d->errors;
    if (*count >= DIAG_MOST) {
        (*count)++;
        return;
    }
    char text[1024];
    vsnprintf(text, sizeof text, fmt, ap);
    for (const struct ct_mon_diag *e = d->first; e; e = e->next)
        if (e->span.source == at.source && e->span.from == at.from && !strcmp(e->text, text))
            return;
    struct ct_mon_diag *e = ARENA_NEW(d->arena, struct ct_mon_diag);
    e->warning = warning;
    e->span = at;
    e->text = ct_mon_arena_copy(d->arena, text, strlen(text));
    *d->tail = e;
    d->tail = &e->next;
    (*count)++;
}

void ct_mon_diag_error(struct ct_mon_diags *d, struct ct_mon_span at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    add(d, at, false, fmt, ap);
    va_end(ap);
}

void ct_mon_diag_warning(struct ct_mon_diags *d, struct ct_mon_span at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    add(d, at, true, fmt, ap);
    va_end(ap);
}

bool ct_mon_diags_full_at(const struct ct_mon_diags *d, struct ct_mon_span at)
{
    for (const struct ct_mon_diag *e = d->first; e; e = e->next)
        if (!e->warning && e->span.source == at.source && e->span.from == at.from)
            return true;
    return d->errors >= DIAG_MOST;
}

void ct_mon_diags_sort(struct ct_mon_diags *d)
{
    /* messages are few: swap neighbours until those of each source are sorted */
    for (bool moved = true; moved;) {
        moved = false;
        for (struct ct_mon_diag **at = &d->first; *at && (*at)->next; at = &(*at)->next) {
            struct ct_mon_diag *a = *at, *b = a->next;
            if (a->span.source != b->span.source || a->span.from <= b->span.from)
                continue;
            a->next = b->next;
            b->next = a;
            *at = b;
            moved = true;
        }
    }
}

void ct_mon_source_place(const struct ct_mon_source *s, uint32_t at, unsigned *line, unsigned *col,
                         const char **begin, size_t *size)
{
    const char *p = s->text, *end = s->text + s->size, *stop = s->text + (at < s->size ? at : s->size);
    *line = 1;
    const char *start = p;
    for (; p < stop; p++) {
        if (*p == '\n') {
            ++*line;
            start = p + 1;
        }
    }
    *col = 1;
    for (p = start; p < stop; p++)
        *col += ((unsigned char)*p & 0xc0) != 0x80; /* continuation bytes of UTF-8 are not columns */
    while (p < end && *p != '\n')
        p++;
    *begin = start;
    *size = (size_t)(p - start);
    if (*size && start[*size - 1] == '\r')
        --*size;
}
