/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the steps and marks of one stream that a filter wants. */
#include "session/sieve.h"

#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"

#include <stdlib.h>

struct ct_sieve {
    struct ct_ctx *ctx;
    struct ct_filter filter;
    const struct ct_source *source;
    const struct ct_maps *maps;
    struct ct_sieve_code code;
    struct ct_sieve_window window;
    struct ct_sieve_clock clock;
    struct ct_sieve_clock begin; /* the clock at the first batch */
    struct ct_sieve_seen seen;
    bool is_wanted;   /* the current context is wanted */
    bool was_kept;    /* the last step was kept, or there was none yet */
    bool has_window;  /* the filter has a window */
    bool has_code;    /* the filter names modules or functions */
    uint64_t offset;  /* of the last mark */
    bool waits;       /* something was excluded since the last kept step or mark */
    bool left_out;    /* a step was excluded, or a mark that changed the path of execution */
    bool broken;      /* trace is missing in the excluded part */
    uint64_t skipped; /* excluded cycles */
    bool has_context, has_timestamp;
    struct ct_step_mark context, timestamp; /* the last excluded ones */
    /* The kept part of the current batch. */
    uint32_t *edges, *cycles;
    size_t count, room;
    struct ct_step_mark *marks;
    size_t mark_count, mark_room;
};

int ct_sieve_read_options(struct ct_ctx *ctx, const char *who, const struct ct_sieve_options *options,
                          struct ct_sieve_options *o, struct ct_filter *filter)
{
    int rc = ct_options_read(ctx, who, options, o, sizeof *o);
    if (!rc)
        rc = ct_options_read(ctx, who, o->filter, filter, sizeof *filter);
    return rc || o->source ? rc : ct_fail_argument(ctx, who, "options.source", 1);
}

int ct_sieve_new(struct ct_ctx *ctx, const struct ct_sieve_options *options, struct ct_sieve **out)
{
    struct ct_sieve_options o;
    struct ct_filter filter;
    CT_REQUIRE_OUT(ctx, out);
    int rc = ct_sieve_read_options(ctx, __func__, options, &o, &filter);
    if (rc)
        return rc;
    struct ct_sieve *s = calloc(1, sizeof *s);
    if (!s)
        return ct_fail_nomem(ctx, "filter");
    *s = (struct ct_sieve){.ctx = ctx, .filter = filter, .source = o.source, .maps = o.maps};
    s->code = (struct ct_sieve_code){.ctx = ctx, .filter = &s->filter, .programs = o.programs};
    s->has_window = filter.from.kind || filter.to.kind;
    s->has_code = filter.module_count || filter.function_count;
    s->is_wanted = ct_sieve_wants_all(&filter);
    s->was_kept = true;
    rc = ct_sieve_code_check(&s->code) ?: ct_sieve_window_init(ctx, &s->window, &s->filter, o.programs);
    if (rc) {
        ct_sieve_free(s);
        return rc;
    }
    *out = s;
    return CT_OK;
}

void ct_sieve_free(struct ct_sieve *s)
{
    if (!s)
        return;
    ct_sieve_window_free(&s->window);
    free(s->code.verdicts);
    free(s->edges);
    free(s->cycles);
    free(s->marks);
    free(s);
}

const struct ct_sieve_seen *ct_sieve_seen_of(const struct ct_sieve *s)
{
    return s ? &s->seen : NULL;
}

void ct_sieve_begin_inside(struct ct_sieve *s, const struct ct_sieve_clock *clock)
{
    s->clock = s->begin = *clock;
    s->skipped = clock->cycles;
    s->seen.inside = 1;
}

bool ct_sieve_is_over(const struct ct_sieve *s)
{
    return s->window.to.reached;
}

/* ---- statistics ---- */

static void add_list(uint32_t *to, uint32_t *count, const uint32_t *from, uint32_t from_count)
{
    for (uint32_t i = 0; i < from_count; i++) {
        uint32_t k = 0;
        while (k < *count && to[k] != from[i])
            k++;
        if (k == *count && k < CT_SIEVE_CONTEXTS)
            to[(*count)++] = from[i];
    }
}

