/* SPDX-License-Identifier: Apache-2.0 */
/* coretap watch: events where execution hits a watchpoint. What each edge of the program graph hits is
 * determined once, when the edge is new. After that a step costs one load, however many watchpoints there
 * are. Here each call of a function, in the batches of steps of one stream:
 *
 *     ct_watches_new(ctx, programs, &watches);
 *     ct_watches_add(watches, "entry:main", &first, &count);
 *     ct_watcher_new(ctx, watches, &watcher);
 *     do {    // for each batch
 *         rc = ct_watcher_run(watcher, batch, events, 64, &event_count, &more);
 *         for (size_t i = 0; !rc && i < event_count; i++)
 *             printf("cycle %llu\n", (unsigned long long)events[i].cycle);
 *     } while (!rc && more); */
#ifndef CORETAP_WATCH_H
#define CORETAP_WATCH_H

#include "coretap/base.h"
#include "coretap/programs.h"
#include "coretap/event.h"
#include "coretap/input.h"
#include "coretap/named.h"
#include "coretap/steps.h"
#include "coretap/variable.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ct_watch_kind {
    CT_WATCH_ADDR,      /* an instruction was executed, or skipped by its condition */
    CT_WATCH_LINE,      /* execution reached code of a source line */
    CT_WATCH_ENTRY,     /* a function began: its first instruction ran, without a jump from inside of it */
    CT_WATCH_RETURN,    /* a function ended: a return, or instead of it a jump to another function */
    CT_WATCH_EDGE,      /* an edge of the control flow graph was traversed */
    CT_WATCH_EXCEPTION, /* an exception was taken; value: its preferred return address, or 0; number: as
                           traced */
    CT_WATCH_EXCEPTION_RETURN,
    CT_WATCH_CONTEXT,   /* the context changed; ctxt, vmid, el_sec and known are the new ones */
    CT_WATCH_GAP,       /* trace is missing from here on; number: enum ct_gap */
    CT_WATCH_OVERFLOW,  /* the same, because the trace unit overflowed */
    CT_WATCH_NO_ACCESS, /* execution reached `value`, where no image has code: what runs there is unknown */
    CT_WATCH_TIMESTAMP, /* a timestamp; number: cycles since the last count, where the trace has them; value:
                           how many events right before it happened exactly at this time, and not just no
                           later */
    CT_WATCH_ITM,       /* a write to a stimulus port of an ITM; value: what was written, number: its width in
                           bits */
    CT_WATCH_STM,       /* a write to a channel of an STM, likewise */
    CT_WATCH_DWT,       /* a packet of a comparator's data trace, likewise */
    CT_WATCH_EVENT,     /* an event of the trace unit happened; value: its number */
    CT_WATCH_NAMED,     /* a named event (named_event.h); value: that of a named value, in its form */
    CT_WATCH_LOAD,      /* a variable was read, according to a data trace; value: its value in its form, or
                           for a variable that is no number the address accessed; number: width of the value
                           in bits in CT_WATCH_BITS, 0 when only some bits are known; above it the number of
                           the access, modulo 2^24: an access to several variables makes several events */
    CT_WATCH_STORE,     /* a variable was written, likewise */
    CT_WATCH_ACCESS,    /* memory was accessed, according to an event log of coretap fractal; value: the
                           address; number: the core */
};

/* The form of the value in a watchpoint's events. */
enum ct_watch_form {
    CT_WATCH_NO_VALUE, /* none, except as described for the kind */
    CT_WATCH_RAW,      /* bits: an unsigned number, or a floating-point number of 32 or 64 bits */
    CT_WATCH_SIGNED,   /* a signed number, sign-extended to 64 bits */
    CT_WATCH_UNSIGNED, /* an unsigned number */
    CT_WATCH_REAL,     /* the bits of a double */
    CT_WATCH_TEXT,     /* a text: see ct_watch_event_text */
};

