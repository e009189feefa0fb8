/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/results.h"

#include "cli/output.h"
#include "cli/perf_options.h"
#include "cli/text_file.h"
#include "coretap/format.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- saved files ---- */

/* Returns whether the file is a pipe, whose beginning can be read only once. */
static bool is_pipe(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISFIFO(st.st_mode);
}

size_t cli_results_begin(const char *path, void *start, size_t size)
{
    const int fd = is_pipe(path) ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    size_t got = 0;
    bool more = fd >= 0;
    while (more && got < size) {
        const ssize_t bytes = read(fd, (char *)start + got, size - got);
        more = bytes > 0 || (bytes < 0 && errno == EINTR);
        got += bytes > 0 ? (size_t)bytes : 0;
    }
    if (fd >= 0)
        close(fd);
    return got;
}

bool cli_results_is_file(const struct ct_analysis_kind *kind, const char *path)
{
    char start[32];
    return ct_analysis_is_saved(kind, start, cli_results_begin(path, start, sizeof start));
}

bool cli_results_load(struct ct_ctx *ctx, struct ct_analysis *into, const char *path)
{
    size_t size;
    char *text = cli_read_file(path, SIZE_MAX, &size);
    if (!text)
        return false;
    const int rc = ct_analysis_load(into, path, text, size);
    free(text);
    if (rc)
        cli_library_error(ctx);
    return rc == CT_OK;
}

int cli_results_save(struct ct_ctx *ctx, struct ct_analysis *analysis, FILE *out)
{
    const int rc = ct_analysis_save(analysis, cli_output_write, out);
    /* A write error is reported at the end of the command. */
    return rc && rc != CT_ERR_IO ? cli_library_error(ctx) : CLI_CLEAN;
}

int cli_results_save_read(struct cli_results *r, FILE *out)
{
    if (!r->shard)
        return cli_results_save(r->args->ctx, r->analysis, out);
    const int rc = ct_shard_save(r->shard, r->analysis, cli_output_write, out);
    return rc && rc != CT_ERR_IO ? cli_library_error(r->args->ctx) : CLI_CLEAN;
}

/* most failures that are listed */
#define FAILURES_TOLD 8

void cli_results_tell_failures(const char *path, const struct ct_analysis *analysis)
{
    const uint64_t failed = analysis->captures.failed;
    if (!failed)
        return;
    cli_say("%s: %" PRIu64 " capture%s could not be read and %s not in the result:", path, failed,
            failed == 1 ? "" : "s", failed == 1 ? "is" : "are");
    for (size_t i = 0; i < FAILURES_TOLD && ct_analysis_failure(analysis, i); i++)
        cli_say("  %s", ct_analysis_failure(analysis, i));
    if (failed > FAILURES_TOLD)
        cli_say("  and %" PRIu64 " more", failed - FAILURES_TOLD);
}

/* Reports the losses of the captures of a file. Returns the exit code, as cli_capture_code does. */
static int tell_captures(const struct cli_results *r, const char *path, const struct ct_analysis *file)
{
    const struct ct_analysis_captures *all = &file->captures;
    char words[CT_LOSSES_WORDS];
    const bool partial = all->losses.overflows || all->losses.no_access || all->unknown;
    const bool damaged = all->damaged || (partial && r->args->values[CLI_CAPTURE_STRICT].given);
    const bool tells = damaged || !r->args->quiet;
    if (tells && ct_losses_any(&all->losses))
        cli_say("%s: losses: %s", path, ct_losses_words(words, &all->losses));
    if (tells && all->damaged && !ct_losses_damaged(&all->losses))
        cli_say("%s: %" PRIu64 " of its %" PRIu64 " captures were damaged", path, all->damaged, all->known);
    if (tells && all->unknown)
        cli_say("%s: %" PRIu64 " of its %s files have format version 1, which does not record losses; write "
                "them again from their captures with '%s'",
                path, all->unknown, file->kind->name, file->kind->writer);
    cli_results_tell_failures(path, file);
    return damaged || all->failed ? CLI_DAMAGED : CLI_CLEAN;
}

