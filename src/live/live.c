/* SPDX-License-Identifier: Apache-2.0 */
/* The analyses of a live stream: creates them, and feeds them. */
#include "live/live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/options.h"
#include "base/require.h"
#include "base/room.h"
#include "live/board.h"
#include "live/fractal.h"
#include "live/hooks.h"
#include "live/http.h"
#include "live/one_run.h"
#include "live/progress.h"
#include "live/tee.h"

double ct_live_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- preparation ---- */

/* Loads all parts of the programs that requests may need while trace comes in. */
static int load_programs(struct ct_live *l)
{
    struct ct_program *program;
    const struct ct_lines *lines;
    const struct ct_symbols *symbols;
    struct ct_cfg *cfg;
    int rc = CT_OK;
    for (size_t i = 0; !rc && (program = ct_programs_at(l->options.programs, i)); i++) {
        rc = ct_program_symbols(program, &symbols) ?: ct_program_lines(program, &lines);
        if (!rc && i == 0 && l->options.timing)
            rc = ct_program_cfg(program, &cfg);
    }
    return rc;
}

static void ignore(void *user, const struct ct_verify_result *result)
{
    (void)user;
    (void)result;
}

/* Returns the source if the options select exactly one of the described sources, else NULL. */
static const struct ct_source *only_source(const struct ct_live *l)
{
    const struct ct_buffer *buffer = l->options.buffer;
    const uint64_t *ids = l->options.ids;
    const struct ct_source *found = NULL;
    size_t count = 0;
    for (size_t i = 0; i < buffer->source_count; i++) {
        const uint8_t id = buffer->sources[i].trace_id & 127;
        if ((ids[0] | ids[1]) && !(ids[id / 64] >> id % 64 & 1))
            continue;
        found = &buffer->sources[i];
        count++;
    }
    return count == 1 ? found : NULL;
}

int ct_live_watches_new(const struct ct_live *l, struct ct_watches **out)
{
    const struct ct_named_table *table = NULL;
    const struct ct_program *of = NULL, *other;
    int rc = ct_watches_new(l->ctx, l->options.programs, out) ?: ct_watches_events(*out, l->options.buffer);
    if (!rc && l->options.log)
        rc = ct_watches_any_context(*out);
    if (!rc && ct_programs_named(l->options.programs, &table, &of, &other) == CT_ERR_NOMEM)
        rc = CT_ERR_NOMEM;
    return rc || !table ? rc : ct_watches_named_at(*out, table, of ? of->shift : 0);
}

static int make_watches(struct ct_live *l)
{
    int rc = ct_live_watches_new(l, &l->watches);
    if (!rc)
        rc = ct_verifier_new(l->ctx, &l->verify, l->watches, &l->verifier);
    const struct ct_source *only = only_source(l);
    if (!rc && !l->options.one_run && only)
        rc = ct_verifier_core(l->verifier, ct_source_core(only) ?: "");
    if (rc || !l->options.one_run)
        return rc ? rc : ct_verifier_begin(l->verifier, ignore, NULL);
    return ct_live_one_new(l) ?: ct_live_one_begin(l);
}

static int make_chain(struct ct_live *l)
{
    struct ct_chain_options options = {.size = sizeof options,
                                       .level = CT_LEVEL_STEPS,
                                       .edges = CT_EDGES_CYCLES,
                                       .stream_threads =
                                           l->options.threads ? l->options.threads : UINT16_MAX};
    memcpy(options.ids, l->options.ids, sizeof options.ids);
    l->chain_sink = (struct ct_chain_sink){.user = l, .steps = ct_live_on_steps};
    return ct_chain_new(l->ctx, l->options.buffer, &options, &l->chain_sink, &l->chain);
}

/* Copies the options and the structs they point to, read by their sizes. */
static int read_options(struct ct_live *l)
{
    const struct ct_live_options *o = &l->options;
    int rc = ct_options_read(l->ctx, "ct_live_new", o->verify, &l->verify, sizeof l->verify)
             ?: ct_options_read(l->ctx, "ct_live_new", o->compile, &l->compile, sizeof l->compile)
             ?: ct_options_read(l->ctx, "ct_live_new", l->verify.limits, &l->limits, sizeof l->limits);
    l->compile.no_include = 1; /* a client of the page must not read files */
    l->limits.stop = &l->stop;
    l->verify.limits = &l->limits;
    l->say = (struct ct_live_say){o->say, o->say_user};
    if (o->sink)
        l->sink = *o->sink;
    return rc;
}