/* A watchpoint in a set. */
struct ct_watchpoint {
    const char *name; /* as it was requested */
    /* LINE: the line; EDGE: its number; EXCEPTION, CONTEXT: the one watched, or CT_WATCH_ANY; EVENT: its
     * number; ITM: the port; STM: as in CT_SW_PORT, perhaps with CT_WATCH_ANY_MASTER; DWT: 8 × the comparator
     * plus enum ct_watch_packet; NAMED: index of its first entry in the table; LOAD, STORE: the address;
     * ACCESS: enum ct_watch_access, CT_WATCH_PROCESS and CT_WATCH_POINT */
    uint64_t number;
    uint32_t places; /* number of addresses or ranges that it watches */
    uint8_t kind;    /* enum ct_watch_kind */
    uint8_t form;    /* enum ct_watch_form */
    uint8_t pad[2];  /* 0 */
};

#define CT_WATCH_ANY        UINT64_MAX
#define CT_WATCH_BITS       UINT32_C(0xff) /* in the number of a LOAD or STORE */
#define CT_WATCH_ANY_MASTER (UINT64_C(1) << 32)

/* In the number of a CONTEXT: it is given by name, after the colon. */
#define CT_WATCH_CONTEXT_NAME (UINT64_C(1) << 40)

/* Kinds of accesses for a watchpoint ACCESS, and flags for their value. */
enum ct_watch_access {
    CT_WATCH_ACCESS_ANY,
    CT_WATCH_ACCESS_READ,  /* data was read */
    CT_WATCH_ACCESS_WRITE, /* a line was requested in order to write it */
    CT_WATCH_ACCESS_FETCH, /* instructions were read */
    CT_WATCH_ACCESS_WHICH = 7,
    CT_WATCH_ACCESS_PHYSICAL = 8,    /* the value is the physical address */
    CT_WATCH_ACCESS_POINT = 1 << 16, /* for an observation point, by its number */
};

#define CT_WATCH_PROCESS(number) ((uint64_t)(number) >> 8 & 0xff) /* of an ACCESS: the process */
#define CT_WATCH_POINT(number)   ((uint32_t)((number) >> 32))     /* of an ACCESS: the observation point */

/* Packets of the data trace of a DWT. */
enum ct_watch_packet {
    CT_WATCH_PACKET_DATA, /* the value that was read or written */
    CT_WATCH_PACKET_READ,
    CT_WATCH_PACKET_WRITE,
    CT_WATCH_PACKET_PC,      /* the address of the instruction */
    CT_WATCH_PACKET_ADDRESS, /* bits 15:0 of the address of the data */
};

/* Position of an event relative to the end of the step before it. */
enum ct_watch_first {
    CT_WATCH_INSIDE,  /* somewhere after it. For a timestamp: after another one */
    CT_WATCH_ARRIVAL, /* exactly there: execution reached the first instruction of a step. For a timestamp:
                         nothing is in between */
    CT_WATCH_ARRIVAL_BEFORE, /* exactly there, with timestamps in between, from the last one that is an
                                ARRIVAL */
};

/* One event. Times never decrease along a stream. */
struct ct_watch_event {
    uint64_t cycle;     /* cycles since the stream began. Inside of a step interpolated by the bytes of code
                           executed */
    uint64_t timestamp; /* the last timestamp before it; see has_timestamp */
    uint64_t value;     /* address of the instruction (RETURN, EDGE: the last one before it was left); or as
                           described for the kind */
    uint64_t step;      /* steps of the stream before it */
    uint32_t watch;     /* number of the watchpoint */
    uint32_t number;    /* EXCEPTION, GAP, TIMESTAMP; ITM, STM, DWT, LOAD, STORE: width of the value */
    uint32_t ctxt;      /* context ID */
    uint32_t vmid;
    uint8_t el_sec;        /* exception level in bits 1:0, security state in 5:4 */
    uint8_t known;         /* which of ctxt, vmid and el_sec are known: enum ct_elem_context */
    uint8_t kind;          /* enum ct_watch_kind */
    uint8_t has_timestamp; /* 0: there was no timestamp yet */
    uint8_t timed;         /* 1: the step has cycles; 0: `cycle` is that of the last count before */
    uint8_t first;         /* enum ct_watch_first */
    uint16_t source;       /* number of its stream on a common axis (axis.h); else 0 */
};

/* Returns the text of an event of a watchpoint of form CT_WATCH_TEXT. It belongs to the set of watchpoints
 * and stays valid as long as that. */
static inline const char *ct_watch_event_text(const struct ct_watch_event *event)
{
    return (const char *)(uintptr_t)event->value; /* NOLINT(performance-no-int-to-ptr) */
}

