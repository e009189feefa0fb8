/* SPDX-License-Identifier: Apache-2.0 */
/* Counts stretches: the atoms between two addresses. Where a stretch begins, its atoms and the address behind
 * it say all that it adds to edges, so that one look-up counts it, which waits for none of the look-ups
 * before. What stretches added to their edges is worked out when the table is read, or when another one takes
 * their place. Where there is a return stack, a stretch also has the return addresses that it takes off it
 * and leaves there (stack_effect.h), and counts only where the stack has them. */
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/bytes.h"
#include "base/ctx.h"
#include "base/simd.h"
#include "base/table_memory.h"
#include "flow/fast_links.h"
#include "flow/fast_returns.h"

/* What counts stretches is compiled twice on x86-64, the second time for AVX-512, and chosen when the program
 * runs. */
#if defined(__x86_64__)
#define HAVE_AVX512
#define AVX512 __attribute__((target("avx512f,avx512dq,avx512vl,avx2,bmi,bmi2")))
#endif
#define INLINE static inline __attribute__((always_inline))

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
#define PLACES      (CT_STRIP_PLACES > BATCH + 1 ? CT_STRIP_PLACES : BATCH + 1)
#define BATCH_LEAST 16u

/* Fewer elements, or stretches, are not worth the beginning. */
#define ELEMS_LEAST 256u
#define LEAST       4u

/* Elements that tell whether there are others than atoms and addresses. */
#define LOOKED_AT 16u

/* After so many stretches it is judged whether they come again: not when more than one of MISSES_BAD is not
 * in the table, and surely when fewer than one of MISSES_FEW. Then they rest for so many elements the first
 * time, and twice as many each next time. */
#define JUDGED     (1u << 14)
#define MISSES_BAD 4u
#define MISSES_FEW 10u
#define REST       (1u << 20)
#define REST_MOST  (1u << 25)

/* The same where there is a return stack: a stretch is longer there, and saves more. */
#define JUDGED_RETURNS     (1u << 11)
#define MISSES_BAD_RETURNS 2u
#define REST_RETURNS       (1u << 17)

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

/* Where stretches are told by the bytes of their packets: the most of these. A stretch with more has its
 * atoms in place of them, at most JOINED_MOST, behind a byte that no such packet is. */
#define PACKETS_MOST 7u
#define JOINED       UINT64_C(1)
#define JOINED_SHIFT 8
#define JOINED_MOST  (SPACE_SHIFT - JOINED_SHIFT - 1u)

/* Stretches whose edges are to be counted, and how many of them are followed side by side. */
#define LEFT 512u
#define WAYS 8u

/* Going through the stretches that were collected. */
struct pass {
    struct ct_fast *f;
    struct ct_stretches *c;
    const struct ct_elem *elems;
    struct ct_fast_at at; /* the state, unless `counted` */
    bool counted;         /* all up to the current stretch is counted, and the state is an older one */
    const struct ct_stack_effect *effect; /* with a return stack and `counted`: that of the stretch before */
};

struct ct_stretches {
    _Alignas(64) struct stretch rows[1u << ROWS_SHIFT][2];
    struct stretch left[LEFT]; /* which lost their place */
    /* with a return stack: what stretches do to it, those of the table, two in a row, and those in `left` */
    struct ct_stack_effect *effects, *left_effects;
    uint8_t *seen; /* for each row a byte of the hash of the stretch that was met there last */
    /* counts stretches with what this processor has */
    size_t (*count_some)(struct ct_fast *f, const struct ct_elem *elems, size_t size);
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
    uint64_t addr[PLACES], bits[PLACES];
    uint32_t count[PLACES], at[PLACES];
    uint32_t row[PLACES];
    /* By the bytes of packets (ct_fast_begin_strip): then bits are these bytes, and `at` is the index of the
     * first one behind the address. */
    const struct ct_fast_atoms *headers; /* what each packet stands for; NULL: bits are atoms */
    uint64_t packets[256];               /* how many there were, by their byte */
    struct pass strip;
    size_t (*count_strip)(struct ct_fast *f, size_t first, size_t n, size_t ahead);
    uint8_t bytes[CT_STRIP_BYTES + 8];
};

_Static_assert((CT_ELEM_ATOMS & ~1u) == CT_ELEM_ATOMS && CT_ELEM_ADDRESS == CT_ELEM_ATOMS + 1,
               "the kinds of atoms and addresses differ in bit 0");

/* The elements that do not end a stretch, though they are no part of it: a bit for each kind. */
#define BETWEEN (UINT64_C(1) << CT_ELEM_CYCLES | UINT64_C(1) << CT_ELEM_EVENT)

static bool is_between(unsigned kind)
{
    return BETWEEN >> (kind & 63) & 1;
}

/* With a return stack there are fewer addresses, and a stretch that is too long for the table is in pieces.
 * Where one goes on behind another, a number that is odd, which no address of A64 code is, stands for the
 * address between them: it tells the row, and the stretch also has what came before it. */