static int make_events(struct ct_live *l)
{
    l->ends = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    l->hurries = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (l->ends >= 0 && l->hurries >= 0)
        return CT_OK;
    return ct_fail(l->ctx, CT_ERR_IO,
                   "live: an eventfd cannot be created, so the run could not be stopped: "
                   "%s; close files, or raise the limit of open files (ulimit -n)",
                   strerror(errno));
}

static int prepare(struct ct_live *l)
{
    return read_options(l) ?: make_events(l) ?: load_programs(l) ?: make_watches(l) ?: make_chain(l);
}

int ct_live_new(struct ct_ctx *ctx, const struct ct_live_options *options, struct ct_live **out)
{
    struct ct_live_options o;
    CT_REQUIRE_OUT(ctx, out);
    int rc = ct_options_read(ctx, "ct_live_new", options, &o, sizeof o);
    if (rc)
        return rc;
    if (!o.buffer || !o.programs)
        return ct_fail_argument(ctx, __func__, "options.buffer && options.programs", 1);
    struct ct_live *l = calloc(1, sizeof *l);
    if (!l)
        return ct_fail_nomem(ctx, "live");
    l->ctx = ctx;
    l->options = o;
    l->ends = l->hurries = l->source.fd = l->source.listener = -1;
    l->begun = l->rate_then = ct_live_now();
    l->sample_every = 1;
    rc = prepare(l);
    if (rc) {
        ct_live_free(l);
        return rc;
    }
    *out = l;
    return CT_OK;
}

static void free_pairs(struct ct_live *l)
{
    for (size_t i = 0; i < l->pair_count; i++) {
        free(l->pairs[i].from);
        free(l->pairs[i].to);
    }
    free(l->pairs);
}

static void free_analyses(struct ct_live *l)
{
    for (size_t i = 0; i < 128; i++)
        ct_live_stream_free(l->streams[i]);
    ct_chain_free(l->chain);
    ct_live_one_free(l->one);
    ct_verifier_free(l->verifier);
    ct_watches_free(l->watches);
    for (size_t i = 0; i < l->spec_count; i++) {
        free(l->specs[i].name);
        ct_monitor_spec_free(l->specs[i].spec);
        free(l->specs[i].binds);
        ct_live_view_free(l->specs[i].view);
    }
    for (size_t i = 0; i < l->place_count; i++)
        free((char *)l->places[i].text);
    free_pairs(l);
    ct_cover_free(l->cover);
}

void ct_live_free(struct ct_live *l)
{
    if (!l)
        return;
    if (l->board)
        ct_live_board_close(l->board);
    ct_live_http_stop(l->http);
    ct_live_board_free(l->board);
    ct_live_hooks_free(l->hooks);
    ct_live_tee_close(l->tee);
    ct_live_source_close(&l->source);
    free_analyses(l);
    ct_live_ring_free(l->ring);
    ct_json_free(l->status);
    ct_live_text_free(&l->json);
    ct_live_text_free(&l->words);
    free(l->files);
    if (l->ends >= 0)
        close(l->ends);
    if (l->hurries >= 0)
        close(l->hurries);
    free(l);
}

/* ---- additions ---- */

int ct_live_refuse(const struct ct_live *l, const char *function)
{
    return ct_fail(l->ctx, CT_ERR_ARG,
                   "%s: a receiver of the run calls it, so nothing was done; call it after the receiver has "
                   "returned",
                   function);
}

int ct_live_add_place(struct ct_live *l, const char *place)
{
    uint16_t number;
    CT_REQUIRE_OF(l, place);
    if (l->working)
        return ct_live_refuse(l, __func__);
    const int rc = ct_live_place_known(l, place, &number);
    if (!rc)
        ct_live_switch(l, number, true);
    return rc;
}

/* Tries out a pair at the start, so that a wrong one is reported before trace comes in. */
static int try_pair(struct ct_live *l, const char *from, const char *to)
{
    const struct ct_timing_options options = {.size = sizeof options};
    struct ct_watches *watches = NULL;
    struct ct_timing *timing = NULL;
    int rc = ct_live_watches_new(l, &watches)
             ?: ct_timing_new(l->ctx, &options, &timing)
             ?: ct_timing_add_pair(timing, watches, from, to);
    ct_timing_free(timing);
    ct_watches_free(watches);
    return rc;
}

