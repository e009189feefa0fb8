/* SPDX-License-Identifier: Apache-2.0 */
/* Counts strips: stretches that were listed directly from the scan, so that no elements are made. */
#include "flow/stretch_pieces.h"
#include "flow/stretch_returns.h"

/* Maximal number of atoms of an element that are followed at once. */
#define ELEM_ATOMS CT_FAST_GROUP

/* Reads the atoms of the stretches from `first` below `n`, finds their rows and prefetches them. */
CT_STRETCH_INLINE void find_strip_rows(struct ct_stretches *c, size_t first, size_t n, uint64_t space)
{
    const unsigned shift = c->shift;
    uint32_t most = 0;
    for (size_t s = first; s < n; s++) {
        const uint32_t count = c->at[s + 1] - c->at[s];
        const uint64_t bits = ct_strip_atoms_at(c, c->at[s], count) | UINT64_C(1) << (count & 63);
        c->bits[s] =
            count - 1 < CT_STRETCH_ATOMS_MOST ? bits | space << CT_STRETCH_SPACE_SHIFT : CT_STRETCH_NONE;
        most = count > most ? count : most;
        c->row[s] = ct_stretch_row(shift, c->addr[s], c->addr[s + 1], c->bits[s]);
    }
    ct_stretches_fetch(c, first, n);
    for (size_t s = first; s < n && most > CT_STRETCH_ATOMS_MOST; s++)
        if (c->bits[s] == CT_STRETCH_NONE)
            ct_stretch_fetch_pieces(c, s, space);
}

/* Gives the atoms of stretch `s` behind the first `done` to the engine, as elements. */
static void run_atoms(struct ct_fast *f, size_t s, unsigned done)
{
    const struct ct_stretches *c = f->stretches;
    struct ct_elem elems[64];
    struct ct_step_batch batch;
    size_t taken;
    uint32_t at = c->at[s] + done;
    const uint32_t end = c->at[s + 1];
    while (at < end && !f->blocks.error) {
        size_t n = 0;
        for (; at < end && n < sizeof elems / sizeof *elems; n++) {
            const uint32_t some = end - at < ELEM_ATOMS ? end - at : ELEM_ATOMS;
            elems[n] = (struct ct_elem){
                .kind = CT_ELEM_ATOMS, .n = (uint8_t)some, .v = ct_strip_atoms_at(c, at, some)};
            at += some;
        }
        ct_fast_run(f, elems, n, 0, &taken, &batch);
    }
}

static bool is_ready(const struct ct_fast *f)
{
    return ct_fast_is_at_place(f) && f->open && !f->blocks.error;
}

/* Follows stretch `s`, which is not in the table. Returns false when the engine is not ready behind it. */
static bool follow_stretch(struct ct_stretch_pass *p, unsigned s)
{
    struct ct_fast *f = p->f;
    struct ct_stretches *c = p->c;
    unsigned done;
    c->count[s] = c->at[s + 1] - c->at[s];
    if (c->bits[s] != CT_STRETCH_NONE) {
        c->missed++;
        done = ct_stretch_follow_new(p, s, 0);
    } else {
        done = ct_stretch_count_pieces(p, s);
    }
    if (p->counted)
        return true;
    if (done < c->count[s]) {
        ct_fast_put_at(f, &p->at);
        run_atoms(f, s, done);
        p->at = ct_fast_take_at(f);
        if (!is_ready(f))
            return false;
    }
    p->at.marks = 0;
    ct_stretch_come_to(p, s + 1);
    return true;
}

/* ---- stretches that wait ----
 *
 * A stretch that is not in the table waits, while those behind it in the strip are counted. It is followed
 * later together with others, so that what they read is prefetched meanwhile. Stretches that wait are
 * followed in their order, and only they contain anything new, so edges get their numbers in the order of the
 * trace. */

/* Takes back the counts of stretch `s`, edge by edge, because another stretch may have its place in the
 * table. */
static void take_back(const struct ct_stretch_pass *p, size_t s)
{
    const struct ct_stretches *c = p->c;
    struct ct_fast_link *const links = p->f->links;
    uint32_t last = 0;
    uint32_t next = ct_stretch_begin_of(p, (unsigned)s);
    for (uint64_t atoms = ct_stretch_atoms(c->bits[s]); atoms != 1; atoms >>= 1) {
        last = next & CT_LINK_BLOCK;
        next = links[last].next[atoms & 1];
        links[last].count[atoms & 1]--;
    }
    if (next & CT_LINK_INDIRECT)
        ct_blocks_known_pair(&p->f->blocks, last, c->addr[s + 1], CT_ISA_A64)->count--;
}

