/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that trace counted as hops, without elements, equals the plain engine: same graph, counts and cycles
 * of all edges by context, same statistics. The traces are of random programs, sound and damaged, cut
 * anywhere. In some, the trace info or the context changes how packets are read; in some of these, what was
 * counted ahead has to be taken back. A plain engine that keeps the ways it went is compared as well, with
 * its records. Other tests make the walk forget blocks of the program, make hops rest where they do not pay,
 * change the trace info while packets are counted ahead, and use stretches instead of hops, from elements and
 * directly from the scan, also with cycle counts. CT_SEED sets the first seed, CT_COUNT the number of traces
 * of each kind, CT_LONG=1 the long tier. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "chain/stream.h"
#include "support/best_simd.h"
#include "support/damage.h"
#include "support/part.h"
#include "support/seeds.h"
#include "coretap/decode.h"
#include "etm4/hops.h"
#include "etm4/scan.h"
#include "flow/blocks.h"
#include "flow/fast.h"
#include "record/unit.h"

enum {
    WORDS = 512,       /* words of a program … */
    WORDS_MOST = 8192, /* … and of a large one */
    BASE = 0x40000,
    BRANCHES = 6000,
    ROOM = 1 << 20,
    PASSES = 3,
    BLOCKS = CT_BLOCKS_MAX + 10000,
    BLOCK_ATOMS = 24, /* atoms in a packet 0xd4 */
    LOOPS = 50000,
    CHANGES = 8,
    CALLS = 64,
    FUNCTION = 64,     /* words of a function */
    TARGETS = 3,       /* targets of indirect calls: the last functions */
    LEAD = 40,         /* greatest number of packets between a context and the synchronisation point after
                        * it */
    CHANGE_SIZE = 8,   /* greatest number of bytes */
    AT_ZERO = 2000137, /* the seed of a trace with address 0 after a direct branch to a block whose links are
                        *                           not known yet */
    LAST_COUNT = 1167, /* the seed of a trace with a count right before bytes that cannot be decoded */
    TWO_ADDRESSES = 101, /* the seed of a trace with a count behind two addresses without an atom between */
};

/* Kind of a trace: what is done to it besides damage. */
enum kind {
    AS_RECORDED,
    CHANGING,   /* some packets are replaced */
    MISLEADING, /* contexts with another state, each followed by a false synchronisation point */
    RESTING,    /* hops are judged all the time, and rest where they meet something new */
    /* more than half of the traces of the next two kinds have a return stack */
    STRETCHING, /* no hops: elements, by stretches in a small table */
    STRIPPING,  /* hops always rest: stretches in a small table, directly from the scan */
    MEETING, /* the same with a large program, where something new is met all the time; with cycle counts */
};

struct trace {
    struct rng rng;
    enum ct_isa isa;
    uint64_t judged;       /* bytes until hops are judged; 0: the default */
    unsigned rows;         /* log2 of the rows of stretches; 0: the default */
    unsigned piece;        /* greatest number of bytes per call of the chain; 0: random */
    uint64_t calls[CALLS]; /* return addresses of the execution … */
    unsigned depth;        /* … and their number */
    unsigned words;        /* of code */
    bool returns;          /* most returns go to the caller */
    unsigned spread;       /* larger values make longer straight code, up to counts of more than seven bits */
    struct ct_source source;
    uint8_t code[WORDS_MOST * 4];
    uint8_t bytes[ROOM];
    size_t size;
};

static void put(uint8_t *code, unsigned at, uint32_t word)
{
    for (unsigned i = 0; i < 4; i++)
        code[at * 4 + i] = (uint8_t)(word >> (8 * i));
}

/* Returns a branch from word `at` to word `to`. `way`: 0 conditional, 1 unconditional, 2 with link. */
static uint32_t direct(enum ct_isa isa, unsigned at, unsigned to, unsigned way)
{
    const uint32_t distance = to - at;
    if (isa == CT_ISA_A64)
        return way == 0   ? 0x54000001 | (distance & 0x7ffff) << 5
               : way == 1 ? 0x14000000 | (distance & 0x3ffffff)
                          : 0x94000000 | (distance & 0x3ffffff);
    const uint32_t heads[] = {0x1a000000, 0xea000000, 0xeb000000};
    return heads[way] | ((distance - 2) & 0xffffff);
}

