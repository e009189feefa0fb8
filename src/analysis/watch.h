/* SPDX-License-Identifier: Apache-2.0 */
/* The set of watchpoints, as the watcher reads it. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "coretap/named_event.h"
#include "coretap/watch.h"

/* A watched variable. */
struct ct_watched_variable {
    const struct ct_variable *is;
    uint64_t addr; /* address at which it was loaded */
    uint32_t watch;
};

/* Code with loads and stores that an ETMv3 may trace. */
struct ct_watched_code {
    const struct ct_memory *memory;
    uint64_t shift; /* to be added to an address in `memory` */
};

/* The name that a source has for one of its events. */
struct ct_watched_event {
    const char *name, *source;
    uint64_t number;
};

/* The names of the contexts of a buffer. */
struct ct_watched_contexts {
    struct ct_buffer names; /* only the names are set */
    struct ct_clock clock;
    const struct ct_context_name *of; /* the original names, which may no longer exist */
    bool in_vmid;                     /* the VMID has the role of the context ID */
};

struct ct_watched_texts;

struct ct_watches {
    struct ct_ctx *ctx;
    struct ct_arena arena;
    struct ct_watchpoint *points;
    size_t count;
    struct ct_watch_place *points_at; /* places of all kinds except RETURN, sorted by address */
    size_t point_count;
    struct ct_watch_place *returns; /* places of kind RETURN, sorted by address */
    uint64_t *reach;                /* reach[i] is the largest end of returns[0 … i] */
    size_t return_count;
    struct ct_programs *programs; /* or NULL */
    uint32_t marks;               /* bit mask of the watched kinds of marks */
    int sorted;
    const struct ct_named_table *named; /* names of events, or NULL */
    uint32_t *named_as; /* by its entry: the first entry of the same kind and name, if that is watched */
    struct ct_watched_variable *variables;
    size_t variable_count;
    struct ct_watched_code *code; /* of all programs, once a variable is watched */
    size_t code_count;
    size_t code_programs;            /* programs whose code is in `code` or cannot be read */
    struct ct_watched_event *events; /* names of the events of trace units */
    size_t event_count;
    bool any_context;     /* names of contexts are learnt from events */
    bool events_known;    /* the names that the capture has are known */
    uint32_t dwt_comp[4]; /* addresses of the comparators in all DWTs, 0 when not known */
    bool dwt_seen;        /* there is a DWT */
    struct ct_watched_contexts *contexts;
    size_t context_sets;
    bool contexts_traced;           /* some source traces the context */
    uint64_t named_shift;           /* to be added to addresses of the program with the names of events */
    struct ct_watched_texts *texts; /* NULL: no event has a text */
    int watched;                    /* a watcher exists: new places must be sorted at once */
};

/* Add a watchpoint, and a place to the last watchpoint. CT_ERR_NOMEM. */
int ct_watches_point(struct ct_watches *watches, const char *name, enum ct_watch_kind kind, uint64_t number);
int ct_watches_place(struct ct_watches *watches, const struct ct_watch_place *place);

/* Returns ct_watch_place.program for the program with this number in the set. */
uint8_t ct_watches_program_byte(size_t number);

/* Adds a watchpoint of a value, such as "itm:3". Sets *is_value to false when `spec` is none. The errors of
 * ct_watches_add. */
int ct_watches_add_value(struct ct_watches *watches, const char *spec, bool *is_value);

/* Does the same for a named event, such as "value:speed". */
int ct_watches_add_named(struct ct_watches *watches, const char *spec, bool *is_named);

/* Does the same for a context, such as "context:0x12" or "context:bash". */
int ct_watches_add_context(struct ct_watches *watches, const char *spec, bool *is_context);

/* Adds the names of the contexts of a buffer. CT_ERR_NOMEM. */
int ct_watches_contexts(struct ct_watches *watches, const struct ct_buffer *buffer);

/* Returns whether the context of an event has the name that a watchpoint wants. */
bool ct_watches_is_context(const struct ct_watches *watches, const struct ct_watchpoint *point,
                           const struct ct_watch_event *event);

/* Writes the name of an event's context, or else its number. Returns a size as snprintf does. */
size_t ct_watches_context_text(const struct ct_watches *watches, const struct ct_watch_event *event,
                               char *text, size_t size);

/* Does the same as ct_watches_add_value for memory, such as "access:table". */
int ct_watches_add_memory(struct ct_watches *watches, const char *spec, bool *is_memory);

/* Finds a variable in the first program that has it. The errors of ct_program_variable. */
int ct_watches_find_variable(const struct ct_watches *watches, const char *spec, const char *name,
                             const char *only, struct ct_watched_variable *out);

void ct_watches_free_texts(struct ct_watches *watches);

/* Does the same as ct_watches_add_value for a variable, such as "store:motor.speed". */
int ct_watches_add_variable(struct ct_watches *watches, const char *spec, bool *is_variable);

/* Returns the number to which watchpoints of a named event compare, or CT_WATCH_NOT_NAMED when none watches
 * it. Requires `named`. */
#define CT_WATCH_NOT_NAMED UINT32_MAX
uint32_t ct_watch_named_number(const struct ct_watches *watches, const struct ct_named_event *event);

/* Returns whether a watchpoint of a mark wants an event of its kind. `number` is the number to compare. */
bool ct_watch_wants(const struct ct_watches *watches, const struct ct_watchpoint *point,
                    const struct ct_watch_event *event, uint64_t number);

/* Sorts the places. CT_ERR_NOMEM. */
int ct_watches_sort(struct ct_watches *watches);

struct ct_analysis_cut;
struct ct_watcher;

/* Adds the state of the watcher between two batches to `cut`, as struct ct_analysis_kind describes. `graph`
 * is that of the batches, NULL when none came. CT_ERR_NOT_FOUND for watchpoints with a state that does not
 * fit there: of variables, texts, software trace, times, and contexts by name. */
int ct_watcher_cut(const struct ct_watcher *watcher, const struct ct_graph *graph,
                   struct ct_analysis_cut *cut);

/* A watchpoint that an edge reaches. */
struct ct_watch_hit {
    uint64_t addr;
    uint32_t watch;
    uint32_t before; /* bytes of the node that run before the watchpoint */
    uint8_t kind;    /* enum ct_watch_kind */
    uint8_t first;   /* an ENTRY at the start of the node, which counts only when execution comes from outside
                        of the function */
    uint8_t last;    /* the last hit of its edge */
    uint8_t pad;
    uint32_t size; /* size of the node in bytes, at least 1 */
    uint64_t end;  /* with `first`: end of the function */
};

/* Writes the hits of `edge` in order of execution, at most `most`. Returns the number of all hits, which may
 * be larger. */
size_t ct_watch_hits(const struct ct_watches *watches, const struct ct_node *node, const struct ct_edge *edge,
                     struct ct_watch_hit *out, size_t most);
