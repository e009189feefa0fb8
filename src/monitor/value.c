/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor/value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "monitor/arena.h"
#include "monitor/collection.h"

enum {
    CHUNK = 256 * 1024,
    UNIT_BYTES = 6,  /* bytes that one unit of work creates or reads */
    MOVE_BYTES = 12, /* bytes that one unit of work copies in a garbage collection */
    OBJECT_WORK = 2, /* units of work per object, in addition to its bytes */
    ROOTS = 4,       /* roots that one unit of work examines */
};

struct ct_mon_heap_chunk {
    struct ct_mon_heap_chunk *next;
    size_t used, size;
    size_t scanned; /* bytes scanned by the current collection */
    _Alignas(16) unsigned char bytes[];
};

const char *ct_mon_value_error_text(enum ct_mon_value_error e)
{
    switch (e) {
    case E_NONE:
        return "No error";
    case E_DIV:
        return "Division by zero";
    case E_OVERFLOW:
        return "Integer overflow: more than 65536 bits";
    case E_OPTION:
        return "Cannot get the value of None";
    case E_KEY:
        return "Key not found in map";
    case E_INDEX:
        return "Index out of range";
    case E_EMPTY:
        return "Empty list has no element";
    case E_NAN:
        return "Cannot convert NaN or infinity to Int";
    case E_FORMAT:
        return "Invalid format string";
    case E_STACK:
        return "Stack overflow";
    case E_BUDGET:
        return "One event takes more work than the limit";
    case E_STOPPED:
        return "The monitor was stopped before the end of its events";
    case E_MEMORY:
        return "The values of the monitor need more memory than the limit";
    case E_DELAY:
        return "Non-positive delay";
    }
    return "Unknown error";
}

void ct_mon_heap_init(struct ct_mon_heap *h, size_t limit, bool fixed)
{
    *h = (struct ct_mon_heap){.limit = limit, .fixed = fixed, .work = INT64_MAX};
}

bool ct_mon_heap_next_slice(struct ct_mon_heap *h)
{
    const uint64_t missing = -(uint64_t)h->work;
    uint64_t slice = missing + HEAP_SLICE;
    slice = slice < h->more_work ? slice : h->more_work;
    if (heap_is_stopped(h))
        heap_exhaust(h, E_STOPPED);
    else if (slice < missing)
        heap_exhaust(h, E_BUDGET);
    if (h->exhausted)
        return false;
    h->work += (int64_t)slice;
    h->more_work -= slice;
    return true;
}

static void free_chunks(struct ct_mon_heap_chunk *c)
{
    for (struct ct_mon_heap_chunk *next; c; c = next) {
        next = c->next;
        free(c);
    }
}

void ct_mon_heap_free(struct ct_mon_heap *h)
{
    free_chunks(h->chunks);
    h->chunks = NULL;
}

void ct_mon_heap_empty(struct ct_mon_heap *h)
{
    ct_mon_heap_free(h);
    h->used = h->live = 0;
    h->work = INT64_MAX; /* copying values into it is not charged to an event */
}

static size_t obj_bytes(enum ct_mon_obj_kind kind, size_t size)
{
    size_t n = kind == OBJ_STRING ? sizeof(struct ct_mon_obj_string) + size + 1
               : kind == OBJ_TREE ? sizeof(struct ct_mon_obj_tree)
               : kind == OBJ_BIG  ? sizeof(struct ct_mon_obj_big) + size * sizeof(uint64_t)
                                  : sizeof(struct ct_mon_obj_cells) + size * sizeof(struct ct_mon_cell);
    return (n + 15) & ~(size_t)15;
}

/* Allocates n bytes in a chunk. NULL: the heap is exhausted. */
static void *take_bytes(struct ct_mon_heap *h, size_t n)
{
    struct ct_mon_heap_chunk *c = h->chunks;
    if (!c || c->size - c->used < n) {
        size_t want = n > CHUNK ? n : CHUNK;
        c = malloc(sizeof *c + want);
        if (!c) {
            heap_exhaust(h, E_MEMORY);
            return NULL;
        }
        *c = (struct ct_mon_heap_chunk){.next = h->chunks, .size = want};
        h->chunks = c;
    }
    void *bytes = c->bytes + c->used;
    c->used += n;
    h->used += n;
    return bytes;
}

struct ct_mon_obj *ct_mon_heap_alloc(struct ct_mon_heap *h, enum ct_mon_obj_kind kind, size_t size)
{
    size_t n = size < h->limit ? obj_bytes(kind, size) : h->limit + 1;
    /* between two collections there may be twice the limit: old and new values */
    if (h->exhausted || n > h->limit || size > UINT32_MAX || h->used > 2 * h->limit) {
        heap_exhaust(h, E_MEMORY);
        return NULL;
    }
    if (!heap_spend(h, n / UNIT_BYTES + OBJECT_WORK))
        return NULL;
    struct ct_mon_obj *o = take_bytes(h, n);
    if (!o)
        return NULL;
    *o = (struct ct_mon_obj){.size = (uint32_t)size, .kind = (uint8_t)kind, .fixed = h->fixed};
    return o;
}