/* Returns a random word of code: mostly straight code, some branches, few barriers. */
static uint32_t word_of(struct trace *t, unsigned at)
{
    const bool a64 = t->isa == CT_ISA_A64;
    const unsigned what = rng_below(&t->rng, t->spread), to = rng_below(&t->rng, t->words);
    if (at == t->words - 1)
        return direct(t->isa, at, to, 1);
    if (what < 12)
        return direct(t->isa, at, at > 20 ? at - rng_below(&t->rng, 20) : to, 0);
    if (what < 20)
        return direct(t->isa, at, to, what % 3);
    if (what < 24)
        return a64 ? 0xd65f03c0 : 0xe12fff1e; /* ret, bx lr */
    if (what < 26)
        return a64 ? 0xd61f0020 : 0xe12fff31; /* br x1, blx r1 */
    if (what < 27)
        return a64 ? 0xd5033fdf : 0xf57ff06f; /* isb */
    return a64 ? 0xd503201f : 0xe320f000;     /* nop */
}

/* Returns a word of functions that call later functions, directly or indirectly, with branches inside. The
 * first function is a loop. */
static uint32_t word_of_functions(struct trace *t, unsigned at)
{
    const bool a64 = t->isa == CT_ISA_A64;
    const unsigned what = rng_below(&t->rng, 64), end = at / FUNCTION * FUNCTION + FUNCTION - 1;
    const unsigned behind = t->words / FUNCTION - 1 - at / FUNCTION, near = 1 + rng_below(&t->rng, 8);
    if (at == end)
        return at < FUNCTION ? direct(t->isa, at, 0, 1) : a64 ? 0xd65f03c0 : 0xe12fff1e;
    if (what < 12)
        return direct(t->isa, at, at + near < end ? at + near : end, 0);
    if (what < 14 && at % FUNCTION > near)
        return direct(t->isa, at, at - near, 0);
    if (what < 16 && behind)
        return direct(t->isa, at, (t->words / FUNCTION - 1 - rng_below(&t->rng, behind)) * FUNCTION, 2);
    if (what < 24 && behind >= TARGETS)
        return a64 ? 0xd63f0020 : 0xe12fff31; /* blr x1, blx r1 */
    return a64 ? 0xd503201f : 0xe320f000;
}

static int keep(void *user, const uint8_t *bytes, size_t size)
{
    struct trace *t = user;
    if (t->size + size > ROOM / 2) /* damage may add bytes */
        return 1;
    memcpy(t->bytes + t->size, bytes, size);
    t->size += size;
    return 0;
}

static struct ct_insn insn_at(const struct trace *t, uint64_t addr)
{
    struct ct_insn insn;
    uint32_t word;
    memcpy(&word, t->code + (addr - BASE), sizeof word);
    if (t->isa == CT_ISA_A64)
        ct_insn_decode_a64(word, addr, &t->source.arch, &insn);
    else
        ct_insn_decode_a32(word, addr, &t->source.arch, &insn);
    return insn;
}

/* Returns whether a branch is taken: most branches are repetitive. */
static bool is_taken(struct trace *t, const struct ct_insn *insn, uint64_t addr)
{
    if (t->returns && insn->cond && addr >> 2 & 15) /* so that the code between two addresses repeats */
        return rng_chance(&t->rng, insn->target > addr && addr >> 5 & 1 ? 254 : 2);
    return !insn->cond || rng_chance(&t->rng, addr >> 2 & 1 ? 16 : addr >> 3 & 1 ? 128 : 240);
}

static uint64_t next_of(struct trace *t, const struct ct_insn *insn, uint64_t addr)
{
    const bool returns = t->returns && insn->type == CT_INSN_IBR && insn->sub != CT_INSN_SUB_LINK;
    if (returns && t->depth && rng_chance(&t->rng, 64))
        return t->calls[--t->depth];
    if (t->returns && insn->sub == CT_INSN_SUB_LINK && t->depth < CALLS)
        t->calls[t->depth++] = addr + 4;
    if (insn->type == CT_INSN_BR)
        return insn->target;
    if (insn->type == CT_INSN_IBR && t->returns)
        return BASE + (t->words - (1 + rng_below(&t->rng, TARGETS)) * FUNCTION) * UINT64_C(4);
    if (insn->type == CT_INSN_IBR)
        return BASE + (addr * 7 + rng_below(&t->rng, 3) * 52) / 4 % t->words * 4;
    return addr + 4;
}

/* Does something rare: an exception, or a change of process. */
static int disturb(struct trace *t, struct ct_unit *unit)
{
    const uint64_t addr = BASE + rng_below(&t->rng, t->words) * UINT64_C(4);
    if (rng_chance(&t->rng, 128)) {
        return ct_unit_exception(unit, 14) ?: ct_unit_enter(unit, addr, t->isa);
    }
    int rc = ct_unit_leave(unit);
    ct_unit_context(unit, rng_below(&t->rng, 3));
    return rc ? rc : ct_unit_place(unit, addr, t->isa);
}

