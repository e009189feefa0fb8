/* SPDX-License-Identifier: Apache-2.0 */
/* The set of watchpoints, as the watcher reads it. */
#ifndef CT_ANALYSIS_WATCH_H
#define CT_ANALYSIS_WATCH_H

#include <stdbool.h>

#include "base/arena.h"
#include "coretap/named_event.h"
#include "coretap/watch.h"

/* A variable that is watched. */
struct ct_watched_variable {
    const struct ct_variable *is;
    uint64_t addr; /* with its program moved to where it lay */
    uint32_t watch;
};

/* Code that may load and store with an ETMv3 watching. */
struct ct_watched_code {
    const struct ct_memory *memory;
    uint64_t shift; /* what is added to an address in it */
};

/* What a source calls one of its events. */
struct ct_watched_event {
    const char *name, *source;
    uint64_t number;
};

/* What the contexts of a buffer are called. */
struct ct_watched_contexts {
    struct ct_buffer names; /* the names alone */
    struct ct_clock clock;
    const struct ct_context_name *of; /* those that were copied, which may be gone */
    bool in_vmid;                     /* the VMID is the context ID */
};

struct ct_watched_texts;

struct ct_watches {
    struct ct_ctx *ctx;
    struct ct_arena arena;
    struct ct_watchpoint *points;
    size_t count;
    struct ct_watch_place *points_at; /* places of all kinds but RETURN, sorted by address */
    size_t point_count;
    struct ct_watch_place *returns; /* places of kind RETURN, sorted by address */
    uint64_t *reach;                /* reach[i] is the largest end of returns[0 … i] */
    size_t return_count;
    struct ct_programs *programs; /* or NULL */
    uint32_t marks;               /* a bit for each kind of mark that is watched */
    int sorted;
    const struct ct_named_table *named; /* names of events, or NULL */
    uint32_t *named_as; /* by entry of it: the first entry of the same kind and name, where that is watched */
    struct ct_watched_variable *variables;
    size_t variable_count;
    struct ct_watched_code *code; /* of all programs, once a variable is watched */
    size_t code_count;
    size_t code_programs;            /* those whose code is among it, or cannot be read */
    struct ct_watched_event *events; /* names of events of trace units */
    size_t event_count;
    bool any_context;     /* names of contexts are learnt while events come */
    bool events_known;    /* … as far as the capture gives names */
    uint32_t dwt_comp[4]; /* addresses that the comparators of all DWTs compare, 0 where it is not known */
    bool dwt_seen;        /* there is a DWT */
    struct ct_watched_contexts *contexts;
    size_t context_sets;
    bool contexts_traced;           /* some source tells who runs */
    uint64_t named_shift;           /* what is added to addresses of the program with the names of events */
    struct ct_watched_texts *texts; /* NULL: no events have one */
    int watched; /* a watcher exists, so that places are sorted as soon as they are added */
};

/* Add a watchpoint, and a place to the last one. CT_ERR_NOMEM. */
int ct_watches_point(struct ct_watches *watches, const char *name, enum ct_watch_kind kind, uint64_t number);
int ct_watches_place(struct ct_watches *watches, const struct ct_watch_place *place);

/* Gives what ct_watch_place.program has of a program with a number of the set. */
uint8_t ct_watches_program_byte(size_t number);

/* Adds the watchpoint of a value that a place such as "itm:3" names. *is_value is false when it names none.
 * The errors of ct_watches_add. */
int ct_watches_add_value(struct ct_watches *watches, const char *spec, bool *is_value);

/* The same of a named event, such as "value:speed". */
int ct_watches_add_named(struct ct_watches *watches, const char *spec, bool *is_named);

/* The same of a context, such as "context:0x12" or "context:bash". */
int ct_watches_add_context(struct ct_watches *watches, const char *spec, bool *is_context);

/* Takes the names of the contexts of a buffer. CT_ERR_NOMEM. */
int ct_watches_contexts(struct ct_watches *watches, const struct ct_buffer *buffer);

/* Tells whether the context of an event has the name that a watchpoint wants. */
bool ct_watches_is_context(const struct ct_watches *watches, const struct ct_watchpoint *point,
                           const struct ct_watch_event *event);

/* Writes what the context of an event is called, or its number, like snprintf. */
size_t ct_watches_context_text(const struct ct_watches *watches, const struct ct_watch_event *event,
                               char *text, size_t size);

/* The same of memory, such as "access:table". */
int ct_watches_add_memory(struct ct_watches *watches, const char *spec, bool *is_memory);

/* Finds a variable in the first program that has it. The errors of ct_program_variable. */
int ct_watches_find_variable(const struct ct_watches *watches, const char *spec, const char *name,
                             const char *only, struct ct_watched_variable *out);

void ct_watches_free_texts(struct ct_watches *watches);

/* The same of a variable, such as "store:motor.speed". */
int ct_watches_add_variable(struct ct_watches *watches, const char *spec, bool *is_variable);

/* Returns the number that watchpoints of a named event are compared by; CT_WATCH_NOT_NAMED: there is none.
 * The set has names. */
#define CT_WATCH_NOT_NAMED UINT32_MAX
uint32_t ct_watch_named_number(const struct ct_watches *watches, const struct ct_named_event *event);

/* Tells whether a watchpoint of a mark wants an event of its kind, which has the number that is compared. */
bool ct_watch_wants(const struct ct_watches *watches, const struct ct_watchpoint *point,
                    const struct ct_watch_event *event, uint64_t number);

/* Sorts the places. CT_ERR_NOMEM. */
int ct_watches_sort(struct ct_watches *watches);

struct ct_analysis_cut;
struct ct_watcher;

/* Says in which state the watcher is between two batches, as struct ct_analysis_kind says it; `graph` is that
 * of the batches, NULL when none came. CT_ERR_NOT_FOUND for watchpoints of which it does not say all:
 * variables, texts, software trace, times, and contexts by name. */
int ct_watcher_cut(const struct ct_watcher *watcher, const struct ct_graph *graph,
                   struct ct_analysis_cut *cut);

/* A watchpoint that an edge comes by. */
struct ct_watch_hit {
    uint64_t addr;
    uint32_t watch;
    uint32_t before; /* bytes of the node that run before it */
    uint8_t kind;    /* enum ct_watch_kind */
    uint8_t first;   /* an ENTRY at the start of the node, which counts only when execution does not come from
                        inside the function */
    uint8_t last;    /* this is the last hit of its edge */
    uint8_t pad;
    uint32_t size; /* size of the node in bytes, at least 1 */
    uint64_t end;  /* with `first`: where the function ends */
};

/* Writes the hits of `edge` in order of execution, at most `most` of them. Returns how many there are, which
 * may be more. */
size_t ct_watch_hits(const struct ct_watches *watches, const struct ct_node *node, const struct ct_edge *edge,
                     struct ct_watch_hit *out, size_t most);

#endif
