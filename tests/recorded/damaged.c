/* SPDX-License-Identifier: Apache-2.0 */
/* Checks damaged trace of a recorded program: all engines and levels agree, and nothing is counted that did
 * not run.
 *
 * usage: damaged DIR TRUTH COUNT [SEED [KEEP]]     a snapshot directory of one core without frames, and the
 *                                                  truth file of its recording; COUNT damaged traces, from
 *                                                  SEED (1 or more) on. KEEP: a file that the last of them
 *                                                  is written to
 *
 * Each trace is the recorded one with 1 to 3 damages: a flipped bit, or a range of bytes that is dropped,
 * doubled or moved. Three rules must hold for each trace:
 *
 * 1. The records of the plain walk, the edges of the plain and the fast engine (counts, cycles), those of
 *    hops and of threads, and the statistics of all levels agree: same graph, same numbers, same gaps.
 * 2. What is counted is in the truth, or libopencsd reports it, too. See below.
 * 3. When a record says that something is missing or contradicts the program, the statistics do as well, and
 *    the exit code.
 *
 * Rule 2 in detail. The whole trace decodes to what was executed (TRUTH), so each of its bytes stands for
 * known ranges of instructions. A range of a damaged trace is true when the byte that its packet has from the
 * whole trace stands for that range there, once; any other range is invented. For coretap, ranges that count
 * are compared (stale ones do not count); for libopencsd, ranges that it puts out. The sums of both are
 * printed. run_damaged.py checks them: over all recordings coretap must not invent more than libopencsd, for
 * ten thousand traces not more than half as much; and in no recording more than libopencsd where that
 * follows. libopencsd does not follow when it has no element of the packet, or lost synchronisation in it: it
 * then waits for synchronisation, while coretap continues with the next address. It also knows no ThumbEE.
 * Nothing is compared where damage names an instruction set that the program does not have: there the answers
 * of libopencsd about words that are data come from an older table. A trace in which coretap invents more is
 * printed and counted.
 *
 * libopencsd runs in a process of its own, because 1.3.3 crashes at a mispredict without an atom. Such traces
 * are counted. Where it gives up in a packet it starts again after it.
 *
 * Prints one line of sums, and the seed of each trace that breaks rule 1 or 3; exits with 1 then. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef CT_HAVE_OPENCSD
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "chain/chain_tune.h"
#include "support/rng.h"
#include "coretap/decode.h"
#ifdef CT_HAVE_OPENCSD
#include "oracle/ocsd.h"
#include "oracle/v7/v7_ocsd.h"
#endif

enum {
    REGIONS = 256,
    ISAS = 2,         /* T32 and the others, because an address has the same bytes in both */
    THEIRS = 4000000, /* greatest number of ranges of libopencsd */
    SEGMENT = 300,    /* bytes per task of several threads */
};

/* Number of executions of each instruction, by halfword of the images. */
struct counts {
    uint32_t *times;
};

struct region {
    uint64_t addr;
    uint64_t size;
    uint8_t *bytes;
    size_t first; /* index of its first halfword in the counts */
};

static struct {
    struct ct_capture *capture;
    const struct ct_buffer *buffer;
    struct region regions[REGIONS];
    unsigned region_count;
    size_t halfwords;
    struct counts truth;
    unsigned isas; /* instruction sets that the program has: 1 << enum ct_isa */
    uint8_t *trace, *bytes;
    uint32_t *origin; /* of each byte: its place in the recorded trace */
    size_t trace_size, size, room;
} subject;

static void fail(const char *what)
{
    printf("%s\n", what);
    exit(1);
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        fail("no memory");
    return memory;
}

static uint8_t *read_file(const char *path, uint64_t offset, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        fail(path);
    fseek(file, 0, SEEK_END);
    const long end = ftell(file);
    if (*size == SIZE_MAX)
        *size = (size_t)end - offset;
    uint8_t *bytes = allocate(*size + 64, 1);
    if (fseek(file, (long)offset, SEEK_SET) || fread(bytes, 1, *size, file) != *size)
        fail(path);
    fclose(file);
    return bytes;
}

/* ---- execution ---- */

static const struct region *region_at(uint64_t addr)
{
    static unsigned last;
    for (unsigned n = 0; n < subject.region_count; n++, last = (last + 1) % subject.region_count)
        if (addr - subject.regions[last].addr < subject.regions[last].size)
            return &subject.regions[last];
    return NULL;
}