static uint64_t behind(uint64_t bits)
{
    const uint64_t mixed = bits * UINT64_C(0xc2b2ae3d27d4eb4f);
    return (mixed ^ mixed >> 32) | 1;
}

static bool is_behind(const struct ct_stretches *c, uint64_t addr)
{
    return c->effects && addr & 1;
}

/* Returns the first element of stretch `s` behind its address, if there is one. */
static size_t begin_of(const struct ct_stretches *c, unsigned s)
{
    return c->at[s] + !is_behind(c, c->addr[s]);
}

/* Collects whole stretches, of elements that begin with an address. Which of them are atoms cannot be
 * predicted, so nothing branches on it. Result: how many stretches. Constants: `returns`, there is a return
 * stack; `mixed`, there may be cycle counts and events anywhere, so nothing branches on these either. */
INLINE unsigned collect(struct ct_stretches *c, const struct ct_elem *elems, size_t size, const bool returns,
                        const bool mixed)
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
        if (mixed && __builtin_expect(!((BETWEEN | UINT64_C(3) << CT_ELEM_ATOMS) >> (kind & 63) & 1), 0))
            break;
        if (!mixed && __builtin_expect((kind & ~1u) != CT_ELEM_ATOMS, 0)) {
            if (!is_between(kind))
                break;
            continue;
        }
        const uint64_t atoms = mixed ? -(uint64_t)(kind == CT_ELEM_ATOMS) : UINT64_MAX;
        const uint64_t is_address = mixed ? kind == CT_ELEM_ADDRESS : kind & 1;
        const uint64_t more = elem->n & atoms;
        if (returns && __builtin_expect(count + more > ATOMS_MOST, 0) && !is_address && count) {
            c->bits[n] = bits | UINT64_C(1) << count;
            c->count[n] = (uint32_t)count;
            c->addr[n + 1] = behind(c->bits[n]);
            c->at[n + 1] = (uint32_t)i;
            bits = count = 0;
            if (++n == most)
                break;
        }
        if (returns && __builtin_expect((is_address & elem->v) != 0, 0))
            break;
        const uint64_t keep = is_address - 1;
        c->bits[n] = bits | UINT64_C(1) << (count & 63);
        c->count[n] = (uint32_t)count;
        c->addr[n + 1] = elem->v;
        c->at[n + 1] = (uint32_t)i;
        bits = (bits | (elem->v & atoms) << (count & 63)) & keep;
        count = (count + more) & keep;
        n += is_address;
    }
    return (unsigned)n;
}

/* Collects stretches in the way that suits the elements, of which there are some. */
INLINE unsigned collect_some(struct ct_stretches *c, const struct ct_elem *elems, size_t size)
{
    bool mixed = false;
    for (size_t i = 0; i < size && i < LOOKED_AT; i++)
        mixed |= is_between(elems[i].kind);
    if (c->effects)
        return mixed ? collect(c, elems, size, true, true) : collect(c, elems, size, true, false);
    return mixed ? collect(c, elems, size, false, true) : collect(c, elems, size, false, false);
}

INLINE uint32_t row_of(unsigned shift, uint64_t addr, uint64_t next, uint64_t bits)
{
    const uint64_t mixed = addr * UINT64_C(0x9e3779b97f4a7c15) ^ bits * UINT64_C(0xc2b2ae3d27d4eb4f) ^
                           next * UINT64_C(0x165667b19e3779f9);
    return (uint32_t)(mixed * UINT64_C(0x9e3779b97f4a7c15) >> shift);
}

/* what stands for the atoms of a stretch that is not for the table */
#define NONE UINT64_C(1)

/* Finds the rows of `n` stretches and fetches them. */
INLINE void find_rows(struct ct_stretches *c, unsigned n, uint64_t space)
{
    const unsigned shift = c->shift;
    for (unsigned s = 0; s < n; s++) {
        const bool fits = c->count[s] - 1 < ATOMS_MOST && c->at[s + 1] - c->at[s] <= ELEMS_MOST;
        c->bits[s] = fits ? c->bits[s] | space << SPACE_SHIFT : NONE;
        c->row[s] = row_of(shift, c->addr[s], c->addr[s + 1], c->bits[s]);
    }
    for (unsigned s = 0; s < n; s++)
        __builtin_prefetch(&c->rows[c->row[s]], 1);
    if (c->effects)
        for (unsigned s = 0; s < n; s++)
            __builtin_prefetch(&c->effects[c->row[s] * 2], 1);
}

/* ---- counting edges ---- */

static uint32_t block_of(const struct stretch *s)
{
    return (uint32_t)(s->word >> BLOCK_SHIFT) & CT_LINK_BLOCK;
}

static bool is_joined(uint64_t bits)
{
    return (bits & ((1u << JOINED_SHIFT) - 1)) == JOINED;
}

