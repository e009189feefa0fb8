/* SPDX-License-Identifier: Apache-2.0 */
/* Run-time values: cells of 16 bytes, and objects on a copying heap. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Error values (docs/tessla-language.md A.1). */
enum ct_mon_value_error {
    E_NONE,
    E_DIV,
    E_OVERFLOW,
    E_OPTION,
    E_KEY,
    E_INDEX,
    E_EMPTY,
    E_NAN,
    E_FORMAT,
    /* never stored in a cell; they end the run at once */
    E_STACK,
    E_BUDGET,
    E_STOPPED,
    E_MEMORY,
    E_DELAY,
};

const char *ct_mon_value_error_text(enum ct_mon_value_error e);

struct ct_mon_obj;

/* Bits of a cell's `meta`, which describe the payload. The option levels make Option[..[T]] of any depth a
 * single cell: None has 0 levels, Some(x) has one more than x. An error below n levels of Some is an error
 * value inside n Somes. A cell is "plain" (an Int, Bool or unit, and no error) when meta is 0. */
enum {
    META_ERR = 0xff,
    META_SOME = 0xff00,
    META_SOME_ONE = 0x100,
    META_SOME_SHIFT = 8,
    META_PTR = 0x10000,   /* v.o is an object; for an Int: one of more than 64 bits */
    META_FLOAT = 0x20000, /* the payload is v.f */
};

struct ct_mon_cell {
    union {
        int64_t i;
        double f;
        struct ct_mon_obj *o;
    } v;
    uint32_t meta;
    uint32_t stamp; /* of a stream: stamp of the instant of the event; 0: none yet */
};

enum ct_mon_obj_kind {
    OBJ_STRING,
    OBJ_RECORD,     /* cells */
    OBJ_TREE,       /* cells: key, a, b; and the subtrees left and right */
    OBJ_COLLECTION, /* cells as described in collection.c */
    OBJ_BIG,        /* an Int of more than 64 bits */
};

struct ct_mon_obj {
    struct ct_mon_obj *forward; /* during a collection: the new place of the object */
    uint32_t size;              /* strings: bytes; Ints: digits; others: number of cells */
    uint8_t kind;
    uint8_t fixed;    /* a constant: not moved and not freed */
    uint8_t negative; /* an Int: whether it is negative */
};

struct ct_mon_obj_string {
    struct ct_mon_obj o;
    char text[]; /* NUL-terminated */
};

/* An Int of more than 64 bits: digits of libtommath, lowest first; the highest is not 0. */
struct ct_mon_obj_big {
    struct ct_mon_obj o;
    uint64_t digits[];
};

struct ct_mon_obj_cells {
    struct ct_mon_obj o;
    struct ct_mon_cell cells[];
};

struct ct_mon_obj_tree {
    struct ct_mon_obj o;
    struct ct_mon_obj_tree *left, *right;
    uint64_t count;
    struct ct_mon_cell cells[3];
};

struct ct_mon_heap_chunk;

struct ct_mon_heap {
    struct ct_mon_heap_chunk *chunks;
    size_t used;  /* bytes in chunks */
    size_t live;  /* bytes left after the last collection */
    size_t limit; /* limit of live bytes; beyond it the run ends with an error */
    bool fixed;   /* holds the constants of a specification */
    /* Why later results are invalid (E_MEMORY, E_BUDGET, E_STOPPED), or E_NONE. */
    enum ct_mon_value_error exhausted;
    int64_t work;       /* work left in this slice, in units of about one instruction */
    uint64_t more_work; /* work left after this slice; `stop` is tested between slices */
    const int *stop;    /* enum ct_monitor_stop, set by another thread; or NULL */
};

/* Makes an empty heap with unlimited work. */
void ct_mon_heap_init(struct ct_mon_heap *h, size_t limit, bool fixed);
void ct_mon_heap_free(struct ct_mon_heap *h);
/* Frees all values. Work is unlimited until the next heap_allow. */
void ct_mon_heap_empty(struct ct_mon_heap *h);

#define HEAP_SLICE (1 << 20) /* units of work per slice: some milliseconds */

#define HEAP_HURRY (1 << 14) /* units of work per event while the run has to end soon */

/* Returns whether another thread wants the run to end: enum ct_monitor_stop. */
static inline int heap_is_stopped(const struct ct_mon_heap *h)
{
    return h->stop ? __atomic_load_n(h->stop, __ATOMIC_RELAXED) : 0;
}

