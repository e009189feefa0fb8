/* SPDX-License-Identifier: Apache-2.0 */
/* coretap list: packets or elements, one line each. */
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/passes.h"
#include "coretap/format.h"

enum option {
    PACKETS = CLI_CAPTURE_OPTIONS,
    ELEMENTS,
    SPLIT,
    THREADS,
};

static const struct cli_option options[] = {
    CLI_CAPTURE_TABLE,
    [PACKETS] = {.name = "packets", .letter = 'p', .kind = CLI_FLAG, .help = "List the protocol packets."},
    [ELEMENTS] =
        {.name = "elements",
         .letter = 'e',
         .kind = CLI_FLAG,
         .help = "List what the packets mean along the program: instruction ranges, exceptions, contexts, "
                 "times."},
    [SPLIT] = {.name = "split-source-ranges",
               .kind = CLI_FLAG,
               .help = "A range that a source address packet makes is split at the branches in it that were "
                       "not taken."},
    [THREADS] = CLI_THREADS_OPTION,
};

/* Who takes batches: the listing, or a part of a stream that a thread makes. */
struct lines {
    struct ct_lister *lister;
    struct cli_passes *passes; /* NULL in a part */
};

struct listing {
    struct cli_passes passes;
    struct lines lines;
};

/* A file that cannot be written is told of at the end of the command. */
static int note(const struct lines *l, int result)
{
    if (l->passes)
        l->passes->text.failed |= result == CT_ERR_IO;
    return result;
}

static int on_packets(void *user, const struct ct_stream *stream, const struct ct_packet_batch *batch)
{
    const struct lines *l = user;
    return note(l, ct_lister_packets(l->lister, stream, batch));
}

static int on_flow(void *user, const struct ct_stream *stream, const struct ct_flow_batch *batch)
{
    const struct lines *l = user;
    return note(l, ct_lister_flow(l->lister, stream, batch));
}

/* Somebody may watch a stream: what is known is shown. */
static int on_bytes(void *user, uint64_t bytes)
{
    const struct lines *l = user;
    if (l->passes->buffer->path[0] == '-')
        note(l, ct_lister_flush(l->lister));
    return cli_passes_bytes(l->passes, bytes);
}

static void *part_new(void *user, const struct ct_stream *stream)
{
    const struct lines *whole = user;
    struct lines *part = calloc(1, sizeof *part);
    (void)stream;
    if (part && ct_lister_part(whole->lister, &part->lister) != CT_OK) {
        free(part);
        return NULL;
    }
    return part;
}

static int part_end(void *user, const struct ct_stream *stream, void *part_user, int keep)
{
    const struct lines *whole = user;
    struct lines *part = part_user;
    struct ct_lister *lister = part->lister;
    (void)stream;
    free(part);
    return note(whole, ct_lister_join(whole->lister, lister, keep));
}

/* Lines of software trace depend on those before them. */
static bool has_parts(const struct cli_passes *passes)
{
    const struct ct_source *source = cli_passes_source(passes);
    return source->protocol != CT_PROTOCOL_STM && source->protocol != CT_PROTOCOL_ITM;
}

static int begin(struct cli_passes *passes, struct ct_chain_options *chain, struct ct_chain_sink *sink)
{
    const struct cli_args *args = passes->capture.args;
    struct listing *l = passes->user;
    ct_lister_heading(l->lines.lister, passes->tell_buffer ? passes->buffer->name : NULL,
                      passes->tell_id ? passes->id : -1);
    passes->tell_buffer = passes->tell_id = false;
    sink->user = &l->lines;
    sink->bytes = on_bytes;
    if (has_parts(passes)) {
        sink->part_new = part_new;
        sink->part_end = part_end;
    }
    if (args->values[PACKETS].given) {
        chain->level = CT_LEVEL_PACKET;
        sink->packets = on_packets;
    } else {
        sink->flow = on_flow;
    }
    chain->split_source_ranges = args->values[SPLIT].given;
    return CLI_CLEAN;
}

static void end(struct cli_passes *passes)
{
    const struct listing *l = passes->user;
    note(&l->lines, ct_lister_end(l->lines.lister));
}

static int run(const struct cli_args *args)
{
    if (args->values[PACKETS].given == args->values[ELEMENTS].given)
        return cli_usage_error(args->command, "give one of --packets and --elements");
    struct listing l = {0};
    l.passes.headings = true;
    l.passes.user = &l;
    l.passes.begin = begin;
    l.passes.end = end;
    l.lines.passes = &l.passes;
    if (ct_lister_new(args->ctx, cli_output_write, stdout, &l.lines.lister) != CT_OK)
        return cli_library_error(args->ctx);
    const int code = cli_passes_run(&l.passes, args);
    ct_lister_free(l.lines.lister);
    return code;
}

const struct cli_command cli_command_list = {
    .name = "list",
    .summary = "list packets or elements, one line each",
    .operand = "CAPTURE",
    .synopsis = "--packets|--elements",
    .about =
        "Prints one line for each protocol packet, or for each element of the decoded trace, in listing "
        "format "
        "version 1 (docs/listing.md). Each line begins with the offset in the trace buffer and the trace "
        "ID.\n"
        "Without --id every trace ID is listed, one after the other, introduced by lines '# buffer NAME' and "
        "'# id HH'.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .uses = CLI_USES_PROGRAMS,
    .run = run,
};
