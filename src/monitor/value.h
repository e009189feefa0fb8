/* SPDX-License-Identifier: Apache-2.0 */
/* Run-time values: cells of 16 bytes, objects on a copying heap. */
#ifndef CT_MONITOR_VALUE_H
#define CT_MONITOR_VALUE_H

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
    /* never stored: they end the run at once */
    E_STACK,
    E_BUDGET,
    E_STOPPED,
    E_MEMORY,
    E_DELAY,
};

const char *ct_mon_value_error_text(enum ct_mon_value_error e);

struct ct_mon_obj;

/* What the cell holds besides its payload: bits of `meta`. The option levels make Option[..[T]] of any
 * depth a plain cell: None is 0 levels, Some(x) is one more than x. An error below n levels of Some is an
 * error value inside n Somes. A cell is "plain" (an Int, Bool or unit that is no error) when meta is 0. */
enum {
    META_ERR = 0xff,
    META_SOME = 0xff00,
    META_SOME_ONE = 0x100,
    META_SOME_SHIFT = 8,
    META_PTR = 0x10000,   /* v.o is an object; of an Int: one of more than 64 bits */
    META_FLOAT = 0x20000, /* v.f */
};

struct ct_mon_cell {
    union {
        int64_t i;
        double f;
        struct ct_mon_obj *o;
    } v;
    uint32_t meta;
    uint32_t stamp; /* streams: the instant of the event; 0: none yet */
};

enum ct_mon_obj_kind {
    OBJ_STRING,
    OBJ_RECORD,     /* cells */
    OBJ_TREE,       /* cells: key, a, b; left and right */
    OBJ_COLLECTION, /* cells: see collection.c */
    OBJ_BIG,        /* an Int of more than 64 bits */
};

struct ct_mon_obj {
    struct ct_mon_obj *forward; /* during a collection: where it went */
    uint32_t size;              /* strings: bytes; Ints: digits; others: cells */
    uint8_t kind;
    uint8_t fixed;    /* a constant: neither moved nor freed */
    uint8_t negative; /* an Int: its sign */
};

struct ct_mon_obj_string {
    struct ct_mon_obj o;
    char text[]; /* NUL behind */
};

/* The digits of libtommath, the lowest first; the highest is not 0. */
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
    size_t live;  /* after the last collection */
    size_t limit; /* of live bytes; beyond it the run ends with an error */
    bool fixed;   /* constants of a specification */
    /* Why results since then mean nothing (E_MEMORY, E_BUDGET, E_STOPPED), or E_NONE. */
    enum ct_mon_value_error exhausted;
    int64_t work;       /* work left of this slice, in units of about one instruction */
    uint64_t more_work; /* work behind this slice; `stop` is looked at between two slices */
    const int *stop;    /* enum ct_monitor_stop, set by another thread; or NULL */
};

/* Makes an empty heap, without a limit of work. */
void ct_mon_heap_init(struct ct_mon_heap *h, size_t limit, bool fixed);
void ct_mon_heap_free(struct ct_mon_heap *h);
/* Frees all values. Until the next heap_allow any amount of work is allowed. */
void ct_mon_heap_empty(struct ct_mon_heap *h);

#define HEAP_SLICE (1 << 20) /* units of work: some milliseconds */

#define HEAP_HURRY (1 << 14) /* units of work of an event while the run has to end soon */

/* Asks whether another thread wants the run to end. Result: enum ct_monitor_stop. */
static inline int heap_is_stopped(const struct ct_mon_heap *h)
{
    return h->stop ? __atomic_load_n(h->stop, __ATOMIC_RELAXED) : 0;
}

/* Allows so much work from here on. */
static inline void heap_allow(struct ct_mon_heap *h, uint64_t units)
{
    const int stop = heap_is_stopped(h);
    uint64_t slice = HEAP_SLICE;
    if (__builtin_expect(stop, 0))
        slice = stop == 1 ? HEAP_HURRY : 0;
    h->work = (int64_t)(units < slice ? units : slice);
    h->more_work = units - (uint64_t)h->work;
}

/* Begins the next slice of work. False: there is none, and the heap is exhausted. */
bool ct_mon_heap_next_slice(struct ct_mon_heap *h);

/* Accounts for work that is about to be done. False: there is too little left. */
static inline bool heap_spend(struct ct_mon_heap *h, uint64_t units)
{
    h->work -= (int64_t)units;
    return __builtin_expect(h->work >= 0, 1) || ct_mon_heap_next_slice(h);
}

/* Marks the heap as exhausted. The first reason stays. */
static inline void heap_exhaust(struct ct_mon_heap *h, enum ct_mon_value_error why)
{
    h->exhausted = h->exhausted ? h->exhausted : why;
}

/* Allocates an object. NULL: the heap is exhausted. */
struct ct_mon_obj *ct_mon_heap_alloc(struct ct_mon_heap *h, enum ct_mon_obj_kind kind, size_t size);

/* Tells whether a collection is worth it, or is needed: half of what there was left behind the last one, up
 * to twice the limit, is for the instant to come. Only asked between instants, when nothing but the roots is
 * alive. */
static inline bool heap_full(const struct ct_mon_heap *h)
{
    return h->used > 2 * h->live + (1u << 20) || h->used > h->limit + h->live / 2;
}

/* A collection: begin, then ct_mon_heap_roots for all cells that live, then end. Its work counts as any
 * other, and when the heap is exhausted behind it, the cells mean nothing. */
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

/* Gives the error that the value itself is, not one inside a Some. */
static inline enum ct_mon_value_error cell_err(const struct ct_mon_cell *c)
{
    return c->meta & META_SOME ? E_NONE : (enum ct_mon_value_error)(c->meta & META_ERR);
}

struct ct_mon_cell ct_mon_value_string(struct ct_mon_heap *h, const char *text, size_t size);
struct ct_mon_cell ct_mon_value_concat(struct ct_mon_heap *h, const struct ct_mon_cell *a,
                                       const struct ct_mon_cell *b);

/* Copies a value that is no collection and no record with members into another heap. */
struct ct_mon_cell ct_mon_value_copy(struct ct_mon_heap *h, struct ct_mon_cell c);

static inline const struct ct_mon_obj_string *cell_string(const struct ct_mon_cell *c)
{
    return (const struct ct_mon_obj_string *)c->v.o;
}

/* Orders values of one type. 0 is equality as TeSSLa means it, except that NaN equals itself, which keys need
 * (ct_mon_value_equal differs there). Records that share their parts can take far longer than they are large:
 * the work is charged to the heap, and when that is exhausted the results mean nothing. */
int ct_mon_value_compare(struct ct_mon_heap *h, const struct ct_mon_cell *a, const struct ct_mon_cell *b);
bool ct_mon_value_equal(struct ct_mon_heap *h, const struct ct_mon_cell *a, const struct ct_mon_cell *b);
uint64_t ct_mon_value_hash(struct ct_mon_heap *h, const struct ct_mon_cell *c);

#endif
