/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the execution of a random A32 and T32 program, traced as by a PTM and encoded, comes back from
 * decoder and walk: each range, with its cycles. With and without cycle counts, return stack and branch
 * broadcast; with exceptions between and inside blocks, overflows, periodic i-syncs. CT_SEED sets the first
 * seed, CT_COUNT the number of blocks, CT_LONG=1 the long tier. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "support/ptm_core.h"
#include "support/pieces.h"
#include "support/ptm_stream.h"
#include "support/seeds.h"

enum {
    RECORDS = PTM_CORE_RECORDS,
    ENOUGH = 50000, /* blocks after which each case has occurred */
};

/* Executed blocks by instruction set (A32, T32), cycle counts, broadcast and return stack; and returns from
 * that stack. */
static uint64_t seen[2][2][2][2], returns[2][2];

/* ---- decoding ---- */

/* Returns a record without what is not compared: positions, and of elements the members that their kind does
 * not use. */
static struct ct_flow plain(struct ct_flow record)
{
    record.offset = 0;
    record.elem.pos = 0;
    if (record.kind == CT_FLOW_ELEM)
        record.isa = 0;
    return record;
}

static int matters(const struct ct_flow *record)
{
    unsigned kind = record->elem.kind;
    return record->kind != CT_FLOW_ELEM || kind == CT_ELEM_EXCEPTION || kind == CT_ELEM_CYCLES ||
           kind == CT_ELEM_TRACE_ON || (kind == CT_ELEM_GAP && record->elem.n != CT_GAP_INIT);
}

/* Walks along the elements and returns the number of records. */
static size_t walk(const struct ptm_core *c, const struct ct_elem *elems, size_t count, struct ct_flow *out)
{
    struct ct_memory *memory;
    struct ct_walk *walk;
    size_t at = 0, total = 0;
    if (ct_memory_new(NULL, &memory))
        return 0;
    for (unsigned i = 0; i < 2; i++)
        ct_memory_add_bytes(memory, c->code[i], PTM_CORE_CODE, c->base[i], 0);
    if (!ct_walk_new(NULL, &c->source, memory, NULL, &walk)) {
        while (at < count && total < RECORDS) {
            struct ct_flow records[64];
            size_t n;
            at += ct_walk_run(walk, elems + at, count - at, PTM_CORE_ROOM, records, 64, &n);
            for (size_t i = 0; i < n && total < RECORDS; i++)
                if (matters(&records[i]))
                    out[total++] = plain(records[i]);
        }
        ct_walk_free(walk);
    }
    ct_memory_free(memory);
    return total;
}

static void show(const char *what, const struct ct_flow *r, int there)
{
    if (there)
        printf("# %s kind %u %" PRIx64 " to %" PRIx64 " n %u isa %u type %u sub %u cond %u exec %u, element "
               "%u n %u v %" PRIx64 "\n",
               what, r->kind, r->start, r->end, r->n, r->isa, r->type, r->sub, r->cond, r->exec, r->elem.kind,
               r->elem.n, r->elem.v);
    else
        printf("# %s nothing\n", what);
}

static void count_seen(struct ptm_core *c)
{
    for (unsigned thumb = 0; thumb < 2; thumb++) {
        seen[thumb][c->config.cycle_accurate][c->broadcast][c->config.return_stack] += c->blocks[thumb];
        returns[thumb][c->config.cycle_accurate] += c->returns[thumb];
        c->blocks[thumb] = c->returns[thumb] = 0;
    }
}

/* Returns whether two records are the same. The address of a pause is compared only where both have it:
 * packets may reveal it. */
static int same(const struct ct_flow *a, const struct ct_flow *b)
{
    struct ct_flow placed = *a;
    if (a->kind == CT_FLOW_ELEM && a->elem.kind == CT_ELEM_TRACE_ON && !(a->n && b->n)) {
        placed.start = b->start;
        placed.n = b->n;
    }
    return !memcmp(&placed, b, sizeof(placed));
}

static int check(uint64_t seed)
{
    static struct ptm_core core;
    static struct ct_elem got[PTM_CORE_ELEMS + 64];
    static struct ct_flow have[RECORDS];
    static uint8_t bytes[PTM_CORE_ROOM];
    struct rng rng = {seed};
    size_t size, count;
    ptm_core_init(&rng, &core);
    ptm_core_run(&core);
    count_seen(&core);
    if (ptm_encode(&rng, &core.source, core.elems, core.count, bytes, PTM_CORE_ROOM, &size))
        return 0;
    count = walk(&core, got, pieces_elems(&core.source, bytes, size, got, PTM_CORE_ELEMS + 64), have);
    for (size_t i = 0; i < core.wanted || i < count; i++) {
        if (i < core.wanted && i < count && same(&core.want[i], &have[i]))
            continue;
        printf("# record %zu of %u (%zu came back); etmcr %x etmccer %x\n", i, core.wanted, count,
               core.source.regs.etmcr, core.source.regs.etmccer);
        show("ran: ", &core.want[i], i < core.wanted);
        show("said:", &have[i], i < count);
        return 0;
    }
    return 1;
}

static int check_seen(void)
{
    int ok = 1;
    for (unsigned i = 0; i < 16; i++)
        ok &= seen[i >> 3 & 1][i >> 2 & 1][i >> 1 & 1][i & 1] != 0;
    for (unsigned i = 0; i < 4; i++)
        ok &= returns[i >> 1 & 1][i & 1] != 0;
    return ok;
}

int main(void)
{
    const struct seeds seeds = seeds_begin(2, 200000, 10000000);
    const int ok = seeds_hold(seeds, PTM_CORE_BLOCKS, check, 1, "what ran comes back");
    const int all = seeds.cases < ENOUGH || check_seen();
    printf("%sok 2 - in A32 and T32, with and without cycle counts, broadcast and return stack\n",
           all ? "" : "not ");
    return ok && all ? 0 : 1;
}
