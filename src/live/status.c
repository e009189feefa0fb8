/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the content of a live run's page as JSON. */
#define _GNU_SOURCE /* basename */
#include "coretap/json.h"
#include "coretap/session.h"
#include "live/hooks.h"
#include "live/live.h"
#include "live/one_run.h"
#include "live/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HOTTEST 16 /* edges, and functions, shown */
#define PLOTS   8  /* functions shown with a histogram */

static void put_ratio(struct ct_json *j, const char *key, struct ct_cover_ratio r)
{
    ct_json_array(j, key);
    ct_json_number(j, NULL, r.seen);
    ct_json_number(j, NULL, r.all);
    ct_json_array_end(j);
}

void ct_live_put_hex(struct ct_json *j, const char *key, uint64_t value, unsigned digits)
{
    char text[24];
    snprintf(text, sizeof text, "%0*" PRIx64, (int)digits, value);
    ct_json_text(j, key, text);
}

/* Writes an address with its function and line, as far as known. */
static void put_place(struct ct_json *j, uint64_t addr, const struct ct_program_where *where)
{
    ct_live_put_hex(j, "addr", addr, 1);
    if (!where->program)
        return;
    ct_json_text(j, "function", where->function);
    if (where->file) {
        ct_json_text(j, "file", basename(where->file));
        ct_json_number(j, "line", where->line);
    }
}

/* Writes an address with its function and line, looked up in the programs. */
static void put_where(const struct ct_live *l, struct ct_json *j, uint64_t addr)
{
    struct ct_program_where where = {0};
    if (ct_programs_where(l->options.programs, addr, &where) != CT_OK)
        where.program = NULL;
    put_place(j, addr, &where);
}