void ct_mon_heap_gc_begin(struct ct_mon_heap_gc *gc, struct ct_mon_heap *h)
{
    *gc = (struct ct_mon_heap_gc){.heap = h, .old = h->chunks};
    h->chunks = NULL;
    h->used = 0;
}

static struct ct_mon_obj *move(struct ct_mon_heap_gc *gc, struct ct_mon_obj *o)
{
    if (!o || o->fixed)
        return o;
    if (o->forward)
        return o->forward;
    struct ct_mon_heap *h = gc->heap;
    const size_t n = obj_bytes(o->kind, o->size);
    if (h->used + n > h->limit) /* the live values exceed the limit */
        heap_exhaust(h, E_MEMORY);
    if (h->exhausted || !heap_spend(h, n / MOVE_BYTES + OBJECT_WORK))
        return NULL;
    struct ct_mon_obj *to = take_bytes(h, n);
    if (!to)
        return NULL;
    memcpy(to, o, n);
    to->forward = NULL;
    o->forward = to;
    return to;
}

static void move_cell(struct ct_mon_heap_gc *gc, struct ct_mon_cell *c)
{
    if (!(c->meta & META_PTR))
        return;
    struct ct_mon_obj *to = move(gc, c->v.o);
    if (to)
        c->v.o = to;
    else
        *c = cell_error(E_MEMORY);
}

void ct_mon_heap_roots(struct ct_mon_heap_gc *gc, struct ct_mon_cell *cells, size_t count)
{
    if (!heap_spend(gc->heap, count / ROOTS + 1))
        return;
    for (size_t i = 0; i < count; i++)
        move_cell(gc, &cells[i]);
}

static void scan(struct ct_mon_heap_gc *gc, struct ct_mon_obj *o)
{
    if (o->kind == OBJ_TREE) {
        struct ct_mon_obj_tree *t = (struct ct_mon_obj_tree *)o;
        t->left = (struct ct_mon_obj_tree *)move(gc, (struct ct_mon_obj *)t->left);
        t->right = (struct ct_mon_obj_tree *)move(gc, (struct ct_mon_obj *)t->right);
        for (int i = 0; i < 3; i++)
            move_cell(gc, &t->cells[i]);
    } else if (o->kind != OBJ_STRING && o->kind != OBJ_BIG) {
        struct ct_mon_obj_cells *r = (struct ct_mon_obj_cells *)o;
        for (uint32_t i = 0; i < o->size; i++)
            move_cell(gc, &r->cells[i]);
    }
}

void ct_mon_heap_gc_end(struct ct_mon_heap_gc *gc)
{
    struct ct_mon_heap *h = gc->heap;
    bool more;
    do {
        more = false; /* moving an object appends to the front chunk, or inserts a new chunk before it */
        for (struct ct_mon_heap_chunk *c = h->chunks; c; c = c->next) {
            for (; c->scanned < c->used; more = true) {
                struct ct_mon_obj *o = (struct ct_mon_obj *)(c->bytes + c->scanned);
                c->scanned += obj_bytes(o->kind, o->size);
                scan(gc, o);
            }
        }
    } while (more);
    free_chunks(gc->old);
    h->live = h->used;
}

struct ct_mon_cell ct_mon_value_string(struct ct_mon_heap *h, const char *text, size_t size)
{
    struct ct_mon_obj_string *s = (struct ct_mon_obj_string *)ct_mon_heap_alloc(h, OBJ_STRING, size);
    if (!s)
        return cell_error(E_MEMORY);
    if (size)
        memcpy(s->text, text, size);
    s->text[size] = 0;
    return (struct ct_mon_cell){.v.o = &s->o, .meta = META_PTR};
}

struct ct_mon_cell ct_mon_value_copy(struct ct_mon_heap *h, struct ct_mon_cell c)
{
    if (!(c.meta & META_PTR))
        return c;
    const struct ct_mon_obj *from = c.v.o;
    struct ct_mon_obj *to = ct_mon_heap_alloc(h, from->kind, from->size);
    if (!to)
        return cell_error(E_MEMORY);
    const size_t bytes = from->kind == OBJ_STRING ? from->size + 1 : from->size * sizeof(uint64_t);
    memcpy(to + 1, from + 1, bytes);
    to->negative = from->negative;
    c.v.o = to;
    return c;
}