static bool t32_is_long(const struct region *r, uint64_t addr)
{
    return r->bytes[addr - r->addr + 1] >= 0xe8;
}

/* Adds one execution of all instructions from `start` to `end`. */
static void count_range(struct counts *counts, bool t32, uint64_t start, uint64_t end)
{
    const struct region *r = NULL;
    for (uint64_t at = start; at < end;) {
        if (!r || at - r->addr >= r->size)
            r = region_at(at);
        if (!r) {
            printf("# %" PRIx64 "\n", at);
            fail("an instruction ran that is in no image");
        }
        counts->times[(t32 ? subject.halfwords : 0) + r->first + (at - r->addr) / 2]++;
        at += t32 && !t32_is_long(r, at) ? 2 : 4;
    }
}

/* Returns whether an instruction was executed more often than in the truth. */
static bool exceeds(const struct counts *counts, const struct counts *truth)
{
    for (size_t i = 0; i < subject.halfwords * ISAS; i++)
        if (counts->times[i] > truth->times[i])
            return true;
    return false;
}

static void clear(struct counts *counts)
{
    if (!counts->times)
        counts->times = allocate(subject.halfwords * ISAS, sizeof *counts->times);
    memset(counts->times, 0, subject.halfwords * ISAS * sizeof *counts->times);
}

static void read_truth(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[256], traced, isa[4];
    uint64_t start, end;
    if (!file)
        fail("no truth file");
    clear(&subject.truth);
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%c %*u %*x %3s %" SCNx64 " %" SCNx64, &traced, isa, &start, &end) != 4)
            fail(line);
        if (traced == '+')
            count_range(&subject.truth, !strcmp(isa, "t32"), start, end);
    }
    fclose(file);
}

static void open_subject(const char *path, const char *truth)
{
    struct ct_ctx *ctx = ct_ctx_new();
    if (!ctx || ct_capture_open(ctx, path, &subject.capture))
        fail(ctx ? ct_ctx_error(ctx) : "no memory");
    subject.buffer = &subject.capture->buffers[0];
    const struct ct_buffer *b = subject.buffer;
    if (b->framing != CT_FRAMING_NONE || b->piece_count || b->image_count > REGIONS)
        fail("the capture has frames, pieces or too many images");
    for (size_t i = 0; i < b->image_count; i++) {
        size_t size = b->images[i].size;
        struct region *r = &subject.regions[subject.region_count++];
        *r = (struct region){.addr = b->images[i].addr,
                             .size = size,
                             .bytes = read_file(b->images[i].path, b->images[i].offset, &size),
                             .first = subject.halfwords};
        subject.halfwords += size / 2 + 1;
    }
    subject.trace_size = SIZE_MAX;
    subject.trace = read_file(b->path, 0, &subject.trace_size);
    subject.room = 4 * subject.trace_size + 4096;
    subject.bytes = allocate(subject.room, 1);
    subject.origin = allocate(subject.room, sizeof *subject.origin);
    read_truth(truth);
    ct_ctx_free(ctx);
}

/* ---- ranges with places ---- */

struct range {
    uint64_t start, end;
    uint32_t place; /* offset of its packet */
    uint8_t isa;    /* enum ct_isa */
    uint32_t n, left;
};

/* All ranges, in order. */
struct list {
    struct range *ranges;
    size_t count, room;
};

static void append(struct list *list, const struct range *range)
{
    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 4096;
        list->ranges = realloc(list->ranges, list->room * sizeof *range);
        if (!list->ranges)
            fail("no memory");
    }
    list->ranges[list->count++] = *range;
}

static struct list ours, whole;

/* ---- damage ---- */

static void insert(size_t at, const uint8_t *bytes, const uint32_t *origin, size_t size)
{
    memmove(subject.bytes + at + size, subject.bytes + at, subject.size - at);
    memmove(subject.origin + at + size, subject.origin + at, (subject.size - at) * sizeof *origin);
    memcpy(subject.bytes + at, bytes, size);
    memcpy(subject.origin + at, origin, size * sizeof *origin);
    subject.size += size;
}