/* Returns the analysis that takes a saved file, or NULL. A pipe is for the first analysis. */
static struct ct_analysis *analysis_of(const struct cli_results *r, const char *path)
{
    struct ct_analysis *found = NULL;
    if (!r->takes || is_pipe(path) || cli_results_is_file(r->analysis->kind, path))
        return r->analysis;
    for (size_t i = 0; i < sizeof r->also / sizeof *r->also && !found; i++)
        if (r->also[i] && cli_results_is_file(r->also[i]->kind, path))
            found = r->also[i];
    return found;
}

static int read_file(struct cli_results *r, const char *path)
{
    struct ct_ctx *ctx = r->args->ctx;
    struct ct_analysis *file;
    struct ct_analysis *into = analysis_of(r, path);
    if (!into) {
        cli_say("%s: %s", path, r->takes);
        return CLI_FAILED;
    }
    if (ct_analysis_part(into, &file) != CT_OK)
        return cli_library_error(ctx);
    int code = CLI_FAILED;
    if (cli_perf_options_check(r->args, path) &&
        cli_filter_refuse(&r->filter, r->args, r->file_option, r->file_why) &&
        cli_results_load(ctx, file, path))
        code = ct_analysis_merge(into, file) ? cli_library_error(ctx)
               : r->sums_alone               ? CLI_CLEAN
                                             : tell_captures(r, path, file);
    if (code != CLI_FAILED && r->took && !r->took(r->user, path, into->kind, &file->captures.losses))
        code = CLI_FAILED;
    ct_analysis_free(file);
    r->has_file = true;
    return code;
}

/* ---- captures ---- */

/* Shows what is done with the programs while nothing of the trace is read. */
static void begin_wait(struct cli_results *r, const char *what)
{
    if (r->programs)
        cli_wait_begin(&r->wait, what, 0, r->args->quiet);
}

static int on_bytes(void *user, uint64_t bytes)
{
    struct cli_results *r = user;
    cli_wait_end(&r->wait);
    cli_progress_update(&r->capture.progress, bytes);
    if (r->analysis && bytes == r->capture.progress.total)
        begin_wait(r, "adding up what ran");
    const bool watched = r->capture.count == 1 && r->capture.buffers[0].path[0] == '-';
    return r->flush && watched ? r->flush(r->user) : CT_OK;
}

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    const struct cli_results *r = user;
    return r->steps(r->user, stream, batch);
}

static int on_begin(void *user, struct ct_session_turn *turn)
{
    const struct cli_results *r = user;
    turn->sink.user = r->user;
    return r->begin(r->user, turn);
}

/* Notes whether a stream with instructions has no context IDs. A core of the M profile cannot have them. */
static void find_contexts(struct cli_results *r, const struct ct_chain *chain)
{
    size_t count;
    const struct ct_stream *streams = ct_chain_streams(chain, &count);
    for (size_t i = 0; i < count; i++) {
        const struct ct_source *source = streams[i].source;
        if (source && streams[i].stats.instructions && source->arch.profile != CT_PROFILE_M)
            r->lacks_contexts |= !ct_source_tells_context(source);
    }
}

static int on_decoded(void *user, const struct ct_buffer *buffer, const struct ct_chain *chain)
{
    struct cli_results *r = user;
    cli_capture_tell_frames(&r->capture, chain);
    find_contexts(r, chain);
    return r->decoded ? r->decoded(r->user, buffer, chain) : CT_OK;
}