static int walk(struct trace *t, struct ct_unit *unit, bool calm)
{
    enum ct_isa isa;
    uint64_t at;
    int rc = ct_unit_place(unit, BASE, t->isa);
    for (unsigned n = 0; !rc && n < BRANCHES; n++) {
        ct_unit_at(unit, &at, &isa);
        uint32_t count = 1;
        struct ct_insn insn = insn_at(t, at);
        for (; insn.type == CT_INSN_OTHER; count++, at += 4)
            insn = insn_at(t, at + 4);
        const bool taken = is_taken(t, &insn, at);
        ct_unit_spend(unit, count + (rng_chance(&t->rng, 4) ? rng_wide(&t->rng, 16) : 0));
        ct_unit_insns(unit, count, at, at + 4, true);
        rc = ct_unit_branch(unit, &insn, taken, taken ? next_of(t, &insn, at) : at + 4, t->isa);
        if (!rc && !calm && rng_chance(&t->rng, 64))
            rc = disturb(t, unit);
    }
    return rc;
}

/* Repeats some counts, the second one without a step, with an address after both: here and there that looks
 * like a step. */
static void repeat_counts(struct trace *t)
{
    for (unsigned n = 1 + rng_below(&t->rng, 30); n && t->size; n--) {
        const size_t at = rng_below(&t->rng, (uint32_t)t->size);
        uint8_t *count = memchr(t->bytes + at, 0x10 + (int)rng_below(&t->rng, 16), t->size - at);
        if (!count)
            continue;
        memmove(count + 2, count, t->size - (size_t)(count - t->bytes));
        count[1] = count[0];
        count[2] = 0x90;
        t->size += 2;
    }
}

/* Replaces some atoms before addresses by events, so that addresses follow each other. */
static void drop_atoms(struct trace *t)
{
    for (size_t i = 0; i + 1 < t->size; i++)
        if (t->bytes[i] == 0xf7 && t->bytes[i + 1] >> 4 == 9 && rng_chance(&t->rng, 16))
            t->bytes[i] = 0x71;
}

/* Writes a packet that changes how later packets are read: a trace info with another threshold for cycle
 * counts or with open speculation, or a context with another state. Returns its size in bytes. */
static size_t make_change(struct rng *rng, uint8_t *bytes)
{
    size_t size = 0;
    if (rng_chance(rng, 32)) {
        bytes[size++] = 0x81;
        bytes[size++] = rng_chance(rng, 128) ? 0x20 : 0x30; /* without or with 64-bit state */
        return size;
    }
    const bool is_open = rng_chance(rng, 32);
    uint32_t threshold = (uint32_t)rng_wide(rng, 12);
    if (rng_chance(rng, 128))
        threshold |= 0x10000; /* wider than in any trace unit: counts are read one by one */
    bytes[size++] = 0x01;
    bytes[size++] = is_open ? 0x0c : 0x08;
    if (is_open)
        bytes[size++] = (uint8_t)rng_below(rng, 3);
    for (; threshold >= 0x80; threshold >>= 7)
        bytes[size++] = (uint8_t)(threshold | 0x80);
    bytes[size++] = (uint8_t)threshold;
    return size;
}

/* Returns all packets of the trace, valid until the next call. Sets *count, to 0 without memory. */
static const struct ct_etm4_packet *read_packets(const struct trace *t, size_t *count)
{
    static struct ct_etm4_packet packets[ROOM];
    struct ct_etm4_decoder *decoder;
    *count = 0;
    if (ct_etm4_decoder_new(NULL, &t->source, &decoder))
        return packets;
    ct_etm4_decode(decoder, t->bytes, t->size, 0, true, packets, ROOM, count);
    ct_etm4_decoder_free(decoder);
    return packets;
}

/* Finds the places after each trace info and after every 50th other packet. Returns how many. */
static size_t find_places(const struct trace *t, size_t *places, size_t most)
{
    size_t count, found = 0;
    const struct ct_etm4_packet *packets = read_packets(t, &count);
    for (size_t i = 0; i + 1 < count && found < most; i++)
        if (packets[i].type == CT_ETM4_TRACE_INFO || i % 50 == 49)
            places[found++] = packets[i + 1].pos;
    return found;
}

static void insert(struct trace *t, size_t at, const uint8_t *bytes, size_t size)
{
    memmove(t->bytes + at + size, t->bytes + at, t->size - at);
    memcpy(t->bytes + at, bytes, size);
    t->size += size;
}

/* Hides the next synchronisation point after `at` in an address, so that a decoder that began there was
 * wrong. */
static void hide_sync(struct trace *t, size_t at)
{
    static const uint8_t async[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80};
    const uint8_t address = 0x9d;
    for (; at + sizeof async <= t->size; at++)
        if (!memcmp(t->bytes + at, async, sizeof async)) {
            insert(t, at, &address, 1);
            return;
        }
}

