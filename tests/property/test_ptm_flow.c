/* Property: what runs along a random A32 and T32 program, told as a PTM would and encoded, comes back from decoder and
 * walk: each range, with its cycles. With and without cycle counts, return stack and branch broadcast; exceptions
 * between and inside blocks, overflows, periodic i-syncs. CT_SEED, CT_COUNT (blocks), CT_LONG=1. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/v7_config.h"
#include "common/code_gen.h"
#include "common/ptm_stream.h"
#include "coretap/encode.h"
#include "coretap/flow.h"

enum {
    CODE = 4096, /* bytes of each instruction set */
    BLOCKS = 300,
    ELEMS = 8 * BLOCKS,
    RECORDS = 4 * BLOCKS,
    ROOM = 32 * ELEMS,
    STACK = 16,     /* entries of a return stack */
    ENOUGH = 50000, /* blocks after which there was everything */
};

/* What ran, by instruction set (A32, T32), cycle counts, broadcast, return stack; and returns from that stack. */
static uint64_t seen[2][2][2][2], returns[2][2];

struct place {
    uint32_t addr;
    uint8_t isa; /* CT_ISA_A32, CT_ISA_T32 */
};

/* A core with its program, and what its trace unit says. */
struct core {
    struct rng *rng;
    struct ct_source source;
    struct ct_v7_config config;
    int broadcast;
    uint32_t base[2]; /* of the A32 code and the T32 code */
    uint8_t code[2][CODE];
    struct place now;
    unsigned it_left;
    struct place stack[STACK]; /* newest last */
    unsigned depth;
    struct ct_elem elems[ELEMS];
    unsigned count;
    struct ct_flow want[RECORDS]; /* ranges, exceptions, cycles */
    unsigned wanted;
};

static void add(struct core *c, enum ct_elem_kind kind, unsigned n, unsigned aux, uint64_t v)
{
    c->elems[c->count++] =
        (struct ct_elem){.kind = (uint8_t)kind, .n = (uint8_t)n, .aux = (uint16_t)aux, .v = v};
}

static void want_elem(struct core *c, enum ct_elem_kind kind, unsigned n, unsigned aux, uint64_t v)
{
    c->want[c->wanted++] = (struct ct_flow){
        .kind = CT_FLOW_ELEM, .elem = {.kind = (uint8_t)kind, .n = (uint8_t)n, .aux = (uint16_t)aux, .v = v}};
}

static void add_cycles(struct core *c)
{
    uint64_t cycles = rng_wide(c->rng, 12);
    if (!c->config.cycle_accurate)
        return;
    add(c, CT_ELEM_CYCLES, CT_CYCLES_ATTACHED, 0, cycles);
    want_elem(c, CT_ELEM_CYCLES, CT_CYCLES_ATTACHED, 0, cycles);
}

/* A32 is IS0, T32 is IS1. */
static unsigned select_of(const struct core *c)
{
    return c->now.isa == CT_ISA_T32 ? CT_IS1 : CT_IS0;
}

static void add_address(struct core *c)
{
    add(c, CT_ELEM_ADDRESS, select_of(c), 32, c->now.addr);
}

static struct place anywhere(struct core *c)
{
    unsigned thumb = rng_below(c->rng, 2);
    uint32_t at = rng_below(c->rng, CODE) & (thumb ? ~1u : ~3u);
    return (struct place){c->base[thumb] + at, thumb ? CT_ISA_T32 : CT_ISA_A32};
}

static void go_to(struct core *c, struct place place)
{
    c->now = place;
    c->it_left = 0;
}

/* ---- the program ---- */

/* The instruction at `place`, with four readable bytes. False when there is none. */
static int fetch(const struct core *c, struct place place, struct ct_insn *insn)
{
    unsigned thumb = place.isa == CT_ISA_T32;
    uint32_t at = place.addr - c->base[thumb];
    if (at > CODE - 4)
        return 0;
    const uint8_t *p = c->code[thumb] + at;
    if (thumb)
        ct_insn_decode_t32((uint32_t)ct_load16(p) << 16 | ct_load16(p + 2), place.addr, &c->source.arch,
                           insn);
    else
        ct_insn_decode_a32(ct_load32(p), place.addr, &c->source.arch, insn);
    if (insn->type == CT_INSN_WFI_WFE || (insn->type == CT_INSN_DSB_DMB && !c->config.dsb_waypoint))
        insn->type = CT_INSN_OTHER;
    return 1;
}

/* One block: instructions up to and including a waypoint. */
struct block {
    struct ct_flow range;
    struct ct_insn last;
    uint32_t last_addr;
    int conditional; /* the last instruction may not be executed */
    unsigned it_left;
};

