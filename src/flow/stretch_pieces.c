/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/stretch_pieces.h"

#include "flow/stretch_returns.h"

/* Makes the piece of stretch `s` that begins with atom `done`. Without a return stack the caller sets where
 * the piece begins. `before`: the atoms of the piece before it, or 0 for the first piece. Returns how many
 * atoms the piece has. */
static unsigned make_piece(struct ct_stretches *c, size_t s, uint32_t done, uint64_t before, uint64_t space)
{
    const uint32_t left = c->at[s + 1] - c->at[s] - done;
    const uint32_t count = left < CT_STRETCH_ATOMS_MOST ? left : CT_STRETCH_ATOMS_MOST;
    const uint64_t atoms = ct_strip_atoms_at(c, c->at[s] + done, count) | UINT64_C(1) << count;
    const uint64_t begin = !before ? c->addr[s] : c->effects ? ct_stretch_behind(before) : before;
    const uint64_t goes_on = c->effects ? ct_stretch_behind(atoms) : CT_STRETCH_GOES_ON;
    c->bits[CT_STRETCH_PIECE] = atoms | space << CT_STRETCH_SPACE_SHIFT;
    c->count[CT_STRETCH_PIECE] = count;
    if (c->effects)
        c->addr[CT_STRETCH_PIECE] = begin;
    c->addr[CT_STRETCH_PIECE + 1] = left == count ? c->addr[s + 1] : goes_on;
    c->row[CT_STRETCH_PIECE] =
        ct_stretch_row(c->shift, begin, c->addr[CT_STRETCH_PIECE + 1], c->bits[CT_STRETCH_PIECE]);
    return count;
}

void ct_stretch_fetch_pieces(struct ct_stretches *c, size_t s, uint64_t space)
{
    const uint32_t count = c->at[s + 1] - c->at[s];
    uint64_t before = 0;
    for (uint32_t done = 0; done < count; before = ct_stretch_atoms(c->bits[CT_STRETCH_PIECE])) {
        done += make_piece(c, s, done, before, space);
        ct_stretches_fetch(c, CT_STRETCH_PIECE, CT_STRETCH_PIECE + 1);
    }
}

/* Follows the piece of stretch `s` from its atom `done` on, and remembers it unless something is new behind
 * it. Returns how many atoms of it are done. */
static unsigned follow_piece(struct ct_stretch_pass *p, unsigned s, unsigned done)
{
    struct ct_stretches *c = p->c;
    const bool is_last = c->addr[CT_STRETCH_PIECE + 1] != CT_STRETCH_GOES_ON;
    const unsigned followed = ct_stretch_follow(p, CT_STRETCH_PIECE);
    if (!followed && p->counted) {
        ct_stretch_come_back(p, done ? s + 1 : s);
        p->at.have_addr = p->at.have_addr && !done;
    }
    p->counted = false;
    if (followed < c->count[CT_STRETCH_PIECE])
        return followed;
    const uint32_t begin = ct_stretch_begin_of(p, CT_STRETCH_PIECE);
    const uint32_t end = p->at.cur;
    if (is_last)
        ct_stretch_come_to(p, s + 1);
    if (begin && ct_stretch_count_join(p, s + 1))
        ct_stretch_remember(p, CT_STRETCH_PIECE, is_last ? begin : end, NULL);
    return followed;
}

/* Does what ct_stretch_count_pieces does where there is a return stack. */
static unsigned count_returning(struct ct_stretch_pass *p, unsigned s)
{
    struct ct_stretches *c = p->c;
    const uint32_t count = c->at[s + 1] - c->at[s];
    const uint64_t space = (uint8_t)ct_walk_space(p->f->walk);
    uint32_t done = 0;
    uint64_t before = 0;
    for (; done < count; before = ct_stretch_atoms(c->bits[CT_STRETCH_PIECE])) {
        c->looked += done > 0;
        const unsigned atoms = make_piece(c, s, done, before, space);
        struct ct_stretch *known = ct_stretch_find_returning(p, CT_STRETCH_PIECE);
        if (known && (p->counted || ct_stretch_count_join(p, CT_STRETCH_PIECE))) {
            ct_stretch_count_known(p, known, true);
            done += atoms;
            continue;
        }
        c->missed++;
        const unsigned followed = ct_stretch_follow_new(p, CT_STRETCH_PIECE, 0);
        done += followed;
        if (followed < atoms)
            break;
    }
    p->f->linked += count;
    return done;
}

unsigned ct_stretch_count_pieces(struct ct_stretch_pass *p, unsigned s)
{
    struct ct_fast *f = p->f;
    struct ct_stretches *c = p->c;
    const uint32_t count = c->at[s + 1] - c->at[s];
    const uint64_t space = (uint8_t)ct_walk_space(f->walk);
    uint32_t done = 0;
    uint64_t before = 0;
    bool missed = false;
    if (c->effects)
        return count_returning(p, s);
    c->addr[CT_STRETCH_PIECE] = c->addr[s];
    while (done < count) {
        uint32_t end = 0;
        const unsigned atoms = make_piece(c, s, done, before, space);
        struct ct_stretch *known = ct_stretch_find_plain(c, CT_STRETCH_PIECE, f->domain);
        if (known && (p->counted || ct_stretch_count_join(p, s))) {
            known->word += CT_STRETCH_ONCE;
            end = ct_stretch_block(known);
        } else {
            missed = true;
            const unsigned followed = follow_piece(p, s, done);
            if (followed < atoms) {
                done += followed;
                break;
            }
            end = p->at.cur;
        }
        done += atoms;
        before = ct_stretch_atoms(c->bits[CT_STRETCH_PIECE]);
        c->addr[s] = c->addr[CT_STRETCH_PIECE]; /* the piece counted last determines the state */
        c->bits[s] = c->bits[CT_STRETCH_PIECE];
        c->addr[CT_STRETCH_PIECE] = (uint64_t)end << 1 | 1;
    }
    f->linked += count;
    c->missed += missed;
    return done;
}