static void drop(size_t at, size_t size)
{
    memmove(subject.bytes + at, subject.bytes + at + size, subject.size - at - size);
    memmove(subject.origin + at, subject.origin + at + size,
            (subject.size - at - size) * sizeof *subject.origin);
    subject.size -= size;
}

/* Damages the bytes once. */
static void damage_once(struct rng *rng)
{
    static uint8_t range[4096];
    static uint32_t origin[4096];
    const size_t at = rng_below(rng, (uint32_t)subject.size);
    size_t size = 1 + rng_wide(rng, 11);
    size = size < subject.size - at ? size : subject.size - at;
    const unsigned kind = rng_below(rng, 8);
    if (kind < 5) {
        subject.bytes[at] ^= (uint8_t)(1u << rng_below(rng, 8));
        return;
    }
    memcpy(range, subject.bytes + at, size);
    memcpy(origin, subject.origin + at, size * sizeof *origin);
    if (kind != 6)
        drop(at, size);
    if (kind != 5)
        insert(kind == 6 ? at : rng_below(rng, (uint32_t)subject.size + 1), range, origin, size);
}

static void make_damaged(uint64_t seed)
{
    struct rng rng = {seed};
    memcpy(subject.bytes, subject.trace, subject.trace_size);
    subject.size = subject.trace_size;
    for (size_t i = 0; i < subject.size; i++)
        subject.origin[i] = (uint32_t)i;
    for (unsigned n = seed ? 1 + rng_below(&rng, 3) : 0; n && subject.size; n--)
        damage_once(&rng);
}

static void write_file(const char *path)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(subject.bytes, 1, subject.size, file) != subject.size || fclose(file))
        fail(path);
}

/* ---- coretap ---- */

struct how {
    const char *name;
    uint8_t level, edges, engine;
    uint8_t threads;
    bool wants_flow, wants_steps;
};

static const struct how hows[] = {
    {.name = "records", .level = CT_LEVEL_FLOW, .wants_flow = true},
    {.name = "records, threads", .level = CT_LEVEL_FLOW, .wants_flow = true, .threads = 3},
    {.name = "fast", .level = CT_LEVEL_FLOW},
    {.name = "elements", .level = CT_LEVEL_ELEMENT},
    {.name = "packets", .level = CT_LEVEL_PACKET},
    {.name = "steps",
     .level = CT_LEVEL_STEPS,
     .edges = CT_EDGES_CYCLES,
     .engine = CT_ENGINE_PLAIN,
     .wants_steps = true},
    {.name = "fast steps", .level = CT_LEVEL_STEPS, .edges = CT_EDGES_CYCLES, .wants_steps = true},
    {.name = "edge cycles", .level = CT_LEVEL_STEPS, .edges = CT_EDGES_CYCLES, .engine = CT_ENGINE_PLAIN},
    {.name = "fast edge cycles", .level = CT_LEVEL_STEPS, .edges = CT_EDGES_CYCLES},
    {.name = "fast edge cycles, threads", .level = CT_LEVEL_STEPS, .edges = CT_EDGES_CYCLES, .threads = 4},
    {.name = "edge counts", .level = CT_LEVEL_STEPS, .edges = CT_EDGES_COUNTS, .engine = CT_ENGINE_PLAIN},
    {.name = "fast edge counts", .level = CT_LEVEL_STEPS, .edges = CT_EDGES_COUNTS},
    {.name = "fast edge counts, threads", .level = CT_LEVEL_STEPS, .edges = CT_EDGES_COUNTS, .threads = 2},
};

/* Output of one way of decoding, as bytes, with statistics. */
struct answer {
    struct ct_stream_stats stats;
    uint8_t *log;
    size_t size, room;
    struct counts counts; /* from records */
    uint64_t insns;       /* instructions in records that count */
    uint64_t stale;       /* instructions in records that do not count */
    bool is_first;        /* its ranges are recorded */
    bool told;            /* a record or an element reports that something is missing */
};

static void add(struct answer *a, const void *bytes, size_t size)
{
    if (a->size + size > a->room) {
        a->room = 2 * (a->size + size);
        a->log = realloc(a->log, a->room);
        if (!a->log)
            fail("no memory");
    }
    if (size)
        memcpy(a->log + a->size, bytes, size);
    a->size += size;
}