static int run_session(struct cli_results *r)
{
    const int code = r->decode ? r->decode(r->user) : -1;
    if (code >= 0)
        return code;
    char part[1024];
    cli_filter_words(&r->filter, r->args, part, sizeof part);
    const struct ct_chain_options chain = cli_capture_chain_options(&r->capture, CT_LEVEL_STEPS);
    const struct ct_session_options options = {.size = sizeof options,
                                               .programs = r->programs,
                                               .threads = r->threads,
                                               .edges = r->edges,
                                               .index = r->filter.index,
                                               .ids = {chain.ids[0], chain.ids[1]},
                                               .user = r,
                                               .progress = on_bytes,
                                               .begin = r->begin ? on_begin : NULL,
                                               .events = r->events,
                                               .steps = r->steps ? on_steps : NULL,
                                               .decoded = on_decoded,
                                               .filter = cli_filter_of(&r->filter),
                                               .part = part,
                                               .shard = r->shard,
                                               .ran = &r->ran};
    int rc = ct_session_new(r->args->ctx, &options, &r->session);
    if (!rc && r->analysis && !r->files_alone)
        rc = ct_session_add(r->session, r->analysis);
    begin_wait(r, "reading the programs");
    if (!rc)
        rc = ct_session_run(r->session, r->capture.capture, r->capture.buffers, r->capture.count);
    cli_wait_end(&r->wait);
    cli_progress_clear();
    if (!rc) {
        r->capture.seen = *ct_session_seen(r->session);
        ct_sieve_seen_add(&r->filter.seen, ct_session_sieved(r->session));
    }
    ct_session_free(r->session);
    r->session = NULL;
    if (rc == CT_ERR_IO && ferror(r->out ? r->out : stdout)) /* reported at the end of the command */
        return CLI_FAILED;
    return rc ? cli_library_error(r->args->ctx) : CLI_CLEAN;
}

bool cli_results_open(struct cli_results *r, const char *path)
{
    if (r->has_capture)
        cli_capture_close(&r->capture);
    r->has_capture = cli_capture_open_path(&r->capture, r->args, path);
    if (!r->has_capture || (r->begin && !cli_capture_spool(&r->capture)))
        return false;
    begin_wait(r, "reading the programs");
    const bool fine =
        (!r->programs || r->names_programs || cli_programs_of(r->programs, r->args, r->elf, &r->capture)) &&
        (!r->opened || r->opened(r->user));
    cli_wait_end(&r->wait);
    return fine;
}

static int read_capture(struct cli_results *r, const char *path)
{
    if (!cli_results_open(r, path))
        return CLI_FAILED;
    const bool by_memory = ct_programs_by_memory(r->capture.capture);
    const bool lacks = r->capture.capture->missing_count > 0;
    bool known = !r->needs_program || by_memory || cli_programs_any(r->programs, r->args, &r->capture);
    if (!known && !lacks)
        return CLI_FAILED;
    if (r->shard && known) /* its losses, and whether anything ran, are reported when all parts are joined */
        return run_session(r);
    if (run_session(r) == CLI_FAILED)
        return CLI_FAILED;
    if (r->needs_program && by_memory)
        known = cli_programs_any(r->programs, r->args, &r->capture);
    if (!known && !(lacks && r->may_lack_files)) {
        cli_capture_tell_missing(&r->capture); /* reports those in which the trace lies */
        return CLI_FAILED;
    }
    r->lacks_files |= !known;
    if ((r->closing && !r->closing(r->user)) ||
        (r->took && !r->took(r->user, path, NULL, &r->capture.seen.losses)))
        return CLI_FAILED;
    const int code = known ? CLI_CLEAN : CLI_DAMAGED;
    return r->untold ? cli_capture_code_untold(&r->capture, code) : cli_capture_code(&r->capture, code);
}

/* Returns whether the file is empty, as after a command that was stopped: it is neither a capture nor a saved
 * file. */
static bool is_empty(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && !st.st_size;
}

static int refuse_empty(const char *path)
{
    cli_say("%s: the file is empty; name a capture, or a file that a command wrote with --format data", path);
    return CLI_FAILED;
}

/* Makes the shard of --shard, if given. Returns false after a message. */
static bool make_shard(struct cli_results *r)
{
    const struct cli_args *args = r->args;
    uint32_t number, count;
    if (!r->part || !r->part->given)
        return true;
    if (!cli_read_part(args->command, "shard", r->part->text, &number, &count))
        return false;
    if (args->rest_count != 1 || is_pipe(args->operand) || cli_results_is_file(NULL, args->operand)) {
        cli_usage_error(args->command, "--shard selects a part of one capture file; name exactly one "
                                       "capture, which is not standard input or a saved file");
        return false;
    }
    if (count > CT_SHARD_MAX) {
        cli_usage_error(args->command, "--shard: %" PRIu32 " parts are too many; use at most %d", count,
                        CT_SHARD_MAX);
        return false;
    }
    return ct_shard_new(args->ctx, number, count, &r->shard) ? (cli_library_error(args->ctx), false) : true;
}

