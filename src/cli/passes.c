/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/passes.h"
#include "format/listing.h"

#include <stdlib.h>

void cli_passes_heading(struct cli_passes *p)
{
    ct_list_heading(&p->text, p->tell_buffer ? p->buffer->name : NULL, p->tell_id ? p->id : -1);
    p->tell_buffer = p->tell_id = false;
}

const struct ct_source *cli_passes_source(const struct cli_passes *passes)
{
    const struct ct_buffer *buffer = passes->buffer;
    for (size_t i = 0; buffer->framing != CT_FRAMING_NONE && i < buffer->source_count; i++)
        if (buffer->sources[i].trace_id == passes->id)
            return &buffer->sources[i];
    return &buffer->sources[0];
}

int cli_passes_bytes(struct cli_passes *p, uint64_t bytes)
{
    cli_progress_update(&p->capture.progress, p->bytes + bytes);
    /* Somebody may watch: what is known is shown. */
    if (p->capture.count == 1 && p->buffer->path[0] == '-')
        ct_text_flush(&p->text);
    return p->text.failed ? CT_ERR_IO : 0;
}

/* Of the ID of the pass alone. */
static struct ct_losses losses_of(const struct ct_chain *chain)
{
    size_t count;
    const struct ct_stream *streams = ct_chain_streams(chain, &count);
    return count ? streams[0].stats.losses : (struct ct_losses){0};
}

/* ---- the filter ---- */

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct cli_passes *p = user;
    struct ct_step_batch kept;
    const int rc = ct_sieve_run(p->sieve, batch, &kept);
    return rc ? rc : p->sifted->steps(p->sifted->user, stream, &kept);
}

static int on_bytes(void *user, uint64_t bytes)
{
    const struct cli_passes *p = user;
    return p->sifted->bytes ? p->sifted->bytes(p->sifted->user, bytes) : 0;
}

/* Puts a sieve before the receiver of steps. CLI_FAILED: said why. */
static int begin_sieve(struct cli_passes *p, const struct ct_chain_sink *sink, struct ct_chain_sink *outer)
{
    const struct ct_sieve_options options = {.size = sizeof options,
                                             .filter = &p->settled,
                                             .source = cli_passes_source(p),
                                             .maps = p->capture.capture->maps,
                                             .programs = p->programs};
    *outer = *sink;
    if (!sink->steps || !ct_filter_steps(&p->settled))
        return CLI_CLEAN;
    p->sifted = sink;
    *outer = (struct ct_chain_sink){.user = p, .steps = on_steps, .bytes = on_bytes};
    return ct_sieve_new(p->capture.args->ctx, &options, &p->sieve) ? cli_library_error(p->capture.args->ctx)
                                                                   : CLI_CLEAN;
}

static void end_sieve(struct cli_passes *p)
{
    if (p->sieve)
        ct_sieve_seen_add(&p->filter.seen, ct_sieve_seen(p->sieve));
    ct_sieve_free(p->sieve);
    p->sieve = NULL;
}

/* ---- passes ---- */

static int run_pass(struct cli_passes *p)
{
    const struct cli_args *args = p->capture.args;
    struct ct_chain_options options = cli_capture_chain_options(&p->capture, CT_LEVEL_FLOW);
    struct ct_chain_sink sink = {.user = p->user};
    options.ids[0] = options.ids[1] = 0;
    options.ids[p->id / 64] = UINT64_C(1) << (p->id % 64);
    options.threads = cli_threads(args);
    int code = p->begin(p, &options, &sink);
    if (code != CLI_CLEAN)
        return code;
    struct ct_chain *chain;
    struct ct_chain_sink outer;
    code = begin_sieve(p, &sink, &outer);
    if (code != CLI_CLEAN)
        return code;
    if (ct_chain_new(args->ctx, p->buffer, &options, &outer, &chain) != CT_OK) {
        end_sieve(p);
        return cli_library_error(args->ctx);
    }
    int rc = ct_chain_run(chain);
    if (!cli_ran_add(&p->ran, p->capture.capture, p->buffer, chain, p->programs))
        cli_no_memory();
    cli_capture_count(&p->capture, chain, (enum ct_level)options.level, !p->framed);
    p->framed = true;
    p->losses = losses_of(chain);
    end_sieve(p);
    p->end(p);
    ct_text_flush(&p->text);
    if (rc && !p->text.failed)
        code = cli_library_error(args->ctx);
    const struct ct_frame_stats *frames = ct_chain_frame_stats(chain);
    p->bytes += frames ? frames->input_bytes : 0;
    ct_chain_free(chain);
    return code;
}

