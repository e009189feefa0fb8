/* SPDX-License-Identifier: Apache-2.0 */
/* coretap watch: events where execution comes by a watchpoint. What each edge of the program
 * graph passes is found out once, when the edge is new; from then on a step costs one load,
 * however many watchpoints there are. */
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
    CT_WATCH_ADDR,      /* an instruction was executed, or passed by as its condition said */
    CT_WATCH_LINE,      /* execution came to code of a line of the source */
    CT_WATCH_ENTRY,     /* a function began: its first instruction ran, not jumped to from inside of it */
    CT_WATCH_RETURN,    /* a function ended: a return, or a jump to another function in place of one */
    CT_WATCH_EDGE,      /* an edge of the control flow graph was traversed */
    CT_WATCH_EXCEPTION, /* an exception was taken; value: its preferred return address, or 0; number: as
                           traced */
    CT_WATCH_EXCEPTION_RETURN,
    CT_WATCH_CONTEXT,   /* the context changed; ctxt, vmid, el_sec and known are the new ones */
    CT_WATCH_GAP,       /* trace is missing from here on; number: enum ct_gap */
    CT_WATCH_OVERFLOW,  /* the same, because the trace unit overflowed */
    CT_WATCH_NO_ACCESS, /* execution is at `value`, where no image has code: what runs there is not seen */
    CT_WATCH_TIMESTAMP, /* a timestamp; number: cycles since the last count, where the trace has them; value:
                           how many events right before it were at this very time, and not only by then */
    CT_WATCH_ITM,       /* a write to a stimulus port of an ITM; value: what was written, number: its bits */
    CT_WATCH_STM,       /* the same to a channel of an STM */
    CT_WATCH_DWT,       /* a packet of a comparator's data trace; the same */
    CT_WATCH_EVENT,     /* an event of the trace unit happened; value: its number */
    CT_WATCH_NAMED,     /* a named event (named_event.h); value: of a named value, as its form says */
    CT_WATCH_LOAD,      /* a variable was read, as a data trace tells; value: its value, as its form says, of
                           one that is no number where it was accessed; number: CT_WATCH_BITS of the value, 0
                           when only some of them are known, and above the number of the access, modulo
                           2^24: an access to several variables makes several events */
    CT_WATCH_STORE,     /* the same, written */
    CT_WATCH_ACCESS,    /* memory was accessed, as an event log of coretap fractal tells; value: the address;
                           number: the core */
};

/* What the value of a watchpoint's events is. */
enum ct_watch_form {
    CT_WATCH_NO_VALUE, /* no more than as said above */
    CT_WATCH_RAW,      /* bits: a number without a sign, or a floating-point number of 32 or 64 of them */
    CT_WATCH_SIGNED,   /* a number with a sign, which all 64 bits of the value have */
    CT_WATCH_UNSIGNED, /* one without */
    CT_WATCH_REAL,     /* the bits of a double */
    CT_WATCH_TEXT,     /* a text: see ct_watch_event_text */
};

/* A watchpoint, as added. */
struct ct_watchpoint {
    const char *name; /* as it was asked for */
    /* LINE: the line; EDGE: its number; EXCEPTION, CONTEXT: the one watched, or CT_WATCH_ANY; EVENT: its
     * number; ITM: the port; STM: as CT_SW_PORT has it, with CT_WATCH_ANY_MASTER or without; DWT: 8 × the
     * comparator and enum ct_watch_packet; NAMED: index of its first entry in the table; LOAD, STORE: the
     * address; ACCESS: enum ct_watch_access, CT_WATCH_PROCESS and CT_WATCH_POINT */
    uint64_t number;
    uint32_t places; /* addresses or ranges that it watches */
    uint8_t kind;    /* enum ct_watch_kind */
    uint8_t form;    /* enum ct_watch_form */
    uint8_t pad[2];  /* 0 */
};

#define CT_WATCH_ANY        UINT64_MAX
#define CT_WATCH_BITS       UINT32_C(0xff) /* in the number of a LOAD or STORE */
#define CT_WATCH_ANY_MASTER (UINT64_C(1) << 32)