static int on_flow(void *user, const struct ct_stream *stream, const struct ct_flow_batch *batch)
{
    struct answer *a = user;
    (void)stream;
    add(a, batch->records, batch->count * sizeof *batch->records);
    for (size_t i = 0; i < batch->count; i++) {
        const struct ct_flow *r = &batch->records[i];
        const struct ct_elem *e = &r->elem;
        a->told |= r->kind == CT_FLOW_NO_ACCESS;
        a->told |= r->kind == CT_FLOW_ELEM && e->kind == CT_ELEM_GAP && e->n != CT_GAP_INIT;
        a->told |= r->kind == CT_FLOW_ELEM && e->kind == CT_ELEM_END && (e->aux || e->v);
        if (r->kind == CT_FLOW_RANGE && r->stale)
            a->stale += r->n;
        if (r->kind != CT_FLOW_RANGE || r->stale)
            continue;
        a->insns += r->n;
        count_range(&a->counts, r->isa == CT_ISA_T32, r->start, r->end);
        if (!a->is_first)
            continue;
        append(&ours,
               &(struct range){
                   .start = r->start, .end = r->end, .place = (uint32_t)r->offset, .isa = r->isa, .n = r->n});
    }
    return 0;
}

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct answer *a = user;
    (void)stream;
    for (size_t i = 0; i < batch->count; i++) {
        add(a, &batch->edge[i], sizeof *batch->edge);
        if (batch->cycles)
            add(a, &batch->cycles[i], sizeof *batch->cycles);
    }
    return 0;
}

/* Adds nodes, edges and contexts with their numbers, and their counts. */
static void add_edges(struct answer *a, const struct ct_stream *stream)
{
    uint32_t nodes, edges;
    size_t contexts;
    const struct ct_node *node = ct_graph_nodes(stream->graph, &nodes);
    const struct ct_edge *edge = ct_graph_edges(stream->graph, &edges);
    const struct ct_edge_context *context = ct_edges_contexts(stream->edges, &contexts);
    add(a, node, nodes * sizeof *node);
    add(a, edge, edges * sizeof *edge);
    add(a, context, contexts * sizeof *context);
    a->insns = 0;
    for (size_t c = 0; c < contexts; c++)
        for (uint32_t e = 0; e < context[c].edges; e++) {
            const struct ct_edge_stats stats = ct_edges_get(stream->edges, c, e);
            add(a, &stats, sizeof stats);
            if (!(node[edge[e].from].flags & CT_NODE_NOPATH))
                a->insns += stats.count * node[edge[e].from].n;
        }
}

static void decode(const struct how *how, struct answer *a)
{
    const struct ct_chain_sink sink = {
        .user = a, .flow = how->wants_flow ? on_flow : NULL, .steps = how->wants_steps ? on_steps : NULL};
    const struct ct_chain_options options = {.size = sizeof options,
                                             .level = how->level,
                                             .edges = how->edges,
                                             .engine = how->engine,
                                             .threads = how->threads};
    struct ct_chain *chain;
    size_t count;
    a->size = 0;
    a->insns = a->stale = 0;
    a->told = false;
    a->is_first = how == hows;
    clear(&a->counts);
    if (ct_chain_new(NULL, subject.buffer, &options, &sink, &chain))
        fail("no chain");
    ct_chain_tune(chain, how->threads ? SEGMENT : 0);
    if (ct_chain_push(chain, subject.bytes, subject.size) || ct_chain_finish(chain))
        fail("the chain ended");
    const struct ct_stream *streams = ct_chain_streams(chain, &count);
    a->stats = streams[0].stats;
    if (streams[0].edges)
        add_edges(a, &streams[0]);
    ct_chain_free(chain);
}

/* For each way, the earlier one that it is compared with, and what must be the same. */
enum {
    SAME_GAPS = 1,
    SAME_FLOW = 2,
    SAME_LOG = 4,
};
static const struct {
    uint8_t with, what;
} rules[] = {{0, 0},
             {0, SAME_GAPS | SAME_FLOW | SAME_LOG},
             {0, SAME_GAPS | SAME_FLOW},
             {0, SAME_GAPS},
             {0, 0},
             {0, SAME_GAPS | SAME_FLOW},
             {5, SAME_GAPS | SAME_FLOW | SAME_LOG},
             {0, SAME_GAPS | SAME_FLOW},
             {7, SAME_GAPS | SAME_FLOW | SAME_LOG},
             {7, SAME_GAPS | SAME_FLOW | SAME_LOG},
             {0, SAME_GAPS | SAME_FLOW},
             {10, SAME_GAPS | SAME_FLOW | SAME_LOG},
             {10, SAME_GAPS | SAME_FLOW | SAME_LOG}};