static void step(struct block *b, const struct ct_insn *insn)
{
    b->conditional = insn->cond || b->it_left;
    b->it_left = b->it_left ? b->it_left - 1 : insn->it;
    b->last = *insn;
    b->last_addr = (uint32_t)b->range.end;
    b->range.end += insn->size;
    b->range.n++;
    b->range.type = insn->type;
    b->range.sub = insn->sub;
    b->range.cond = insn->cond;
    b->range.last_size = insn->size;
}

/* At most `most` instructions. True when they end with a waypoint. */
static int run_block(struct core *c, unsigned most, struct block *b)
{
    struct ct_insn insn;
    *b = (struct block){.it_left = c->it_left};
    b->range = (struct ct_flow){
        .kind = CT_FLOW_RANGE, .start = c->now.addr, .end = c->now.addr, .isa = c->now.isa, .exec = 1};
    while (b->range.n < most && fetch(c, (struct place){(uint32_t)b->range.end, c->now.isa}, &insn)) {
        step(b, &insn);
        if (insn.type != CT_INSN_OTHER)
            return 1;
    }
    return 0;
}

/* ---- what a trace unit says ---- */

/* Tracing begins, goes on elsewhere after an overflow, or is synchronised where it is. */
static void sync(struct core *c, int start, int periodic)
{
    add(c, CT_ELEM_SYNC, (unsigned)start, 0, 0);
    if (!periodic) {
        go_to(c, anywhere(c));
        add(c, CT_ELEM_TRACE_ON, start ? CT_TRACE_ON_FILTER : CT_TRACE_ON_OVERFLOW, 0, 0);
        want_elem(c, CT_ELEM_TRACE_ON, start ? CT_TRACE_ON_FILTER : CT_TRACE_ON_OVERFLOW, 0, 0);
        add_cycles(c);
    }
    unsigned flags = c->config.ctxt_bytes ? CT_CONTEXT_CTXT : 0;
    add(c, CT_ELEM_CONTEXT, 0x10, flags | select_of(c) << CT_CONTEXT_IS_SHIFT, 0);
    add_address(c);
    c->depth = 0;
}

static void exception(struct core *c)
{
    unsigned number = 1 + rng_below(c->rng, 15);
    add(c, CT_ELEM_EXCEPTION, CT_EXCEPTION_HERE, number, 0);
    want_elem(c, CT_ELEM_EXCEPTION, CT_EXCEPTION_HERE | CT_EXCEPTION_HAS_RET, number, c->now.addr);
    add_cycles(c);
    go_to(c, anywhere(c));
    add_address(c);
}

/* Instructions that ran before an exception, none of them a waypoint. */
static void interrupted(struct core *c, const struct block *b)
{
    if (b->range.n) {
        add(c, CT_ELEM_WAYPOINT, select_of(c), 32, b->last_addr);
        c->want[c->wanted++] = b->range;
    }
    c->now.addr = (uint32_t)b->range.end;
    exception(c);
}

static void push(struct core *c, struct place place)
{
    if (c->depth == STACK)
        memmove(c->stack, c->stack + 1, (STACK - 1) * sizeof(c->stack[0]));
    else
        c->depth++;
    c->stack[c->depth - 1] = place;
}

static int top_is(const struct core *c, struct place place)
{
    const struct place *top = c->depth ? &c->stack[c->depth - 1] : NULL;
    return c->config.return_stack && top && top->addr == place.addr && top->isa == place.isa;
}

static struct place indirect_target(struct core *c)
{
    return c->depth && rng_chance(c->rng, 160) ? c->stack[c->depth - 1] : anywhere(c);
}

/* The branch at the end of a block was taken. Its target is said where it is not known from the program or from the
 * return stack, and always with branch broadcast. */
static void taken(struct core *c, const struct block *b, struct place target)
{
    struct place next = {(uint32_t)b->range.end, c->now.isa};
    int indirect = b->last.type == CT_INSN_IBR;
    int popped = indirect && !c->broadcast && top_is(c, target);
    int said = c->broadcast || (indirect && !popped);
    add(c, CT_ELEM_ATOMS, 1, said ? CT_ATOMS_TARGET : 0, 1);
    add_cycles(c);
    c->depth -= (unsigned)popped;
    returns[c->now.isa == CT_ISA_T32][c->config.cycle_accurate] += (unsigned)popped;
    if (b->last.sub == CT_INSN_SUB_LINK)
        push(c, next);
    go_to(c, target);
    if (said)
        add_address(c);
}