static void change_packets(struct trace *t)
{
    static size_t places[ROOM];
    const size_t count = find_places(t, places, ROOM);
    for (size_t i = count, left = CHANGES; i-- > 0 && left;) {
        uint8_t bytes[CHANGE_SIZE];
        if (rng_below(&t->rng, (uint32_t)count) >= CHANGES)
            continue;
        const size_t size = make_change(&t->rng, bytes);
        if (rng_chance(&t->rng, 64))
            hide_sync(t, places[i]);
        insert(t, places[i], bytes, size);
        left--;
    }
}

/* Puts a context with another state some packets before half of the synchronisation points, and hides each
 * point in an address. A decoder that began after the point has to take back what it counted, in another
 * state than it began in. */
static void mislead(struct trace *t)
{
    size_t count;
    const struct ct_etm4_packet *packets = read_packets(t, &count);
    const uint8_t context[] = {0x81, t->isa == CT_ISA_A64 ? 0x20 : 0x30};
    for (size_t i = count; i-- > LEAD && t->size < ROOM / 2;)
        if (packets[i].type == CT_ETM4_ASYNC && rng_chance(&t->rng, 128)) {
            const size_t place = packets[i - 1 - rng_below(&t->rng, LEAD)].pos;
            hide_sync(t, packets[i].pos);
            insert(t, place, context, sizeof context);
        }
}

static int record(struct trace *t, enum kind kind)
{
    struct rng *rng = &t->rng;
    struct ct_unit_wishes wishes = {.protocol = rng_chance(rng, 64) ? CT_PROTOCOL_ETE : CT_PROTOCOL_ETM4,
                                    .trace_id = 0x10,
                                    .branch_broadcast = rng_chance(rng, kind == MISLEADING ? 200 : 100),
                                    .cycle_count = rng_chance(rng, 170) || kind == MEETING,
                                    .timestamps = rng_chance(rng, 60),
                                    .context_id = rng_chance(rng, 128),
                                    .return_stack =
                                        kind != MEETING && rng_chance(rng, kind >= STRETCHING ? 160 : 20)};
    t->returns = kind >= STRETCHING && wishes.return_stack;
    t->words = kind == MEETING ? WORDS_MOST : WORDS;
    t->depth = 0;
    t->isa = wishes.protocol == CT_PROTOCOL_ETM4 && rng_chance(rng, 80) ? CT_ISA_A32 : CT_ISA_A64;
    struct ct_unit_options options = {.cc_threshold = 4u << rng_below(rng, 5),
                                      .ts_period = 500,
                                      .sync_period = (rng_below(rng, 3) + (kind == MISLEADING)) * 1000,
                                      .event_rate = rng_below(rng, 2) * 300,
                                      .overflow_rate = rng_chance(rng, 40) ? 5000 : 0,
                                      .seed = rng_next(rng),
                                      .write = keep,
                                      .user = t};
    struct ct_unit *unit;
    t->size = 0;
    t->spread = rng_chance(rng, 64) ? 3000 : 64;
    ct_unit_source(&wishes, &options.source);
    t->source = options.source;
    for (unsigned i = 0; i < t->words; i++)
        put(t->code, i, t->returns ? word_of_functions(t, i) : word_of(t, i));
    if (ct_unit_new(NULL, &options, &unit))
        return 0;
    int rc = walk(t, unit, rng_chance(rng, 128)) ?: ct_unit_finish(unit);
    ct_unit_free(unit);
    if (kind == CHANGING)
        change_packets(t);
    if (kind == MISLEADING)
        mislead(t);
    if (kind >= STRIPPING && rng_chance(rng, 60))
        drop_atoms(t);
    if (rng_chance(rng, 30))
        repeat_counts(t);
    if (rng_chance(rng, 60))
        t->size = damage(rng, t->bytes, t->size, ROOM);
    return !rc;
}

/* Sum over the records of the walk, which depends on their order. */
static uint64_t records;

static int add_records(void *user, const struct ct_stream *stream, const struct ct_flow_batch *batch)
{
    (void)user, (void)stream;
    for (size_t i = 0; i < batch->count; i++) {
        uint64_t words[sizeof(struct ct_flow) / 8];
        memcpy(words, &batch->records[i], sizeof words);
        for (size_t k = 0; k < sizeof words / 8; k++)
            records = (records ^ words[k]) * UINT64_C(0x9e3779b97f4a7c15) + (records >> 29);
    }
    return 0;
}