#define HOWS (sizeof hows / sizeof *hows)

static struct answer answers[HOWS];

static bool agree(unsigned i)
{
    const struct answer *a = &answers[rules[i].with], *b = &answers[i];
    const struct ct_stream_stats *s = &a->stats, *t = &b->stats;
    bool same = true;
    if (rules[i].what & SAME_GAPS)
        same = s->losses.gaps - s->losses.contradictions == t->losses.gaps - t->losses.contradictions &&
               s->losses.lost_bytes == t->losses.lost_bytes;
    if (rules[i].what & SAME_FLOW)
        same = same && s->instructions == t->instructions && s->branches == t->branches &&
               s->losses.no_access == t->losses.no_access &&
               s->losses.contradictions == t->losses.contradictions;
    if (rules[i].what & SAME_LOG)
        same = same && a->size == b->size && !memcmp(a->log, b->log, a->size);
    if (b->size && hows[i].edges)
        same = same && b->insns == t->instructions;
    if (!same)
        printf("# %s and %s do not agree: %" PRIu64 " and %" PRIu64 " instructions, %" PRIu64 " and %" PRIu64
               " gaps, %" PRIu64 " and %" PRIu64 " contradictions, %zu and %zu bytes\n",
               hows[rules[i].with].name, hows[i].name, s->instructions, t->instructions, s->losses.gaps,
               t->losses.gaps, s->losses.contradictions, t->losses.contradictions, a->size, b->size);
    return same;
}

static bool engines_agree(void)
{
    bool same = true;
    ours.count = 0;
    for (unsigned i = 0; i < HOWS; i++)
        decode(&hows[i], &answers[i]);
    for (unsigned i = 0; i < HOWS; i++)
        same &= agree(i);
    const struct answer *a = &answers[0];
    if (a->insns != a->stats.instructions) {
        printf("# records have %" PRIu64 " instructions, statistics %" PRIu64 "\n", a->insns,
               a->stats.instructions);
        same = false;
    }
    if (a->told && !a->stats.losses.gaps && !a->stats.losses.lost_bytes && !a->stats.losses.no_access) {
        printf("# something is missing, and the statistics do not say so\n");
        same = false;
    }
    return same;
}

/* ---- libopencsd ---- */

#ifdef CT_HAVE_OPENCSD

/* Output of libopencsd, in memory shared with its process. */
static struct shared {
    size_t count;
    struct range ranges[THEIRS];
    uint32_t last;  /* offset of the last element */
    uint8_t seen[]; /* by offset of a packet: 1 when there is an element of it, and it was read to its end */
} * theirs;

/* Notes an element of the packet at `place`. A packet before a loss of synchronisation may have been dropped
 * halfway. */
static void see(uint32_t place, bool no_sync)
{
    if (no_sync) {
        theirs->seen[theirs->last] = 0;
        return;
    }
    theirs->seen[place] = 1;
    theirs->last = place;
}

static void put_theirs(const struct range *range)
{
    if (theirs->count == THEIRS)
        fail("too many ranges");
    theirs->ranges[theirs->count++] = *range;
}

static uint8_t isa_of(ocsd_isa isa)
{
    return isa == ocsd_isa_aarch64 ? CT_ISA_A64 : isa == ocsd_isa_thumb2 ? CT_ISA_T32 : CT_ISA_A32;
}

/* Decodes from `from` on. Returns where to start again, or the end when all was read. */
static size_t run_etm4(const struct ocsd_region *regions, size_t from)
{
    static struct ocsd ocsd;
    if (ocsd_run_elems(&ocsd, &subject.buffer->sources[0], regions, subject.region_count,
                       subject.bytes + from, subject.size - from))
        fail("libopencsd does not take the configuration");
    for (size_t i = 0; i < ocsd.elem_count; i++) {
        const ocsd_generic_trace_elem *e = &ocsd.elems[i].elem;
        const uint32_t place = (uint32_t)(from + ocsd.elems[i].index);
        see(place, e->elem_type == OCSD_GEN_TRC_ELEM_NO_SYNC);
        if (e->elem_type == OCSD_GEN_TRC_ELEM_INSTR_RANGE)
            put_theirs(&(struct range){.start = e->st_addr,
                                       .end = e->en_addr,
                                       .place = place,
                                       .isa = isa_of(e->isa),
                                       .n = e->num_instr_range});
    }
    return ocsd.fatal ? from + ocsd.fatal_index + 1 : subject.size;
}

