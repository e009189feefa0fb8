/* SPDX-License-Identifier: Apache-2.0 */
/* coretap named event: what a program wrote to an ITM or STM with the header coretap/itm.h, put together
 * again from the single writes.
 *
 *     struct ct_named_event event;
 *     char text[256];
 *     for (size_t i = 0; i < count; i++)
 *         if (ct_named_reader_take(reader, &events[i], &event) == CT_NAMED_WHOLE) {
 *             ct_named_event_text(&event, table, 0, text, sizeof text);
 *             puts(text);
 *         } */
#ifndef CORETAP_NAMED_EVENT_H
#define CORETAP_NAMED_EVENT_H

#include "coretap/base.h"
#include "coretap/event.h"
#include "coretap/named.h"

#ifdef __cplusplus
extern "C" {
#endif

union ct_named_argument {
    int64_t i;  /* INT, LONG */
    uint64_t u; /* UINT, ULONG, POINTER */
    double f;   /* FLOAT, DOUBLE */
};

struct ct_named_event {
    uint64_t offset; /* of its last write in the capture */
    uint64_t cycle;  /* of that write */
    uint64_t port;   /* CT_SW_PORT */
    const struct ct_named_entry *entry;
    union ct_named_argument arguments[CT_NAMED_ARGUMENTS];
    uint8_t count;  /* arguments that are there */
    uint8_t cut;    /* 1: what was to follow is not in the trace */
    uint8_t pad[6]; /* 0 */
};

/* What an event of the trace is to a reader. */
enum ct_named_part {
    CT_NAMED_OTHER, /* not of a named event */
    CT_NAMED_PART,  /* of one that goes on */
    CT_NAMED_WHOLE, /* the end of one */
};

/* The most named events of a stream that are begun and not whole at a time. */
#define CT_NAMED_OPEN 64

struct ct_named_reader;

/* Makes a reader of one stream. `table` (not owned) is of the program that wrote it. CT_ERR_ARG,
 * CT_ERR_NOMEM. */
CT_API int ct_named_reader_new(struct ct_ctx *ctx, const struct ct_named_table *table,
                               struct ct_named_reader **out);
CT_API void ct_named_reader_free(struct ct_named_reader *reader);

/* Takes the next event of the stream. Writes to one port may nest, as those of an interrupt in what it
 * interrupts. Result: enum ct_named_part; with CT_NAMED_WHOLE *out is the named event, `cut` when it gave way
 * to the last of more than CT_NAMED_OPEN. */
CT_API int ct_named_reader_take(struct ct_named_reader *reader, const struct ct_event *event,
                                struct ct_named_event *out);

/* Gives the oldest named event that is not whole, and forgets it; to be called where trace is missing, and at
 * the end. Result: 1, or 0 when there is none. */
CT_API int ct_named_reader_cut(struct ct_named_reader *reader, struct ct_named_event *out);

/* Writes a named event as text, like snprintf: a text formatted as printf does it, `name = value`, or the
 * name of a span. `table` is that of its reader, for strings; `shift` is what is added to addresses of the
 * file. Arguments that are missing are `?`. Result: the length of the whole text. */
CT_API size_t ct_named_event_text(const struct ct_named_event *event, const struct ct_named_table *table,
                                  uint64_t shift, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