/* Passes the trace to one chain several times, so that everything is met again. */
static int decode(struct trace *t, const struct ct_memory *memory, enum ct_engine engine,
                  enum ct_edges_level edges, unsigned passes, struct ct_stream_chain *chain)
{
    static struct ct_batches batches;
    const struct ct_chain_sink sink = {.flow = engine == CT_ENGINE_FAST ? NULL : add_records};
    const struct ct_chain_options options = {
        .size = sizeof options, .level = CT_LEVEL_STEPS, .engine = (uint8_t)engine, .edges = (uint8_t)edges};
    const unsigned most = t->piece ? t->piece : rng_chance(&t->rng, 80) ? 300 : 20000;
    int rc = ct_stream_chain_init(chain, NULL, &t->source, 0x10, &options, false, memory);
    if (!rc && chain->hops)
        ct_etm4_hops_tune(chain->hops, t->judged);
    if (!rc && t->rows && engine == CT_ENGINE_FAST) {
        ct_fast_tune_stretches(chain->follow->fast, t->rows);
        ct_fast_tune_legs(chain->follow->fast, t->rows);
        if (chain->hops && t->judged != CT_HOPS_REST) {
            chain->ops->hops_free(chain->hops);
            chain->hops = NULL;
        }
    }
    for (unsigned pass = 0; !rc && pass < passes; pass++) {
        size_t done = 0, given = 0;
        while (!rc && done < t->size) {
            size_t used, left = t->size - given, more = 1 + rng_below(&t->rng, most);
            given += more < left ? more : left;
            const struct ct_span span = {.pos = pass * t->size, .place = pass * t->size << CT_SPAN_BITS};
            const struct ct_run run = {.data = t->bytes + done,
                                       .size = given - done,
                                       .pos = pass * t->size + done,
                                       .spans = &span,
                                       .span_count = 1};
            const bool last = given == t->size;
            const enum ct_behind behind = !last               ? CT_BEHIND_MORE
                                          : pass + 1 < passes ? CT_BEHIND_BREAK
                                                              : CT_BEHIND_END;
            rc = ct_stream_chain_run(chain, &run, behind, CT_LEVEL_STEPS, &batches, &sink, &used);
            done = last ? given : done + used;
            if (!rc && rng_chance(&t->rng, 64))
                rc = ct_stream_chain_sync(chain);
        }
        if (pass + 1 < passes)
            ct_stream_chain_reset(chain, false);
    }
    return rc ? rc : ct_stream_chain_sync(chain);
}

static int same_bytes(const char *what, const void *a, size_t a_count, const void *b, size_t b_count,
                      size_t size)
{
    for (size_t i = 0; i < a_count && i < b_count; i++)
        if (memcmp((const uint8_t *)a + i * size, (const uint8_t *)b + i * size, size) != 0) {
            printf("# %s %zu of %zu and %zu\n", what, i, a_count, b_count);
            return 0;
        }
    if (a_count != b_count)
        printf("# %zu and %zu times %s\n", a_count, b_count, what);
    return a_count == b_count;
}

static int same_edges(const struct ct_stream *a, const struct ct_stream *b, bool cycles)
{
    size_t m, n;
    uint32_t k, l;
    const struct ct_edge_context *x = ct_edges_contexts(a->edges, &m), *y = ct_edges_contexts(b->edges, &n);
    const struct ct_node *nodes = ct_graph_nodes(a->graph, &k), *other_nodes = ct_graph_nodes(b->graph, &l);
    for (size_t c = 0; c < m && c < n; c++)
        if (memcmp(&x[c], &y[c], sizeof *x) != 0)
            printf("# context %zu: %" PRIu64 " and %" PRIu64 " steps, %" PRIu32 " and %" PRIu32 " edges\n", c,
                   x[c].steps, y[c].steps, x[c].edges, y[c].edges);
    if (!same_bytes("context", x, m, y, n, sizeof *x) ||
        !same_bytes("node", nodes, k, other_nodes, l, sizeof *nodes))
        return 0;
    const struct ct_edge *edges = ct_graph_edges(a->graph, &k), *other_edges = ct_graph_edges(b->graph, &l);
    if (!same_bytes("edge", edges, k, other_edges, l, sizeof *edges))
        return 0;
    for (size_t c = 0; c < m; c++)
        for (uint32_t i = 0; i < k; i++) {
            const struct ct_edge_stats s = ct_edges_get(a->edges, c, i), o = ct_edges_get(b->edges, c, i);
            if (!memcmp(&s, &o, sizeof s))
                continue;
            printf("# edge %" PRIu32 " in context %zu: %" PRIu64 " and %" PRIu64 " times, %" PRIu64
                   " and %" PRIu64 " cycles, %" PRIu32 " to %" PRIu32 " and %" PRIu32 " to %" PRIu32 "\n",
                   i, c, s.count, o.count, s.sum, o.sum, s.min, s.max, o.min, o.max);
            return 0;
        }
    struct ct_edge_totals s = ct_edges_totals(a->edges), o = ct_edges_totals(b->edges);
    if (!cycles) /* without cycles, counts have no place */
        s.unplaced = o.unplaced = 0;
    return same_bytes("totals", &s, 1, &o, 1, sizeof s);
}

