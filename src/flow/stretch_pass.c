/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/stretch_pass.h"

/* Returns the block where the next stretch begins according to the state, and sets *pair to the pair that
 * leads there, or to NULL. Returns 0 when something is new. */
static uint32_t join(struct ct_stretch_pass *p, struct ct_branch_target **pair)
{
    const uint32_t block = ct_fast_known_begin(p->f, &p->at, pair);
    return block && (*pair || p->at.tail->flags & CT_MEMO_NUMBERED) ? block : 0;
}

bool ct_stretch_count_join(struct ct_stretch_pass *p, unsigned s)
{
    struct ct_branch_target *pair;
    if (ct_stretch_is_behind(p->c, p->c->addr[s])) {
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