/* Prefetches what following the waiting stretches reads first. */
static void fetch_waiting(const struct ct_stretch_pass *p)
{
    const struct ct_stretches *c = p->c;
    const struct ct_fast *f = p->f;
    const struct ct_block_index *index = &f->blocks.index;
    const uint8_t space = (uint8_t)ct_walk_space(f->walk);
    const uint32_t *numbers[CT_STRETCHES_WAITING];
    static const uint32_t none;
    for (unsigned i = 0; i < c->waiting_count; i++) {
        const struct ct_block_key key = ct_block_key(c->addr[c->waiting[i]], CT_ISA_A64, space, f->domain);
        const uint32_t chunk = ct_block_index_slot(index, &key)->chunk;
        numbers[i] = chunk ? &index->chunks[chunk - 1].numbers[key.at] : &none;
        __builtin_prefetch(numbers[i]);
    }
    for (unsigned i = 0; i < c->waiting_count; i++) {
        __builtin_prefetch(&f->links[*numbers[i]], 1);
        __builtin_prefetch(&f->blocks.blocks[*numbers[i]]);
    }
}

/* Counts or follows stretch `s`, which was not in the table but may be by now. Returns false when the engine
 * is not ready behind it. */
static bool take_waiting(struct ct_stretch_pass *p, unsigned s)
{
    struct ct_stretch *known = ct_stretch_find_plain(p->c, s, p->f->domain);
    if (known && (p->counted || ct_stretch_count_join(p, s))) {
        ct_stretch_count_known(p, known, false);
        return true;
    }
    return follow_stretch(p, s);
}

/* Follows the stretches that wait; all others before `n` are counted. Returns n or, when the engine is not
 * ready behind one of them, how many stretches are done: then the counts behind it are taken back. */
static __attribute__((noinline)) size_t take_all_waiting(struct ct_stretch_pass *p, size_t n)
{
    struct ct_stretches *c = p->c;
    const unsigned count = c->waiting_count;
    unsigned i = 0;
    bool ready = true;
    size_t s = n;
    fetch_waiting(p);
    while (i < count && ready) {
        s = c->waiting[i++];
        ready = take_waiting(p, (unsigned)s++);
        if (ready && !p->counted && s < (i < count ? c->waiting[i] : n))
            ready = p->counted = ct_fast_meet_join(p->f, &p->at);
    }
    c->waiting_count = 0;
    if (ready)
        return n;
    for (size_t k = s; k < n; k++) {
        const bool waited = i < count && c->waiting[i] == k;
        i += waited;
        if (!waited)
            take_back(p, k);
    }
    return s;
}

/* Returns true when stretch `s`, which is not in the table, can wait. */
static inline bool can_wait(const struct ct_stretch_pass *p, size_t s)
{
    const struct ct_stretches *c = p->c;
    const struct ct_blocks *b = &p->f->blocks; /* counts of forgotten blocks could not be taken back */
    const bool is_roomy =
        (b->count | b->pair_count) < CT_BLOCKS_MAX / 2 && b->index.count < CT_BLOCK_CHUNKS_MAX / 2;
    return is_roomy && p->counted && c->at[s + 1] != c->at[s] && c->waiting_count < CT_STRETCHES_WAITING;
}

