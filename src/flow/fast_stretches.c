/* SPDX-License-Identifier: Apache-2.0 */
/* Counts stretches: the atoms between two addresses. Where a stretch begins, its atoms and the address behind
 * it say all that it adds to edges, so that one look-up counts it, which waits for none of the look-ups
 * before. What stretches added to their edges is worked out when the table is read, or when another one takes
 * their place. */
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/table_memory.h"
#include "flow/fast_links.h"

/* log2 of the rows of the table, each of them two stretches in a line of the cache */
#define ROWS_SHIFT 16u

/* Atoms of a stretch in the table, which have a 1 behind the last one. The bits above are for the memory
 * space. */
#define ATOMS_MOST  55u
#define SPACE_SHIFT 56

/* Stretches of more elements are not in the table, so that there are fewer marks between two steps than the
 * builder takes. */
#define ELEMS_MOST (CT_FAST_MARKS / 4)

/* Stretches that are collected at a time: fewer behind something new, which ends them. */
#define BATCH       1024u
#define BATCH_LEAST 16u

/* Fewer elements, or stretches, are not worth the beginning. */
#define ELEMS_LEAST 256u
#define LEAST       4u

/* After so many stretches it is judged whether they come again: not when more than one of MISSES_BAD is not
 * in the table, and surely when fewer than one of MISSES_FEW. Then they rest for so many elements the first
 * time, and twice as many each next time. */
#define JUDGED     (1u << 14)
#define MISSES_BAD 4u
#define MISSES_FEW 10u
#define REST       (1u << 20)
#define REST_MOST  (1u << 25)

/* A stretch of the table. `word`: how often it came since its edges were counted, in 28 bits, then 20 for the
 * block where it begins and 16 for its domain. */
struct stretch {
    uint64_t addr;
    uint64_t next; /* the address behind it */
    uint64_t bits; /* 0: the place is free */
    uint64_t word;
};

#define ONCE        (UINT64_C(1) << 36)
#define BLOCK_SHIFT 16
#define DOMAIN_MASK UINT64_C(0xffff)

/* Stretches whose edges are to be counted, and how many of them are followed side by side. */
#define LEFT 512u
#define WAYS 8u

struct ct_stretches {
    struct stretch rows[1u << ROWS_SHIFT][2];
    struct stretch left[LEFT]; /* which lost their place */
    unsigned left_count;
    unsigned shift;   /* 64 - log2 of the rows */
    unsigned least;   /* the fewest elements to begin with */
    unsigned batch;   /* how many are collected the next time */
    uint32_t looked;  /* look-ups since they were judged … */
    uint32_t missed;  /* … and how many found nothing */
    uint32_t rest;    /* how long stretches rest the next time … */
    uint32_t resting; /* … and how many elements are left of a rest */
    bool used;        /* there may be counts */
    bool repeats;     /* few were not in the table */
    /* what was collected: where a stretch begins, its atoms, and the index of the address before it */
    uint64_t addr[BATCH + 1], bits[BATCH + 1];
    uint32_t count[BATCH + 1], at[BATCH + 1];
    uint32_t row[BATCH + 1];
};

_Static_assert((CT_ELEM_ATOMS & ~1u) == CT_ELEM_ATOMS && CT_ELEM_ADDRESS == CT_ELEM_ATOMS + 1,
               "the kinds of atoms and addresses differ in bit 0");

/* Collects whole stretches, of elements that begin with an address. Which of them are atoms cannot be
 * predicted, so nothing branches on it. Result: how many stretches. */
static unsigned collect(struct ct_stretches *c, const struct ct_elem *elems, size_t size)
{
    const size_t most = c->batch;
    size_t n = 0;
    uint64_t bits = 0;
    uint64_t count = 0;
    c->addr[0] = elems[0].v;
    c->at[0] = 0;
    for (size_t i = 1; i < size && n < most; i++) {
        const struct ct_elem *elem = &elems[i];
        const unsigned kind = elem->kind;
        if (__builtin_expect((kind & ~1u) != CT_ELEM_ATOMS, 0)) {
            if (kind != CT_ELEM_CYCLES && kind != CT_ELEM_EVENT)
                break;
            continue;
        }
        const uint64_t is_address = kind & 1;
        const uint64_t keep = is_address - 1;
        c->bits[n] = bits | UINT64_C(1) << (count & 63);
        c->count[n] = (uint32_t)count;
        c->addr[n + 1] = elem->v;
        c->at[n + 1] = (uint32_t)i;
        bits = (bits | elem->v << (count & 63)) & keep;
        count = (count + elem->n) & keep;
        n += is_address;
    }
    return (unsigned)n;
}