int ct_live_add_pair(struct ct_live *l, const char *from, const char *to)
{
    CT_REQUIRE_OF(l, from, to);
    if (l->working)
        return ct_live_refuse(l, __func__);
    if (!l->options.timing)
        return ct_fail(l->ctx, CT_ERR_ARG,
                       "%s %s: times between places need the timing of the run; set "
                       "options.timing",
                       from, to);
    const int rc = try_pair(l, from, to);
    if (rc)
        return rc;
    if (!CT_PUSH_ROOM(l->pairs, l->pair_count))
        return ct_fail_nomem(l->ctx, from);
    struct ct_live_pair *pair = &l->pairs[l->pair_count++];
    *pair = (struct ct_live_pair){strdup(from), strdup(to)};
    return pair->from && pair->to ? CT_OK : ct_fail_nomem(l->ctx, from);
}

int ct_live_add_spec(struct ct_live *l, const char *name, struct ct_monitor_spec *spec,
                     const struct ct_verify_bind *binds, size_t count)
{
    CT_REQUIRE_OF(l, name, spec, binds || !count);
    if (l->working)
        return ct_live_refuse(l, __func__);
    struct ct_live_binds *copy = ct_live_binds_copy(binds, count);
    if (!copy)
        return ct_fail_nomem(l->ctx, name);
    const int rc = ct_live_begin_spec(l, name, spec, copy);
    if (rc)
        free(copy);
    return rc;
}

int ct_live_set_text(struct ct_live *l, const char *name, const char *text, size_t size)
{
    CT_REQUIRE_OF(l, name, text);
    const uint16_t slot = ct_live_find_spec(l, name);
    if (slot == LIVE_NONE)
        return ct_fail(l->ctx, CT_ERR_NOT_FOUND, LIVE_NO_SPEC, name);
    return ct_live_view_text(l->specs[slot].view, text, size) ? CT_OK : ct_fail_nomem(l->ctx, name);
}

int ct_live_note_file(struct ct_live *l, const char *path)
{
    CT_REQUIRE_OF(l, path);
    const size_t size = strlen(path) + 1;
    char *more = realloc(l->files, l->files_size + size);
    if (!more)
        return ct_fail_nomem(l->ctx, path);
    memcpy(more + l->files_size, path, size);
    l->files = more;
    l->files_size += size;
    if (l->board)
        ct_live_publish(l);
    return CT_OK;
}

/* ---- input ---- */

/* Notes that trace is missing before byte `offset`: ends the piece before, so that decoders restart. */
static int break_off(struct ct_live *l, uint64_t offset)
{
    struct ct_piece piece = {
        .offset = l->analysed, .time = CT_NO_TIME, .tid = CT_NO_THREAD, .joins = 1, .cut = 1};
    /* tells the chain that trace is missing after the current piece */
    const int rc = l->broken ? CT_OK : ct_chain_begin_piece(l->chain, &piece);
    l->broken = true;
    piece.offset = offset;
    piece.joins = 0;
    return rc ? rc : ct_chain_begin_piece(l->chain, &piece);
}

/* Decodes a piece, in parts whose borders depend on the offset only, so that the search for silent sources
 * does not depend on the pieces. */
static int push(struct ct_live *l, const struct ct_live_piece *piece)
{
    int rc = CT_OK;
    for (size_t at = 0, size; at < piece->size && !rc; at += size) {
        size = ct_live_one_part(l, piece->offset + at, piece->size - at);
        rc = ct_chain_push(l->chain, piece->data + at, size);
        if (!rc)
            rc = ct_live_one_presume(l, piece->offset + at + size);
    }
    return rc;
}

int ct_live_take(struct ct_live *l, const struct ct_live_piece *piece)
{
    if (l->options.log) {
        const int taken = ct_live_log_take(l, piece);
        l->stuck |= taken != CT_OK;
        l->analysed = taken ? l->analysed : piece->offset + piece->size;
        return taken;
    }
    int rc = piece->lost || piece->apart ? break_off(l, piece->offset) : CT_OK;
    if (!rc)
        rc = push(l, piece);
    l->stuck |= rc != CT_OK;
    if (!rc) /* no steps came of it, which would have settled the run */
        rc = ct_live_settle(l);
    if (rc)
        return rc;
    l->analysed = piece->offset + piece->size;
    l->unsettled = l->one != NULL;
    return piece->more ? CT_OK : ct_live_settle(l);
}

int ct_live_settle(struct ct_live *l)
{
    return l->unsettled ? ct_live_one_settle(l) : CT_OK;
}

