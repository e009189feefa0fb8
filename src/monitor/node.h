/* SPDX-License-Identifier: Apache-2.0 */
/* The core: a graph of streams. Both dialects are lowered to it; the emitter turns it into programs. */
#pragma once

#include "monitor/diag.h"
#include "monitor/ir.h"

enum ct_mon_node_kind {
    N_NIL,
    N_INPUT,        /* index */
    N_TICK,         /* a unit at every instant */
    N_DEFAULT,      /* args[0], value; if args[0] is nil: a constant stream */
    N_DEFAULT_FROM, /* args[0], args[1] */
    N_TIME,
    N_LAST,  /* args: value, trigger */
    N_DELAY, /* args: amount, reset; index of its timer */
    N_LIFT,  /* kernel over options */
    N_SLIFT, /* kernel over held values */
    N_MERGE,
    N_FILTER, /* args: stream, condition */
    N_ON,     /* args: trigger, stream */
    N_FOLD,   /* args[0], value: initial; kernel(result, x) */
    N_REDUCE, /* args[0]; kernel(result, x) */
    N_PURE,
    N_MONITOR, /* args: the machine's atoms, then the streams whose events trigger its steps */
    N_REF,     /* stands for a definition that is not finished; then args[0] is its node */
    N_OPAQUE,  /* during the check of macros: an unknown stream */
};

/* How an atom of a formula is read from its stream. */
enum ct_mon_atom_kind {
    ATOM_EVENT,  /* true when the stream has an event */
    ATOM_BOOL,   /* true when it has an event with value true */
    ATOM_SIGNAL, /* true when its held value is true */
};

struct ct_mon_machine;

struct ct_mon_node {
    enum ct_mon_node_kind kind;
    const struct ct_mon_type *type; /* type of the elements */
    uint32_t n, id, index;
    uint32_t variant; /* distinguishes equal nodes that hold different values (joint.h) */
    struct ct_mon_node **args;
    struct ct_mon_cell value;
    struct ct_mon_ir *kernel;
    const struct ct_mon_machine *machine;
    const uint8_t *atoms; /* N_MONITOR: enum ct_mon_atom_kind, by atom */
    bool changes_only;
    struct ct_mon_span span;
    const char *name; /* name of the definition, for messages and drawings */
    uint64_t hash;
    struct ct_mon_node *next;
    /* set by the analysis: */
    bool reached, has0;
    uint8_t mark;
    uint32_t order;
};

struct ct_mon_graph {
    struct ct_mon_arena *arena;
    struct ct_mon_types *types;
    struct ct_mon_ir_pool *pool;
    struct ct_mon_node **buckets;
    size_t cap, count;
    uint32_t ndelays;
    struct ct_mon_node *nil; /* of no particular type; see ct_mon_node_nil */
};

void ct_mon_graph_init(struct ct_mon_graph *g, struct ct_mon_arena *arena, struct ct_mon_types *types,
                       struct ct_mon_ir_pool *pool);

struct ct_mon_node *ct_mon_node_nil(struct ct_mon_graph *g, const struct ct_mon_type *type);
struct ct_mon_node *ct_mon_node_input(struct ct_mon_graph *g, const struct ct_mon_type *type, uint32_t index);
struct ct_mon_node *ct_mon_node_const(struct ct_mon_graph *g, const struct ct_mon_type *type,
                                      struct ct_mon_cell value);
struct ct_mon_node *ct_mon_node_default(struct ct_mon_graph *g, struct ct_mon_node *s,
                                        struct ct_mon_cell value);
struct ct_mon_node *ct_mon_node_plain(struct ct_mon_graph *g, enum ct_mon_node_kind kind,
                                      const struct ct_mon_type *type, struct ct_mon_node **args, uint32_t n);
struct ct_mon_node *ct_mon_node_kernel(struct ct_mon_graph *g, enum ct_mon_node_kind kind,
                                       struct ct_mon_node **args, uint32_t n, struct ct_mon_ir *kernel,
                                       const struct ct_mon_type *type);
struct ct_mon_node *ct_mon_node_fold(struct ct_mon_graph *g, struct ct_mon_node *x, struct ct_mon_cell init,
                                     struct ct_mon_ir *kernel);
struct ct_mon_node *ct_mon_node_ref(struct ct_mon_graph *g, const struct ct_mon_type *type, const char *name,
                                    struct ct_mon_span span);
struct ct_mon_node *ct_mon_node_tick(struct ct_mon_graph *g);
struct ct_mon_node *ct_mon_node_opaque(struct ct_mon_graph *g, const struct ct_mon_type *type);
struct ct_mon_node *ct_mon_node_monitor(struct ct_mon_graph *g, const struct ct_mon_type *type,
                                        struct ct_mon_node **args, uint32_t n,
                                        const struct ct_mon_machine *machine, const uint8_t *atoms,
                                        bool changes_only);

/* Adds a node unchanged, without simplifying it, or returns an equal existing one. Its arguments and all else
 * it points to must belong to the graph. */
struct ct_mon_node *ct_mon_node_copy(struct ct_mon_graph *g, const struct ct_mon_node *s);

static inline bool node_is_const(const struct ct_mon_node *s)
{
    return s->kind == N_DEFAULT && s->args[0]->kind == N_NIL;
}

/* Returns whether the node reads the argument at the current instant. last and delay read only the past of
 * their first argument. */
static inline bool node_reads_now(const struct ct_mon_node *s, uint32_t arg)
{
    return arg > 0 || (s->kind != N_LAST && s->kind != N_DELAY);
}

/* Returns whether the node reads the value that the argument holds, not only its events. */
bool ct_mon_node_reads_held(const struct ct_mon_node *s, uint32_t arg);

/* Follows references to the final node. Returns NULL for a reference that leads back to itself. */
struct ct_mon_node *ct_mon_node_target(struct ct_mon_node *s);