/* In the number of a CONTEXT: it is one by name, which stands behind the colon. */
#define CT_WATCH_CONTEXT_NAME (UINT64_C(1) << 40)

/* Accesses that an ACCESS is of, and what their value is. */
enum ct_watch_access {
    CT_WATCH_ACCESS_ANY,
    CT_WATCH_ACCESS_READ,  /* data was read */
    CT_WATCH_ACCESS_WRITE, /* a line was asked for in order to write it */
    CT_WATCH_ACCESS_FETCH, /* instructions were */
    CT_WATCH_ACCESS_WHICH = 7,
    CT_WATCH_ACCESS_PHYSICAL = 8,    /* the value is the physical address */
    CT_WATCH_ACCESS_POINT = 1 << 16, /* of an observation point, by its number */
};

#define CT_WATCH_PROCESS(number) ((uint64_t)(number) >> 8 & 0xff) /* of an ACCESS: the process */
#define CT_WATCH_POINT(number)   ((uint32_t)((number) >> 32))     /* of an ACCESS: the observation point */

/* Packets of the data trace of a DWT. */
enum ct_watch_packet {
    CT_WATCH_PACKET_DATA, /* what was read or written */
    CT_WATCH_PACKET_READ,
    CT_WATCH_PACKET_WRITE,
    CT_WATCH_PACKET_PC,      /* the address of the instruction */
    CT_WATCH_PACKET_ADDRESS, /* bits 15:0 of the address of the data */
};

/* Where an event stands beside the end of the step before it. */
enum ct_watch_first {
    CT_WATCH_INSIDE,  /* somewhere behind it. Of a timestamp: behind another one */
    CT_WATCH_ARRIVAL, /* there: execution came to the first instruction of a step. Of a timestamp: nothing
                         stands between */
    CT_WATCH_ARRIVAL_BEFORE, /* there, and timestamps stand between, from the last one on that is an ARRIVAL
                              */
};

/* One event. Times never decrease along a stream. */
struct ct_watch_event {
    uint64_t cycle; /* cycles counted since the stream began. Inside a step: by the bytes of code passed */
    uint64_t timestamp; /* the last one in the trace before it; see has_timestamp */
    uint64_t value;     /* address of the instruction (RETURN, EDGE: the last one before it was left);
                           or as above */
    uint64_t step;      /* steps of the stream that were over before it */
    uint32_t watch;     /* number of the watchpoint */
    uint32_t number;    /* EXCEPTION, GAP, TIMESTAMP; ITM, STM, DWT, LOAD, STORE: bits of the value */
    uint32_t ctxt;      /* context ID, */
    uint32_t vmid;
    uint8_t el_sec;        /* exception level in bits 1:0, security state in 5:4: */
    uint8_t known;         /* those that are known: enum ct_elem_context */
    uint8_t kind;          /* enum ct_watch_kind */
    uint8_t has_timestamp; /* 0: there was none yet */
    uint8_t timed;         /* 1: the step has cycles; 0: `cycle` is the last count before */
    uint8_t first;         /* enum ct_watch_first */
    uint16_t source;       /* number of its stream on an axis of several (axis.h); else 0 */
};

/* Returns the text that an event of a watchpoint of form CT_WATCH_TEXT has. It belongs to the set of
 * watchpoints, and lives as long as that. */
static inline const char *ct_watch_event_text(const struct ct_watch_event *event)
{
    return (const char *)(uintptr_t)event->value; /* NOLINT(performance-no-int-to-ptr) */
}

/* A set of watchpoints. Filled once; then any number of watchers may use it, in any thread. */
struct ct_watches;