static void waypoint(struct core *c, struct block *b)
{
    struct place target = {(uint32_t)b->last.target, b->last.isa};
    int branch = b->last.type == CT_INSN_BR || b->last.type == CT_INSN_IBR;
    if (b->last.type == CT_INSN_IBR)
        target = indirect_target(c);
    b->range.exec = !b->conditional || rng_below(c->rng, 2);
    c->want[c->wanted++] = b->range;
    seen[c->now.isa == CT_ISA_T32][c->config.cycle_accurate][c->broadcast][c->config.return_stack]++;
    if (b->range.exec && branch) {
        taken(c, b, target);
        return;
    }
    add(c, CT_ELEM_ATOMS, 1, 0, b->range.exec);
    add_cycles(c);
    c->now.addr = (uint32_t)b->range.end;
    c->it_left = b->it_left;
}

static void run_one(struct core *c)
{
    struct block b;
    if (rng_chance(c->rng, 2)) {
        sync(c, 0, 0);
    } else if (rng_chance(c->rng, 4)) {
        sync(c, 0, 1);
    } else if (rng_chance(c->rng, 6)) {
        run_block(c, rng_below(c->rng, 3), &b);
        if (b.range.type == CT_INSN_OTHER)
            interrupted(c, &b);
    } else if (run_block(c, CODE, &b)) {
        waypoint(c, &b);
    } else {
        interrupted(c, &b); /* ran into the end of the code */
    }
}

static void run(struct rng *rng, struct core *c)
{
    c->rng = rng;
    c->source = ptm_source(rng);
    ct_v7_config_init(NULL, &c->source, &c->config);
    c->broadcast = c->source.regs.etmcr >> 8 & 1;
    c->depth = c->count = c->wanted = 0;
    c->base[0] = (uint32_t)rng_below(rng, 1u << 19) << 12;
    c->base[1] = c->base[0] ^ UINT32_C(0x80000000);
    code_fill(rng, CT_ISA_A32, c->code[0], CODE);
    code_fill(rng, CT_ISA_T32, c->code[1], CODE);
    add(c, CT_ELEM_GAP, CT_GAP_INIT, 0, 0);
    sync(c, 1, 0);
    for (unsigned i = 0; i < BLOCKS; i++)
        run_one(c);
    add(c, CT_ELEM_END, CT_GAP_END, 0, 0);
}

/* ---- and back ---- */

/* What is compared of a record: no positions, and of elements their own members. */
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

/* Records of the elements that came back. Result: how many there are. */
static size_t walk(const struct core *c, const struct ct_elem *elems, size_t count, struct ct_flow *out)
{
    struct ct_memory *memory;
    struct ct_walk *walk;
    size_t at = 0, total = 0;
    if (ct_memory_new(NULL, &memory))
        return 0;
    for (unsigned i = 0; i < 2; i++)
        ct_memory_add_bytes(memory, c->code[i], CODE, c->base[i], 0);
    if (!ct_walk_new(NULL, &c->source, memory, NULL, &walk)) {
        while (at < count && total < RECORDS) {
            struct ct_flow records[64];
            size_t n;
            at += ct_walk_run(walk, elems + at, count - at, ROOM, records, 64, &n);
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

static int check(uint64_t seed)
{
    static struct core core;
    static struct ct_elem got[ELEMS + 64];
    static struct ct_flow have[RECORDS];
    static uint8_t bytes[ROOM];
    struct rng rng = {seed};
    size_t size, count;
    run(&rng, &core);
    if (ptm_encode(&rng, &core.source, core.elems, core.count, bytes, ROOM, &size))
        return 0;
    count = walk(&core, got, ptm_decode(&core.source, bytes, size, got, ELEMS + 64), have);
    for (size_t i = 0; i < core.wanted || i < count; i++) {
        if (i < core.wanted && i < count && !memcmp(&core.want[i], &have[i], sizeof(have[i])))
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
    uint64_t seed = test_number("CT_SEED", 1), done = 0;
    uint64_t blocks = test_number("CT_COUNT", test_number("CT_LONG", 0) ? 10000000 : 200000);
    int ok = 1;
    printf("TAP version 13\n1..2\n# CT_SEED=%" PRIu64 " CT_COUNT=%" PRIu64 "\n", seed, blocks);
    for (; done < blocks && ok; done += BLOCKS, seed++)
        ok = check(seed);
    printf("%sok 1 - what ran comes back", ok ? "" : "not ");
    printf(ok ? "\n" : " # CT_SEED=%" PRIu64 " CT_COUNT=1\n", seed - 1);
    int all = done < ENOUGH || check_seen();
    printf("%sok 2 - in A32 and T32, with and without cycle counts, broadcast and return stack\n",
           all ? "" : "not ");
    return ok && all ? 0 : 1;
}