static int take_bytes(struct ct_live *l, const void *data, size_t size, uint64_t lost)
{
    struct ct_live_piece piece = {.data = data, .size = size, .apart = lost == UINT64_MAX};
    piece.lost = piece.apart ? 0 : lost;
    piece.offset = l->analysed + piece.lost;
    const int rc = size || lost ? ct_live_take(l, &piece) : CT_OK;
    l->pushed += rc ? 0 : size;
    return rc ? rc : ct_live_between(l);
}

int ct_live_push(struct ct_live *l, const void *data, size_t size, uint64_t lost)
{
    CT_REQUIRE_OF(l, data || !size);
    if (l->working)
        return ct_live_refuse(l, __func__);
    if (l->input.size || l->ended)
        return ct_fail(l->ctx, CT_ERR_ARG, "ct_live_push: %s; no bytes are taken",
                       l->ended ? "the run has ended" : "the run reads an input that ct_live_open opened");
    l->working = true;
    const int rc = take_bytes(l, data, size, lost);
    l->working = false;
    return rc;
}

int ct_live_end(struct ct_live *l)
{
    int rc = ct_live_settle(l);
    if (!rc)
        rc = l->stuck ? CT_OK : l->options.log ? ct_live_log_finish(l) : ct_chain_finish(l->chain);
    for (size_t i = 0; i < 128; i++) {
        const int ended = l->streams[i] ? ct_live_stream_finish(l->streams[i]) : CT_OK;
        rc = rc ? rc : ended;
    }
    const int ended = l->one ? ct_live_one_finish(l) : CT_OK;
    rc = rc ? rc : ended;
    l->ended = true;
    ct_live_hooks_end(l);
    ct_live_update_cover(l, true);
    if (l->board)
        ct_live_publish(l);
    return rc;
}

int ct_live_finish(struct ct_live *l)
{
    CT_REQUIRE(NULL, l);
    if (l->working)
        return ct_live_refuse(l, __func__);
    if (l->ended)
        return CT_OK;
    l->working = true;
    const int rc = ct_live_end(l);
    l->working = false;
    return rc;
}

/* ---- ending, from any thread ---- */

void ct_live_stop(struct ct_live *l)
{
    const uint64_t one = 1;
    if (l && write(l->ends, &one, sizeof one) < 0)
        return; /* there were so many calls that the counter would overflow */
}

void ct_live_hurry(struct ct_live *l)
{
    const uint64_t one = 1;
    if (l && write(l->hurries, &one, sizeof one) < 0)
        return;
}

/* ---- results ---- */

struct ct_live_ring_state ct_live_look(const struct ct_live *l)
{
    if (l->ring)
        return ct_live_ring_look(l->ring);
    return (struct ct_live_ring_state){.read = l->pushed, .taken = l->pushed, .ended = l->ended};
}

const struct ct_live_seen *ct_live_seen_of(struct ct_live *l)
{
    if (!l)
        return NULL;
    const struct ct_live_ring_state input = ct_live_look(l);
    l->seen = (struct ct_live_seen){.seconds = ct_live_now() - l->begun,
                                    .read = input.read,
                                    .analysed = l->analysed,
                                    .dropped = input.lost,
                                    .drops = input.losses,
                                    .left = l->unanalysed,
                                    .connections = input.intake.connections,
                                    .breaks = input.breaks,
                                    .kept = input.intake.kept,
                                    .violations = l->violations,
                                    .stopping = l->stopping,
                                    .ended = l->ended,
                                    .trouble = input.trouble,
                                    .tee_trouble = l->tee_trouble ? l->tee_trouble : input.intake.trouble};
    l->seen.log_lost = l->log_lost;
    l->seen.late = ct_live_milestones_late(l);
    for (size_t i = 0; i < l->spec_count; i++)
        l->seen.failed += l->specs[i].name && l->specs[i].failure[0];
    return &l->seen;
}

const struct ct_chain *ct_live_chain(const struct ct_live *l)
{
    return l ? l->chain : NULL;
}

static const struct ct_live_stream *stream_of(const struct ct_live *l, uint8_t id)
{
    return l && id < 128 ? l->streams[id] : NULL;
}

const struct ct_timing *ct_live_timing(const struct ct_live *l, uint8_t id)
{
    const struct ct_live_stream *s = stream_of(l, id);
    return s ? s->timing : NULL;
}

const struct ct_source *ct_live_source(const struct ct_live *l, uint8_t id)
{
    const struct ct_live_stream *s = stream_of(l, id);
    return s ? s->source : NULL;
}

struct ct_cover *ct_live_cover(struct ct_live *l)
{
    return l ? l->cover : NULL;
}
