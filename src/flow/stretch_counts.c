/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the edges of stretches. A stretch of the table is followed along links when another one replaces it,
 * or when the table is read: once, for as many times as the stretch came. */
#include "flow/fast_returns.h"
#include "flow/stretch_table.h"

/* Number of stretches that are followed side by side. */
#define WAYS 8u

/* The state of following one of these stretches. */
struct way {
    uint64_t atoms;
    uint32_t block;
    uint32_t count;
    uint32_t number; /* in `left` */
};

/* Returns the block where a stretch begins. A piece with another one behind it has stored the block where it
 * ends (stretch_pieces.h), so its beginning is looked up. */
static uint32_t begin_of(const struct ct_fast *f, const struct ct_stretch *s)
{
    if (f->stretches->effects || s->next != CT_STRETCH_GOES_ON)
        return ct_stretch_block(s);
    const struct ct_block_key key =
        ct_block_key(s->addr, CT_ISA_A64, (uint8_t)(s->bits >> CT_STRETCH_SPACE_SHIFT), (uint16_t)s->word);
    return s->addr & 1 ? (uint32_t)(s->addr >> 1) : ct_block_index_find(&f->blocks.index, key);
}

static struct way begin_way(const struct ct_fast *f, uint32_t number)
{
    const struct ct_stretch *s = &f->stretches->left[number];
    return (struct way){ct_stretch_atoms(s->bits), begin_of(f, s),
                        (uint32_t)(s->word >> CT_STRETCH_TIMES_SHIFT), number};
}

/* Begins to follow a stretch where there is a return stack. When the stretch continues another one, it begins
 * with the step before it. */
static void begin_trip(struct ct_fast *f, struct way *way, struct ct_return_trip *trip)
{
    const struct ct_stretches *c = f->stretches;
    const struct ct_stack_effect *effect = &c->left_effects[way->number];
    const struct ct_row_begin begin = {way->block, ct_stretch_is_behind(c, c->left[way->number].addr),
                                       effect->from_exec};
    ct_return_trip_begin(trip);
    way->block = ct_return_trip_enter(f, trip, effect, begin, way->count);
}

/* Counts the edges of the stretches in `left`, except the pairs behind their last steps. Sets `last` to the
 * blocks of these steps, or to 0 where the program tells the address behind the step. Each step waits for the
 * one before, so several stretches are followed side by side. `returns` is a constant: there is a return
 * stack. */
CT_STRETCH_INLINE void count_inside(struct ct_fast *f, uint32_t last[CT_STRETCHES_LEFT], const bool returns)
{
    struct ct_stretches *c = f->stretches;
    struct ct_fast_link *const links = f->links;
    struct ct_return_trip trips[WAYS];
    struct way ways[WAYS];
    unsigned active = 0;
    uint32_t number = 0;
    for (; active < WAYS && number < c->left_count; active++, number++) {
        ways[active] = begin_way(f, number);
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
                *way = more ? begin_way(f, number++) : ways[--active];
                if (returns && more)
                    begin_trip(f, way, &trips[k]);
                else if (returns)
                    trips[k] = trips[active];
            }
        }
}

static void count_left(struct ct_fast *f)
{
    struct ct_stretches *c = f->stretches;
    const struct ct_blocks *b = &f->blocks;
    uint32_t last[CT_STRETCHES_LEFT] = {0};
    if (c->effects)
        count_inside(f, last, true);
    else
        count_inside(f, last, false);
    for (unsigned i = 0; i < c->left_count; i++)
        __builtin_prefetch(&b->pairs[ct_pair_place(b, last[i], c->left[i].next)], 1);
    for (unsigned i = 0; i < c->left_count; i++)
        if (last[i] && !ct_stretch_is_behind(c, c->left[i].next))
            ct_blocks_known_pair(b, last[i], c->left[i].next, CT_ISA_A64)->count +=
                c->left[i].word >> CT_STRETCH_TIMES_SHIFT;
    c->left_count = 0;
}

void ct_stretch_take_out(struct ct_fast *f, struct ct_stretch *s)
{
    struct ct_stretches *c = f->stretches;
    if (s->word < CT_STRETCH_ONCE)
        return;
    if (c->effects)
        c->left_effects[c->left_count] = *ct_stretch_effect(c, s);
    c->left[c->left_count++] = *s;
    s->word &= CT_STRETCH_ONCE - 1;
    if (c->left_count == CT_STRETCHES_LEFT)
        count_left(f);
}

void ct_fast_spend_stretches(struct ct_fast *f)
{
    struct ct_stretches *c = f->stretches;
    if (!c || !c->used)
        return;
    for (size_t i = 0; i < (size_t)1 << CT_STRETCH_ROWS_SHIFT; i++)
        for (unsigned k = 0; k < 2; k++)
            ct_stretch_take_out(f, &c->rows[i][k]);
    count_left(f);
    c->used = false;
}