int cli_results_read(struct cli_results *r)
{
    int worst = make_shard(r) ? CLI_CLEAN : CLI_FAILED;
    for (int i = 0; i < r->args->rest_count && worst != CLI_FAILED; i++) {
        const char *path = r->args->rest[i];
        const bool is_file = r->analysis && (is_pipe(path) || cli_results_is_file(NULL, path));
        const int other = r->other ? r->other(r->user, path) : -1;
        const int code = other >= 0       ? other
                         : is_empty(path) ? refuse_empty(path)
                         : is_file        ? (r->captures_alone ? CLI_CLEAN : read_file(r, path))
                                          : read_capture(r, path);
        worst = cli_worse(worst, code);
    }
    r->kept_nothing = !r->has_file && worst != CLI_FAILED &&
                      ((r->lacks_files && !ct_programs_count(r->programs)) ||
                       cli_filter_kept_nothing(&r->filter, r->args, &r->ran));
    return r->kept_nothing ? CLI_DAMAGED : worst;
}

int cli_results_nothing_ran(const struct cli_results *r, int code, const char *result, bool written)
{
    const bool traced = r->has_capture && r->capture.seen.has_trace;
    if (code == CLI_FAILED || r->ran.instructions || r->has_file || r->shard ||
        (code == CLI_DAMAGED && traced))
        return CLI_CLEAN;
    if (traced) /* a capture without trace was reported */
        (void)cli_empty_tell(r->args, r->args->operand,
                             &(struct ct_empty_options){.result = result, .ran = &r->ran});
    if (!written)
        cli_output_set_empty();
    return CLI_DAMAGED;
}

int cli_results_empty(const struct cli_results *r, int code, const char *result, enum ct_empty_items items)
{
    const struct ct_empty_options asked = {.result = result, .ran = &r->ran, .items = (uint8_t)items};
    return cli_worse(code, code != CLI_FAILED && r->ran.instructions
                               ? cli_empty(r->args, &asked)
                               : cli_results_nothing_ran(r, code, result, false));
}

const char *cli_results_buffer(const struct cli_results *r, const struct ct_session_turn *turn,
                               const struct ct_buffer *last)
{
    const struct cli_value *values = r->args->values;
    const bool one = values[CLI_CAPTURE_BUFFER].given ||
                     (values[CLI_CAPTURE_ID].given && r->capture.capture->buffer_count == 1);
    return one || turn->buffer == last ? NULL : turn->buffer->name;
}

int cli_results_id(const struct cli_results *r, const struct ct_session_turn *turn)
{
    return r->args->values[CLI_CAPTURE_ID].given ? -1 : turn->id;
}

void cli_results_close(struct cli_results *r)
{
    cli_filter_free(&r->filter);
    if (r->has_capture)
        cli_capture_close(&r->capture);
    ct_programs_free(r->programs);
    ct_shard_free(r->shard);
}

/* ---- notes ---- */

/* Returns what to do about stacks that lack callers. */
static const char *stack_advice(const struct cli_results *r)
{
    if (r->lacks_contexts)
        return "record with context IDs, which give each thread its own stack; coroutines have none";
    if (r->has_file)
        return "if the captures of saved files have no context IDs, record with them: each thread then has "
               "its own stack";
    return "context IDs cannot tell these stacks apart, so another recording would not change that";
}

void cli_results_note_new_stacks(const struct cli_results *r, uint64_t times)
{
    if (times && !r->args->quiet)
        cli_say("the call stack was restarted %" PRIu64
                " time%s: execution after an exception continued in other code than was interrupted, or may "
                "have continued in another thread that waited at the same place, or a return led to a place "
                "behind no call on the stack, as when a program switches to the stack of a coroutine; stacks "
                "after that lack their earlier callers; %s",
                times, times == 1 ? "" : "s", stack_advice(r));
}