static uint64_t resident(void)
{
    unsigned long all = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%lu %lu", &all, &pages) != 2)
        pages = 0;
    if (f)
        fclose(f);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Writes the connection, if there is one, and the file that keeps the trace. */
static void put_intake(const struct ct_live_ring_state *input, struct ct_json *j)
{
    const struct ct_live_intake *intake = &input->intake;
    ct_json_number(j, "breaks", input->breaks);
    ct_json_number(j, "connections", intake->connections);
    ct_json_bool(j, "reconnects", intake->connects);
    ct_json_bool(j, "waits", intake->waits && !input->ended);
    ct_json_number(j, "tries", intake->tries);
    ct_json_real(j, "since", ct_live_now() - intake->since);
    ct_json_text(j, "tee", intake->tee);
    ct_json_number(j, "kept", intake->kept);
    ct_json_text(j, "tee_trouble", intake->trouble);
}

static void put_input(struct ct_live *l, struct ct_json *j)
{
    const struct ct_live_ring_state input = ct_live_look(l);
    ct_json_object(j, "input");
    ct_json_text(j, "name", ct_live_name_of(l));
    ct_json_number(j, "read", input.read);
    ct_json_number(j, "analysed", l->analysed);
    ct_json_number(j, "lost", input.lost);
    ct_json_number(j, "losses", input.losses);
    ct_json_real(j, "rate", l->rate);
    ct_json_number(j, "ring", input.size);
    ct_json_number(j, "fill", input.fill);
    ct_json_bool(j, "ended", input.ended);
    ct_json_bool(j, "drops", l->input.drop);
    put_intake(&input, j);
    ct_json_object_end(j);
}

static void put_streams(struct ct_live *l, struct ct_json *j)
{
    size_t count;
    const struct ct_stream *streams = ct_chain_streams(l->chain, &count);
    ct_json_array(j, "streams");
    for (size_t i = 0; i < count; i++) {
        const struct ct_stream_stats *s = &streams[i].stats;
        const struct ct_source *source = streams[i].source;
        if (!s->bytes)
            continue;
        ct_json_object(j, NULL);
        ct_live_put_hex(j, "id", streams[i].id, 2);
        ct_json_text(j, "core", source->core ? source->core : source->name);
        ct_json_text(j, "protocol", ct_protocol_name((enum ct_protocol)source->protocol));
        ct_json_number(j, "bytes", s->bytes);
        ct_json_number(j, "instructions", s->instructions);
        ct_json_number(j, "branches", s->branches);
        ct_losses_members(j, &s->losses, CT_LOSSES_PROGRAM);
        ct_json_object_end(j);
    }
    ct_json_array_end(j);
}

static void put_losses(struct ct_live *l, struct ct_json *j)
{
    const struct ct_losses losses = ct_chain_losses(l->chain);
    ct_losses_json(j, &losses, CT_LOSSES_PROGRAM);
}

static void put_cover(struct ct_live *l, struct ct_json *j)
{
    if (!l->options.covered)
        return;
    ct_json_object(j, "cover");
    put_ratio(j, "functions", l->sums.functions);
    put_ratio(j, "lines", l->sums.lines);
    put_ratio(j, "instructions", l->sums.insns);
    put_ratio(j, "branches", l->sums.branches);
    put_ratio(j, "conditions", l->sums.conditions);
    put_ratio(j, "calls", l->sums.calls);
    put_ratio(j, "in_no_program", ct_live_outside(l));
    ct_json_object_end(j);
}

static void put_history(struct ct_live *l, struct ct_json *j)
{
    ct_json_array(j, "history");
    for (size_t i = 0; i < l->sample_count; i++) {
        const struct ct_live_sample *s = &l->history[i];
        ct_json_array(j, NULL);
        ct_json_real(j, NULL, s->seconds);
        ct_json_real(j, NULL, s->rate);
        ct_json_real(j, NULL, s->lines);
        ct_json_real(j, NULL, s->branches);
        ct_json_real(j, NULL, s->functions);
        ct_json_array_end(j);
    }
    ct_json_array_end(j);
}

/* ---- hottest edges ---- */

struct hot {
    uint64_t weight;
    const struct ct_live_stream *stream;
    const struct ct_edges *edges;
    size_t number;
};

/* Inserts an edge into a list of the HOTTEST edges, hottest first. */
static void offer(struct hot *all, size_t *count, struct hot one)
{
    size_t at = *count;
    while (at && all[at - 1].weight < one.weight)
        at--;
    if (at == HOTTEST)
        return;
    *count += *count < HOTTEST;
    memmove(&all[at + 1], &all[at], (*count - 1 - at) * sizeof *all);
    all[at] = one;
}

static size_t find_edges(const struct ct_live *l, struct hot *hottest)
{
    size_t streams, found = 0;
    const struct ct_stream *all = ct_chain_streams(l->chain, &streams);
    for (size_t i = 0; i < streams; i++) {
        const struct ct_live_stream *s = l->streams[all[i].id];
        uint32_t count = 0;
        if (s)
            ct_graph_edges(s->graph, &count);
        for (uint32_t e = 0; e < count; e++) {
            const struct ct_edge_stats stats = ct_edges_get(all[i].edges, CT_EDGES_ALL, e);
            offer(hottest, &found, (struct hot){stats.count, s, all[i].edges, e});
        }
    }
    return found;
}

static void put_edges(struct ct_live *l, struct ct_json *j)
{
    struct hot hottest[HOTTEST + 1];
    const size_t count = find_edges(l, hottest);
    ct_json_array(j, "edges");
    for (size_t i = 0; i < count; i++) {
        uint32_t all;
        const struct ct_edge *edge = &ct_graph_edges(hottest[i].stream->graph, &all)[hottest[i].number];
        const struct ct_node *node = &ct_graph_nodes(hottest[i].stream->graph, &all)[edge->from];
        const struct ct_edge_stats stats =
            ct_edges_get(hottest[i].edges, CT_EDGES_ALL, (uint32_t)hottest[i].number);
        ct_json_object(j, NULL);
        ct_live_put_hex(j, "id", hottest[i].stream->id, 2);
        put_where(l, j, node->last);
        ct_live_put_hex(j, "to", edge->next, 1);
        ct_json_number(j, "count", stats.count);
        ct_json_number(j, "timed", stats.timed);
        ct_json_number(j, "cycles", stats.sum);
        ct_json_number(j, "min", stats.min);
        ct_json_number(j, "max", stats.max);
        ct_json_object_end(j);
    }
    ct_json_array_end(j);
}

/* ---- times ---- */

static void put_histogram(struct ct_json *j, const struct ct_dist *d)
{
    ct_json_array(j, "histogram");
    for (unsigned b = 0; b < d->buckets; b++) {
        if (!d->histogram[b])
            continue;
        ct_json_array(j, NULL);
        ct_json_number(j, NULL, ct_dist_bucket_start(b));
        ct_json_number(j, NULL, b + 1 < CT_DIST_BUCKETS ? ct_dist_bucket_start(b + 1) : UINT64_MAX);
        ct_json_number(j, NULL, d->histogram[b]);
        ct_json_array_end(j);
    }
    ct_json_array_end(j);
}

static void put_dist(struct ct_json *j, const struct ct_dist *d, bool plot)
{
    ct_json_number(j, "count", d->count);
    ct_json_number(j, "min", d->min);
    ct_json_real(j, "mean", ct_dist_mean(d));
    ct_json_number(j, "p99", d->count ? ct_dist_quantile(d, 0.99) : 0);
    ct_json_number(j, "max", d->max);
    if (plot)
        put_histogram(j, d);
}

static void put_functions(const struct ct_live *l, struct ct_json *j)
{
    struct hot hottest[HOTTEST + 1];
    size_t found = 0, count;
    for (size_t i = 0; i < 128; i++) {
        const struct ct_live_stream *s = l->streams[i];
        const struct ct_timing_function *all = s && s->timing ? ct_timing_functions(s->timing, &count) : NULL;
        for (size_t k = 0; all && k < count; k++)
            if (all[k].steps)
                offer(hottest, &found, (struct hot){all[k].cycles, s, NULL, k});
    }
    ct_json_array(j, "functions");
    for (size_t i = 0; i < found; i++) {
        const struct ct_timing_function *f =
            &ct_timing_functions(hottest[i].stream->timing, &count)[hottest[i].number];
        ct_json_object(j, NULL);
        ct_live_put_hex(j, "id", hottest[i].stream->id, 2);
        ct_json_text(j, "name", f->label);
        ct_json_number(j, "cycles", f->cycles);
        ct_json_number(j, "runs", f->runs);
        put_dist(j, &f->inclusive, i < PLOTS);
        ct_json_object_end(j);
    }
    ct_json_array_end(j);
}

static void put_pairs(const struct ct_live *l, struct ct_json *j)
{
    ct_json_array(j, "pairs");
    for (size_t i = 0; i < 128; i++) {
        const struct ct_live_stream *s = l->streams[i];
        size_t count = 0;
        const struct ct_timing_pair *all = s && s->timing ? ct_timing_pairs(s->timing, &count) : NULL;
        for (size_t k = 0; all && k < count; k++) {
            ct_json_object(j, NULL);
            ct_live_put_hex(j, "id", s->id, 2);
            ct_json_text(j, "name", all[k].name);
            ct_json_number(j, "lost", all[k].lost);
            put_dist(j, &all[k].direct, k < PLOTS);
            ct_json_object_end(j);
        }
    }
    ct_json_array_end(j);
}

static void put_timing(struct ct_live *l, struct ct_json *j)
{
    struct ct_timing_totals all = {0};
    if (!l->options.timing)
        return;
    for (size_t i = 0; i < 128; i++) {
        if (!l->streams[i])
            continue;
        const struct ct_timing_totals t = ct_timing_totals_of(l->streams[i]->timing);
        all.cycles += t.cycles;
        all.unplaced += t.unplaced;
        all.exceptions += t.exceptions;
        all.switches += t.switches;
    }
    ct_json_object(j, "timing");
    ct_json_number(j, "cycles", all.cycles);
    ct_json_number(j, "unplaced", all.unplaced);
    ct_json_number(j, "exceptions", all.exceptions);
    ct_json_number(j, "switches", all.switches);
    put_functions(l, j);
    put_pairs(l, j);
    ct_json_object_end(j);
}

/* ---- watchpoints and specifications ---- */

/* Writes the name of the core of a trace ID. */
static void put_core(const struct ct_live *l, struct ct_json *j, uint8_t id)
{
    const struct ct_live_stream *s = id < 128 ? l->streams[id] : NULL;
    if (s)
        ct_json_text(j, "core", ct_source_core(s->source) ?: "");
}

static void put_event(const struct ct_live *l, struct ct_json *j, const char *key,
                      const struct ct_watch_event *e, uint8_t id)
{
    ct_json_object(j, key);
    ct_live_put_hex(j, "id", id, 2);
    ct_json_number(j, "cycle", e->cycle);
    if (e->has_timestamp)
        ct_json_number(j, "timestamp", e->timestamp);
    ct_json_text(j, "kind", ct_watch_kind_name((enum ct_watch_kind)e->kind));
    if (e->known & CT_CONTEXT_CTXT)
        ct_live_put_hex(j, "context", e->ctxt, 1);
    put_core(l, j, id);
    if (e->kind <= CT_WATCH_EXCEPTION && e->value) {
        const struct ct_live_stream *s = id < 128 && !l->one ? l->streams[id] : NULL;
        struct ct_program_where where = {0};
        if (ct_watches_where(s ? s->watches : l->watches, e, &where) != CT_OK)
            where.program = NULL;
        put_place(j, e->value, &where);
    }
    ct_json_object_end(j);
}

static void put_doubt(const struct ct_live *l, struct ct_json *j, const struct ct_live_doubt *d)
{
    uint32_t count;
    const struct ct_watchpoint *points = ct_watches_all(l->watches, &count);
    if (!d->known)
        return;
    ct_json_array(j, "doubt");
    for (size_t i = 0; i < 2; i++) {
        const struct ct_watch_event e = {.source = d->sources[i]};
        const uint8_t id = ct_live_one_id(l, &e, 0);
        ct_json_object(j, NULL);
        ct_json_number(j, "time", d->times[i]);
        ct_live_put_hex(j, "id", id, 2);
        put_core(l, j, id);
        if (d->watches[i] < count)
            ct_json_text(j, "watch", points[d->watches[i]].name);
        if (d->kinds[i] <= CT_WATCH_EXCEPTION && d->values[i])
            put_where(l, j, d->values[i]);
        ct_json_object_end(j);
    }
    ct_json_array_end(j);
}

void ct_live_put_kept(const struct ct_live *l, struct ct_json *j, const struct ct_live_kept *k)
{
    ct_json_text(j, "value", k->value);
    ct_json_bool(j, "violation", k->violation);
    ct_json_bool(j, "uncertain", k->uncertain);
    if (k->core)
        ct_json_text(j, "instance", k->core);
    if (k->placed)
        put_event(l, j, "event", &k->event, k->id);
    put_doubt(l, j, &k->doubt);
}

static void put_places(struct ct_live *l, struct ct_json *j)
{
    ct_json_array(j, "watchpoints");
    for (size_t i = 0; i < l->place_count; i++) {
        const struct ct_live_place *p = &l->places[i];
        if (!p->on)
            continue;
        ct_json_object(j, NULL);
        ct_json_text(j, "place", p->text);
        ct_json_number(j, "since", p->since);
        ct_json_number(j, "hits", p->hits);
        if (p->hits) {
            ct_json_number(j, "first_cycle", p->first.cycle);
            put_event(l, j, "last", &p->last, p->last_id);
        }
        ct_json_object_end(j);
    }
    ct_json_array_end(j);
}

/* Returns the number of the first kept event or result; of `count`, the last LIVE_RECENT are kept. */
static uint64_t first_kept(uint64_t count)
{
    return count > LIVE_RECENT ? count - LIVE_RECENT : 0;
}

static void put_events(struct ct_live *l, struct ct_json *j)
{
    ct_json_array(j, "events");
    for (uint64_t i = l->event_count; i > first_kept(l->event_count); i--) {
        const struct ct_live_event *e = &l->events[(i - 1) % LIVE_RECENT];
        ct_json_object(j, NULL);
        ct_json_text(j, "place", l->places[e->place].text);
        put_event(l, j, "event", &e->event, e->id);
        ct_json_object_end(j);
    }
    ct_json_array_end(j);
}

static void put_results(struct ct_live *l, struct ct_json *j)
{
    ct_json_array(j, "verdicts");
    for (uint64_t i = l->result_count; i > first_kept(l->result_count); i--) {
        const struct ct_live_result *r = &l->results[(i - 1) % LIVE_RECENT];
        ct_json_object(j, NULL);
        ct_json_number(j, "time", r->kept.time);
        ct_json_text(j, "monitor", r->spec);
        ct_json_text(j, "output", r->output);
        ct_live_put_kept(l, j, &r->kept);
        ct_json_object_end(j);
    }
    ct_json_array_end(j);
}

static void put_filter(const struct ct_live_filter *f, struct ct_json *j)
{
    ct_json_object(j, "filter");
    ct_json_array(j, "ids");
    for (unsigned id = 0; id < 128; id++)
        if (f->ids[id / 64] >> (id % 64) & 1)
            ct_live_put_hex(j, NULL, id, 2);
    ct_json_array_end(j);
    ct_json_array(j, "contexts");
    for (size_t i = 0; i < f->context_count; i++)
        ct_live_put_hex(j, NULL, f->contexts[i], 1);
    ct_json_array_end(j);
    ct_json_array(j, "levels");
    for (unsigned level = 0; level < 4; level++)
        if (f->levels >> level & 1)
            ct_json_number(j, NULL, level);
    ct_json_array_end(j);
    ct_json_object_end(j);
}

/* Writes the list of written files and, at the end of the run, the details that the page shows. */
static void put_report(struct ct_live *l, struct ct_json *j)
{
    ct_json_array(j, "files");
    for (size_t at = 0; at < l->files_size; at += strlen(l->files + at) + 1)
        ct_json_text(j, NULL, l->files + at);
    ct_json_array_end(j);
    ct_live_put_details(l, j);
}

static void put_state(struct ct_live *l, struct ct_json *j)
{
    ct_json_text(j, "state", l->ended ? "ended" : "running");
    ct_json_real(j, "seconds", ct_live_now() - l->begun);
    ct_json_number(j, "memory", resident());
    ct_json_number(j, "violations", l->violations);
    ct_json_number(j, "results", l->serial);
    ct_json_text(j, "time_unit",
                 l->compile.time_unit                                ? l->compile.time_unit
                 : l->verify.clock == CT_VERIFY_TIMESTAMPS || l->one ? "ticks"
                                                                     : "cycles");
    ct_live_one_json(l, j);
}

void ct_live_part_begin(struct ct_json *j, struct ct_live_parts *parts)
{
    if (!parts)
        return;
    (void)ct_json_flush(j);
    parts->from = parts->text->size;
}

void ct_live_part_end(struct ct_json *j, struct ct_live_parts *parts, uint64_t key)
{
    if (!parts)
        return;
    (void)ct_json_flush(j);
    const size_t begin =
        parts->from + (parts->from < parts->text->size && parts->text->text[parts->from] == ',');
    if (parts->count < LIVE_PARTS && parts->text->size > begin)
        parts->all[parts->count++] = (struct ct_live_part){key, begin, parts->text->size - begin};
    parts->from = parts->text->size;
}

static void put_filter_of(struct ct_live *l, struct ct_json *j)
{
    put_filter(&l->filter, j);
}

void ct_live_status_json(struct ct_live *l, struct ct_json *j, struct ct_live_parts *parts)
{
    static const struct {
        enum ct_live_part_key key;
        void (*put)(struct ct_live *l, struct ct_json *j);
    } members[] = {
        {LIVE_PART_STATE, put_state},
        {LIVE_PART_INPUT, put_input},
        {LIVE_PART_STREAMS, put_streams},
        {LIVE_PART_LOSSES, put_losses},
        {LIVE_PART_COVER, put_cover},
        {LIVE_PART_HISTORY, put_history},
        {LIVE_PART_EDGES, put_edges},
        {LIVE_PART_TIMING, put_timing},
        {LIVE_PART_PLACES, put_places},
        {LIVE_PART_EVENTS, put_events},
        {LIVE_PART_VERDICTS, put_results},
        {LIVE_PART_FILTER, put_filter_of},
        {LIVE_PART_HOOKS, ct_live_put_hooks},
        {LIVE_PART_REPORT, put_report},
        {LIVE_PART_PROGRESS, ct_live_put_progress},
    };
    ct_json_object(j, NULL);
    ct_live_part_begin(j, parts);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        members[i].put(l, j);
        ct_live_part_end(j, parts, members[i].key);
    }
    ct_live_put_monitors(l, j, parts);
    ct_json_object_end(j);
}