/* Allows `units` units of work from now on. */
static inline void heap_allow(struct ct_mon_heap *h, uint64_t units)
{
    const int stop = heap_is_stopped(h);
    uint64_t slice = HEAP_SLICE;
    if (__builtin_expect(stop, 0))
        slice = stop == 1 ? HEAP_HURRY : 0;
    h->work = (int64_t)(units < slice ? units : slice);
    h->more_work = units - (uint64_t)h->work;
}

/* Begins the next slice of work. Returns false, with the heap exhausted, when there is none. */
bool ct_mon_heap_next_slice(struct ct_mon_heap *h);

/* Charges work that is about to be done. Returns false when too little is left. */
static inline bool heap_spend(struct ct_mon_heap *h, uint64_t units)
{
    h->work -= (int64_t)units;
    return __builtin_expect(h->work >= 0, 1) || ct_mon_heap_next_slice(h);
}

/* Marks the heap as exhausted. Keeps the first reason. */
static inline void heap_exhaust(struct ct_mon_heap *h, enum ct_mon_value_error why)
{
    h->exhausted = h->exhausted ? h->exhausted : why;
}

/* Allocates an object. NULL: the heap is exhausted. */
struct ct_mon_obj *ct_mon_heap_alloc(struct ct_mon_heap *h, enum ct_mon_obj_kind kind, size_t size);

/* Returns whether a collection is worthwhile or necessary. Half of what survived the last one, up to twice
 * the limit, is reserved for the next instant. Call only between instants, when nothing but the roots is
 * alive. */
static inline bool heap_full(const struct ct_mon_heap *h)
{
    return h->used > 2 * h->live + (1u << 20) || h->used > h->limit + h->live / 2;
}

/* A collection: begin, then ct_mon_heap_roots for all live cells, then end. Its work is charged as usual; if
 * the heap is exhausted afterwards, the cells are invalid. */
struct ct_mon_heap_gc {
    struct ct_mon_heap *heap;
    struct ct_mon_heap_chunk *old;
};

void ct_mon_heap_gc_begin(struct ct_mon_heap_gc *gc, struct ct_mon_heap *h);
void ct_mon_heap_roots(struct ct_mon_heap_gc *gc, struct ct_mon_cell *cells, size_t count);
void ct_mon_heap_gc_end(struct ct_mon_heap_gc *gc);

static inline struct ct_mon_cell cell_int(int64_t i)
{
    return (struct ct_mon_cell){.v.i = i};
}

static inline struct ct_mon_cell cell_float(double f)
{
    return (struct ct_mon_cell){.v.f = f, .meta = META_FLOAT};
}

static inline struct ct_mon_cell cell_error(enum ct_mon_value_error e)
{
    return (struct ct_mon_cell){.meta = (uint32_t)e};
}

/* Returns the error that the value itself is; ignores errors inside a Some. */
static inline enum ct_mon_value_error cell_err(const struct ct_mon_cell *c)
{
    return c->meta & META_SOME ? E_NONE : (enum ct_mon_value_error)(c->meta & META_ERR);
}

struct ct_mon_cell ct_mon_value_string(struct ct_mon_heap *h, const char *text, size_t size);
struct ct_mon_cell ct_mon_value_concat(struct ct_mon_heap *h, const struct ct_mon_cell *a,
                                       const struct ct_mon_cell *b);

/* Copies a value into another heap. It must not be a collection or a record with members. */
struct ct_mon_cell ct_mon_value_copy(struct ct_mon_heap *h, struct ct_mon_cell c);

static inline const struct ct_mon_obj_string *cell_string(const struct ct_mon_cell *c)
{
    return (const struct ct_mon_obj_string *)c->v.o;
}

/* Orders values of one type. Returns 0 for values that are equal in TeSSLa, and for NaN with itself, which
 * keys need (ct_mon_value_equal differs there). Comparing records with shared parts can take far longer than
 * their size: the work is charged to the heap, and results are invalid once it is exhausted. */
int ct_mon_value_compare(struct ct_mon_heap *h, const struct ct_mon_cell *a, const struct ct_mon_cell *b);
bool ct_mon_value_equal(struct ct_mon_heap *h, const struct ct_mon_cell *a, const struct ct_mon_cell *b);
uint64_t ct_mon_value_hash(struct ct_mon_heap *h, const struct ct_mon_cell *c);