/* Makes an empty set of watchpoints. Their places are looked up in `programs`, which have to stay; NULL:
 * there are none. It has the names of events and contexts that the captures have which were added to these.
 * Lines and control flow of a program are loaded when a watchpoint needs them. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_watches_new(struct ct_ctx *ctx, struct ct_programs *programs, struct ct_watches **out);
CT_API void ct_watches_free(struct ct_watches *watches);

/* Adds the watchpoints that `spec` asks for, in the programs of the set. Their numbers are *count from *first
 * on (both may be NULL). `spec` is one of:
 *   0x4010, 16400, main+0x10   the instruction at an address
 *   main.c:32                  a line (the next one with code, when it has none)
 *   main                       entry and return of a function, or entry where it was inlined: up to three
 *                              watchpoints
 *   entry:main, return:main    one of them (an inlined function has no returns)
 *   edge:17                    an edge of the control flow graph
 *   exception, exception:5     any exception, or number 5
 *   exception-return, context, gap, overflow, no-access, timestamp
 *   context:0x12               the context ID becomes that one
 *   context:bash               what runs becomes a thread, or one of a process, that ct_watches_events has
 * this name of event:0, event:trigger     an event of the trace unit, or the trigger of an ETMv3 or PTM
 *   event:L1D_CACHE_REFILL     one by the name that ct_watches_events gave
 *   itm:3                      a write to stimulus port 3 of an ITM
 *   stm:7, stm:0x10:7          a write to channel 7 of an STM, by any master or by one
 *   dwt:0                      what comparator 0 of a DWT saw read or written; dwt:0.read, dwt:0.write one of
 *                              them, dwt:0.address, dwt:0.pc where in memory and in the program
 *   value:NAME, text:FORMAT, begin:NAME, end:NAME
 *                              a named event, of the names that ct_watches_named_at gave
 *   access:table, access:motor.speed, access:1:main, access:0x4000..0x5000
 *                              memory of a function, a variable or a range is accessed, by the program or by
 *                              process 1, as an event log of coretap fractal tells (fractal_watch.h). Behind
 * it .read, .write or .fetch for those alone, then .address for the virtual address as value, which it is
 * anyway, or .physical for the other load:motor.speed, store:table[3] a variable, or a part of one, is read
 * or written, as the data trace of an ETMv3 or a DWT tells. Names are as in ct_variable_find Behind itm, stm
 * and dwt .signed says that what is written has a sign. "function:gap" is a function that is called as one of
 * the words above. CT_ERR_NOT_FOUND with a text that says what is missing; the errors of ct_program_symbols,
 * ct_program_lines, ct_program_cfg and ct_program_variable. */
CT_API int ct_watches_add(struct ct_watches *watches, const char *spec, uint32_t *first, uint32_t *count);

/* Gives the set the names of events of the program that writes software trace. To be called before places are
 * added; the table is not owned. `shift` is where the program lies less where its file says, so that strings
 * are found that events name. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_watches_named_at(struct ct_watches *watches, const struct ct_named_table *table,
                               uint64_t shift);

/* Gives the set the names of a buffer's contexts, and of the events of its sources (struct ct_source). To be
 * called before places are added; the names are copied. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_watches_events(struct ct_watches *watches, const struct ct_buffer *buffer);

/* Lets places such as "context:NAME" have any name: who makes the events learns names while they come. To be
 * called before places are added. CT_ERR_ARG. */
CT_API int ct_watches_any_context(struct ct_watches *watches);

/* Returns the programs in which places are looked up, or NULL. They are not owned. */
CT_API struct ct_programs *ct_watches_programs(const struct ct_watches *watches);

/* Makes the events of a watchpoint have texts: its form is CT_WATCH_TEXT then. Of a port of an ITM or a
 * channel of an STM they are the lines that are written there, each when it ends; of "text:FORMAT" what was
 * printed; of contexts the name of the thread that runs from there on, or its number where it has none. To be
 * called before the set is watched. CT_ERR_CONFIG: another kind, which has no text. CT_ERR_ARG, CT_ERR_NOMEM.
 */
CT_API int ct_watches_want_text(struct ct_watches *watches, uint32_t watch);

/* Gives an event the text that ct_watch_event_text returns. The set keeps a copy of each text once. For who
 * makes events without a watcher; any thread may. CT_ERR_ARG: the set has no watchpoint with texts;
 * CT_ERR_LIMIT: more than 64 MiB of texts; CT_ERR_NOMEM. */
