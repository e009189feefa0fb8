/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/walk_seam.h"

#include <string.h>

#include "flow/walk.h"

static void put_stack(const struct ct_return_stack *s, struct ct_seam *seam)
{
    ct_seam_put(seam, (uint64_t)s->doubted << 16 | (uint64_t)s->count << 2 | (uint64_t)s->pop_pending << 1 |
                          s->wait_address);
    for (unsigned i = 0; i < s->count + s->doubted; i++) {
        const unsigned at = (s->top - i) % CT_RETURN_STACK_SIZE;
        ct_seam_put(seam, s->entries[at].addr);
        ct_seam_put(seam, s->entries[at].isa);
    }
}

void ct_walk_seam(const struct ct_walk *w, struct ct_seam *seam)
{
    put_stack(&w->stack, seam);
    ct_seam_put(seam, (uint64_t)w->paused << 10 | (uint64_t)w->jumped << 9 | (uint64_t)w->told << 8 |
                          (uint64_t)w->lost << 7 | (uint64_t)w->doubt << 6 | (uint64_t)w->need_address << 5 |
                          (uint64_t)w->need_context << 4 | (uint64_t)w->lost_told << 3 |
                          (uint64_t)w->stale << 2 | (uint64_t)w->sf << 1 | w->placed);
    for (unsigned i = 0; i < sizeof w->owners / sizeof *w->owners; i++) {
        ct_seam_put(seam, w->owners[i].known);
        ct_seam_put(seam, w->owners[i].addr);
    }
    ct_seam_put(seam, w->addr);
    ct_seam_put(seam, (uint64_t)w->isa << 16 | (uint64_t)w->it_left << 8 | w->el_sec);
    ct_seam_put(seam, (uint64_t)w->atoms_done << 32 | w->q_count);
}

void ct_walk_jump(struct ct_walk *w)
{
    ct_return_stack_flush(&w->stack);
    memset(w->owners, 0, sizeof w->owners);
    w->need_address = w->need_context = w->lost = true;
    w->lost_told = w->told = w->jumped = w->paused = w->stale = w->doubt = w->sf = w->placed = false;
    w->addr = 0;
    w->isa = w->it_left = w->el_sec = 0;
    w->q_count = w->atoms_done = 0;
}
