/* SPDX-License-Identifier: Apache-2.0 */
/* coretap info: the contents of a capture. */
#include "cli/branch_lists.h"
#include "cli/commands.h"
#include "cli/capture.h"
#include "cli/output.h"
#include "coretap/info.h"
#include "coretap/json.h"

enum {
    OPT_FORMAT = CLI_CAPTURE_OPTIONS,
    OPT_THREADS,
};

static const char *const format_words[] = {"text", "json", NULL};

static const struct cli_option options[] = {
    CLI_CAPTURE_TABLE,
    [OPT_FORMAT] = CLI_CHOICE_OPTION("format", 'f', format_words, "Output format."),
    [OPT_THREADS] = CLI_THREADS_OPTION,
};

struct job {
    const struct cli_args *args;
    struct cli_capture capture;
    uint64_t done; /* bytes of the earlier buffers */
    struct ct_info_writer *writer;
};

static int on_bytes(void *user, uint64_t bytes)
{
    struct job *job = user;
    cli_progress_update(&job->capture.progress, job->done + bytes);
    return 0;
}

static int print_buffer(struct job *job, const struct ct_buffer *buffer, const struct ct_chain *chain)
{
    const struct ct_frame_stats *frames = ct_chain_frame_stats(chain);
    cli_progress_clear();
    const int rc = ct_info_writer_buffer(job->writer, buffer, chain);
    job->done += frames ? frames->input_bytes : 0;
    cli_capture_count(&job->capture, chain, CT_LEVEL_FLOW, true);
    return rc;
}

/* Returns the exit code for the result of the writer. A write error is reported at the end of the command. */
static int told(const struct job *job, int rc)
{
    return rc && rc != CT_ERR_IO ? cli_library_error(job->args->ctx) : CLI_CLEAN;
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
    const int rc = failed ? CT_OK : print_buffer(job, buffer, chain);
    ct_chain_free(chain);
    return failed ? cli_library_error(job->args->ctx) : told(job, rc);
}

static int print_capture(struct job *job)
{
    const struct cli_capture *capture = &job->capture;
    if (told(job, ct_info_writer_capture(job->writer, capture->capture)) == CLI_FAILED)
        return CLI_FAILED;
    for (size_t i = 0; i < capture->count; i++) {
        if (look_at(job, &capture->buffers[i]))
            return CLI_FAILED;
    }
    if (told(job, ct_info_writer_end(job->writer, &capture->seen.losses)) == CLI_FAILED)
        return CLI_FAILED;
    return cli_capture_code(capture, CLI_CLEAN);
}

static int run_branch_list(const struct cli_args *args)
{
    struct ct_json *json = NULL;
    if (args->values[OPT_FORMAT].number == CT_INFO_FORMAT_JSON &&
        !(json = cli_json_open(args->ctx, stdout, false)))
        return CLI_FAILED;
    const int code = cli_branch_lists_info(args, json);
    ct_json_free(json);
    return code;
}

static int run(const struct cli_args *args)
{
    const struct ct_info_write_options how = {.size = sizeof how,
                                              .format = (uint8_t)args->values[OPT_FORMAT].number};
    struct job job = {.args = args};
    if (cli_branch_lists_is_file(args->operand))
        return run_branch_list(args);
    if (!cli_capture_open(&job.capture, args))
        return CLI_FAILED;
    const int code = ct_info_writer_new(args->ctx, &how, cli_output_write, stdout, &job.writer)
                         ? cli_library_error(args->ctx)
                         : print_capture(&job);
    ct_info_writer_free(job.writer);
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