/* With engine AUTO the walk keeps the ways it went: compares records, edges and statistics. */
static int same_kept(struct trace *t, const struct ct_memory *memory, enum ct_edges_level edges,
                     uint64_t plain_records, const struct ct_stream *plain)
{
    struct ct_stream_chain kept;
    records = 0;
    int ok = !decode(t, memory, CT_ENGINE_AUTO, edges, PASSES, &kept);
    kept.stream.stats.bytes = 0;
    ok = ok && same_bytes("sum over records", &plain_records, 1, &records, 1, sizeof records) &&
         same_edges(plain, &kept.stream, edges == CT_EDGES_CYCLES) &&
         same_bytes("statistics", &plain->stats, sizeof plain->stats / 8, &kept.stream.stats,
                    sizeof kept.stream.stats / 8, 8);
    ct_stream_chain_deinit(&kept);
    return ok;
}

static uint64_t steps, hopped;

static int check(uint64_t seed, enum kind kind)
{
    static struct trace t;
    struct ct_memory *memory;
    int ok = 1;
    t.rng = (struct rng){seed};
    t.judged = kind == RESTING ? 50 + rng_below(&t.rng, 1000) : 0;
    t.judged = kind >= STRIPPING ? CT_HOPS_REST : t.judged;
    t.rows = kind >= STRETCHING ? 1 + rng_below(&t.rng, 10) : 0;
    if (!record(&t, kind) || ct_memory_new(NULL, &memory) ||
        ct_memory_add_bytes(memory, t.code, t.words * 4, BASE, CT_SPACE_ANY))
        return 0;
    for (unsigned cycles = 0; cycles < 2 && ok; cycles++) {
        const enum ct_edges_level edges = cycles ? CT_EDGES_CYCLES : CT_EDGES_COUNTS;
        struct ct_stream_chain plain, fast;
        records = 0;
        ok = !decode(&t, memory, CT_ENGINE_PLAIN, edges, PASSES, &plain);
        const uint64_t plain_records = records;
        ok = ok && !decode(&t, memory, CT_ENGINE_FAST, edges, PASSES, &fast);
        plain.stream.stats.bytes = fast.stream.stats.bytes = 0;
        ok = ok && same_edges(&plain.stream, &fast.stream, cycles) &&
             same_bytes("statistics", &plain.stream.stats, sizeof plain.stream.stats / 8, &fast.stream.stats,
                        sizeof fast.stream.stats / 8, 8);
        ok = ok && same_kept(&t, memory, edges, plain_records, &plain.stream);
        steps += ok ? plain.stream.stats.ranges : 0;
        hopped += ok ? fast.hopped : 0;
        ct_stream_chain_deinit(&plain);
        ct_stream_chain_deinit(&fast);
    }
    ct_memory_free(memory);
    return ok;
}

/* Runs one test: `traces` traces from seed `first` on. */
static int check_all(unsigned number, enum kind kind, uint64_t first, uint64_t traces, const char *what)
{
    uint64_t seed = first;
    int ok = 1;
    steps = hopped = 0;
    for (; seed - first < traces && ok; seed++)
        ok = check(seed, kind);
    printf("# %" PRIu64 " steps in %" PRIu64 " traces, %" PRIu64 " bytes of them as hops\n", steps,
           seed - first, hopped);
    printf("%sok %u - %s", ok ? "" : "not ", number, what);
    printf(ok ? "\n" : " # CT_SEED=%" PRIu64 " CT_COUNT=1\n", seed - 1);
    return ok;
}

static void put_atoms(struct trace *t, unsigned packets)
{
    for (unsigned i = 0; i < packets; i++)
        t->bytes[t->size++] = (uint8_t)(0xc0 + rng_below(&t->rng, 21));
}

/* Writes a synchronisation point with execution at BASE, then `packets` packets of E atoms. */
static void put_loop(struct trace *t, unsigned packets)
{
    static const uint8_t start[] = {0,    0,    0,    0,          0, 0, 0, 0, 0,
                                    0,    0,    0x80, /* synchronisation */
                                    0x01, 0x00,       /* trace info */
                                    0x81, 0x30,       /* 64-bit state */
                                    0x9d, 0,    0,    BASE >> 16, 0, 0, 0, 0, 0};
    insert(t, t->size, start, sizeof start);
    put_atoms(t, packets);
}

/* Writes a trace info with a threshold for cycle counts. */
static void put_threshold(struct trace *t, bool is_wide)
{
    static const uint8_t usual[] = {0x01, 0x08, 0x10}, wide[] = {0x01, 0x08, 0x80, 0x80, 0x04};
    if (is_wide)
        insert(t, t->size, wide, sizeof wide);
    else
        insert(t, t->size, usual, sizeof usual);
}

