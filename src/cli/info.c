/* SPDX-License-Identifier: Apache-2.0 */
/* coretap info: the contents of a capture. */
#include "cli/branch_lists.h"
#include "cli/commands.h"
#include "cli/info.h"
#include "cli/output.h"

enum {
    OPT_FORMAT = CLI_CAPTURE_OPTIONS,
    OPT_THREADS,
};

enum {
    FORMAT_TEXT,
    FORMAT_JSON
};

static const char *const format_words[] = {"text", "json", NULL};

static const struct cli_option options[] = {
    CLI_CAPTURE_TABLE,
    [OPT_FORMAT] = {.name = "format",
                    .letter = 'f',
                    .kind = CLI_CHOICE,
                    .choices = format_words,
                    .help = "Output format."},
    [OPT_THREADS] = CLI_THREADS_OPTION,
};

struct job {
    const struct cli_args *args;
    struct cli_capture capture;
    uint64_t done;        /* bytes of the earlier buffers */
    struct ct_json *json; /* NULL: text */
};

const struct ct_stream *cli_info_stream(const struct cli_info_buffer *info, const struct ct_source *source)
{
    for (size_t i = 0; i < info->stream_count; i++) {
        if (info->streams[i].source == source)
            return &info->streams[i];
    }
    return NULL;
}

uint64_t cli_info_source_bytes(const struct cli_info_buffer *info, const struct ct_source *source)
{
    if (!info->frames)
        return 0;
    if (info->framing == CT_FRAMING_NONE)
        return source == info->buffer->sources ? info->frames->id_bytes[0] : 0;
    return info->frames->id_bytes[source->trace_id & 0x7f];
}

static int on_bytes(void *user, uint64_t bytes)
{
    struct job *job = user;
    cli_progress_update(&job->capture.progress, job->done + bytes);
    return 0;
}

static void print_buffer(struct job *job, const struct ct_buffer *buffer, const struct ct_chain *chain)
{
    struct cli_info_buffer info = {
        .buffer = buffer, .frames = ct_chain_frame_stats(chain), .framing = ct_chain_framing(chain)};
    info.streams = ct_chain_streams(chain, &info.stream_count);
    cli_progress_clear();
    if (job->args->values[OPT_FORMAT].number == FORMAT_JSON)
        cli_info_json_buffer(job->json, &info);
    else
        cli_info_text_buffer(&info);
    job->done += info.frames ? info.frames->input_bytes : 0;
    cli_capture_count(&job->capture, chain, CT_LEVEL_FLOW, true);
}

/* Decodes the buffer up to instructions, to count them. */
static int look_at(struct job *job, const struct ct_buffer *buffer)
{
    const struct ct_chain_sink sink = {.user = job, .bytes = on_bytes};
    struct ct_chain_options chain_options = cli_capture_chain_options(&job->capture, CT_LEVEL_FLOW);
    struct ct_chain *chain = NULL;
    chain_options.threads = cli_threads(job->args);
    if (ct_chain_new(job->args->ctx, buffer, &chain_options, &sink, &chain))
        return cli_library_error(job->args->ctx);
    const int failed = ct_chain_run(chain);
    if (!failed)
        print_buffer(job, buffer, chain);
    ct_chain_free(chain);
    return failed ? cli_library_error(job->args->ctx) : CLI_CLEAN;
}

static int print_capture(struct job *job)
{
    const struct cli_capture *capture = &job->capture;
    if (job->json)
        cli_info_json_capture(job->json, capture->capture);
    else
        cli_info_text_capture(capture->capture);
    for (size_t i = 0; i < capture->count; i++) {
        if (look_at(job, &capture->buffers[i]))
            return CLI_FAILED;
    }
    if (job->json)
        cli_info_json_end(job->json, &capture->seen.losses);
    else
        cli_info_text_end(&capture->seen.losses);
    return cli_capture_code(capture, CLI_CLEAN);
}

static int run(const struct cli_args *args)
{
    struct job job = {.args = args};
    if (args->values[OPT_FORMAT].number == FORMAT_JSON &&
        !(job.json = cli_json_open(args->ctx, stdout, false)))
        return CLI_FAILED;
    if (cli_branch_lists_is_file(args->operand)) {
        const int listed = cli_branch_lists_info(args, job.json);
        ct_json_free(job.json);
        return listed;
    }
    if (!cli_capture_open(&job.capture, args)) {
        ct_json_free(job.json);
        return CLI_FAILED;
    }
    const int code = print_capture(&job);
    ct_json_free(job.json);
    cli_capture_close(&job.capture);
    return code;
}

const struct cli_command cli_command_info = {
    .name = "info",
    .summary = "describe a capture: sources, their configuration in words, how much each traced",
    .operand = "CAPTURE",
    .about = "Prints the trace buffers of a capture and, for each source in them, its trace ID, protocol and "
             "core, the meaning of its registers, the bytes traced, the instructions executed, the kinds of "
             "packets, and the losses; then the memory images. To find this out, the trace is decoded with "
             "all memory images.\nFor a branch list of simpleperf it prints the programs, and the number of "
             "branches of each.",
    .whole = "'info' describes the whole capture; use 'coretap stats', which can count a part of it",
    .examples = "coretap info capture\n"
                "coretap info --format json -o capture.json capture\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .uses = CLI_USES_PROGRAMS,
    .run = run,
};
