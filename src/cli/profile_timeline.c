/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of 'coretap profile' that show functions along time: slices for Chrome, and traces for
 * Perfetto. */
#include "cli/output.h"
#include "cli/profile_own.h"
#include "cli/together.h"

#include <stdlib.h>
#include <string.h>

/* size from which a viewer in a browser may fail: it has about 2 GB of memory, and needs up to four times the
 * size of a trace (Perfetto's documentation, "Visualising large traces") */
#define LARGE_TRACE (UINT64_C(512) << 20)

/* Makes the stacks of the next capture. */
static int make_stacks(struct cli_profile *p)
{
    const bool is_trace = p->format == PROFILE_PERFETTO;
    struct ct_stack_options stack_options = {
        .size = sizeof stack_options, .slices = !is_trace, .moves = is_trace};
    const struct cli_results *read = &p->counts.read;
    const char *path = read->capture.capture->path;
    const char *run = read->args->rest_count > 1 && !(is_trace && p->together) ? path : NULL;
    int rc = ct_programs_places(read->programs, &stack_options.programs, &stack_options.program_count);
    if (!rc && is_trace)
        rc = ct_perfetto_writer_begin(p->trace, read->capture.capture, run);
    if (!rc && is_trace)
        rc = cli_profile_notes_give(&p->notes, path, p->trace);
    else if (!rc && run)
        rc = ct_slice_writer_begin(p->slices, run);
    if (!rc && p->clocks && p->begun < p->clock_count)
        rc = ct_slice_writer_align(p->slices, p->clocks[p->begun++],
                                   read->capture.capture->maps ? &read->capture.capture->maps->clock : NULL,
                                   read->filter.filter.frequency);
    return rc ? rc : ct_stacks_new(read->args->ctx, &stack_options, &p->stacks);
}

/* Reports once that a trace is too large for a viewer. */
static void tell_size(struct cli_profile *p)
{
    if (p->told_size || ct_perfetto_writer_seen(p->trace)->size < LARGE_TRACE)
        return;
    p->told_size = true;
    cli_say(
        "%s: the written trace is larger than %llu MiB, so a viewer in a browser may fail to open it; choose "
        "a part with --from and --to, limit it with --max-size, or open it with 'trace_processor --httpd'",
        p->counts.read.capture.capture->path, (unsigned long long)(LARGE_TRACE >> 20));
}

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct cli_profile *p = user;
    const uint32_t lane = ct_session_lane(p->counts.read.session, stream->id);
    int result = p->stacks ? CT_OK : make_stacks(p);
    if (result == CT_OK)
        result = ct_stacks_add(p->stacks, lane, batch);
    if (!result && p->format == PROFILE_CHROME)
        result = ct_slice_writer_stream(p->slices, lane, p->counts.read.capture.capture, stream);
    if (result || p->format == PROFILE_CHROME)
        return result ? result : ct_slice_writer_add(p->slices, p->stacks);
    result = ct_perfetto_writer_add(p->trace, stream, batch, lane, p->stacks);
    tell_size(p);
    return result;
}

/* Begins a capture. Slices are written as they come. With several threads, the order of slices from different
 * streams of one buffer would depend on the number of threads, so such a capture is decoded by one thread. */
static bool begin_slices(void *user)
{
    struct cli_profile *p = user;
    struct cli_results *read = &p->counts.read;
    const struct cli_capture *capture = &read->capture;
    read->threads = cli_threads(read->args);
    for (size_t i = 0; i < capture->count; i++)
        if (capture->buffers[i].source_count > 1)
            read->threads = 1;
    return cli_profile_notes_open(&p->notes, read->programs);
}

static bool end_stacks(void *user)
{
    struct cli_profile *p = user;
    size_t count;
    int result = p->stacks ? CT_OK : make_stacks(p);
    if (result == CT_OK)
        result = ct_stacks_finish(p->stacks);
    if (result == CT_OK)
        result = p->format == PROFILE_CHROME ? ct_slice_writer_add(p->slices, p->stacks)
                                             : ct_perfetto_writer_finish(p->trace, p->stacks);
    if (result != CT_OK && !ferror(stdout)) /* reported at the end of the command */
        cli_library_error(p->counts.read.args->ctx);
    const struct ct_stack_place *places = ct_stacks_places(p->stacks, &count);
    p->has_weight |= cli_profile_has_weight(p, places, count);
    p->renewed += ct_stacks_renewed(p->stacks);
    ct_stacks_free(p->stacks);
    p->stacks = NULL;
    return result == CT_OK;
}

