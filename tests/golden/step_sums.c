/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the steps of every stream of the corpus with the ranges of the walk and the counts in the trace:
 * each range is a step, the cycles add up, no cut changes anything, and the fast engine agrees. usage:
 * step_sums SHARED, the folder of the corpus when $CT_SHARED is not set. Prints TAP. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coretap/decode.h"

/* A range and how often it ran, regardless of order. */
struct piece {
    uint64_t start, end, count;
    uint32_t n, exec;
};

struct pieces {
    struct piece *all;
    size_t count, cap;
};

struct sums {
    struct pieces ranges;
    uint64_t cycles;     /* cycles in elements */
    uint64_t in_packets; /* cycles in packets of PTM and ETMv3 */
    uint64_t stepped;    /* cycles of steps and marks */
    uint64_t hash;       /* over steps and marks in order */
    uint64_t steps;
    uint8_t last; /* kind of the last element */
    int wrong;    /* 1: a batch contradicts itself */
};

static void add_piece(struct pieces *p, struct piece piece)
{
    if (p->count == p->cap) {
        p->cap = p->cap ? p->cap * 2 : 4096;
        p->all = realloc(p->all, p->cap * sizeof *p->all);
        if (!p->all)
            abort();
    }
    p->all[p->count++] = piece;
}

static int by_place(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    if (x->n != y->n)
        return x->n < y->n ? -1 : 1;
    return (int)x->exec - (int)y->exec;
}

/* Sorts the pieces and adds up equal ones. */
static void tidy(struct pieces *p)
{
    size_t kept = 0;
    if (p->count)
        qsort(p->all, p->count, sizeof *p->all, by_place);
    for (size_t i = 0; i < p->count; i++) {
        if (kept && !by_place(&p->all[kept - 1], &p->all[i]))
            p->all[kept - 1].count += p->all[i].count;
        else
            p->all[kept++] = p->all[i];
    }
    p->count = kept;
}

static int on_packets(void *user, const struct ct_stream *stream, const struct ct_packet_batch *batch)
{
    struct sums *s = user;
    const struct ct_ptm_packet *ptm = batch->packets;
    const struct ct_etm3_packet *etm3 = batch->packets;
    for (size_t i = 0; i < batch->count; i++)
        s->in_packets += stream->source->protocol == CT_PROTOCOL_PTM    ? ptm[i].cc
                         : stream->source->protocol == CT_PROTOCOL_ETM3 ? etm3[i].cc
                                                                        : 0;
    return 0;
}

static int on_elems(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch)
{
    struct sums *s = user;
    int etm4 = stream->source->protocol == CT_PROTOCOL_ETM4 || stream->source->protocol == CT_PROTOCOL_ETE;
    for (size_t i = 0; i < batch->count; i++) {
        const struct ct_elem *e = &batch->elems[i];
        int of_timestamp = etm4 && s->last == CT_ELEM_TIMESTAMP && e->n == CT_CYCLES_ATTACHED;
        if (e->kind == CT_ELEM_CYCLES && !of_timestamp)
            s->cycles += e->v;
        if (e->kind == CT_ELEM_ATOMS && e->aux & CT_ATOMS_CYCLES)
            s->cycles += e->v >> 32;
        s->last = e->kind;
    }
    return 0;
}

static int on_flow(void *user, const struct ct_stream *stream, const struct ct_flow_batch *batch)
{
    struct sums *s = user;
    (void)stream;
    for (size_t i = 0; i < batch->count; i++) {
        const struct ct_flow *r = &batch->records[i];
        if (r->kind == CT_FLOW_RANGE && !r->stale)
            add_piece(&s->ranges, (struct piece){r->start, r->end, 1, r->n, r->exec});
        if (r->kind == CT_FLOW_RANGE_NOPATH)
            add_piece(&s->ranges, (struct piece){r->start, r->start, 1, r->n, 1});
    }
    return 0;
}

