/* SPDX-License-Identifier: Apache-2.0 */
/* coretap event: the trace as a stream of events with a running cycle count (paper 1, Table I): branches with
 * their targets, hardware events, exceptions, contexts, times, gaps. Events are made from elements alone
 * (branch broadcast) or from the flow along the program. A chain gives them to the `events` of its sink
 * (decode.h), a session to analyses of events. By hand, from flow records:
 *
 *     ct_events_new(ctx, source, &events);
 *     taken = ct_events_from_flow(events, records, record_count, out, 64, &count);
 *     for (size_t i = 0; i < count; i++)
 *         if (out[i].type == CT_EVENT_BRANCH)
 *             printf("cycle %llu: to 0x%llx\n", (unsigned long long)out[i].cycle,
 *                    (unsigned long long)out[i].value); */
#ifndef CORETAP_EVENT_H
#define CORETAP_EVENT_H

#include "coretap/base.h"
#include "coretap/elem.h"
#include "coretap/flow.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ct_event_type {
    CT_EVENT_BRANCH,       /* value: target of a taken branch */
    CT_EVENT_START,        /* value: address where tracing (re)starts or a handler begins */
    CT_EVENT_HARDWARE,     /* value: event bits; b: 1 for the trigger of an ETMv3 or PTM */
    CT_EVENT_EXCEPTION,    /* value: number; extra: preferred return address when b is 1 */
    CT_EVENT_RETURN,       /* return from an exception */
    CT_EVENT_CONTEXT,      /* value: context ID in 31:0, VMID in 63:32; a: el_sec; b: enum ct_elem_context */
    CT_EVENT_TIMESTAMP,    /* value: timestamp; a: enum ct_timestamp */
    CT_EVENT_TRACE_ON,     /* a: enum ct_trace_on */
    CT_EVENT_GAP,          /* value: bytes that could not be used; a: enum ct_gap */
    CT_EVENT_NO_ACCESS,    /* value: address of an instruction that no image contains */
    CT_EVENT_UNKNOWN_PATH, /* Q: value: address after the instructions; extra: their number, 0 when unknown */
    CT_EVENT_TRANSACTION,  /* a: enum ct_trans */
    CT_EVENT_MARKER,       /* timestamp marker */
    CT_EVENT_SOFTWARE,     /* value: payload of an instrumentation instruction; a: exception level */
    CT_EVENT_END,          /* a: enum ct_gap */
    /* STM, ITM: value: payload; a: enum ct_sw; b: number of payload bits and enum ct_sw_flag; extra:
     * CT_SW_PORT of the source, or CT_SW_PORT_UNKNOWN. Its timestamp, if any, is the event after it. */
    CT_EVENT_SW,
    CT_EVENT_DWT, /* value: payload; a: discriminator; b: as for SW */
    /* These are made from SW events by the event writer (format.h); value: CT_SW_PORT. */
    CT_EVENT_TEXT,       /* a line of text */
    CT_EVENT_VALUE,      /* a named value (named_event.h) */
    CT_EVENT_SPAN_BEGIN, /* the beginning of a named span of time (named_event.h) */
    CT_EVENT_SPAN_END,   /* the end of a named span of time (named_event.h) */
};

/* Master and channel of an STM, or stimulus port of an ITM (as the channel), as one number. */
#define CT_SW_PORT(master, channel) ((uint64_t)(master) << 16 | (channel))
#define CT_SW_PORT_UNKNOWN          UINT64_MAX

#define CT_EVENT_MEMORY_MOST UINT16_MAX

/* An event. Its cycle count is the sum of all counts up to and including its own. An event without a count
 * has that of the event before: it happened then or later. A timestamp with a count of cycles since the last
 * one adds it for itself alone. */
struct ct_event {
    uint64_t offset; /* of its packet in the capture */
    uint64_t cycle;
    uint64_t value;
    uint64_t extra;
    uint8_t type; /* enum ct_event_type */
    uint8_t a;
    uint16_t b;
    uint8_t unknown; /* BRANCH: 1 when the trace does not tell the target */
    uint8_t pad;     /* 0, so that equal events have equal bytes */
    uint16_t memory; /* memory of its addresses: ct_flow_batch.memory, or CT_EVENT_MEMORY_MOST for that number
                        and all higher ones */
};

/* A mark in a batch of events: an event that is not a branch. Batches come from a chain (decode.h) and are
 * cheaper than a call, or 40 bytes, for each event: they have branches in columns and other events as
 * marks. */
struct ct_event_mark {
    struct ct_event event;
    uint64_t before; /* number of branches of the batch before it */
};

struct ct_event_batch {
    size_t count;            /* branches */
    const uint64_t *targets; /* `value` of each CT_EVENT_BRANCH */
    const uint64_t *cycles;  /* `cycle` of each CT_EVENT_BRANCH */
    size_t mark_count;
    const struct ct_event_mark *marks; /* events of other types, in order, and BRANCH events with unknown
                                          target */
};

struct ct_events;

/* Makes an object that produces the events of one stream of `source`. CT_ERR_NOMEM. */
CT_API int ct_events_new(struct ct_ctx *ctx, const struct ct_source *source, struct ct_events **out);
CT_API void ct_events_free(struct ct_events *events);

/* Sets the memory of the records that follow; initially 0. */
CT_API void ct_events_set_memory(struct ct_events *events, uint32_t memory);

/* Sets the number of cycles before the first element or record; initially 0. For streams whose decoding
 * starts in the middle of the trace. */
CT_API void ct_events_set_cycle(struct ct_events *events, uint64_t cycle);

/* The smallest capacity of the array of events. */
#define CT_EVENTS_MIN 128

/* Turns elements or flow records into events. Elements must come from a stream with branch broadcast, else
 * direct branches are missing. `out` has room for `cap`, at least CT_EVENTS_MIN; *count receives the number
 * of events. Call again with the rest. `end` as in ct_walk_run. One object takes only one kind of input for
 * its whole stream. Some events are held back until their cycle count or target may have come; END releases
 * all of them. Returns the number of elements or records taken. */
CT_API size_t ct_events_from_elems(struct ct_events *events, const struct ct_elem *elems, size_t size,
                                   uint64_t end, struct ct_event *out, size_t cap, size_t *count);
CT_API size_t ct_events_from_flow(struct ct_events *events, const struct ct_flow *records, size_t size,
                                  struct ct_event *out, size_t cap, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