/* Makes the writer of slices, or of a trace. */
static int make_writer(struct cli_profile *p, const struct cli_args *args)
{
    const struct cli_results *read = &p->counts.read;
    const struct ct_slice_write_options slices = {.size = sizeof slices,
                                                  .from = read->filter.slices[0],
                                                  .to = read->filter.slices[1],
                                                  .cycles = p->cycles};
    const struct ct_perfetto_write_options trace = {.size = sizeof trace,
                                                    .programs = read->programs,
                                                    .max_size =
                                                        (uint64_t)args->values[PROFILE_MAX_SIZE].number,
                                                    .frequency = read->filter.filter.frequency};
    return p->format == PROFILE_CHROME
               ? ct_slice_writer_new(args->ctx, &slices, cli_output_write, stdout, &p->slices)
               : ct_perfetto_writer_new(args->ctx, &trace, cli_output_write, stdout, &p->trace);
}

/* ---- the clocks of several captures ---- */

struct clocks {
    struct cli_profile *profile;
    struct cli_results read;
};

static int on_clock_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    const struct clocks *c = user;
    const struct cli_profile *p = c->profile;
    return ct_slice_clocks_add(p->clocks[p->clock_count - 1], ct_session_lane(c->read.session, stream->id),
                               batch);
}

/* Begins the clocks of the next capture. */
static bool begin_clocks(void *user)
{
    const struct clocks *c = user;
    struct cli_profile *p = c->profile;
    if (ct_slice_clocks_new(c->read.args->ctx, p->cycles, &p->clocks[p->clock_count]) != CT_OK)
        return cli_library_error(c->read.args->ctx) == CLI_CLEAN;
    p->clock_count++;
    return true;
}

/* Reads the captures for the times of their streams, before they are read again for the functions. */
static int find_clocks(struct cli_profile *p, const struct cli_args *args)
{
    struct clocks c = {.profile = p,
                       .read = {.args = args,
                                .elf = PROFILE_ELF,
                                .threads = 1,
                                .untold = true,
                                .user = &c,
                                .opened = begin_clocks,
                                .steps = on_clock_steps}};
    p->clocks = calloc((size_t)args->rest_count, sizeof *p->clocks);
    if (!p->clocks)
        cli_no_memory();
    const bool fine = p->clocks && cli_filter_read(&c.read.filter, args, true) &&
                      cli_programs_new(&c.read.programs, args, NULL);
    const int code = fine ? cli_results_read(&c.read) : CLI_FAILED;
    p->counts.read.kept_nothing |= c.read.kept_nothing;
    cli_results_close(&c.read);
    return code;
}

/* Finds the violations of specifications, before the captures are read again. Returns false after a
 * message. */
static bool find_notes(struct cli_profile *p, const struct cli_args *args, int *code)
{
    p->notes = (struct cli_profile_notes){.places = {args, PROFILE_AT},
                                          .elf = PROFILE_ELF,
                                          .shift = PROFILE_SHIFT,
                                          .apart = args->rest_count > 1 && !p->together};
    if (!cli_profile_notes_any(&p->notes))
        return true;
    for (int i = 0; i < args->rest_count; i++)
        if (strcmp(args->rest[i], "-") == 0) {
            cli_usage_error(
                args->command,
                "--spec reads the capture twice, so it cannot come from standard input; save it to a file");
            return false;
        }
    *code = cli_profile_notes_find(&p->notes);
    p->counts.read.kept_nothing = p->notes.kept_nothing;
    return *code != CLI_FAILED;
}