static uint32_t row_of(const struct ct_stretches *c, uint64_t addr, uint64_t next, uint64_t bits)
{
    const uint64_t mixed = addr * UINT64_C(0x9e3779b97f4a7c15) ^ bits * UINT64_C(0xc2b2ae3d27d4eb4f) ^
                           next * UINT64_C(0x165667b19e3779f9);
    return (uint32_t)(mixed * UINT64_C(0x9e3779b97f4a7c15) >> c->shift);
}

/* what stands for the atoms of a stretch that is not for the table */
#define NONE UINT64_C(1)

/* Finds the rows of `n` stretches and fetches them. */
static void find_rows(struct ct_stretches *c, unsigned n, uint64_t space)
{
    for (unsigned s = 0; s < n; s++) {
        const bool fits = c->count[s] - 1 < ATOMS_MOST && c->at[s + 1] - c->at[s] <= ELEMS_MOST;
        c->bits[s] = fits ? c->bits[s] | space << SPACE_SHIFT : NONE;
        c->row[s] = row_of(c, c->addr[s], c->addr[s + 1], c->bits[s]);
        __builtin_prefetch(&c->rows[c->row[s]], 1);
    }
}

/* ---- counting edges ---- */

static uint32_t block_of(const struct stretch *s)
{
    return (uint32_t)(s->word >> BLOCK_SHIFT) & CT_LINK_BLOCK;
}

static uint64_t atoms_of(uint64_t bits)
{
    return bits & ((UINT64_C(1) << SPACE_SHIFT) - 1);
}

/* A stretch that is followed beside others. */
struct way {
    uint64_t atoms;
    uint32_t block;
    uint32_t count;
    uint32_t number; /* in `left` */
};

static struct way begin_way(const struct stretch *left, uint32_t number)
{
    const struct stretch *s = &left[number];
    return (struct way){atoms_of(s->bits), block_of(s), (uint32_t)(s->word >> 36), number};
}

/* Counts the edges of the stretches that lost their place, but for pairs behind their last steps: the blocks
 * of these are put down, and 0 where the address was the one that the program gives. Each step waits for the
 * one before; so several stretches are followed at once. */
static void count_inside(struct ct_fast *f, uint32_t last[LEFT])
{
    struct ct_stretches *c = f->stretches;
    struct ct_fast_link *const links = f->links;
    struct way ways[WAYS];
    unsigned active = 0;
    uint32_t number = 0;
    while (active < WAYS && number < c->left_count)
        ways[active++] = begin_way(c->left, number++);
    while (active)
        for (unsigned k = 0; k < active; k++) {
            struct way *way = &ways[k];
            struct ct_fast_link *link = &links[way->block];
            const unsigned exec = way->atoms & 1;
            link->count[exec] += way->count;
            way->atoms >>= 1;
            if (way->atoms != 1)
                way->block = link->next[exec] & CT_LINK_BLOCK;
            else {
                last[way->number] = link->next[exec] & CT_LINK_INDIRECT ? way->block : 0;
                *way = number < c->left_count ? begin_way(c->left, number++) : ways[--active];
            }
        }
}

static void count_left(struct ct_fast *f)
{
    struct ct_stretches *c = f->stretches;
    const struct ct_blocks *b = &f->blocks;
    uint32_t last[LEFT];
    count_inside(f, last);
    for (unsigned i = 0; i < c->left_count; i++)
        __builtin_prefetch(&b->pairs[ct_pair_place(b, last[i], c->left[i].next)], 1);
    for (unsigned i = 0; i < c->left_count; i++)
        if (last[i])
            ct_blocks_known_pair(b, last[i], c->left[i].next, CT_ISA_A64)->count += c->left[i].word >> 36;
    c->left_count = 0;
}