/* A set of watchpoints. Once it is filled and its watchers are made, any number of threads may use it, each
 * with watchers of its own. */
struct ct_watches;

/* Makes an empty set of watchpoints. Their places are looked up in `programs`, which must stay valid; NULL:
 * none. The set takes the names of events and contexts from the captures that were added to `programs`. Lines
 * and control flow of a program are loaded when a watchpoint needs them. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_watches_new(struct ct_ctx *ctx, struct ct_programs *programs, struct ct_watches **out);
CT_API void ct_watches_free(struct ct_watches *watches);

/* Adds the watchpoints that `spec` requests, in the programs of the set. Their numbers begin with *first, and
 * there are *count of them (both may be NULL). `spec` is one of:
 *   0x4010, 16400, main+0x10   the instruction at an address
 *   main.c:32                  a line (the next one with code, when it has none)
 *   main                       entry and return of a function, or entry where it was inlined: up to three
 *                              watchpoints
 *   entry:main, return:main    one of them (an inlined function has no returns)
 *   edge:17                    an edge of the control flow graph
 *   exception, exception:5     any exception, or number 5
 *   exception-return, context, gap, overflow, no-access, timestamp
 *   context:0x12               the context ID changes to this one
 *   context:bash               another thread runs, and it or its process has this name (ct_watches_events)
 *   event:0, event:trigger     an event of the trace unit, or the trigger of an ETMv3 or PTM
 *   event:L1D_CACHE_REFILL     an event by its name (ct_watches_events)
 *   itm:3                      a write to stimulus port 3 of an ITM
 *   stm:7, stm:0x10:7          a write to channel 7 of an STM, by any master or by one
 *   dwt:0                      what comparator 0 of a DWT saw read or written; dwt:0.read or dwt:0.write for
 *                              one of them; dwt:0.address, dwt:0.pc for the address in memory or in code
 *   value:NAME, text:FORMAT, begin:NAME, end:NAME
 *                              a named event, by a name from ct_watches_named_at
 *   access:table, access:motor.speed, access:1:main, access:0x4000..0x5000
 *                              an access to the memory of a function, a variable or a range, by the program
 *                              or by process 1, according to an event log of coretap fractal
 *                              (fractal_watch.h). May be followed by .read, .write or .fetch for only these,
 *                              then by .physical or .address (the default) for the address in the value
 *   load:motor.speed, store:table[3]
 *                              a variable, or a part of one, is read or written, according to the data trace
 *                              of an ETMv3 or a DWT. Names are as for ct_variable_find
 *
 * After itm, stm and dwt, .signed says that the written value is signed. "function:gap" is a function whose
 * name is one of the words above. CT_ERR_NOT_FOUND with a text that says what is missing; the errors of
 * ct_program_symbols, ct_program_lines, ct_program_cfg and ct_program_variable. */
CT_API int ct_watches_add(struct ct_watches *watches, const char *spec, uint32_t *first, uint32_t *count);

/* Sets the names of events of the program that writes software trace. To be called before places are added;
 * the table is not owned. `shift` is the difference between the address where the program is loaded and that
 * in its file, to find strings in events. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_watches_named_at(struct ct_watches *watches, const struct ct_named_table *table,
                               uint64_t shift);

/* Adds the names of a buffer's contexts, and of the events of its sources (struct ct_source). To be called
 * before places are added; the names are copied. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_watches_events(struct ct_watches *watches, const struct ct_buffer *buffer);

/* Allows any name in places such as "context:NAME", because names become known only with the events. To be
 * called before places are added. CT_ERR_ARG. */
CT_API int ct_watches_any_context(struct ct_watches *watches);

/* Returns the programs in which places are looked up, or NULL. They are not owned. */
CT_API struct ct_programs *ct_watches_programs(const struct ct_watches *watches);

/* Requests texts in the events of a watchpoint, whose form becomes CT_WATCH_TEXT. For a port of an ITM or a
 * channel of an STM they are the lines written there, each when it ends; for "text:FORMAT" the formatted
 * text; for contexts the name of the thread that runs from there on, or its number when it has no name. To be
 * called before the set is watched. CT_ERR_CONFIG: another kind, which has no text. CT_ERR_ARG,
 * CT_ERR_NOMEM. */
CT_API int ct_watches_want_text(struct ct_watches *watches, uint32_t watch);