int cli_profile_read_timeline(struct cli_profile *p, const struct cli_args *args)
{
    struct cli_results *read = &p->counts.read;
    int code = CLI_CLEAN;
    for (int i = 0; i < args->rest_count; i++)
        if (cli_results_is_file(NULL, args->rest[i]))
            return cli_usage_error(args->command,
                                   "--format %s: %s has only sums, which do not record when functions ran; "
                                   "name the captures from which it was made",
                                   cli_profile_formats[p->format], args->rest[i]);
    if (!cli_find_together(args, PROFILE_ELF, &args->values[PROFILE_CAPTURES], &p->together))
        return CLI_FAILED;
    if (p->together && p->format == PROFILE_CHROME)
        code = find_clocks(p, args);
    if (code == CLI_FAILED || !find_notes(p, args, &code) || !cli_profile_start(p, args))
        return CLI_FAILED;
    if (p->counts.read.kept_nothing)
        return code;
    if (make_writer(p, args) != CT_OK)
        return cli_library_error(args->ctx);
    read->opened = begin_slices;
    read->steps = on_steps;
    read->closing = end_stacks;
    const int written = cli_results_read(read);
    return cli_worse(code, written);
}

/* ---- output ---- */

/* Notes that the length of a timestamp's tick is unknown. */
static void note_ticks(const struct cli_profile *p)
{
    const struct cli_results *read = &p->counts.read;
    const struct ct_maps *maps = read->has_capture ? read->capture.capture->maps : NULL;
    if (!read->args->quiet && !read->filter.filter.frequency && !(maps && maps->clock.known))
        cli_say("%s: the capture does not give the frequency of its timestamps; one tick is shown as one "
                "nanosecond; give the frequency with --frequency HZ",
                read->args->operand);
}

int cli_profile_print_chrome(struct cli_profile *p)
{
    cli_results_note_new_stacks(&p->counts.read, p->renewed);
    if (p->counts.read.ran.instructions && !p->has_weight)
        return cli_profile_empty(p, CT_EMPTY_WEIGHTS);
    if (p->counts.read.ran.instructions && !ct_slice_writer_count(p->slices))
        return cli_profile_empty(p, CT_EMPTY_SLICES);
    if (p->clocks)
        note_ticks(p);
    return cli_profile_told(p, ct_slice_writer_end(p->slices));
}

/* Notes the axis of the events, when that is not the clock of the capture. */
static void note_axis(const struct cli_profile *p, const struct ct_perfetto_seen *seen)
{
    const struct cli_results *read = &p->counts.read;
    if (seen->untimed)
        cli_say("%s: %u of %u streams have no timestamps; their cycles since they began (or instructions, "
                "without cycle counts) are shown as nanoseconds; record with timestamps to show real times",
                read->args->operand, seen->untimed, seen->timed + seen->untimed);
    if (seen->unrated)
        cli_say("%s: %u streams have only one timestamp in this part; after it their cycles (or "
                "instructions, without cycle counts) are shown as nanoseconds; choose a longer part",
                read->args->operand, seen->unrated);
    if (seen->timed)
        note_ticks(p);
}
/* Reports when instructions ran but none in a known function. Returns an enum cli_exit. */
static int check_names(const struct cli_profile *p)
{
    const struct cli_results *read = &p->counts.read;
    if (!read->ran.instructions || ct_programs_count(read->programs))
        return CLI_CLEAN;
    cli_say("%s: the capture names no program, so functions have no names; name the program with --elf "
            "FILE[@HEX]",
            read->args->operand);
    return CLI_DAMAGED;
}

/* Reports when no watchpoint has an event. Returns an enum cli_exit. */
static int check_watched(const struct cli_profile *p, const struct ct_perfetto_seen *seen)
{
    const int code = check_names(p);
    if (!cli_watch_places_any(&p->notes.places) || seen->watched)
        return code;
    cli_say("%s: execution reached none of the watchpoints; the written trace has no events of them; "
            "'coretap cover --functions' shows what ran",
            p->counts.read.args->operand);
    return CLI_DAMAGED;
}

int cli_profile_print_trace(struct cli_profile *p)
{
    const int rc = ct_perfetto_writer_end(p->trace);
    const struct ct_perfetto_seen *seen = ct_perfetto_writer_seen(p->trace);
    cli_results_note_new_stacks(&p->counts.read, p->renewed);
    if (rc)
        return cli_profile_told(p, rc);
    if (!p->counts.read.args->quiet)
        note_axis(p, seen);
    if (!seen->full)
        return check_watched(p, seen);
    cli_say("%s: the written trace ends at --max-size; %llu of %llu slices are left out; give a larger "
            "--max-size, or choose a part with --from and --to",
            p->counts.read.args->operand, (unsigned long long)seen->left_out,
            (unsigned long long)seen->slices);
    return CLI_DAMAGED;
}