/* Returns the atoms of a stretch of the table, with a 1 behind the last one. */
static uint64_t atoms_of(const struct ct_stretches *c, uint64_t bits)
{
    uint64_t packets = bits & ((UINT64_C(1) << SPACE_SHIFT) - 1);
    uint64_t atoms = 0;
    unsigned count = 0;
    if (!c->headers)
        return packets;
    if (is_joined(bits))
        return packets >> JOINED_SHIFT;
    for (; packets; packets >>= 8) {
        const struct ct_fast_atoms *header = &c->headers[packets & 255];
        atoms |= (uint64_t)header->bits << count;
        count += header->count;
    }
    return atoms | UINT64_C(1) << count;
}

/* A stretch that is followed beside others. */
struct way {
    uint64_t atoms;
    uint32_t block;
    uint32_t count;
    uint32_t number; /* in `left` */
};

static struct way begin_way(const struct ct_stretches *c, uint32_t number)
{
    const struct stretch *s = &c->left[number];
    return (struct way){atoms_of(c, s->bits), block_of(s), (uint32_t)(s->word >> 36), number};
}

/* Begins to follow a stretch where there is a return stack: when it goes on behind another one, its way
 * begins with the step before it. */
static void begin_trip(struct ct_fast *f, struct way *way, struct ct_return_trip *trip)
{
    const struct ct_stretches *c = f->stretches;
    const struct ct_stack_effect *effect = &c->left_effects[way->number];
    const struct ct_row_begin begin = {way->block, is_behind(c, c->left[way->number].addr),
                                       effect->from_exec};
    ct_return_trip_begin(trip);
    way->block = ct_return_trip_enter(f, trip, effect, begin, way->count);
}

/* Counts the edges of the stretches that lost their place, but for pairs behind their last steps: the blocks
 * of these are put down, and 0 where the address was the one that the program gives. Each step waits for the
 * one before; so several stretches are followed at once. `returns` is a constant: there is a return stack. */
static inline __attribute__((always_inline)) void count_inside(struct ct_fast *f, uint32_t last[LEFT],
                                                               const bool returns)
{
    struct ct_stretches *c = f->stretches;
    struct ct_fast_link *const links = f->links;
    struct ct_return_trip trips[WAYS];
    struct way ways[WAYS];
    unsigned active = 0;
    uint32_t number = 0;
    for (; active < WAYS && number < c->left_count; active++, number++) {
        ways[active] = begin_way(c, number);
        if (returns)
            begin_trip(f, &ways[active], &trips[active]);
    }
    while (active)
        for (unsigned k = 0; k < active; k++) {
            struct way *way = &ways[k];
            struct ct_fast_link *link = &links[way->block];
            const unsigned exec = way->atoms & 1;
            const uint32_t next = link->next[exec];
            link->count[exec] += way->count;
            way->atoms >>= 1;
            if (returns && next & CT_LINK_PUSH)
                ct_return_trip_push(&trips[k], f->blocks.blocks[way->block].end);
            if (returns && way->atoms != 1 && next & CT_LINK_INDIRECT)
                way->block =
                    ct_return_trip_turn(f, &trips[k], &c->left_effects[way->number], way->block, way->count);
            else if (way->atoms != 1)
                way->block = next & CT_LINK_BLOCK;
            else {
                last[way->number] = next & CT_LINK_INDIRECT ? way->block : 0;
                const bool more = number < c->left_count;
                *way = more ? begin_way(c, number++) : ways[--active];
                if (returns && more)
                    begin_trip(f, way, &trips[k]);
                else if (returns)
                    trips[k] = trips[active];
            }
        }
}

/* Counts the packets of a stretch, unless they were counted when its atoms were joined. */
static void count_packets(struct ct_stretches *c, uint64_t bits, uint64_t times)
{
    uint64_t packets = is_joined(bits) ? 0 : bits & ((UINT64_C(1) << SPACE_SHIFT) - 1);
    for (; packets; packets >>= 8)
        c->packets[packets & 255] += times;
}

static void count_left(struct ct_fast *f)
{
    struct ct_stretches *c = f->stretches;
    const struct ct_blocks *b = &f->blocks;
    uint32_t last[LEFT] = {0};
    if (c->effects)
        count_inside(f, last, true);
    else
        count_inside(f, last, false);
    for (unsigned i = 0; i < c->left_count; i++)
        __builtin_prefetch(&b->pairs[ct_pair_place(b, last[i], c->left[i].next)], 1);
    for (unsigned i = 0; c->headers && i < c->left_count; i++)
        count_packets(c, c->left[i].bits, c->left[i].word >> 36);
    for (unsigned i = 0; i < c->left_count; i++)
        if (last[i] && !is_behind(c, c->left[i].next))
            ct_blocks_known_pair(b, last[i], c->left[i].next, CT_ISA_A64)->count += c->left[i].word >> 36;
    c->left_count = 0;
}

/* Returns what a stretch of the table does to the return stack, of which there must be one. */
static struct ct_stack_effect *effect_of(const struct ct_stretches *c, const struct stretch *s)
{
    return &c->effects[s - c->rows[0]];
}

