/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up and writes the amounts of trace in chains. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/options.h"
#include "base/out.h"
#include "base/printable.h"
#include "base/require.h"
#include "coretap/format.h"
#include "coretap/info.h"
#include "coretap/json.h"

static void add_edges(struct ct_amounts *amounts, const struct ct_stream *stream)
{
    const struct ct_edge_totals totals = ct_edges_totals(stream->edges);
    uint32_t count;
    ct_graph_edges(stream->graph, &count);
    amounts->edges += count;
    amounts->steps += totals.steps;
    amounts->cycles += totals.cycles;
    amounts->unplaced_cycles += totals.unplaced;
}

static void add_stream(struct ct_amounts *amounts, const struct ct_stream *stream)
{
    const struct ct_stream_stats *s = &stream->stats;
    amounts->packets += s->packets;
    amounts->elements += s->elements;
    amounts->atoms += s->atoms;
    amounts->branches += s->branches;
    amounts->instructions += s->instructions;
    if (stream->edges)
        add_edges(amounts, stream);
}

void ct_amounts_add(struct ct_amounts *amounts, const struct ct_chain *chain, int frames)
{
    if (!amounts || !chain)
        return;
    const struct ct_frame_stats *of_frames = ct_chain_frame_stats(chain);
    size_t count;
    const struct ct_stream *streams = ct_chain_streams(chain, &count);
    for (size_t i = 0; i < count; i++) {
        add_stream(amounts, &streams[i]);
        if (!frames)
            ct_losses_add(&amounts->losses, &streams[i].stats.losses);
    }
    if (frames) {
        const struct ct_losses losses = ct_chain_losses(chain);
        ct_losses_add(&amounts->losses, &losses);
        amounts->bytes += of_frames ? of_frames->input_bytes : 0;
    }
}

/* ---- writing ---- */

/* One of the two is NULL. */
struct writer {
    struct ct_json *json;
    FILE *text;
};

static void put(const struct writer *w, bool is_known, const char *key, uint64_t value)
{
    if (!is_known)
        return;
    if (w->text)
        fprintf(w->text, "%s=%" PRIu64 "\n", key, value);
    ct_json_number(w->json, key, value);
}

static void put_losses(const struct writer *w, const struct ct_losses *losses, enum ct_losses_known known)
{
    ct_losses_json(w->json, losses, known);
    if (w->text) {
        (void)ct_losses_keys(losses, known, '\n', ct_write_file, w->text);
        fputc('\n', w->text);
    }
}

static void put_speed(const struct writer *w, double bytes, double seconds)
{
    if (!(seconds > 0))
        return;
    const double speed = bytes / 1e6 / seconds;
    ct_json_real(w->json, "seconds", seconds);
    ct_json_real(w->json, "mb_per_s", speed);
    if (w->text)
        fprintf(w->text, "seconds=%.6f\nmb_per_s=%.1f\n", seconds, speed);
}

static void put_all(const struct writer *w, const struct ct_amounts *a,
                    const struct ct_amounts_write_options *options)
{
    const uint8_t level = options->level;
    const bool cycles = options->edges == CT_EDGES_CYCLES;
    ct_json_object(w->json, NULL);
    put(w, true, "bytes", a->bytes);
    put(w, level >= CT_LEVEL_PACKET && !options->part, "packets", a->packets);
    put(w, level >= CT_LEVEL_ELEMENT && !options->part, "elements", a->elements);
    put(w, level >= CT_LEVEL_ELEMENT && !options->part, "atoms", a->atoms);
    put(w, level >= CT_LEVEL_FLOW && !options->part, "branches", a->branches);
    put(w, level >= CT_LEVEL_FLOW, "instructions", a->instructions);
    put(w, level >= CT_LEVEL_STEPS, "edges", a->edges);
    put(w, level >= CT_LEVEL_STEPS, "steps", a->steps);
    put(w, cycles, "cycles", a->cycles);
    put(w, cycles, "unplaced_cycles", a->unplaced_cycles);
    put_losses(w, &a->losses,
               level >= CT_LEVEL_FLOW     ? CT_LOSSES_PROGRAM
               : level >= CT_LEVEL_PACKET ? CT_LOSSES_TRACE
                                          : CT_LOSSES_FRAMES);
    put_speed(w, (double)a->bytes, options->seconds);
    ct_json_object_end(w->json);
}

static int write_json(struct ct_ctx *ctx, const struct ct_amounts *amounts,
                      const struct ct_amounts_write_options *options, ct_write_fn *write, void *user)
{
    struct writer w = {0};
    int rc = ct_json_new(ctx, NULL, write, user, &w.json);
    if (rc)
        return rc;
    put_all(&w, amounts, options);
    rc = ct_json_flush(w.json);
    ct_json_free(w.json);
    return rc;
}

int ct_amounts_write(struct ct_ctx *ctx, const struct ct_amounts *amounts,
                     const struct ct_amounts_write_options *options, ct_write_fn *write, void *user)
{
    struct ct_amounts_write_options mine;
    struct ct_out out;
    CT_REQUIRE(ctx, amounts, write);
    if (ct_options_read(ctx, __func__, options, &mine, sizeof mine))
        return CT_ERR_ARG;
    if (mine.format > CT_INFO_FORMAT_JSON)
        return ct_fail(ctx, CT_ERR_ARG, "%s: format %u does not exist; nothing was written", __func__,
                       mine.format);
    if (mine.format == CT_INFO_FORMAT_JSON)
        return write_json(ctx, amounts, &mine, write, user);
    const int rc = ct_out_open(&out, ctx, write, user);
    if (rc)
        return rc;
    put_all(&(struct writer){.text = out.file}, amounts, &mine);
    return ct_out_close(&out, CT_OK);
}
