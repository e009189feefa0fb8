/* SPDX-License-Identifier: Apache-2.0 */
/* coretap named event: what a program wrote to an ITM or STM with the header coretap/itm.h, assembled from
 * the single writes.
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
    uint64_t offset; /* offset of its last write in the capture */
    uint64_t cycle;  /* cycle of that write */
    uint64_t port;   /* CT_SW_PORT */
    const struct ct_named_entry *entry;
    union ct_named_argument arguments[CT_NAMED_ARGUMENTS];
    uint8_t count;  /* number of arguments present */
    uint8_t cut;    /* 1: the rest is missing in the trace */
    uint8_t pad[6]; /* 0 */
};

/* The role of a trace event for a reader. */
enum ct_named_part {
    CT_NAMED_OTHER, /* not part of a named event */
    CT_NAMED_PART,  /* a part of a named event that continues */
    CT_NAMED_WHOLE, /* the end of a named event */
};

/* Maximal number of incomplete named events of a stream at a time. */
#define CT_NAMED_OPEN 64

struct ct_named_reader;

/* Makes a reader of one stream. `table` (not owned) is that of the program that wrote it. CT_ERR_ARG,
 * CT_ERR_NOMEM. */
CT_API int ct_named_reader_new(struct ct_ctx *ctx, const struct ct_named_table *table,
                               struct ct_named_reader **out);
CT_API void ct_named_reader_free(struct ct_named_reader *reader);

/* Takes the next event of the stream. Writes to one port may nest, like those of an interrupt in the code
 * that it interrupts. Returns an enum ct_named_part; with CT_NAMED_WHOLE *out is the named event. It is `cut`
 * when it was dropped because there were more than CT_NAMED_OPEN. */
CT_API int ct_named_reader_take(struct ct_named_reader *reader, const struct ct_event *event,
                                struct ct_named_event *out);

/* Returns the oldest incomplete named event and drops it; to be called where trace is missing, and at the
 * end. Returns 1, or 0 when there is none. */
CT_API int ct_named_reader_cut(struct ct_named_reader *reader, struct ct_named_event *out);

/* Writes a named event as text, like snprintf: a text formatted as by printf, `name = value`, or the name of
 * a span. `table` is that of its reader, for strings; `shift` is added to addresses of the file. Missing
 * arguments are `?`. Returns the length of the whole text. */
CT_API size_t ct_named_event_text(const struct ct_named_event *event, const struct ct_named_table *table,
                                  uint64_t shift, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
