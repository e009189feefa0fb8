/* SPDX-License-Identifier: Apache-2.0 */
#include "format/port_text.h"

bool ct_port_text_wants(const struct ct_event *e)
{
    return e->type == CT_EVENT_SW && (e->a == CT_SW_DATA || e->a == CT_SW_STIMULUS) &&
           (e->b & CT_SW_BITS) >= 8;
}

static void put(struct ct_port_line *line, ct_port_line_fn *fn, void *user)
{
    if (line->size)
        fn(user, line);
    line->size = 0;
}

/* Returns the line of a port. A new port takes the line that was unused for the longest time. */
static struct ct_port_line *find(struct ct_port_text *t, uint64_t port, ct_port_line_fn *fn, void *user)
{
    struct ct_port_line *oldest = &t->lines[0];
    for (size_t i = 0; i < CT_PORT_LINES; i++) {
        struct ct_port_line *line = &t->lines[i];
        if (line->size && line->port == port)
            return line;
        if (oldest->size && (!line->size || line->last_use < oldest->last_use))
            oldest = line;
    }
    put(oldest, fn, user);
    oldest->port = port;
    return oldest;
}

void ct_port_text_add(struct ct_port_text *t, const struct ct_event *e, ct_port_line_fn *fn, void *user)
{
    for (unsigned bit = 0; bit < (e->b & CT_SW_BITS); bit += 8) {
        char c = (char)(e->value >> bit & 0xff);
        if (!c || c == '\r')
            continue;
        struct ct_port_line *line = find(t, e->extra, fn, user);
        line->offset = e->offset;
        line->cycle = e->cycle;
        line->last_use = ++t->now;
        if (c != '\n')
            line->text[line->size++] = c;
        if (c == '\n' || line->size == CT_PORT_LINE_SIZE)
            put(line, fn, user);
    }
}

void ct_port_text_end(struct ct_port_text *t, ct_port_line_fn *fn, void *user)
{
    for (;;) {
        struct ct_port_line *first = NULL;
        for (size_t i = 0; i < CT_PORT_LINES; i++)
            if (t->lines[i].size && (!first || t->lines[i].port < first->port))
                first = &t->lines[i];
        if (!first)
            return;
        put(first, fn, user);
    }
}