static void mix(uint64_t *hash, uint64_t word)
{
    *hash = (*hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    *hash ^= *hash >> 31;
}

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct sums *s = user;
    size_t mark = 0;
    (void)stream;
    for (size_t i = 0; i <= batch->count; i++) {
        for (; mark < batch->mark_count && batch->marks[mark].at == i; mark++) {
            const struct ct_step_mark *m = &batch->marks[mark];
            mix(&s->hash, m->offset);
            mix(&s->hash, m->value);
            mix(&s->hash, (uint64_t)m->elem.kind << 8 | m->kind);
            mix(&s->hash, m->elem.v);
            if (m->kind == CT_MARK_ELEM && m->elem.kind == CT_ELEM_CYCLES)
                s->stepped += m->elem.v;
        }
        if (i == batch->count)
            break;
        uint32_t cycles = batch->cycles ? batch->cycles[i] : CT_STEP_NO_CYCLES;
        mix(&s->hash, (uint64_t)cycles << 32 | batch->edge[i]);
        if (cycles != CT_STEP_NO_CYCLES)
            s->stepped += cycles & CT_STEP_CYCLES;
    }
    s->wrong |= mark != batch->mark_count;
    s->steps += batch->count;
    return 0;
}

static int compare_edges(const struct ct_stream *stream, struct sums *s)
{
    struct pieces p = {0};
    uint32_t count;
    const struct ct_node *nodes = ct_graph_nodes(stream->graph, &count);
    const struct ct_edge *edges = ct_graph_edges(stream->graph, &count);
    for (uint32_t i = 0; i < count; i++) {
        struct ct_edge_stats stats = ct_edges_get(stream->edges, CT_EDGES_ALL, i);
        const struct ct_node *n = &nodes[edges[i].from];
        add_piece(&p, (struct piece){n->start, n->end, stats.count, n->n, edges[i].exec});
    }
    tidy(&p);
    tidy(&s->ranges);
    int same = p.count == s->ranges.count;
    for (size_t i = 0; same && i < p.count; i++)
        same = !by_place(&p.all[i], &s->ranges.all[i]) && p.all[i].count == s->ranges.all[i].count;
    free(p.all);
    return same;
}

static struct ct_chain *chain_of(struct ct_ctx *ctx, const struct ct_buffer *buffer, uint8_t id,
                                 enum ct_framing framing, enum ct_edges_level edges,
                                 const struct ct_chain_sink *sink)
{
    struct ct_chain_options options = {.size = sizeof options,
                                       .level = CT_LEVEL_STEPS,
                                       .framing = (uint8_t)framing,
                                       .edges = (uint8_t)edges};
    struct ct_chain *chain = NULL;
    options.ids[id / 64] = UINT64_C(1) << (id % 64);
    return ct_chain_new(ctx, buffer, &options, sink, &chain) ? NULL : chain;
}

/* Runs the fast engine on the file in pieces of 1 to 500 bytes. */
static int run_cut(struct ct_ctx *ctx, const struct ct_buffer *buffer, uint8_t id, enum ct_framing framing,
                   struct sums *s)
{
    struct ct_chain_sink sink = {.user = s, .steps = on_steps};
    struct ct_chain *chain = chain_of(ctx, buffer, id, framing, CT_EDGES_NONE, &sink);
    FILE *file = fopen(buffer->path, "rb");
    uint8_t bytes[512];
    unsigned size = 257;
    int rc = !chain || !file;
    for (size_t n; !rc && (n = fread(bytes, 1, 1 + size % 500, file)) > 0; size = size * 13 + 7)
        rc = ct_chain_push(chain, bytes, n);
    rc = rc ? rc : ct_chain_finish(chain);
    ct_chain_free(chain);
    if (file)
        fclose(file);
    return rc;
}

/* Returns 1 when counts alone, which the fast engine makes without steps, equal those of the steps. */
static int counts_are(struct ct_ctx *ctx, const struct ct_buffer *buffer, uint8_t id,
                      const struct ct_stream *wanted)
{
    static const struct ct_chain_sink sink;
    struct ct_chain *chain = chain_of(ctx, buffer, id, CT_FRAMING_AUTO, CT_EDGES_COUNTS, &sink);
    size_t streams, contexts, wanted_contexts;
    uint32_t count, wanted_count;
    int same = chain && !ct_chain_run(chain);
    const struct ct_stream *stream = same ? ct_chain_streams(chain, &streams) : NULL;
    if (same) {
        const struct ct_edge *edges = ct_graph_edges(stream->graph, &count);
        const struct ct_edge *wanted_edges = ct_graph_edges(wanted->graph, &wanted_count);
        ct_edges_contexts(stream->edges, &contexts);
        ct_edges_contexts(wanted->edges, &wanted_contexts);
        same = count == wanted_count && (!count || !memcmp(edges, wanted_edges, count * sizeof *edges)) &&
               contexts == wanted_contexts && !memcmp(&stream->stats, &wanted->stats, sizeof stream->stats);
        for (size_t c = 0; same && c < contexts; c++)
            for (uint32_t i = 0; same && i < count; i++)
                same = ct_edges_get(stream->edges, c, i).count == ct_edges_get(wanted->edges, c, i).count;
    }
    ct_chain_free(chain);
    return same;
}