static bool has_id(const struct ct_buffer *buffer, unsigned id)
{
    if (buffer->framing == CT_FRAMING_NONE)
        return id == 0 && buffer->source_count > 0;
    for (size_t i = 0; i < buffer->source_count; i++)
        if (buffer->sources[i].trace_id == id)
            return true;
    return false;
}

/* Whether the filter leaves an ID of the buffer. */
static bool is_core(const struct cli_passes *p, unsigned id)
{
    uint64_t ids[2];
    const bool any = ct_filter_ids(&p->settled, p->buffer, ids);
    return any && (!(ids[0] | ids[1]) || ids[id / 64] >> id % 64 & 1);
}

static int run_buffer(struct cli_passes *p)
{
    const struct cli_value *only = &p->capture.args->values[CLI_CAPTURE_ID];
    int worst = CLI_CLEAN;
    p->framed = false;
    for (unsigned id = 0; id < 128 && worst != CLI_FAILED; id++) {
        if (!has_id(p->buffer, id) || (only->given && only->number != id) || !is_core(p, id))
            continue;
        p->id = (uint8_t)id;
        p->tell_id = p->headings && !only->given;
        int code = run_pass(p);
        worst = code > worst ? code : worst;
    }
    return worst;
}

/* Opens the capture and finds out what the filter means in it. */
static bool open_capture(struct cli_passes *p, const struct cli_args *args)
{
    if (!cli_filter_read(&p->filter, args, false) || !cli_capture_open(&p->capture, args))
        return false;
    if (p->other_frequency)
        p->filter.filter.frequency = 0;
    if (!cli_capture_spool(&p->capture)) {
        cli_capture_close(&p->capture);
        return false;
    }
    if (ct_filter_settle(args->ctx, &p->filter.filter, p->capture.capture, p->capture.buffers,
                         p->capture.count, &p->settled) == CT_OK)
        return true;
    cli_library_error(args->ctx);
    cli_capture_close(&p->capture);
    return false;
}

int cli_passes_run(struct cli_passes *p, const struct cli_args *args)
{
    if (!open_capture(p, args)) {
        cli_filter_free(&p->filter);
        return CLI_FAILED;
    }
    ct_text_init(&p->text, stdout);
    bool name_buffers = !args->values[CLI_CAPTURE_BUFFER].given &&
                        (!args->values[CLI_CAPTURE_ID].given || p->capture.capture->buffer_count > 1);
    int worst = CLI_CLEAN;
    for (size_t i = 0; i < p->capture.count && worst != CLI_FAILED; i++) {
        p->buffer = &p->capture.buffers[i];
        p->tell_buffer = p->headings && name_buffers;
        int code = run_buffer(p);
        worst = code > worst ? code : worst;
    }
    worst = p->untold ? cli_capture_code_untold(&p->capture, worst)
                      : cli_capture_code_or_empty(&p->capture, worst);
    cli_capture_close(&p->capture);
    cli_filter_free(&p->filter);
    p->kept_nothing = worst != CLI_FAILED && cli_filter_kept_nothing(&p->filter, args, &p->ran);
    return p->kept_nothing ? CLI_DAMAGED : worst;
}
