/* SPDX-License-Identifier: Apache-2.0 */
/* Counts stretches of elements. As many stretches as the elements have are collected, all their rows are
 * prefetched, and each stretch is counted in the table or followed. */
#include "flow/stretch_collect.h"
#include "flow/stretch_returns.h"

/* Minimal number of stretches to collect. It is used after something new, which ended the collected ones
 * early. */
#define BATCH_LEAST 16u

/* Returns the index of the first element of stretch `s` behind its address, if it has one. */
static size_t begin_of(const struct ct_stretches *c, unsigned s)
{
    return c->at[s] + !ct_stretch_is_behind(c, c->addr[s]);
}

/* Follows stretch `s`, which is not in the table, and remembers it unless something is new behind it. Returns
 * how many elements are done: begin_of(s + 1) when all of the stretch is, with the address behind it. */
static size_t follow_atoms(struct ct_stretch_pass *p, unsigned s)
{
    const struct ct_stretches *c = p->c;
    size_t i = begin_of(c, s);
    unsigned done = ct_stretch_follow_new(p, s, ct_stretch_marks_before(p->elems, c->at[s + 1]));
    if (done == c->count[s])
        return begin_of(c, s + 1);
    for (; done; i++) {
        const struct ct_elem *elem = &p->elems[i];
        if (elem->kind == CT_ELEM_ATOMS && done < elem->n)
            break;
        done -= elem->kind == CT_ELEM_ATOMS ? elem->n : 0;
    }
    p->f->walk->atoms_done = done;
    return i;
}

/* Follows stretch `s`, which is not for the table, as elements are followed without a table. Returns what
 * follow_atoms does. */
static size_t follow_elems(struct ct_stretch_pass *p, unsigned s)
{
    struct ct_fast *f = p->f;
    const size_t begin = begin_of(p->c, s);
    const size_t end = p->c->at[s + 1];
    if (p->counted)
        ct_stretch_come_back(p, s);
    ct_fast_put_at(f, &p->at);
    const size_t done = begin + ct_fast_count_plainly(f, p->elems + begin, end - begin);
    p->at = ct_fast_take_at(f);
    if (done < end || p->at.have_addr)
        return done;
    ct_stretch_come_to(p, s + 1);
    return begin_of(p->c, s + 1);
}

/* Counts `n` stretches. Returns how many elements are done: up to the address behind the last stretch, unless
 * something is new. `returns` (there is a return stack) and `simd` are constants. */
CT_STRETCH_INLINE size_t count(struct ct_stretch_pass *p, unsigned n, const bool returns,
                               const enum ct_simd simd)
{
    struct ct_stretches *c = p->c;
    struct ct_fast *f = p->f;
    const uint64_t domain = f->domain;
    for (unsigned s = 0; s < n; s++) {
        struct ct_stretch *known =
            returns ? ct_stretch_find_returning(p, s) : ct_stretch_find(c, s, domain, simd);
        if (__builtin_expect(known && (p->counted || ct_stretch_count_join(p, s)), 1)) {
            ct_stretch_count_known(p, known, returns);
            continue;
        }
        c->missed++;
        const size_t done = c->bits[s] == CT_STRETCH_NONE ? follow_elems(p, s) : follow_atoms(p, s);
        if (done < begin_of(c, s + 1)) {
            c->looked += s;
            c->batch = c->batch / 4 > BATCH_LEAST ? c->batch / 4 : BATCH_LEAST;
            return done;
        }
    }
    if (p->counted)
        ct_stretch_come_back(p, n);
    c->looked += n;
    c->batch = c->batch < CT_STRETCH_BATCH ? c->batch * 2 : CT_STRETCH_BATCH;
    return begin_of(c, n);
}

/* Counts the stretches at the beginning of elements, the first of which is an address. Returns how many
 * elements are done; 0 when there are too few. `simd` is a constant. */
CT_STRETCH_INLINE size_t count_some(struct ct_fast *f, const struct ct_elem *elems, size_t size,
                                    const enum ct_simd simd)
{
    struct ct_stretches *c = f->stretches;
    const unsigned n = size < c->least || elems[0].v & 1 ? 0 : ct_stretches_collect(c, elems, size);
    if (n < CT_STRETCH_LEAST)
        return 0;
    struct ct_stretch_pass p = {f, c, elems, ct_fast_take_at(f), false, NULL};
    ct_stretches_find_rows(c, n, (uint8_t)ct_walk_space(f->walk));
    ct_stretch_come_to(&p, 0);
    c->used = true;
    f->linked += n * CT_STRETCH_ATOMS_MOST;
    const size_t done = c->effects ? count(&p, n, true, simd) : count(&p, n, false, simd);
    ct_fast_put_at(f, &p.at);
    ct_stretches_judge(c);
    return done;
}

#ifdef CT_STRETCH_HAVE_AVX

static CT_STRETCH_AVX2 size_t count_some_avx2(struct ct_fast *f, const struct ct_elem *elems, size_t size)
{
    return count_some(f, elems, size, CT_SIMD_AVX2);
}

static CT_STRETCH_AVX512 size_t count_some_avx512(struct ct_fast *f, const struct ct_elem *elems, size_t size)
{
    return count_some(f, elems, size, CT_SIMD_AVX512);
}

#endif

/* Does the same with the instructions that this processor has. */
static size_t count_next(struct ct_fast *f, const struct ct_elem *elems, size_t size)
{
#ifdef CT_STRETCH_HAVE_AVX
    if (f->stretches->simd == CT_SIMD_AVX2)
        return count_some_avx2(f, elems, size);
    if (f->stretches->simd == CT_SIMD_AVX512)
        return count_some_avx512(f, elems, size);
#endif
    return count_some(f, elems, size, CT_SIMD_NONE);
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
        const size_t some = count_next(f, elems + done, size - done);
        if (!some)
            return done + ct_fast_count_plainly(f, elems + done, size - done);
        done += some;
    }
    return done;
}
