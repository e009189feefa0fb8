#include "cli/passes.h"

void cli_passes_heading(struct cli_passes *p)
{
    if (p->tell_buffer) {
        ct_text_room(&p->text);
        ct_text_lit(&p->text, "# buffer ");
        ct_text_json(&p->text, p->buffer->name);
        ct_text_char(&p->text, '\n');
    }
    if (p->tell_id) {
        ct_text_room(&p->text);
        ct_text_lit(&p->text, "# id ");
        ct_text_hex_digits(&p->text, p->id, 2);
        ct_text_char(&p->text, '\n');
    }
    p->tell_buffer = p->tell_id = false;
}

/* The sink of a command, with the progress meter put between. */
struct metered {
    struct cli_passes *passes;
    const struct ct_chain_sink *sink;
};

static int on_packets(void *user, const struct ct_stream *stream, const struct ct_packet_batch *batch)
{
    const struct metered *m = user;
    return m->sink->packets(m->sink->user, stream, batch);
}

static int on_elems(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch)
{
    const struct metered *m = user;
    return m->sink->elems(m->sink->user, stream, batch);
}

static int on_flow(void *user, const struct ct_stream *stream, const struct ct_flow_batch *batch)
{
    const struct metered *m = user;
    return m->sink->flow(m->sink->user, stream, batch);
}

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    const struct metered *m = user;
    return m->sink->steps(m->sink->user, stream, batch);
}

static int on_bytes(void *user, uint64_t bytes)
{
    const struct metered *m = user;
    cli_progress_update(&m->passes->capture.progress, m->passes->bytes + bytes);
    /* Somebody may watch: what is known is shown. */
    if (m->passes->capture.count == 1 && m->passes->buffer->path[0] == '-')
        ct_text_flush(&m->passes->text);
    return m->passes->text.failed ? CT_ERR_IO : 0;
}

static int run_pass(struct cli_passes *p)
{
    const struct cli_args *args = p->capture.args;
    struct ct_chain_options options = cli_capture_chain_options(&p->capture, CT_LEVEL_FLOW);
    struct ct_chain_sink sink = {.user = p->user};
    options.ids[0] = options.ids[1] = 0;
    options.ids[p->id / 64] = UINT64_C(1) << (p->id % 64);
    int code = p->begin(p, &options, &sink);
    if (code != CLI_CLEAN)
        return code;
    struct metered m = {.passes = p, .sink = &sink};
    const struct ct_chain_sink metered = {.user = &m,
                                          .packets = sink.packets ? on_packets : NULL,
                                          .elems = sink.elems ? on_elems : NULL,
                                          .flow = sink.flow ? on_flow : NULL,
                                          .steps = sink.steps ? on_steps : NULL,
                                          .bytes = on_bytes};
    struct ct_chain *chain;
    if (ct_chain_new(args->ctx, p->buffer, &options, &metered, &chain) != CT_OK)
        return cli_library_error(args->ctx);
    int rc = ct_chain_run(chain);
    p->end(p);
    ct_text_flush(&p->text);
    if (rc && !p->text.failed)
        code = cli_library_error(args->ctx);
    else if (cli_report_damage(chain, p->buffer))
        code = CLI_DAMAGED;
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

static int run_buffer(struct cli_passes *p)
{
    const struct cli_value *only = &p->capture.args->values[CLI_CAPTURE_ID];
    int worst = CLI_CLEAN;
    for (unsigned id = 0; id < 128 && worst != CLI_FAILED; id++) {
        if (!has_id(p->buffer, id) || (only->given && only->number != id))
            continue;
        p->id = (uint8_t)id;
        p->tell_id = p->headings && !only->given;
        int code = run_pass(p);
        worst = code > worst ? code : worst;
    }
    return worst;
}

int cli_passes_run(struct cli_passes *p, const struct cli_args *args)
{
    if (!cli_capture_open(&p->capture, args))
        return CLI_FAILED;
    if (!cli_capture_spool(&p->capture)) {
        cli_capture_close(&p->capture);
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
    worst = cli_capture_code(&p->capture, worst);
    cli_capture_close(&p->capture);
    return worst;
}