/* Does what ct_fast_count_strip does. `returns` (there is a return stack) and `simd` are constants. */
CT_STRETCH_INLINE size_t count_strip(struct ct_fast *f, size_t first, size_t n, size_t ahead,
                                     const bool returns, const enum ct_simd simd)
{
    struct ct_stretches *c = f->stretches;
    struct ct_stretch_pass p = c->strip;
    size_t s;
    bool ready = is_ready(f); /* false when the last stretch of the previous call contradicts the program */
    find_strip_rows(c, n, ahead, (uint8_t)ct_walk_space(f->walk));
    f->linked += (uint32_t)(n - first) * CT_STRETCH_ATOMS_MOST;
    for (s = first; s < n && ready;) {
        struct ct_stretch *known = returns ? ct_stretch_find_returning(&p, (unsigned)s)
                                           : ct_stretch_find(c, (unsigned)s, f->domain, simd);
        if (__builtin_expect(known && (p.counted || ct_stretch_count_join(&p, (unsigned)s)), 1)) {
            ct_stretch_count_known(&p, known, returns);
            s++;
            continue;
        }
        if (!returns && can_wait(&p, s)) {
            c->waiting[c->waiting_count++] = (uint32_t)s++;
            continue;
        }
        struct ct_stretch_pass q = p;
        if (!returns && c->waiting_count) {
            const size_t done = take_all_waiting(&q, s);
            ready = done == s && is_ready(f);
            s = done;
        } else if (c->at[s + 1] == c->at[s]) {
            c->missed++;
            break;
        } else {
            ready = follow_stretch(&q, (unsigned)s++);
        }
        p = q;
    }
    c->looked += (uint32_t)(s - first);
    c->strip = p;
    return s;
}

/* Does the same with a return stack. It is not inline, so that the loops without a return stack have all
 * registers. */
static __attribute__((noinline)) size_t count_returning(struct ct_fast *f, size_t first, size_t n,
                                                        size_t ahead)
{
    return count_strip(f, first, n, ahead, true, CT_SIMD_NONE);
}

#ifdef CT_STRETCH_HAVE_AVX

static CT_STRETCH_AVX2 size_t count_returning_avx2(struct ct_fast *f, size_t first, size_t n, size_t ahead)
{
    return count_strip(f, first, n, ahead, true, CT_SIMD_AVX2);
}

static CT_STRETCH_AVX2 size_t count_strip_avx2(struct ct_fast *f, size_t first, size_t n, size_t ahead)
{
    return count_strip(f, first, n, ahead, false, CT_SIMD_AVX2);
}

static CT_STRETCH_AVX512 size_t count_returning_avx512(struct ct_fast *f, size_t first, size_t n,
                                                       size_t ahead)
{
    return count_strip(f, first, n, ahead, true, CT_SIMD_AVX512);
}

static CT_STRETCH_AVX512 size_t count_strip_avx512(struct ct_fast *f, size_t first, size_t n, size_t ahead)
{
    return count_strip(f, first, n, ahead, false, CT_SIMD_AVX512);
}

#endif

size_t ct_fast_count_strip(struct ct_fast *f, size_t first, size_t n, size_t ahead)
{
    const bool returns = f->stretches->effects;
#ifdef CT_STRETCH_HAVE_AVX
    if (f->stretches->simd == CT_SIMD_AVX2)
        return returns ? count_returning_avx2(f, first, n, ahead) : count_strip_avx2(f, first, n, ahead);
    if (f->stretches->simd == CT_SIMD_AVX512)
        return returns ? count_returning_avx512(f, first, n, ahead) : count_strip_avx512(f, first, n, ahead);
#endif
    return returns ? count_returning(f, first, n, ahead)
                   : count_strip(f, first, n, ahead, false, CT_SIMD_NONE);
}

size_t ct_fast_end_strip(struct ct_fast *f, size_t s)
{
    struct ct_stretches *c = f->stretches;
    if (c->waiting_count)
        s = take_all_waiting(&c->strip, s);
    if (c->strip.counted)
        ct_stretch_come_back(&c->strip, (unsigned)s);
    if (s)
        c->strip.at.have_addr = false;
    if (is_ready(f))
        ct_fast_put_at(f, &c->strip.at);
    ct_stretches_judge(c);
    return s;
}

bool ct_fast_begin_strip(struct ct_fast *f, struct ct_fast_strip *strip)
{
    if (!is_ready(f) || !f->have_addr || !f->walk->sf || !ct_fast_have_links(f) || !ct_stretches_have(f))
        return false;
    struct ct_stretches *c = f->stretches;
    if (f->linked > CT_LINKED_MOST) {
        ct_fast_spend_stretches(f);
        ct_fast_spend_links(f);
    }
    c->used = true;
    c->strip = (struct ct_stretch_pass){.f = f, .c = c, .at = ct_fast_take_at(f)};
    c->addr[0] = f->addr;
    c->at[0] = 0;
    *strip = (struct ct_fast_strip){.addr = c->addr, .at = c->at, .atoms = c->atoms};
    return true;
}