CT_API int ct_watches_set_text(const struct ct_watches *watches, const char *text, size_t size,
                               struct ct_watch_event *event);

/* Returns the variable that a watchpoint of kind LOAD or STORE is of, by its number; NULL for others. It
 * belongs to the programs, and its address is that in its file. */
CT_API const struct ct_variable *ct_watches_variable(const struct ct_watches *watches, uint32_t watch);

/* Returns all watchpoints, by number, borrowed until the next one is added. */
CT_API const struct ct_watchpoint *ct_watches_all(const struct ct_watches *watches, uint32_t *count);

/* One place of a watchpoint. ADDR, LINE, ENTRY: the instruction at `addr` (ENTRY: of a function up to `end`).
 * ACCESS: memory from `addr` up to `end`.
 * RETURN: code from `addr` up to `end`. EDGE: from the instruction at `addr` to `end`, or 0 for any. */
struct ct_watch_place {
    uint64_t addr;
    uint64_t end;
    uint32_t watch;
    uint8_t kind;     /* enum ct_watch_kind */
    uint8_t edge;     /* EDGE: enum ct_cfg_kind */
    uint8_t branches; /* EDGE: 1: the block it leaves ends with a branch */
    uint8_t program;  /* 1 and up: it is of what the program with this number less 1 has (ct_programs_at);
                         0: of an address, or of a program behind the first 254 */
};

/* Returns the places of all watchpoints but those of RETURN, in no particular order. They are borrowed until
 * the next watchpoint is added. */
CT_API const struct ct_watch_place *ct_watches_places(const struct ct_watches *watches, size_t *count);

/* Tells what is at the address that is the value of an event: of several programs that have it the one whose
 * place execution came by, where one did (ENTRY, LINE, ADDR). CT_ERR_ARG; the errors of ct_programs_where. */
CT_API int ct_watches_where(const struct ct_watches *watches, const struct ct_watch_event *event,
                            struct ct_program_where *out);

/* Returns the name of a kind of watchpoint: "addr", "line", "entry", "return", "edge", "exception",
 * "exception-return", "context", "gap", "overflow", "no-access", "timestamp", "itm", "stm", "dwt",
 * "event", "named", "load", "store" or "access". */
CT_API const char *ct_watch_kind_name(enum ct_watch_kind kind);

/* Watches one stream. */
struct ct_watcher;

/* Makes an object that watches one stream. It puts `watches` in order, which no other thread may read
 * meanwhile; they are not owned. CT_ERR_NOMEM. */
CT_API int ct_watcher_new(struct ct_ctx *ctx, struct ct_watches *watches, struct ct_watcher **out);
CT_API void ct_watcher_free(struct ct_watcher *watcher);

/* Takes up watchpoints that were added to the set: what edges pass is found out again, from the next batch
 * on. Nothing of the stream is lost. CT_ERR_ARG in the midst of a batch. */
CT_API int ct_watcher_renew(struct ct_watcher *watcher);

/* Has the watcher leave out timestamps inside of a row. That is for who wants to know what time other events
 * lie between: a row are timestamps that do not decrease, each right behind a step, with nothing but steps
 * between them that come by no watchpoint. Of a row its first event and the last two are given; it ends with
 * the batch, if not before. With several watchpoints that take timestamps none are left out. To be called
 * before the first batch. CT_ERR_ARG. */
CT_API int ct_watcher_fold_timestamps(struct ct_watcher *watcher);

/* Gives the events of a batch in order, at most `cap` (at least 1); *count is how many. *more is 1 when there
 * are more: call again with the same batch. All batches are of one graph and in order. Four bytes for each
 * edge of the graph, and 24 for each place that an edge passes. CT_ERR_NOMEM. */
CT_API int ct_watcher_run(struct ct_watcher *watcher, const struct ct_step_batch *batch,
                          struct ct_watch_event *out, size_t cap, size_t *count, int *more);

#ifdef __cplusplus
}
#endif
#endif
