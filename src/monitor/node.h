/* SPDX-License-Identifier: Apache-2.0 */
/* The core: a graph of streams. Both dialects are lowered to it; the emitter turns it into programs. */
#ifndef CT_MONITOR_NODE_H
#define CT_MONITOR_NODE_H

#include "monitor/diag.h"
#include "monitor/ir.h"

enum node_kind {
    N_NIL,
    N_INPUT,        /* index */
    N_TICK,         /* a unit at every instant */
    N_DEFAULT,      /* args[0], value; of nil: a constant stream */
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
    N_MONITOR, /* args: as many atoms as the machine has, then streams whose events are its steps */
    N_REF,     /* stands for a definition that is not done yet; args[0] once it is */
    N_OPAQUE,  /* while macros are checked: some stream */
};

/* How a letter of a formula is read from the atom. */
enum atom_kind {
    ATOM_EVENT,  /* true where the stream has an event */
    ATOM_BOOL,   /* true where it has an event with value true */
    ATOM_SIGNAL, /* true where its held value is true */
};

struct machine;

struct node {
    enum node_kind kind;
    const struct type *type; /* of the elements */
    uint32_t n, id, index;
    struct node **args;
    struct cell value;
    struct ir *kernel;
    const struct machine *machine;
    const uint8_t *atoms; /* N_MONITOR: enum atom_kind each */
    bool changes_only;
    struct span span;
    const char *name; /* of the definition, for messages and drawings */
    uint64_t hash;
    struct node *next;
    /* set by the analysis */
    bool reached, has0;
    uint8_t mark;
    uint32_t order;
};

struct graph {
    struct arena *arena;
    struct types *types;
    struct ir_pool *pool;
    struct node **buckets;
    size_t cap, count;
    uint32_t ndelays;
    struct node *nil; /* of no type in particular; see ct_mon_node_nil */
};

void ct_mon_graph_init(struct graph *g, struct arena *arena, struct types *types, struct ir_pool *pool);

struct node *ct_mon_node_nil(struct graph *g, const struct type *type);
struct node *ct_mon_node_input(struct graph *g, const struct type *type, uint32_t index);
struct node *ct_mon_node_const(struct graph *g, const struct type *type, struct cell value);
struct node *ct_mon_node_default(struct graph *g, struct node *s, struct cell value);
struct node *ct_mon_node_plain(struct graph *g, enum node_kind kind, const struct type *type,
                               struct node **args, uint32_t n);
struct node *ct_mon_node_kernel(struct graph *g, enum node_kind kind, struct node **args, uint32_t n,
                                struct ir *kernel, const struct type *type);
struct node *ct_mon_node_fold(struct graph *g, struct node *x, struct cell init, struct ir *kernel);
struct node *ct_mon_node_ref(struct graph *g, const struct type *type, const char *name, struct span span);
struct node *ct_mon_node_tick(struct graph *g);
struct node *ct_mon_node_opaque(struct graph *g, const struct type *type);
struct node *ct_mon_node_monitor(struct graph *g, const struct type *type, struct node **args, uint32_t n,
                                 const struct machine *machine, const uint8_t *atoms, bool changes_only);

static inline bool node_is_const(const struct node *s)
{
    return s->kind == N_DEFAULT && s->args[0]->kind == N_NIL;
}

/* Follows references; NULL for one that leads back to itself. */
struct node *ct_mon_node_target(struct node *s);

#endif