/* Takes a stretch out of its place, whose edges are counted later. */
static void take_out(struct ct_fast *f, struct stretch *s)
{
    struct ct_stretches *c = f->stretches;
    if (s->word < ONCE)
        return;
    c->left[c->left_count++] = *s;
    s->word &= ONCE - 1;
    if (c->left_count == LEFT)
        count_left(f);
}

void ct_fast_spend_stretches(struct ct_fast *f)
{
    struct ct_stretches *c = f->stretches;
    if (!c || !c->used)
        return;
    for (size_t i = 0; i < (size_t)1 << ROWS_SHIFT; i++)
        for (unsigned k = 0; k < 2; k++)
            take_out(f, &c->rows[i][k]);
    count_left(f);
    c->used = false;
}

void ct_fast_forget_stretches(struct ct_fast *f)
{
    struct ct_stretches *c = f->stretches;
    if (!c)
        return;
    memset(c->rows, 0, sizeof c->rows);
    c->left_count = 0;
    c->used = false;
}

/* ---- following ---- */

/* Returns the block at an address, 0 when a step from there would be new or is for the plain walk. */
static uint32_t block_at(struct ct_fast *f, uint64_t addr)
{
    const struct ct_block like = {.space = (uint8_t)ct_walk_space(f->walk), .domain = f->domain};
    const uint32_t known = ct_fast_known_target(f, addr, CT_ISA_A64, &like);
    if (known)
        return known;
    const uint32_t found = ct_blocks_find(&f->blocks, addr, CT_ISA_A64, f->domain);
    if (!found || f->blocks.blocks[found].flags & CT_BLOCK_SLOW)
        return 0;
    *ct_fast_target(f, addr) = (struct ct_fast_target){
        .addr = addr, .block = found, .isa = CT_ISA_A64, .space = like.space, .domain = like.domain};
    return found;
}

/* Returns how many elements right before one make marks. */
static uint32_t marks_before(const struct ct_elem *elems, size_t i)
{
    uint32_t marks = 0;
    while (elems[i - 1 - marks].kind == CT_ELEM_CYCLES || elems[i - 1 - marks].kind == CT_ELEM_EVENT)
        marks++;
    return marks;
}

/* Going through the stretches that were collected. */
struct pass {
    struct ct_fast *f;
    struct ct_stretches *c;
    const struct ct_elem *elems;
    struct ct_fast_at at; /* the state, unless `counted` */
    bool counted;         /* all up to the current stretch is counted, and the state is an older one */
};

/* Takes the address before stretch `s`. */
static void come_to(struct pass *p, unsigned s)
{
    p->at.addr = p->c->addr[s];
    p->at.addr_isa = CT_ISA_A64;
    p->at.have_addr = true;
}

/* Sets the state behind the stretch before `s`, which was counted, and takes back the count of the edge
 * behind it. */
static void come_back(struct pass *p, unsigned s)
{
    struct ct_fast *f = p->f;
    const struct ct_stretches *c = p->c;
    uint32_t block = block_at(f, c->addr[s - 1]);
    uint32_t last = block;
    uint32_t link = 0;
    unsigned exec = 0;
    for (uint64_t atoms = atoms_of(c->bits[s - 1]); atoms != 1; atoms >>= 1) {
        exec = atoms & 1;
        last = block;
        link = f->links[block].next[exec];
        block = link & CT_LINK_BLOCK;
    }
    ct_fast_come_along(f, &p->at, last, exec, link, false);
    p->at.marks = marks_before(p->elems, c->at[s]);
    come_to(p, s);
    if (link & CT_LINK_INDIRECT)
        ct_blocks_known_pair(&f->blocks, last, p->at.addr, CT_ISA_A64)->count--;
    p->counted = false;
}

/* Returns the block where the stretch begins to which the state leads, and the pair that leads there, if one
 * does. 0 when something is new. */
static uint32_t join(struct pass *p, struct ct_branch_target **pair)
{
    const uint32_t block = ct_fast_known_begin(p->f, &p->at, pair);
    return block && (*pair || p->at.tail->flags & CT_MEMO_NUMBERED) ? block : 0;
}