struct ct_mon_cell ct_mon_value_concat(struct ct_mon_heap *h, const struct ct_mon_cell *a,
                                       const struct ct_mon_cell *b)
{
    const struct ct_mon_obj_string *x = cell_string(a), *y = cell_string(b);
    struct ct_mon_obj_string *s =
        (struct ct_mon_obj_string *)ct_mon_heap_alloc(h, OBJ_STRING, (size_t)x->o.size + y->o.size);
    if (!s)
        return cell_error(E_MEMORY);
    memcpy(s->text, x->text, x->o.size);
    memcpy(s->text + x->o.size, y->text, y->o.size + 1);
    return (struct ct_mon_cell){.v.o = &s->o, .meta = META_PTR};
}

static int compare_float(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

static int compare_big(struct ct_mon_heap *h, const struct ct_mon_obj *a, const struct ct_mon_obj *b)
{
    if (a->negative != b->negative)
        return a->negative ? -1 : 1;
    int c = ct_order(a->size, b->size);
    heap_spend(h, a->size);
    for (uint32_t i = a->size; !c && i-- > 0;)
        c = ct_order(((const struct ct_mon_obj_big *)a)->digits[i],
                     ((const struct ct_mon_obj_big *)b)->digits[i]);
    return a->negative ? -c : c;
}

static int compare_objects(struct ct_mon_heap *h, const struct ct_mon_obj *a, const struct ct_mon_obj *b)
{
    if (a == b || h->exhausted)
        return 0;
    if (a->kind == OBJ_STRING) {
        size_t n = a->size < b->size ? a->size : b->size;
        heap_spend(h, n / UNIT_BYTES);
        int c = memcmp(((const struct ct_mon_obj_string *)a)->text,
                       ((const struct ct_mon_obj_string *)b)->text, n);
        return c ? c : ct_order(a->size, b->size);
    }
    if (a->kind == OBJ_BIG)
        return compare_big(h, a, b);
    if (a->kind == OBJ_COLLECTION)
        return ct_mon_collection_compare(h, a, b);
    const struct ct_mon_obj_cells *x = (const struct ct_mon_obj_cells *)a,
                                  *y = (const struct ct_mon_obj_cells *)b;
    for (uint32_t i = 0; i < a->size && i < b->size; i++) {
        int c = ct_mon_value_compare(h, &x->cells[i], &y->cells[i]);
        if (c)
            return c;
    }
    return ct_order(a->size, b->size);
}

int ct_mon_value_compare(struct ct_mon_heap *h, const struct ct_mon_cell *a, const struct ct_mon_cell *b)
{
    if (!heap_spend(h, 2))
        return 0;
    if ((a->meta ^ b->meta) & (META_SOME | META_ERR))
        return ct_order(a->meta & (META_SOME | META_ERR), b->meta & (META_SOME | META_ERR));
    if ((a->meta & META_PTR) && (b->meta & META_PTR))
        return compare_objects(h, a->v.o, b->v.o);
    if (a->meta & META_PTR) /* one Int has more than 64 bits, the other has not */
        return a->v.o->negative ? -1 : 1;
    if (b->meta & META_PTR)
        return b->v.o->negative ? 1 : -1;
    if (a->meta & META_FLOAT)
        return compare_float(a->v.f, b->v.f);
    return (a->v.i > b->v.i) - (a->v.i < b->v.i);
}

bool ct_mon_value_equal(struct ct_mon_heap *h, const struct ct_mon_cell *a, const struct ct_mon_cell *b)
{
    if ((a->meta & b->meta & META_FLOAT) && !((a->meta ^ b->meta) & META_SOME))
        return a->v.f == b->v.f;
    return ct_mon_value_compare(h, a, b) == 0;
}

uint64_t ct_mon_value_hash(struct ct_mon_heap *heap, const struct ct_mon_cell *c)
{
    uint64_t h = hash_mix(1, c->meta & (META_SOME | META_ERR));
    if (!(c->meta & META_PTR) || !heap_spend(heap, 2))
        return hash_mix(h, (uint64_t)c->v.i);
    const struct ct_mon_obj *o = c->v.o;
    if (o->kind == OBJ_STRING) {
        const struct ct_mon_obj_string *s = (const struct ct_mon_obj_string *)o;
        for (uint32_t i = 0; i < o->size; i++)
            h = hash_mix(h, (unsigned char)s->text[i]);
    } else if (o->kind == OBJ_BIG) {
        for (uint32_t i = 0; i < o->size; i++)
            h = hash_mix(h, ((const struct ct_mon_obj_big *)o)->digits[i]);
    } else if (o->kind == OBJ_RECORD) {
        const struct ct_mon_obj_cells *r = (const struct ct_mon_obj_cells *)o;
        for (uint32_t i = 0; i < o->size; i++)
            h = hash_mix(h, ct_mon_value_hash(heap, &r->cells[i]));
    } else {
        h = hash_mix(h, ct_mon_collection_size(o));
    }
    return h;
}