/* Sets the text of an event that ct_watch_event_text returns. The set keeps one copy of each text. For
 * callers that make events without a watcher, in any thread. CT_ERR_ARG: the set has no watchpoint with
 * texts; CT_ERR_LIMIT: more than 64 MiB of texts; CT_ERR_NOMEM. */
CT_API int ct_watches_set_text(const struct ct_watches *watches, const char *text, size_t size,
                               struct ct_watch_event *event);

/* Returns the variable of a watchpoint of kind LOAD or STORE, by its number; NULL for others. It belongs to
 * the programs, and its address is that in its file. */
CT_API const struct ct_variable *ct_watches_variable(const struct ct_watches *watches, uint32_t watch);

/* Returns all watchpoints, by number, borrowed until the next one is added. */
CT_API const struct ct_watchpoint *ct_watches_all(const struct ct_watches *watches, uint32_t *count);

/* One place of a watchpoint. ADDR, LINE, ENTRY: the instruction at `addr` (ENTRY: of a function up to `end`).
 * ACCESS: memory from `addr` up to `end`. RETURN: code from `addr` up to `end`. EDGE: from the instruction at
 * `addr` to `end`, or 0 for any. */
struct ct_watch_place {
    uint64_t addr;
    uint64_t end;
    uint32_t watch;
    uint8_t kind;     /* enum ct_watch_kind */
    uint8_t edge;     /* EDGE: enum ct_cfg_kind */
    uint8_t branches; /* EDGE: 1: the block it leaves ends with a branch */
    uint8_t program;  /* number of its program (ct_programs_at) plus 1; 0: an address, or a program after the
                         first 254 */
};

/* Returns the places of all watchpoints except RETURN, in no particular order. They are borrowed until the
 * next watchpoint is added. */
CT_API const struct ct_watch_place *ct_watches_places(const struct ct_watches *watches, size_t *count);

/* Finds what is at the address in the value of an event. Of several programs with this address it is the one
 * whose place execution reached, if any (ENTRY, LINE, ADDR). It uses the programs, so only one thread may
 * call it at a time. CT_ERR_ARG; the errors of ct_programs_where. */
CT_API int ct_watches_where(const struct ct_watches *watches, const struct ct_watch_event *event,
                            struct ct_program_where *out);

/* Returns the name of a kind of watchpoint: "addr", "line", "entry", "return", "edge", "exception",
 * "exception-return", "context", "gap", "overflow", "no-access", "timestamp", "itm", "stm", "dwt",
 * "event", "named", "load", "store" or "access". */
CT_API const char *ct_watch_kind_name(enum ct_watch_kind kind);

/* Watches one stream. */
struct ct_watcher;

/* Makes an object that watches one stream. Sorts `watches` (not owned), so no other thread may read them
 * during the call. CT_ERR_NOMEM. */
CT_API int ct_watcher_new(struct ct_ctx *ctx, struct ct_watches *watches, struct ct_watcher **out);
CT_API void ct_watcher_free(struct ct_watcher *watcher);

/* Updates after watchpoints were added to the set: from the next batch on, what edges hit is determined
 * again. Nothing of the stream is lost. CT_ERR_ARG in the middle of a batch. */
CT_API int ct_watcher_renew(struct ct_watcher *watcher);

/* Leaves out timestamps inside of a row. This is for callers that only need the timestamps around other
 * events: a row consists of timestamps that do not decrease, each directly after a step, with nothing but
 * steps between them that hit no watchpoint. Of a row the first event and the last two are given; it ends
 * with the batch at the latest. With several watchpoints that take timestamps none are left out. To be called
 * before the first batch. CT_ERR_ARG. */
CT_API int ct_watcher_fold_timestamps(struct ct_watcher *watcher);

/* Gives the events of a batch in order, at most `cap` (at least 1), and their number in *count. *more is 1
 * when there are more: call again with the same batch. All batches have one graph and come in order. Takes
 * four bytes for each edge of the graph, and 24 for each place that an edge hits. CT_ERR_NOMEM. */
CT_API int ct_watcher_run(struct ct_watcher *watcher, const struct ct_step_batch *batch,
                          struct ct_watch_event *out, size_t cap, size_t *count, int *more);

#ifdef __cplusplus
}
#endif
#endif