static int check(struct ct_ctx *ctx, const struct ct_buffer *buffer, uint8_t id, const char *name,
                 unsigned number)
{
    struct sums whole = {0}, cut = {0};
    struct ct_chain_sink sink = {
        .user = &whole, .packets = on_packets, .elems = on_elems, .flow = on_flow, .steps = on_steps};
    struct ct_chain *chain = chain_of(ctx, buffer, id, CT_FRAMING_AUTO, CT_EDGES_CYCLES, &sink);
    int ok = chain && !ct_chain_run(chain) && !run_cut(ctx, buffer, id, ct_chain_framing(chain), &cut);
    size_t count = 0;
    const struct ct_stream *stream = ok ? ct_chain_streams(chain, &count) : NULL;
    int v7 =
        count && stream->source->protocol != CT_PROTOCOL_ETM4 && stream->source->protocol != CT_PROTOCOL_ETE;
    struct ct_edge_totals totals = count ? ct_edges_totals(stream->edges) : (struct ct_edge_totals){0};
    ok = ok && count == 1 && !whole.wrong && whole.stepped == whole.cycles && whole.hash == cut.hash &&
         whole.steps == cut.steps && totals.steps == whole.steps &&
         totals.cycles + totals.unplaced == whole.cycles && (!v7 || whole.in_packets == whole.cycles) &&
         compare_edges(stream, &whole) && counts_are(ctx, buffer, id, stream);
    printf("%sok %u - %s %s %02x: %" PRIu64 " steps, %" PRIu64 " cycles; %" PRIu64 " in elements, %" PRIu64
           " steps when cut%s\n",
           ok ? "" : "not ", number, name, buffer->name, id, whole.steps, whole.stepped, whole.cycles,
           cut.steps, whole.hash == cut.hash ? "" : ", others");
    ct_chain_free(chain);
    free(whole.ranges.all);
    return !ok;
}

static int traces_instructions(const struct ct_source *source)
{
    return source->protocol == CT_PROTOCOL_ETM4 || source->protocol == CT_PROTOCOL_ETE ||
           source->protocol == CT_PROTOCOL_PTM || source->protocol == CT_PROTOCOL_ETM3;
}

static unsigned check_snapshot(struct ct_ctx *ctx, const char *path, const char *name, unsigned *number)
{
    struct ct_capture *capture;
    unsigned failed = 0;
    if (ct_capture_open(ctx, path, &capture))
        return 0;
    for (size_t i = 0; i < capture->buffer_count; i++) {
        const struct ct_buffer *b = &capture->buffers[i];
        for (size_t k = 0; k < b->source_count; k++)
            if (traces_instructions(&b->sources[k]))
                failed += (unsigned)check(ctx, b, b->framing == CT_FRAMING_NONE ? 0 : b->sources[k].trace_id,
                                          name, ++*number);
    }
    ct_capture_free(capture);
    return failed;
}

int main(int argc, char **argv)
{
    char folder[1024], path[2048];
    const char *shared = getenv("CT_SHARED");
    if (!shared && argc > 1)
        shared = argv[1];
    snprintf(folder, sizeof folder, "%s/corpus/snapshots", shared ? shared : ".");
    DIR *dir = opendir(folder);
    if (!dir) {
        printf("1..0 # skip there is no corpus\n");
        return 0;
    }
    struct ct_ctx *ctx = ct_ctx_new();
    unsigned number = 0, failed = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        failed += check_snapshot(ctx, path, entry->d_name, &number);
    }
    printf("1..%u\n", number);
    closedir(dir);
    ct_ctx_free(ctx);
    return failed != 0;
}