/* Writes a loop that is counted from two places: first with a threshold that makes cycle counts rare, then,
 * when the second place comes to its counts, with one that does not. The loop follows a false synchronisation
 * point, so all that was counted from there is taken back. */
static void write_thresholds(struct trace *t)
{
    const uint8_t count = 0x10; /* of one byte */
    const struct ct_unit_wishes wishes = {
        .protocol = CT_PROTOCOL_ETM4, .trace_id = 0x10, .cycle_count = true};
    *t = (struct trace){.rng = {1}, .isa = CT_ISA_A64, .piece = ROOM};
    ct_unit_source(&wishes, &t->source);
    put_loop(t, 0);
    put_threshold(t, true);
    put_atoms(t, 3 * CT_SCAN_BYTES);
    put_threshold(t, false);
    put_atoms(t, 20 * CT_SCAN_BYTES);
    const size_t hidden = t->size;
    put_loop(t, 5 * CT_SCAN_BYTES);
    for (unsigned i = 0; i < 400; i++) {
        put_atoms(t, 20);
        insert(t, t->size, &count, 1);
    }
    put_atoms(t, 40 * CT_SCAN_BYTES);
    hide_sync(t, hidden);
    put_loop(t, 400);
}

/* Checks that counts made ahead are taken back as they were made, packet by packet. */
static int check_thresholds(void)
{
    static struct trace t;
    static uint8_t code[16];
    struct ct_stream_chain plain, fast;
    struct ct_memory *memory;
    for (unsigned i = 0; i < sizeof code / 4; i++)
        put(code, i, direct(CT_ISA_A64, i, i, i > 0));
    write_thresholds(&t);
    if (ct_memory_new(NULL, &memory) || ct_memory_add_bytes(memory, code, sizeof code, BASE, CT_SPACE_ANY))
        return 0;
    int ok = !decode(&t, memory, CT_ENGINE_PLAIN, CT_EDGES_COUNTS, PASSES, &plain) &&
             !decode(&t, memory, CT_ENGINE_FAST, CT_EDGES_COUNTS, PASSES, &fast) &&
             same_edges(&plain.stream, &fast.stream, false);
    printf("# %" PRIu64 " bytes of %zu as hops\n", fast.hopped, t.size * PASSES);
    ct_stream_chain_deinit(&plain);
    ct_stream_chain_deinit(&fast);
    ct_memory_free(memory);
    return seeds_tell(ok, 7, "also where a trace info comes while packets are counted ahead");
}

/* Writes one of two loops many times. They have the same atoms and the same branch on both sides, and differ
 * only by their start, more than a piece of a stretch earlier. With `contradicts`, the branch is sometimes
 * not taken, with no other address in that scan. */
static void write_alike(struct trace *t, bool return_stack, bool contradicts)
{
    static const uint8_t atoms[] = {0xd4, 0xd4, 0xd4, 0xf6, 0xf7}; /* 72 E, N, E */
    static const uint8_t not_taken = 0xf6;
    bool wrong = false;
    const struct ct_unit_wishes wishes = {
        .protocol = CT_PROTOCOL_ETM4, .trace_id = 0x10, .return_stack = return_stack};
    *t = (struct trace){.rng = {1}, .isa = CT_ISA_A64, .piece = ROOM, .rows = 8, .judged = CT_HOPS_REST};
    ct_unit_source(&wishes, &t->source);
    put_loop(t, 0);
    for (unsigned i = 0; i < 1000; i++) {
        const uint8_t word = (uint8_t)(1 + 2 * rng_below(&t->rng, 2));
        const uint8_t loop[] = {0xf7, 0x9d, word, 0, BASE >> 16, 0, 0, 0, 0, 0};
        const uint8_t back[] = {0x9d, 0, 0, BASE >> 16, 0, 0, 0, 0, 0};
        insert(t, t->size, loop + wrong, sizeof loop - wrong);
        if (wrong)
            put_atoms(t, 2 * CT_SCAN_BYTES);
        wrong = contradicts && i % 16 == 0;
        insert(t, t->size, atoms, sizeof atoms - wrong);
        if (wrong) {
            insert(t, t->size, &not_taken, 1);
            put_atoms(t, 20);
        } else {
            insert(t, t->size, back, sizeof back);
        }
    }
}

/* Decodes the trace of write_alike with both engines. Returns whether they count the same. */
static bool counts_alike(const struct ct_memory *memory, bool return_stack, bool contradicts)
{
    static struct trace t;
    struct ct_stream_chain plain, fast;
    write_alike(&t, return_stack, contradicts);
    const bool ok = !decode(&t, memory, CT_ENGINE_PLAIN, CT_EDGES_COUNTS, PASSES, &plain) &&
                    !decode(&t, memory, CT_ENGINE_FAST, CT_EDGES_COUNTS, PASSES, &fast) &&
                    same_edges(&plain.stream, &fast.stream, false);
    printf("# %" PRIu64 " ranges\n", plain.stream.stats.ranges);
    ct_stream_chain_deinit(&plain);
    ct_stream_chain_deinit(&fast);
    return ok;
}