/* Returns the stretch of the table, or NULL. */
static struct stretch *find(struct ct_stretches *c, unsigned s, uint64_t domain)
{
    struct stretch *row = c->rows[c->row[s]];
    const uint64_t first = (row[0].addr ^ c->addr[s]) | (row[0].next ^ c->addr[s + 1]) |
                           (row[0].bits ^ c->bits[s]) | ((row[0].word ^ domain) & DOMAIN_MASK);
    const uint64_t second = (row[1].addr ^ c->addr[s]) | (row[1].next ^ c->addr[s + 1]) |
                            (row[1].bits ^ c->bits[s]) | ((row[1].word ^ domain) & DOMAIN_MASK);
    return first && second ? NULL : &row[first != 0];
}

/* Puts a stretch into its row, in place of the older one. */
static void remember(struct ct_fast *f, unsigned s, uint32_t block)
{
    struct ct_stretches *c = f->stretches;
    struct stretch *row = c->rows[c->row[s]];
    take_out(f, &row[1]);
    row[1] = row[0];
    row[0] =
        (struct stretch){c->addr[s], c->addr[s + 1], c->bits[s], (uint64_t)block << BLOCK_SHIFT | f->domain};
}

/* Counts the edge to the next stretch. Returns false, and does nothing, when something is new. */
static bool count_join(struct pass *p)
{
    struct ct_branch_target *pair;
    if (!join(p, &pair))
        return false;
    if (pair)
        pair->count++;
    p->counted = true;
    return true;
}

/* Follows atoms of stretch `s` along links. Result: how many; 0 when the plain way has to take the first. */
static unsigned follow(struct pass *p, unsigned s)
{
    struct ct_fast *f = p->f;
    const struct ct_stretches *c = p->c;
    const uint64_t atoms = atoms_of(c->bits[s]);
    struct ct_branch_target *pair;
    if (p->counted) {
        const uint32_t known = block_at(f, c->addr[s]);
        return known ? ct_fast_follow_links(f, &p->at, known, NULL, false, atoms, c->count[s]) : 0;
    }
    const uint32_t block = ct_fast_known_begin(f, &p->at, &pair);
    return ct_fast_follow_from(f, &p->at, block, pair, atoms, c->count[s]);
}

/* Follows stretch `s`, of which the table has none, and remembers it unless something is new behind it.
 * Result: how many elements are done; at[s + 1] + 1 when the stretch is, with the address behind it. */
static size_t follow_atoms(struct pass *p, unsigned s)
{
    struct ct_fast *f = p->f;
    const struct ct_stretches *c = p->c;
    const size_t end = c->at[s + 1];
    size_t i = c->at[s] + 1;
    unsigned done = follow(p, s);
    if (done == c->count[s]) {
        p->at.marks = marks_before(p->elems, end);
        p->counted = false;
        come_to(p, s + 1);
        const uint32_t block = block_at(f, c->addr[s]);
        if (block && count_join(p))
            remember(f, s, block);
        return end + 1;
    }
    if (!done && p->counted)
        come_back(p, s);
    p->counted = false;
    for (; done; i++) {
        const struct ct_elem *elem = &p->elems[i];
        if (elem->kind == CT_ELEM_ATOMS && done < elem->n)
            break;
        done -= elem->kind == CT_ELEM_ATOMS ? elem->n : 0;
    }
    f->walk->atoms_done = done;
    return i;
}

/* Follows stretch `s`, which is not for the table, as elements are followed without one. Result: as above. */
static size_t follow_elems(struct pass *p, unsigned s)
{
    struct ct_fast *f = p->f;
    const size_t begin = p->c->at[s] + 1;
    const size_t end = p->c->at[s + 1];
    if (p->counted)
        come_back(p, s);
    ct_fast_put_at(f, &p->at);
    const size_t done = begin + ct_fast_count_plainly(f, p->elems + begin, end - begin);
    p->at = ct_fast_take_at(f);
    if (done < end || p->at.have_addr)
        return done;
    come_to(p, s + 1);
    return end + 1;
}

/* Counts `n` stretches. Result: how many elements are done; up to the address behind the last of them unless
 * something is new. */
