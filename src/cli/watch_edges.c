/* SPDX-License-Identifier: Apache-2.0 */
/* coretap watch --all-edges: an event for each traversal of an edge. */
#include "cli/watch_edges.h"

#include "cli/output.h"
#include "cli/streams.h"
#include "coretap/format.h"

struct edges {
    struct cli_streams streams;
    struct ct_graph *numbers;
    struct ct_edge_events *events;
    struct ct_edge_text *text; /* NULL: events are written in binary form */
};

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct edges *e = user;
    (void)stream;
    if (batch->count)
        e->streams.read.ran.unnamed = 1;
    return ct_edge_events_take(e->events, batch);
}

static int begin(void *user, struct ct_session_turn *turn)
{
    struct edges *e = user;
    const struct ct_capture *capture = e->streams.read.capture.capture;
    uint32_t number = 0;
    while (number < capture->buffer_count && capture->buffers[number].name != turn->buffer->name)
        number++;
    turn->level = CT_LEVEL_STEPS;
    turn->sink.steps = on_steps;
    return ct_edge_events_begin(e->events, number, turn->id);
}

static int flush(void *user)
{
    struct edges *e = user;
    const int rc = ct_edge_events_flush(e->events);
    return rc || !e->text ? rc : ct_edge_text_flush(e->text);
}

static int no_heading(void *user, const char *buffer, int id)
{
    (void)user;
    (void)buffer;
    (void)id;
    return CT_OK;
}

static bool open_events(struct edges *e, bool binary)
{
    struct ct_ctx *ctx = e->streams.read.args->ctx;
    if (binary)
        cli_output_widen();
    int rc = ct_graph_new(ctx, &e->numbers);
    if (!rc && !binary)
        rc = ct_edge_text_new(ctx, cli_output_write, stdout, &e->text);
    if (!rc && binary)
        rc = ct_edge_events_new(ctx, e->numbers, cli_output_write, stdout, &e->events);
    else if (!rc)
        rc = ct_edge_events_new(ctx, e->numbers, ct_edge_text_write, e->text, &e->events);
    if (rc)
        cli_library_error(ctx);
    return !rc;
}

/* Writes the file that explains the numbers. Returns an enum cli_exit. */
static int write_numbers(const struct edges *e, const char *path)
{
    const struct cli_results *read = &e->streams.read;
    struct cli_output output;
    FILE *file = cli_output_open(&output, path);
    if (!file)
        return CLI_FAILED;
    const int rc = ct_edge_numbers_write(read->args->ctx, e->numbers, read->programs, cli_output_write, file);
    if (rc && rc != CT_ERR_IO)
        cli_library_error(read->args->ctx);
    const bool whole = !rc && !cli_lacked_memory(read->args->ctx);
    return cli_output_close(&output, whole) ? CLI_CLEAN : CLI_FAILED;
}

static int print(struct edges *e, const struct cli_edge_options *options)
{
    struct cli_results *read = &e->streams.read;
    if (!cli_filter_read(&read->filter, read->args, false) ||
        !cli_programs_new_moved(&read->programs, read->args, NULL) || !open_events(e, options->binary))
        return CLI_FAILED;
    int code = cli_streams_run(&e->streams);
    if (code != CLI_FAILED && flush(e) != CT_OK)
        code = CLI_FAILED;
    if (code != CLI_FAILED && !ct_edge_events_count(e->events) && !read->kept_nothing)
        code = cli_results_empty(read, code, "the list of events is", CT_EMPTY_EDGE_EVENTS);
    if (code != CLI_FAILED && options->numbers && write_numbers(e, options->numbers) != CLI_CLEAN)
        code = CLI_FAILED;
    return code;
}

int cli_watch_edges(const struct cli_args *args, const struct cli_edge_options *options)
{
    struct edges e = {.streams = {.read = {.args = args, .elf = options->elf, .threads = cli_threads(args)},
                                  .user = &e,
                                  .begin = begin,
                                  .heading = no_heading,
                                  .flush = flush}};
    const int code = print(&e, options);
    ct_edge_events_free(e.events);
    ct_edge_text_free(e.text);
    ct_graph_free(e.numbers);
    cli_results_close(&e.streams.read);
    return code;
}