static size_t run_ptm(const struct v7_region *regions, size_t from)
{
    static struct v7_lines lines;
    const int fatal = v7_ocsd_elems(&lines, &subject.buffer->sources[0], regions, subject.region_count,
                                    subject.bytes + from, subject.size - from);
    unsigned long index = 0;
    const char *end = lines.text + lines.size;
    for (const char *line = lines.text; line < end; line = strchr(line, '\n') + 1) {
        struct range r = {0};
        char kind[32], isa[4];
        if (sscanf(line, "%lu %31s", &index, kind) != 2)
            fail("a line that is none");
        r.place = (uint32_t)(from + index);
        see(r.place, !strcmp(kind, "no_sync"));
        if (strcmp(kind, "instr_range") != 0)
            continue;
        if (sscanf(line, "%*u %*s start=%" SCNx64 " end=%" SCNx64 " n=%" SCNu32 " last_sz=%*d isa=%3s",
                   &r.start, &r.end, &r.n, isa) != 4)
            fail("a range that is none");
        r.isa = !strcmp(isa, "t32") ? CT_ISA_T32 : CT_ISA_A32;
        put_theirs(&r);
    }
    return fatal ? from + index + 1 : subject.size;
}

static void run_here(void)
{
    struct ocsd_region regions[REGIONS];
    struct v7_region v7[REGIONS];
    for (unsigned i = 0; i < subject.region_count; i++) {
        const struct region *r = &subject.regions[i];
        regions[i] = (struct ocsd_region){r->addr, (uint32_t)r->size, CT_SPACE_ANY, r->bytes};
        v7[i] = (struct v7_region){(uint32_t)r->addr, (uint32_t)r->size, r->bytes};
    }
    const bool ptm = subject.buffer->sources[0].protocol == CT_PROTOCOL_PTM;
    for (size_t at = 0; at < subject.size;)
        at = ptm ? run_ptm(v7, at) : run_etm4(regions, at);
}

/* Runs libopencsd in a process of its own. Returns false when it crashed. */
static bool run_opencsd(void)
{
    int status = 0;
    theirs->count = theirs->last = 0;
    memset(theirs->seen, 0, subject.room);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        run_here();
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        fail("no process");
    if (WIFEXITED(status) && WEXITSTATUS(status))
        fail("libopencsd did not run");
    return WIFEXITED(status);
}

/* ---- invented ranges ---- */

/* A multiset of ranges with open addressing; `left` is the number of copies. */
struct ranges {
    struct range *slots;
    size_t cap, count;
};

static struct range *slot_of(struct ranges *set, const struct range *key)
{
    uint64_t x = (key->start * 31 + key->end) * UINT64_C(0x9e3779b97f4a7c15) + key->place;
    x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    for (size_t i = x >> 20;; i++) {
        struct range *s = &set->slots[i & (set->cap - 1)];
        if (!s->end ||
            (s->start == key->start && s->end == key->end && s->place == key->place && s->isa == key->isa))
            return s;
    }
}

static void put_range(struct ranges *set, const struct range *range)
{
    if (2 * set->count >= set->cap) {
        const size_t cap = set->cap ? 2 * set->cap : 4096;
        struct ranges more = {allocate(cap, sizeof *range), cap, set->count};
        for (size_t i = 0; i < set->cap; i++)
            if (set->slots[i].end)
                *slot_of(&more, &set->slots[i]) = set->slots[i];
        free(set->slots);
        *set = more;
    }
    struct range *s = slot_of(set, range);
    set->count += !s->end;
    const uint32_t left = s->left;
    *s = *range;
    s->left = left + 1;
}

static bool take_range(struct ranges *set, const struct range *range)
{
    struct range *s = set->cap ? slot_of(set, range) : NULL;
    if (!s || !s->end || !s->left)
        return false;
    s->left--;
    return true;
}

