/* SPDX-License-Identifier: Apache-2.0 */
/* The analyses of a live stream: what they are made of, and what they are fed with. */
#include "cli/live.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

double cli_live_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- preparations ---- */

static bool failed(const struct cli_live *l)
{
    cli_library_error(l->ctx);
    return false;
}

static bool open_capture(struct cli_live *l)
{
    if (l->wishes->cover)
        return cli_counts_open(&l->counts, l->args, l->wishes->elf_option) == CLI_CLEAN;
    l->counts.read.args = l->args;
    l->counts.read.has_capture = cli_capture_open(&l->counts.read.capture, l->args);
    return l->counts.read.has_capture;
}

/* Loads all at once that may be asked for while trace comes. */
static bool load_programs(struct cli_live *l)
{
    struct ct_program *program;
    const struct ct_lines *lines;
    struct ct_cfg *cfg;
    if (!cli_programs_describe(&l->programs, l->args, l->wishes->elf_option, l->wishes->targets))
        return false;
    for (size_t i = 0; (program = ct_programs_at(l->programs, i)); i++)
        if (ct_program_lines(program, &lines) != CT_OK ||
            (i == 0 && l->wishes->timing && ct_program_cfg(program, &cfg) != CT_OK))
            return failed(l);
    return true;
}

static void ignore(void *user, const struct ct_verify_result *result)
{
    (void)user;
    (void)result;
}

/* Whether the options about specifications fit together: said as 'coretap monitor' says it. */
static bool check_specs(struct cli_live *l)
{
    struct ct_watches *watches = NULL;
    struct ct_verifier *verifier = NULL;
    bool fine = true;
    if (ct_watches_new(l->ctx, l->programs, &watches) != CT_OK ||
        ct_verifier_new(l->ctx, &l->monitors.verify, watches, &verifier) != CT_OK)
        fine = failed(l);
    fine = fine && cli_monitors_add(&l->monitors, verifier);
    ct_verifier_free(verifier);
    ct_watches_free(watches);
    return fine;
}

static bool add_specs(struct cli_live *l)
{
    for (size_t i = 0; i < l->monitors.count; i++) {
        struct cli_pairs *binds = calloc(1, sizeof *binds);
        if (!binds) {
            cli_no_memory();
            return false;
        }
        binds->count = cli_monitors_binds(l->monitors.specs[i], &l->monitors.binds, binds->pairs, NULL);
        if (cli_live_spec_add(l, l->monitors.names[i], l->monitors.specs[i], binds) != CT_OK) {
            free(binds);
            return failed(l);
        }
        l->monitors.specs[i] = NULL; /* it belongs to the slot */
    }
    return true;
}

static bool add_places(struct cli_live *l)
{
    for (size_t i = 0; i < l->args->list_count; i++) {
        if (l->args->list[i].option != l->wishes->at_option)
            continue;
        uint16_t number;
        if (cli_live_place_known(l, l->args->list[i].text, &number) != CT_OK)
            return failed(l);
        cli_live_switch(l, number, true);
    }
    return true;
}

/* Wrong pairs are told now and not when the first trace comes. */
static bool check_pairs(struct cli_live *l)
{
    const struct ct_timing_options options = {.size = sizeof options};
    struct ct_watches *watches = NULL;
    struct ct_timing *timing = NULL;
    bool fine = true;
    if (ct_watches_new(l->ctx, l->programs, &watches) != CT_OK ||
        ct_timing_new(l->ctx, &options, &timing) != CT_OK)
        fine = failed(l);
    fine = fine && cli_timing_add_pairs(timing, watches, l->args, l->wishes->pair_option);
    ct_timing_free(timing);
    ct_watches_free(watches);
    return fine;
}

static bool make_watches(struct cli_live *l)
{
    if (ct_watches_new(l->ctx, l->programs, &l->watches) == CT_OK &&
        ct_verifier_new(l->ctx, &l->monitors.verify, l->watches, &l->verifier) == CT_OK &&
        ct_verifier_start(l->verifier, ignore, NULL) == CT_OK)
        return true;
    return failed(l);
}

static bool make_chain(struct cli_live *l)
{
    struct ct_chain_options options = cli_capture_chain_options(&l->counts.read.capture, CT_LEVEL_STEPS);
    options.edges = CT_EDGES_CYCLES;
    l->sink = (struct ct_chain_sink){.user = l, .steps = cli_live_on_steps};
    return ct_chain_new(l->ctx, &l->counts.read.capture.buffers[0], &options, &l->sink, &l->chain) == CT_OK ||
           failed(l);
}

static bool load_specs(struct cli_live *l)
{
    const bool fine = cli_monitors_load(&l->monitors, l->args);
    l->monitors.limits.stop = &l->stop;
    return fine;
}

static bool open_writer(struct cli_live *l)
{
    if (cli_live_writer(l, stdout, &l->writer) == CT_OK)
        return true;
    cli_library_error(l->ctx);
    return false;
}

bool cli_live_prepare(struct cli_live *l, const struct cli_args *args, const struct cli_live_wishes *wishes)
{
    l->args = args;
    l->ctx = args->ctx;
    l->wishes = wishes;
    l->told_id = -1;
    l->begun = l->rate_then = cli_live_now();
    l->sample_every = 1;
    return open_writer(l) && open_capture(l) && load_programs(l) && load_specs(l) && check_specs(l) &&
           check_pairs(l) && make_watches(l) && add_specs(l) && add_places(l) && make_chain(l);
}

void cli_live_release(struct cli_live *l)
{
    for (size_t i = 0; i < 128; i++)
        cli_live_stream_free(l->streams[i]);
    ct_verdict_writer_free(l->writer);
    ct_chain_free(l->chain);
    ct_verifier_free(l->verifier);
    ct_watches_free(l->watches);
    for (size_t i = 0; i < l->spec_count; i++) {
        free(l->specs[i].name);
        ct_monitor_spec_free(l->specs[i].spec);
        free(l->specs[i].binds);
    }
    for (size_t i = 0; i < l->place_count; i++)
        free((char *)l->places[i].text);
    cli_monitors_free(&l->monitors);
    ct_programs_free(l->programs);
    cli_counts_close(&l->counts);
    cli_live_ring_free(l->ring);
}

/* ---- input ---- */

/* Trace is missing before the byte at `offset`: decoders start afresh there. */
static int break_off(struct cli_live *l, uint64_t offset)
{
    struct ct_piece piece = {
        .offset = l->analysed, .time = CT_NO_TIME, .tid = CT_NO_THREAD, .joins = 1, .cut = 1};
    /* The piece in work is one behind which trace is missing. */
    const int rc = l->broken ? CT_OK : ct_chain_begin_piece(l->chain, &piece);
    l->broken = true;
    piece.offset = offset;
    piece.joins = 0;
    return rc ? rc : ct_chain_begin_piece(l->chain, &piece);
}

int cli_live_push(struct cli_live *l, const struct cli_live_piece *piece)
{
    int rc = piece->lost || piece->apart ? break_off(l, piece->offset) : CT_OK;
    if (!rc)
        rc = ct_chain_push(l->chain, piece->data, piece->size);
    if (!rc)
        l->analysed = piece->offset + piece->size;
    return rc;
}