static size_t count(struct pass *p, unsigned n)
{
    struct ct_stretches *c = p->c;
    const uint64_t domain = p->f->domain;
    for (unsigned s = 0; s < n; s++) {
        struct stretch *known = find(c, s, domain);
        if (__builtin_expect(known && (p->counted || count_join(p)), 1)) {
            known->word += ONCE;
            continue;
        }
        c->missed++;
        const size_t done = c->bits[s] == NONE ? follow_elems(p, s) : follow_atoms(p, s);
        if (done <= c->at[s + 1]) {
            c->looked += s;
            c->batch = c->batch / 4 > BATCH_LEAST ? c->batch / 4 : BATCH_LEAST;
            return done;
        }
    }
    if (p->counted)
        come_back(p, n);
    c->looked += n;
    c->batch = c->batch < BATCH ? c->batch * 2 : BATCH;
    return c->at[n] + 1;
}

static void judge(struct ct_stretches *c)
{
    const bool bad = c->missed * MISSES_BAD > c->looked;
    c->repeats = c->missed * MISSES_FEW < c->looked;
    c->resting = bad ? c->rest : 0;
    c->rest = !bad ? REST : c->rest < REST_MOST ? c->rest * 2 : REST_MOST;
    c->looked = c->missed = 0;
}

/* Counts the stretches that elements begin with, the first of which is an address. Result: how many elements
 * are done. 0: there are too few of them. */
static size_t count_some(struct ct_fast *f, const struct ct_elem *elems, size_t size)
{
    struct ct_stretches *c = f->stretches;
    const unsigned n = size < c->least ? 0 : collect(c, elems, size);
    if (n < LEAST)
        return 0;
    struct pass p = {f, c, elems, ct_fast_take_at(f), false};
    find_rows(c, n, (uint8_t)ct_walk_space(f->walk));
    come_to(&p, 0);
    c->used = true;
    f->linked += n * ATOMS_MOST;
    const size_t done = count(&p, n);
    ct_fast_put_at(f, &p.at);
    if (c->looked > JUDGED)
        judge(c);
    return done;
}

static size_t address_at(const struct ct_elem *elems, size_t i, size_t size)
{
    while (i < size && elems[i].kind != CT_ELEM_ADDRESS)
        i++;
    return i;
}

size_t ct_fast_count_stretches(struct ct_fast *f, const struct ct_elem *elems, size_t size)
{
    size_t done = 0;
    if (!ct_fast_have_links(f))
        return 0;
    while (done < size && !f->walk->atoms_done) {
        const size_t begin = address_at(elems, done, size);
        done += ct_fast_count_plainly(f, elems + done, begin - done);
        if (done < begin || done == size || f->have_addr)
            break;
        const size_t some = count_some(f, elems + done, size - done);
        if (!some)
            return done + ct_fast_count_plainly(f, elems + done, size - done);
        done += some;
    }
    return done;
}

static bool have_stretches(struct ct_fast *f)
{
    if (f->stretches)
        return true;
    f->stretches = ct_table_of_zeros(1, sizeof *f->stretches);
    if (!f->stretches) {
        f->blocks.error = ct_fail_nomem(f->ctx, "fast walk");
        return false;
    }
    f->stretches->shift = 64 - ROWS_SHIFT;
    f->stretches->least = ELEMS_LEAST;
    f->stretches->batch = BATCH;
    f->stretches->rest = REST;
    return true;
}

bool ct_fast_wants_stretches(struct ct_fast *f, size_t size)
{
    if (!f->walk->sf || f->pft || f->walk->stack.enabled || (!f->stretches && size < ELEMS_LEAST) ||
        !have_stretches(f))
        return false;
    struct ct_stretches *c = f->stretches;
    c->resting -= c->resting < size ? c->resting : (uint32_t)size;
    return !c->resting && size >= c->least && f->marks < CT_FAST_MARKS / 2;
}

bool ct_fast_repeats_stretches(const struct ct_fast *f)
{
    return f->stretches && f->stretches->repeats;
}

void ct_fast_tune_stretches(struct ct_fast *f, unsigned rows)
{
    if (!f->counts || !have_stretches(f))
        return;
    ct_fast_spend_stretches(f);
    ct_fast_forget_stretches(f);
    f->stretches->shift = 64 - rows;
    f->stretches->least = LEAST;
}