/* Takes a stretch out of its place, whose edges are counted later. */
static void take_out(struct ct_fast *f, struct stretch *s)
{
    struct ct_stretches *c = f->stretches;
    if (s->word < ONCE)
        return;
    if (c->effects)
        c->left_effects[c->left_count] = *effect_of(c, s);
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

/* Takes the address before stretch `s`, if there is one. */
static void come_to(struct pass *p, unsigned s)
{
    if (is_behind(p->c, p->c->addr[s]))
        return;
    p->at.addr = p->c->addr[s];
    p->at.addr_isa = CT_ISA_A64;
    p->at.have_addr = true;
}

/* Returns the block of the last step of stretch `s`, which was counted, and sets *exec to its atom. */
static uint32_t last_of(const struct pass *p, unsigned s, unsigned *exec)
{
    const struct ct_fast_link *links = p->f->links;
    if (p->effect) {
        *exec = p->effect->end & 1;
        return p->effect->end >> 1;
    }
    uint32_t block = block_at(p->f, p->c->addr[s]);
    uint32_t last = block;
    for (uint64_t atoms = atoms_of(p->c, p->c->bits[s]); atoms != 1; atoms >>= 1) {
        *exec = atoms & 1;
        last = block;
        block = links[block].next[*exec] & CT_LINK_BLOCK;
    }
    return last;
}

/* Sets the state behind the stretch before `s`, which was counted, and takes back the count of the edge
 * behind it. */
static void come_back(struct pass *p, unsigned s)
{
    struct ct_fast *f = p->f;
    const struct ct_stretches *c = p->c;
    unsigned exec = 0;
    const uint32_t last = last_of(p, s - 1, &exec);
    const uint32_t link = f->links[last].next[exec];
    ct_fast_come_along(f, &p->at, last, exec, link, false);
    p->at.marks = c->headers ? 0 : marks_before(p->elems, c->at[s]);
    p->at.have_addr = false;
    come_to(p, s);
    if (link & CT_LINK_INDIRECT && p->at.have_addr)
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

/* Returns true when a place of the table has stretch `s` but for what it does to the return stack. */
static bool is_like(const struct ct_stretches *c, const struct stretch *place, unsigned s, uint64_t domain)
{
    return !((place->addr ^ c->addr[s]) | (place->next ^ c->addr[s + 1]) | (place->bits ^ c->bits[s]) |
             ((place->word ^ domain) & DOMAIN_MASK));
}

/* Returns the last step, as the block << 1 | the atom. */
static uint32_t step_before(const struct pass *p)
{
    return p->counted ? p->effect->end : p->at.tail->last << 1 | (p->at.tail->flags & CT_MEMO_EXEC);
}

/* Returns true unless a stretch went on behind another step than the last one. */
static bool begins_here(const struct pass *p, const struct stretch *place)
{
    return !is_behind(p->c, place->addr) ||
           (block_of(place) << 1 | effect_of(p->c, place)->from_exec) == step_before(p);
}

/* Returns the stretch of the table if the return stack has what it takes off, else NULL. Those that came with
 * other return addresses, as many as the one in the row of the stretch takes off, are in rows of their own:
 * then that is the row of the stretch. */
static struct stretch *find_returning(const struct pass *p, unsigned s)
{
    const struct ct_fast *f = p->f;
    struct ct_stretches *c = p->c;
    const struct ct_return_stack *stack = &f->walk->stack;
    for (unsigned turn = 0; turn < 2; turn++) {
        struct stretch *row = c->rows[c->row[s]];
        const struct ct_stack_effect *other = NULL;
        for (unsigned k = 0; k < 2; k++)
            if (is_like(c, &row[k], s, f->domain) && begins_here(p, &row[k])) {
                other = effect_of(c, &row[k]);
                if (ct_stack_has(stack, other))
                    return &row[k];
            }
        if (!other || turn)
            break;
        c->row[s] ^= (uint32_t)(ct_stack_hash(stack, other->pops) >> c->shift);
    }
    return NULL;
}

/* Returns the stretch of the table, or NULL. */
static inline struct stretch *find_plain(struct ct_stretches *c, unsigned s, uint64_t domain)
{
    struct stretch *row = c->rows[c->row[s]];
    const uint64_t first = (row[0].addr ^ c->addr[s]) | (row[0].next ^ c->addr[s + 1]) |
                           (row[0].bits ^ c->bits[s]) | ((row[0].word ^ domain) & DOMAIN_MASK);
    const uint64_t second = (row[1].addr ^ c->addr[s]) | (row[1].next ^ c->addr[s + 1]) |
                            (row[1].bits ^ c->bits[s]) | ((row[1].word ^ domain) & DOMAIN_MASK);
    return first && second ? NULL : &row[first != 0];
}

#ifdef HAVE_AVX512

/* Compares both stretches of the row at once. */
static inline AVX512 struct stretch *find_avx512(struct ct_stretches *c, unsigned s, uint64_t domain)
{
    struct stretch *row = c->rows[c->row[s]];
    const __m512i compared = _mm512_set_epi64(DOMAIN_MASK, -1, -1, -1, DOMAIN_MASK, -1, -1, -1);
    const __m128i addresses = _mm_loadu_si128((const void *)&c->addr[s]);
    const __m128i rest = _mm_set_epi64x((int64_t)domain, (int64_t)c->bits[s]);
    const __m512i key = _mm512_broadcast_i64x4(_mm256_set_m128i(rest, addresses));
    const unsigned same = _mm512_testn_epi64_mask(_mm512_xor_si512(_mm512_load_si512(row), key), compared);
    const bool first = (same & 15) == 15;
    return first || same >> 4 == 15 ? &row[!first] : NULL; /* a branch: what is counted need not wait */
}

#endif

/* Returns the stretch of the table, or NULL. `avx512` is a constant. */
INLINE struct stretch *find(struct ct_stretches *c, unsigned s, uint64_t domain, const bool avx512)
{
#ifdef HAVE_AVX512
    if (avx512)
        return find_avx512(c, s, domain);
#endif
    (void)avx512;
    return find_plain(c, s, domain);
}

/* Puts a stretch into its row, in place of the older one. `effect`: what it does to the return stack, if
 * there is one. */
static void remember(struct pass *p, unsigned s, uint32_t block, const struct ct_stack_effect *effect)
{
    struct ct_fast *f = p->f;
    struct ct_stretches *c = p->c;
    struct stretch *row = c->rows[c->row[s]];
    take_out(f, &row[1]);
    row[1] = row[0];
    if (c->effects && effect) {
        *effect_of(c, &row[1]) = *effect_of(c, &row[0]);
        *effect_of(c, &row[0]) = *effect;
        p->effect = effect_of(c, &row[0]);
    }
    row[0] =
        (struct stretch){c->addr[s], c->addr[s + 1], c->bits[s], (uint64_t)block << BLOCK_SHIFT | f->domain};
}

/* Counts the edge to stretch `s`. Returns false, and does nothing, when something is new. What leads on to a
 * stretch without an address is counted with that. */
static bool count_join(struct pass *p, unsigned s)
{
    struct ct_branch_target *pair;
    if (is_behind(p->c, p->c->addr[s])) {
        p->counted = !p->at.have_addr && p->at.tail->flags & (CT_MEMO_INDIRECT | CT_MEMO_NUMBERED);
        return p->counted;
    }
    if (!join(p, &pair))
        return false;
    if (pair)
        pair->count++;
    p->counted = true;
    return true;
}

/* Follows atoms of stretch `s` along links. Result: how many; 0 when the plain way has to take the first. It
 * is inline, since what is met for the first time is a tenth of the time of a large program. */
INLINE unsigned follow(struct pass *p, unsigned s)
{
    struct ct_fast *f = p->f;
    const struct ct_stretches *c = p->c;
    const uint64_t atoms = atoms_of(c, c->bits[s]);
    struct ct_branch_target *pair;
    if (p->counted && is_behind(c, c->addr[s]))
        come_back(p, s);
    if (p->counted) {
        const uint32_t known = block_at(f, c->addr[s]);
        return known ? ct_fast_follow_links(f, &p->at, known, NULL, false, atoms, c->count[s]) : 0;
    }
    const uint32_t block = ct_fast_known_begin(f, &p->at, &pair);
    return ct_fast_follow_from(f, &p->at, block, pair, atoms, c->count[s]);
}

/* Returns where stretch `s` begins, which is followed from here on; its block is 0 when that is not known. */
static struct ct_row_begin begin_here(const struct pass *p, unsigned s)
{
    if (!is_behind(p->c, p->c->addr[s]))
        return (struct ct_row_begin){.block = block_at(p->f, p->c->addr[s])};
    const uint32_t step = step_before(p);
    return (struct ct_row_begin){.block = step >> 1, .behind = true, .exec = step & 1};
}

/* Returns true when the stretch of a row was met before, as far as a byte tells. */
static bool comes_again(struct ct_stretches *c, unsigned s)
{
    uint8_t *seen = &c->seen[c->row[s]];
    const uint8_t tag = (uint8_t)((c->addr[s + 1] ^ c->bits[s] * UINT64_C(0x9e3779b97f4a7c15)) >> 56);
    const bool again = *seen == tag;
    *seen = tag;
    return again;
}

/* Remembers stretch `s`, which was followed from `begin` on, unless something is new behind it. `before`:
 * with a return stack, what that was before. */
static void keep(struct pass *p, unsigned s, struct ct_row_begin begin, const struct ct_return_stack *before)
{
    struct ct_stretches *c = p->c;
    struct ct_stack_effect effect;
    if (c->effects &&
        (!comes_again(c, s) || !ct_fast_find_effect(p->f, before, begin, atoms_of(c, c->bits[s]), &effect)))
        return;
    if (count_join(p, s + 1))
        remember(p, s, begin.block, &effect);
}

/* Follows stretch `s`, of which the table has none, and remembers it unless something is new behind it.
 * Result: how many elements are done; begin_of(s + 1) when the stretch is, with the address behind it. */
static size_t follow_atoms(struct pass *p, unsigned s)
{
    struct ct_fast *f = p->f;
    const struct ct_stretches *c = p->c;
    size_t i = begin_of(c, s);
    struct ct_return_stack before;
    struct ct_row_begin begin = {0};
    if (c->effects) {
        before = f->walk->stack;
        begin = begin_here(p, s);
    }
    unsigned done = follow(p, s);
    if (done == c->count[s]) {
        p->at.marks = marks_before(p->elems, c->at[s + 1]);
        p->counted = false;
        come_to(p, s + 1);
        if (!begin.behind)
            begin.block = block_at(f, c->addr[s]);
        if (begin.block)
            keep(p, s, begin, &before);
        return begin_of(c, s + 1);
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
    const size_t begin = begin_of(p->c, s);
    const size_t end = p->c->at[s + 1];
    if (p->counted)
        come_back(p, s);
    ct_fast_put_at(f, &p->at);
    const size_t done = begin + ct_fast_count_plainly(f, p->elems + begin, end - begin);
    p->at = ct_fast_take_at(f);
    if (done < end || p->at.have_addr)
        return done;
    come_to(p, s + 1);
    return begin_of(p->c, s + 1);
}

/* Counts `n` stretches. Result: how many elements are done; up to the address behind the last of them unless
 * something is new. Constants: `returns`, there is a return stack; `avx512`, as it says. */
INLINE size_t count(struct pass *p, unsigned n, const bool returns, const bool avx512)
{
    struct ct_stretches *c = p->c;
    struct ct_fast *f = p->f;
    const uint64_t domain = f->domain;
    for (unsigned s = 0; s < n; s++) {
        struct stretch *known = returns ? find_returning(p, s) : find(c, s, domain, avx512);
        if (__builtin_expect(known && (p->counted || count_join(p, s)), 1)) {
            known->word += ONCE;
            if (returns) {
                p->effect = effect_of(c, known);
                ct_stack_change(&f->walk->stack, p->effect);
            }
            continue;
        }
        c->missed++;
        const size_t done = c->bits[s] == NONE ? follow_elems(p, s) : follow_atoms(p, s);
        if (done < begin_of(c, s + 1)) {
            c->looked += s;
            c->batch = c->batch / 4 > BATCH_LEAST ? c->batch / 4 : BATCH_LEAST;
            return done;
        }
    }
    if (p->counted)
        come_back(p, n);
    c->looked += n;
    c->batch = c->batch < BATCH ? c->batch * 2 : BATCH;
    return begin_of(c, n);
}

/* Returns how long stretches rest the first time. */
static uint32_t first_rest(const struct ct_stretches *c)
{
    return c->effects ? REST_RETURNS : REST;
}

static void judge(struct ct_stretches *c)
{
    const bool bad = c->missed * (c->effects ? MISSES_BAD_RETURNS : MISSES_BAD) > c->looked;
    c->repeats = c->missed * MISSES_FEW < c->looked;
    c->resting = bad ? c->rest : 0;
    c->rest = !bad ? first_rest(c) : c->rest < REST_MOST ? c->rest * 2 : REST_MOST;
    c->looked = c->missed = 0;
}

/* Counts the stretches that elements begin with, the first of which is an address. Result: how many elements
 * are done. 0: there are too few of them. `avx512` is a constant. */
INLINE size_t count_some(struct ct_fast *f, const struct ct_elem *elems, size_t size, const bool avx512)
{
    struct ct_stretches *c = f->stretches;
    const unsigned n = size < c->least || is_behind(c, elems[0].v) ? 0 : collect_some(c, elems, size);
    if (n < LEAST)
        return 0;
    struct pass p = {f, c, elems, ct_fast_take_at(f), false, NULL};
    find_rows(c, n, (uint8_t)ct_walk_space(f->walk));
    come_to(&p, 0);
    c->used = true;
    f->linked += n * ATOMS_MOST;
    const size_t done = c->effects ? count(&p, n, true, avx512) : count(&p, n, false, avx512);
    ct_fast_put_at(f, &p.at);
    if (c->looked > (c->effects ? JUDGED_RETURNS : JUDGED))
        judge(c);
    return done;
}

static size_t count_some_plain(struct ct_fast *f, const struct ct_elem *elems, size_t size)
{
    return count_some(f, elems, size, false);
}

#ifdef HAVE_AVX512

static AVX512 size_t count_some_avx512(struct ct_fast *f, const struct ct_elem *elems, size_t size)
{
    return count_some(f, elems, size, true);
}

#endif

/* ---- strips ---- */

/* Adds the packets of stretch `s`, so many times, to the counts of packets. Result: how many atoms it has. */
static unsigned add_packets(struct ct_stretches *c, size_t s, uint64_t times)
{
    unsigned count = 0;
    for (uint32_t at = c->at[s]; at < c->at[s + 1]; at++) {
        c->packets[c->bytes[at]] += times;
        count += c->headers[c->bytes[at]].count;
    }
    return count;
}

static bool is_long(const struct ct_stretches *c, size_t s)
{
    return c->at[s + 1] - c->at[s] > PACKETS_MOST;
}

/* Returns the atoms of stretch `s`, which is long, as its bits, or NONE, and counts its packets. */
static uint64_t join_atoms(struct ct_stretches *c, size_t s)
{
    uint64_t atoms = 0;
    unsigned count = 0;
    for (uint32_t at = c->at[s]; at < c->at[s + 1]; at++) {
        const struct ct_fast_atoms *header = &c->headers[c->bytes[at]];
        c->packets[c->bytes[at]]++;
        atoms |= (uint64_t)header->bits << (count & 63);
        count += header->count;
    }
    return count > JOINED_MOST ? NONE : (atoms | UINT64_C(1) << count) << JOINED_SHIFT | JOINED;
}

/* Takes the bytes of packets of stretches from `first` up to `n` as their bits, finds their rows and fetches
 * them. */
INLINE void find_strip_rows(struct ct_stretches *c, size_t first, size_t n, uint64_t space)
{
    const unsigned shift = c->shift;
    for (size_t s = first; s < n; s++) {
        const uint32_t size = c->at[s + 1] - c->at[s];
        uint64_t bits = ct_load64(c->bytes + c->at[s]) & ct_mask64(size * 8 & 63);
        if (__builtin_expect(size > PACKETS_MOST, 0))
            bits = join_atoms(c, s);
        c->bits[s] = bits | space << SPACE_SHIFT;
        c->row[s] = row_of(shift, c->addr[s], c->addr[s + 1], c->bits[s]);
    }
    for (size_t s = first; s < n; s++)
        __builtin_prefetch(&c->rows[c->row[s]], 1);
}

/* Gives the atoms of stretch `s`, of which `done` are done, to the engine as elements. */
static void run_packets(struct ct_fast *f, size_t s, unsigned done)
{
    const struct ct_stretches *c = f->stretches;
    struct ct_elem elems[64];
    struct ct_step_batch batch;
    size_t taken;
    uint32_t at = c->at[s];
    const uint32_t end = c->at[s + 1];
    for (; at < end && done >= c->headers[c->bytes[at]].count; at++)
        done -= c->headers[c->bytes[at]].count;
    f->walk->atoms_done = done;
    while (at < end && !f->blocks.error) {
        size_t n = 0;
        for (; at < end && n < sizeof elems / sizeof *elems; at++) {
            const struct ct_fast_atoms *header = &c->headers[c->bytes[at]];
            elems[n] = (struct ct_elem){.kind = CT_ELEM_ATOMS, .n = header->count, .v = header->bits};
            n++;
        }
        ct_fast_run(f, elems, n, 0, &taken, &batch);
    }
}

static bool is_ready(const struct ct_fast *f)
{
    return ct_fast_is_at_place(f) && f->open && !f->blocks.error;
}

/* Follows stretch `s`, of which the table has none, and remembers it unless something is new behind it.
 * Returns false when the engine is not ready behind it. */
static bool follow_packets(struct pass *p, unsigned s)
{
    struct ct_fast *f = p->f;
    struct ct_stretches *c = p->c;
    unsigned done = 0;
    c->count[s] = add_packets(c, s, !is_long(c, s));
    const bool fits = c->count[s] <= (is_long(c, s) ? JOINED_MOST : ATOMS_MOST);
    if (fits)
        done = follow(p, s);
    if (!done && p->counted)
        come_back(p, s);
    p->counted = false;
    if (done < c->count[s]) {
        ct_fast_put_at(f, &p->at);
        run_packets(f, s, done);
        p->at = ct_fast_take_at(f);
        if (!is_ready(f))
            return false;
    }
    p->at.marks = 0;
    come_to(p, s + 1);
    const uint32_t block = fits ? block_at(f, c->addr[s]) : 0;
    if (block && count_join(p, s + 1))
        remember(p, s, block, NULL);
    return true;
}

/* Does what ct_fast_count_strip does. `avx512` is a constant. */
INLINE size_t count_strip(struct ct_fast *f, size_t first, size_t n, size_t ahead, const bool avx512)
{
    struct ct_stretches *c = f->stretches;
    struct pass p = c->strip;
    size_t s;
    bool ready = true;
    find_strip_rows(c, n, ahead, (uint8_t)ct_walk_space(f->walk));
    f->linked += (uint32_t)(n - first) * ATOMS_MOST;
    for (s = first; s < n && ready; s++) {
        struct stretch *known = find(c, (unsigned)s, f->domain, avx512);
        if (__builtin_expect(known && (p.counted || count_join(&p, (unsigned)s)), 1)) {
            known->word += ONCE;
            continue;
        }
        c->missed++;
        if (c->at[s + 1] == c->at[s])
            break;
        struct pass q = p;
        ready = follow_packets(&q, (unsigned)s);
        p = q;
    }
    for (size_t i = s; s < n && i < ahead; i++)
        if (is_long(c, i))
            add_packets(c, i, UINT64_MAX); /* -1 */
    c->looked += (uint32_t)(s - first);
    c->strip = p;
    return s;
}

static size_t count_strip_plain(struct ct_fast *f, size_t first, size_t n, size_t ahead)
{
    return count_strip(f, first, n, ahead, false);
}

#ifdef HAVE_AVX512

static AVX512 size_t count_strip_avx512(struct ct_fast *f, size_t first, size_t n, size_t ahead)
{
    return count_strip(f, first, n, ahead, true);
}

#endif

size_t ct_fast_count_strip(struct ct_fast *f, size_t first, size_t n, size_t ahead)
{
    return f->stretches->count_strip(f, first, n, ahead);
}

void ct_fast_end_strip(struct ct_fast *f, size_t s)
{
    struct ct_stretches *c = f->stretches;
    if (c->strip.counted)
        come_back(&c->strip, (unsigned)s);
    if (s)
        c->strip.at.have_addr = false;
    if (is_ready(f))
        ct_fast_put_at(f, &c->strip.at);
    if (c->looked > JUDGED)
        judge(c);
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
        const size_t some = f->stretches->count_some(f, elems + done, size - done);
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
    const size_t places = f->walk->stack.enabled ? sizeof f->stretches->rows / sizeof(struct stretch) : 0;
    const size_t effects =
        places ? (places + LEFT) * sizeof(struct ct_stack_effect) + ((size_t)1 << ROWS_SHIFT) : 0;
    f->stretches = ct_table_of_zeros(1, sizeof *f->stretches + effects);
    if (!f->stretches) {
        f->blocks.error = ct_fail_nomem(f->ctx, "fast walk");
        return false;
    }
    if (places) {
        f->stretches->effects = (struct ct_stack_effect *)(f->stretches + 1);
        f->stretches->left_effects = f->stretches->effects + places;
        f->stretches->seen = (uint8_t *)(f->stretches->left_effects + LEFT);
    }
    f->stretches->count_some = count_some_plain;
#ifdef HAVE_AVX512
    if (ct_simd() == CT_SIMD_AVX512)
        f->stretches->count_some = count_some_avx512;
#endif
    f->stretches->count_strip = count_strip_plain;
#ifdef HAVE_AVX512
    if (ct_simd() == CT_SIMD_AVX512)
        f->stretches->count_strip = count_strip_avx512;
#endif
    f->stretches->shift = 64 - ROWS_SHIFT;
    f->stretches->least = ELEMS_LEAST;
    f->stretches->batch = BATCH;
    f->stretches->rest = first_rest(f->stretches);
    return true;
}

/* Returns true when elements, which are so many, are worth the table. With a return stack it is three times
 * as large, so the first atoms have to be over, too. */
static bool are_worth_table(const struct ct_fast *f, size_t size)
{
    const bool are_first = f->along && !f->along_last;
    return f->stretches || (size >= ELEMS_LEAST && !(f->walk->stack.enabled && are_first));
}

bool ct_fast_wants_stretches(struct ct_fast *f, size_t size)
{
    if (!f->walk->sf || f->pft || !are_worth_table(f, size) || !have_stretches(f))
        return false;
    struct ct_stretches *c = f->stretches;
    c->resting -= c->resting < size ? c->resting : (uint32_t)size;
    return !c->resting && !c->headers && size >= c->least && f->marks < CT_FAST_MARKS / 2;
}

bool ct_fast_begin_strip(struct ct_fast *f, const struct ct_fast_atoms headers[256],
                         struct ct_fast_strip *strip)
{
    if (!is_ready(f) || !f->have_addr || !f->walk->sf || !ct_fast_have_links(f) || !have_stretches(f))
        return false;
    struct ct_stretches *c = f->stretches;
    if (!c->headers) {
        ct_fast_spend_stretches(f);
        ct_fast_forget_stretches(f);
    }
    c->headers = headers;
    if (f->linked > CT_LINKED_MOST) {
        ct_fast_spend_stretches(f);
        ct_fast_spend_links(f);
    }
    c->used = true;
    c->strip = (struct pass){.f = f, .c = c, .at = ct_fast_take_at(f)};
    c->addr[0] = f->addr;
    c->at[0] = 0;
    *strip = (struct ct_fast_strip){.addr = c->addr, .at = c->at, .bytes = c->bytes};
    return true;
}

bool ct_fast_wants_strips(const struct ct_fast *f)
{
    const struct ct_stretches *c = f->stretches;
    return !c || !c->resting;
}

void ct_fast_take_strip_packets(struct ct_fast *f, uint64_t packets[256])
{
    struct ct_stretches *c = f->stretches;
    if (!c || !c->headers)
        return;
    ct_fast_spend_stretches(f);
    for (unsigned i = 0; i < 256; i++)
        packets[i] += c->packets[i];
    memset(c->packets, 0, sizeof c->packets);
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