void ct_sieve_seen_add(struct ct_sieve_seen *to, const struct ct_sieve_seen *from)
{
    if (!to || !from)
        return;
    to->steps += from->steps;
    to->kept += from->kept;
    to->cycles = from->cycles > to->cycles ? from->cycles : to->cycles;
    to->instructions = from->instructions > to->instructions ? from->instructions : to->instructions;
    if (from->has_ticks && (!to->has_ticks || from->first_ticks < to->first_ticks))
        to->first_ticks = from->first_ticks;
    to->last_ticks = from->last_ticks > to->last_ticks ? from->last_ticks : to->last_ticks;
    add_list(to->contexts, &to->context_count, from->contexts, from->context_count);
    add_list(to->threads, &to->thread_count, from->threads, from->thread_count);
    to->levels |= from->levels;
    to->has_ticks |= from->has_ticks;
    to->has_cycles |= from->has_cycles;
    to->left |= from->left;
    to->inside |= from->inside;
}

/* ---- output ---- */

/* Makes room for all steps and marks of a batch, and for the marks that may come before each. */
static int make_room(struct ct_sieve *s, const struct ct_step_batch *batch)
{
    const size_t marks = batch->mark_count + 4 * (batch->count + batch->mark_count);
    s->count = s->mark_count = 0;
    if (batch->count > s->room) {
        free(s->edges);
        free(s->cycles);
        s->edges = malloc(batch->count * sizeof *s->edges);
        s->cycles = malloc(batch->count * sizeof *s->cycles);
        s->room = s->edges && s->cycles ? batch->count : 0;
        if (!s->room)
            return ct_fail_nomem(s->ctx, "filter");
    }
    if (marks > s->mark_room) {
        free(s->marks);
        s->marks = malloc(marks * sizeof *s->marks);
        s->mark_room = s->marks ? marks : 0;
        if (!s->marks)
            return ct_fail_nomem(s->ctx, "filter");
    }
    return CT_OK;
}

static void give_mark(struct ct_sieve *s, const struct ct_step_mark *mark)
{
    s->marks[s->mark_count] = *mark;
    s->marks[s->mark_count++].at = (uint32_t)s->count;
}

/* Outputs marks for the excluded part, right before something is kept: its cycles, its last context and
 * timestamp, and that steps are missing. */
static void give_left_out(struct ct_sieve *s)
{
    const struct ct_step_mark cycles = {
        .offset = s->offset, .elem = {.kind = CT_ELEM_CYCLES, .n = CT_CYCLES_LEFT_OUT, .v = s->skipped}};
    const struct ct_step_mark on = {
        .offset = s->offset,
        .elem = {.kind = CT_ELEM_TRACE_ON, .n = s->broken ? CT_TRACE_ON_DEBUG : CT_TRACE_ON_FILTER}};
    if (s->skipped)
        give_mark(s, &cycles);
    if (s->left_out)
        give_mark(s, &on);
    if (s->has_context)
        give_mark(s, &s->context);
    if (s->has_timestamp)
        give_mark(s, &s->timestamp);
    s->waits = s->left_out = s->broken = s->has_context = s->has_timestamp = false;
    s->skipped = 0;
}

/* ---- steps and marks ---- */

/* Returns whether an item is in the window. Without a window this is always true. */
static int in_window(struct ct_sieve *s, const struct ct_step_batch *item)
{
    return s->has_window ? ct_sieve_window_has(&s->window, &s->clock, item) : 1;
}

static int run_step(struct ct_sieve *s, const struct ct_step_batch *batch, size_t i,
                    const struct ct_edge *edges, const struct ct_node *nodes)
{
    const uint32_t number = edges[batch->edge[i]].from;
    const uint32_t cycles = batch->cycles ? batch->cycles[i] : CT_STEP_NO_CYCLES;
    const uint64_t spent = cycles == CT_STEP_NO_CYCLES ? 0 : cycles & CT_STEP_CYCLES;
    const struct ct_step_batch item = {.graph = batch->graph,
                                       .edge = batch->edge + i,
                                       .cycles = batch->cycles ? batch->cycles + i : NULL,
                                       .count = 1};
    int keep = in_window(s, &item);
    if (keep > 0)
        keep = s->is_wanted;
    if (keep > 0 && s->has_code)
        keep = ct_sieve_code_wants(&s->code, batch->graph, number);
    if (keep < 0)
        return keep;
    s->was_kept = keep;
    if (keep) {
        give_left_out(s);
        s->edges[s->count] = batch->edge[i];
        s->cycles[s->count++] = cycles;
    } else {
        s->waits = s->left_out = true;
        s->skipped += spent;
    }
    s->clock.cycles += spent;
    s->clock.instructions += nodes[number].n;
    s->seen.steps++;
    s->seen.kept += (unsigned)keep;
    s->seen.has_cycles |= cycles != CT_STEP_NO_CYCLES;
    return CT_OK;
}