static void empty(struct ranges *set)
{
    if (set->cap)
        memset(set->slots, 0, set->cap * sizeof *set->slots);
    set->count = 0;
}

/* Returns whether libopencsd followed the packet of a range, too, and knows the instruction set. */
static bool is_followed(const struct range *range)
{
    return theirs->seen[range->place] && subject.isas >> range->isa & 1;
}

#ifdef CT_HAVE_OPENCSD
/* Returns how many instructions of the ranges are not in the truth at their place: of all ranges, or only of
 * followed ones. When bytes occur twice and only one of the decoders followed the first time, the second time
 * is true for the other one. */
static uint64_t invented(const struct range *ranges, size_t count, bool followed)
{
    static struct ranges truth;
    uint64_t sum = 0;
    empty(&truth);
    for (size_t i = 0; i < whole.count; i++)
        put_range(&truth, &whole.ranges[i]);
    for (size_t i = 0; i < count; i++) {
        struct range range = ranges[i];
        if (followed && !is_followed(&range))
            continue;
        range.place = subject.origin[range.place];
        if (!take_range(&truth, &range))
            sum += range.n;
    }
    return sum;
}
#endif

#endif

/* ---- the test ---- */

static struct {
    uint64_t invented, followed, theirs, instructions, stale, lost, crashes, more;
} sums;

/* Decodes the whole trace, checks that it is what was executed, and keeps its ranges as the truth. */
static void learn_truth(void)
{
    make_damaged(0);
    if (!engines_agree() || exceeds(&answers[0].counts, &subject.truth))
        fail("the whole trace is not the truth");
    for (unsigned i = 0; i < HOWS; i++) {
        const struct ct_losses *losses = &answers[i].stats.losses;
        if (losses->contradictions || ct_losses_damaged(losses) || losses->no_access)
            fail("something is missing in the whole trace, or contradicts the program");
    }
    for (size_t i = 0; i < ours.count; i++) {
        append(&whole, &ours.ranges[i]);
        subject.isas |= 1u << ours.ranges[i].isa;
    }
}

static bool check(uint64_t seed)
{
    make_damaged(seed);
    bool good = engines_agree();
    const struct answer *a = &answers[0];
    sums.instructions += a->insns;
    sums.stale += a->stale;
    sums.lost += a->told;
#ifdef CT_HAVE_OPENCSD
    if (!run_opencsd()) {
        sums.crashes++;
        return good;
    }
    const uint64_t followed = invented(ours.ranges, ours.count, true);
    const uint64_t their_sum = invented(theirs->ranges, theirs->count, false);
    sums.invented += invented(ours.ranges, ours.count, false);
    sums.followed += followed;
    sums.theirs += their_sum;
    if (followed > their_sum) {
        sums.more++;
        printf("# seed %" PRIu64 ": %" PRIu64 " instructions are invented, by libopencsd %" PRIu64 "\n", seed,
               followed, their_sum);
    }
#endif
    return good;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        fail("usage: damaged DIR TRUTH COUNT [SEED [KEEP]]");
    const uint64_t count = strtoull(argv[3], NULL, 0), first = argc > 4 ? strtoull(argv[4], NULL, 0) : 1;
    unsigned bad = 0;
    open_subject(argv[1], argv[2]);
#ifdef CT_HAVE_OPENCSD
    theirs =
        mmap(NULL, sizeof *theirs + subject.room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (theirs == MAP_FAILED)
        fail("no memory");
#endif
    learn_truth();
    for (uint64_t seed = first; seed < first + count; seed++)
        if (!check(seed)) {
            printf("# seed %" PRIu64 "\n", seed);
            bad++;
        }
    if (argc > 5)
        write_file(argv[5]);
    printf("traces=%" PRIu64 " bad=%u instructions=%" PRIu64 " stale=%" PRIu64 " invented=%" PRIu64
           " followed=%" PRIu64 " more=%" PRIu64 " opencsd=%" PRIu64 " crashes=%" PRIu64 " lossy=%" PRIu64
           "\n",
           count, bad, sums.instructions, sums.stale, sums.invented, sums.followed, sums.more, sums.theirs,
           sums.crashes, sums.lost);
    ct_capture_free(subject.capture);
    return bad ? 1 : 0;
}