/* Checks that a piece of a stretch counts only after the step that it was met after, with a return stack
 * (stretches of elements) and without one (directly from the scan). When a stretch contradicts the program,
 * none counts before the next address. */
static int check_alike(void)
{
    static uint8_t code[20];
    struct ct_memory *memory;
    for (unsigned i = 0; i < sizeof code / 4; i++)
        put(code, i, i % 2 ? direct(CT_ISA_A64, i, i, 0) : 0xd61f0020);
    if (ct_memory_new(NULL, &memory) || ct_memory_add_bytes(memory, code, sizeof code, BASE, CT_SPACE_ANY))
        return 0;
    const int ok = counts_alike(memory, true, false) && counts_alike(memory, false, false) &&
                   counts_alike(memory, true, true) && counts_alike(memory, false, true);
    ct_memory_free(memory);
    return seeds_tell(ok, 8, "also where pieces of stretches differ by where they began alone");
}

/* Writes a loop of one block, then all other blocks one after the other, and a false synchronisation point,
 * from which the loop is counted ahead. */
static void write_long_way(struct trace *t)
{
    const uint8_t leave = 0xf6; /* N */
    const struct ct_unit_wishes wishes = {.protocol = CT_PROTOCOL_ETM4, .trace_id = 0x10};
    *t = (struct trace){.rng = {1}, .isa = CT_ISA_A64, .piece = ROOM};
    ct_unit_source(&wishes, &t->source);
    put_loop(t, 400);
    insert(t, t->size, &leave, 1);
    memset(t->bytes + t->size, 0xd4, BLOCKS / BLOCK_ATOMS);
    t->size += BLOCKS / BLOCK_ATOMS;
    const size_t hidden = t->size;
    put_loop(t, LOOPS);
    hide_sync(t, hidden);
    put_loop(t, 400);
}

/* Checks that blocks can be forgotten, because too many were met, while there are counts made ahead. */
static int check_forgetting(void)
{
    static struct trace t;
    static uint8_t code[(BLOCKS + 2) * 4];
    struct ct_stream_chain plain, fast;
    struct ct_memory *memory;
    for (unsigned i = 0; i < BLOCKS + 2; i++)
        put(code, i, direct(CT_ISA_A64, i, i + (i > 0), 0));
    write_long_way(&t);
    if (ct_memory_new(NULL, &memory) || ct_memory_add_bytes(memory, code, sizeof code, BASE, CT_SPACE_ANY))
        return 0;
    int ok = !decode(&t, memory, CT_ENGINE_PLAIN, CT_EDGES_COUNTS, 1, &plain) &&
             !decode(&t, memory, CT_ENGINE_FAST, CT_EDGES_COUNTS, 1, &fast) &&
             same_edges(&plain.stream, &fast.stream, false);
    printf("# %" PRIu64 " bytes of %zu as hops\n", fast.hopped, t.size);
    ct_stream_chain_deinit(&plain);
    ct_stream_chain_deinit(&fast);
    ct_memory_free(memory);
    return seeds_tell(ok, 4, "also where the program is forgotten when counts are undone");
}

int main(void)
{
    if (best_simd_is_named())
        return 0;
    const uint64_t seed = test_number("CT_SEED", 1), traces = test_count(test_part(30), 10000);
    printf("TAP version 13\n1..13\n# CT_SEED=%" PRIu64 " CT_COUNT=%" PRIu64 "\n", seed, traces);
    int ok = check_all(1, AS_RECORDED, seed, traces, "hops say what the plain engine says");
    ok &= check_all(2, CHANGING, seed, traces, "also where trace info and contexts change what packets are");
    ok &=
        check_all(3, MISLEADING, seed, traces, "also where another state is in force when counts are undone");
    ok &= check_forgetting();
    ok &= check_all(5, RESTING, seed, traces, "also where hops rest now and then");
    ok &= check_all(6, STRETCHING, seed, traces, "stretches of elements say it, too");
    ok &= check_thresholds();
    ok &= check_alike();
    ok &= check_all(9, STRIPPING, seed, traces, "stretches straight from the scan say it, too");
    ok &= check_all(10, CHANGING, AT_ZERO, 1, "also at address 0, which empty tables have");
    ok &= check_all(11, RESTING, LAST_COUNT, 1, "also where the trace is damaged right behind a count");
    ok &= check_all(12, STRIPPING, TWO_ADDRESSES, 1, "also where addresses follow each other before a count");
    ok &= check_all(13, MEETING, seed, traces, "also where strips meet new code all the time");
    return ok ? 0 : 1;
}