/* Updates time and context from a mark. */
static void note_mark(struct ct_sieve *s, const struct ct_step_mark *mark)
{
    const bool is_elem = mark->kind == CT_MARK_ELEM;
    if (is_elem && mark->elem.kind == CT_ELEM_TIMESTAMP)
        ct_sieve_note_ticks(&s->clock, &s->seen, mark->elem.v);
    if (is_elem && mark->elem.kind == CT_ELEM_CONTEXT)
        s->is_wanted = ct_sieve_wants(&s->filter, s->source, s->maps, &mark->elem, &s->seen);
}

/* Excludes a mark, and keeps its meaning for later steps. */
static void leave_mark_out(struct ct_sieve *s, const struct ct_step_mark *mark)
{
    const uint8_t kind = mark->kind == CT_MARK_ELEM ? mark->elem.kind : CT_ELEM_GAP;
    s->waits = true;
    switch (kind) {
    case CT_ELEM_CONTEXT:
        s->context = *mark;
        s->has_context = true;
        break;
    case CT_ELEM_TIMESTAMP:
        s->timestamp = *mark;
        s->has_timestamp = true;
        break;
    case CT_ELEM_CYCLES:
        s->skipped += mark->elem.aux ? 0 : mark->elem.v;
        break;
    case CT_ELEM_GAP:
    case CT_ELEM_TRACE_ON:
        s->left_out = true;
        s->broken |= kind == CT_ELEM_GAP || mark->elem.n != CT_TRACE_ON_FILTER;
        break;
    default:
        s->left_out = true;
        break;
    }
}

static int run_mark(struct ct_sieve *s, const struct ct_step_batch *batch, const struct ct_step_mark *mark)
{
    struct ct_step_mark alone = *mark;
    const struct ct_step_batch item = {
        .graph = batch->graph, .cycles = batch->cycles, .marks = &alone, .mark_count = 1};
    alone.at = 0;
    note_mark(s, mark);
    const int inside = in_window(s, &item);
    if (inside < 0)
        return inside;
    const bool is_elem = mark->kind == CT_MARK_ELEM;
    const bool is_state =
        is_elem && (mark->elem.kind == CT_ELEM_CONTEXT || mark->elem.kind == CT_ELEM_TIMESTAMP);
    const bool keep = inside && s->is_wanted && (!s->has_code || s->was_kept);
    s->offset = mark->offset;
    if (keep && !(is_state && s->waits)) {
        give_left_out(s);
        give_mark(s, mark);
    } else {
        leave_mark_out(s, mark);
    }
    if (is_elem && mark->elem.kind == CT_ELEM_CYCLES && !mark->elem.aux)
        s->clock.cycles += mark->elem.v;
    return CT_OK;
}

/* Refuses a window in cycles for a source without cycle counts: its clock would stand still, and the whole
 * stream would be before each point. */
static int check_cycles(const struct ct_sieve *s, const struct ct_step_batch *batch)
{
    const struct ct_filter *f = &s->filter;
    const bool needed = f->from.kind == CT_POINT_CYCLES || f->to.kind == CT_POINT_CYCLES;
    if (!needed || batch->cycles || !batch->count)
        return CT_OK;
    return ct_sieve_no_cycles(s->ctx, s->source);
}

int ct_sieve_run(struct ct_sieve *s, const struct ct_step_batch *batch, struct ct_step_batch *out)
{
    CT_REQUIRE_OF(s, batch, out);
    uint32_t count;
    const struct ct_edge *edges = ct_graph_edges(batch->graph, &count);
    const struct ct_node *nodes = ct_graph_nodes(batch->graph, &count);
    int rc = check_cycles(s, batch) ?: make_room(s, batch);
    size_t mark = 0;
    for (size_t i = 0; !rc && i <= batch->count; i++) {
        while (!rc && mark < batch->mark_count && batch->marks[mark].at <= i)
            rc = run_mark(s, batch, &batch->marks[mark++]);
        if (!rc && i < batch->count)
            rc = run_step(s, batch, i, edges, nodes);
    }
    s->seen.cycles = s->clock.cycles - s->begin.cycles;
    s->seen.instructions = s->clock.instructions - s->begin.instructions;
    *out = (struct ct_step_batch){.graph = batch->graph,
                                  .edge = s->edges,
                                  .cycles = batch->cycles ? s->cycles : NULL,
                                  .count = s->count,
                                  .marks = s->marks,
                                  .mark_count = s->mark_count};
    return rc;
}
