/* SPDX-License-Identifier: Apache-2.0 */
/* Assembles named events from the writes to a port. The event's number is a write of 16 bits; each argument
 * is one or two writes of 32 bits. */
#include "base/ctx.h"
#include "base/require.h"
#include "coretap/named_event.h"

#include <stdlib.h>
#include <string.h>

#define WORDS (2 * CT_NAMED_ARGUMENTS)

/* A named event whose arguments are not complete. */
struct open {
    const struct ct_named_entry *entry;
    uint64_t port;
    uint64_t offset, cycle; /* of its last write */
    uint32_t words[WORDS];
    uint8_t count; /* words received */
};

struct ct_named_reader {
    const struct ct_named_table *table;
    struct open open[CT_NAMED_OPEN + 1]; /* the oldest first; the last entry is for an event that begins */
    size_t count;
};

int ct_named_reader_new(struct ct_ctx *ctx, const struct ct_named_table *table, struct ct_named_reader **out)
{
    CT_REQUIRE_OUT(ctx, out, table);
    struct ct_named_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return ct_fail_nomem(ctx, "named events");
    reader->table = table;
    *out = reader;
    return CT_OK;
}

void ct_named_reader_free(struct ct_named_reader *reader)
{
    free(reader);
}

/* Returns an argument of one or two words. */
static union ct_named_argument argument(enum ct_named_type type, const uint32_t *words, unsigned count)
{
    union ct_named_argument a = {.u = words[0] | (count > 1 ? (uint64_t)words[1] << 32 : 0)};
    float narrow;
    if (type == CT_NAMED_FLOAT) {
        memcpy(&narrow, words, sizeof narrow);
        a.f = (double)narrow;
    } else if (type == CT_NAMED_INT) {
        a.i = (int32_t)words[0];
    } /* for other types the bits are those of the member */
    return a;
}

/* Removes an open event from the list and makes an event of what is known of it. */
static void close_at(struct ct_named_reader *r, size_t at, struct ct_named_event *out)
{
    const struct open *open = &r->open[at];
    const struct ct_named_entry *entry = open->entry;
    *out = (struct ct_named_event){.offset = open->offset,
                                   .cycle = open->cycle,
                                   .port = open->port,
                                   .entry = entry,
                                   .cut = open->count < entry->words};
    for (unsigned word = 0; out->count < entry->count; out->count++) {
        const unsigned words = ct_named_words(entry, out->count);
        if (word + words > open->count)
            break;
        out->arguments[out->count] =
            argument((enum ct_named_type)entry->types[out->count], &open->words[word], words);
        word += words;
    }
    r->count--;
    memmove(&r->open[at], &r->open[at + 1], (r->count - at) * sizeof *r->open);
}

/* Notes the last write of an open event. */
static void touch(struct open *open, const struct ct_event *event)
{
    open->offset = event->offset;
    open->cycle = event->cycle;
}

static enum ct_named_part begin(struct ct_named_reader *r, const struct ct_event *event,
                                const struct ct_named_entry *entry, struct ct_named_event *out)
{
    struct open *open = &r->open[r->count++];
    *open = (struct open){.entry = entry, .port = event->extra};
    touch(open, event);
    if (entry->words && r->count <= CT_NAMED_OPEN)
        return CT_NAMED_PART;
    close_at(r, entry->words ? 0 : r->count - 1, out);
    return CT_NAMED_WHOLE;
}

/* Takes a word. It belongs to the event of its port that began last. */
static enum ct_named_part add(struct ct_named_reader *r, const struct ct_event *event,
                              struct ct_named_event *out)
{
    size_t at = r->count;
    while (at && r->open[at - 1].port != event->extra)
        at--;
    if (!at)
        return CT_NAMED_OTHER;
    struct open *open = &r->open[at - 1];
    open->words[open->count++] = (uint32_t)event->value;
    touch(open, event);
    if (open->count < open->entry->words)
        return CT_NAMED_PART;
    close_at(r, at - 1, out);
    return CT_NAMED_WHOLE;
}

int ct_named_reader_take(struct ct_named_reader *reader, const struct ct_event *event,
                         struct ct_named_event *out)
{
    if (!reader || !event || !out || event->type != CT_EVENT_SW ||
        (event->a != CT_SW_STIMULUS && event->a != CT_SW_DATA))
        return CT_NAMED_OTHER;
    const unsigned bits = event->b & CT_SW_BITS;
    const struct ct_named_entry *entry =
        bits == 16 ? ct_named_table_find(reader->table, (uint32_t)event->value) : NULL;
    if (entry)
        return (int)begin(reader, event, entry, out);
    return bits == 32 ? (int)add(reader, event, out) : CT_NAMED_OTHER;
}

int ct_named_reader_cut(struct ct_named_reader *reader, struct ct_named_event *out)
{
    if (!reader || !out || !reader->count)
        return 0;
    close_at(reader, 0, out);
    return 1;
}
