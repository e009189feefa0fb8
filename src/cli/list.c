/* coretap list: packets or elements, one line each. */
#include "cli/commands.h"
#include "cli/passes.h"
#include "decode/protocol.h"
#include "report/listing.h"

enum option {
    PACKETS = CLI_CAPTURE_OPTIONS,
    ELEMENTS,
    SPLIT,
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
};

struct listing {
    struct cli_passes passes;
    struct ct_element_lister lister;
};

static int on_packets(void *user, const struct ct_stream *stream, const struct ct_packet_batch *batch)
{
    struct listing *l = user;
    cli_passes_heading(&l->passes);
    ct_protocol_ops((enum ct_protocol)batch->protocol)->list(&l->passes.text, stream, batch);
    return l->passes.text.failed ? CT_ERR_IO : 0;
}

static int on_flow(void *user, const struct ct_stream *stream, const struct ct_flow_batch *batch)
{
    struct listing *l = user;
    cli_passes_heading(&l->passes);
    l->lister.id = stream->id;
    for (size_t i = 0; i < batch->count; i++)
        ct_list_flow(&l->lister, &batch->records[i]);
    return l->passes.text.failed ? CT_ERR_IO : 0;
}

static int begin(struct cli_passes *passes, struct ct_chain_options *chain, struct ct_chain_sink *sink)
{
    const struct cli_args *args = passes->capture.args;
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
    struct listing *l = passes->user;
    ct_list_flow_end(&l->lister);
}

static int run(const struct cli_args *args)
{
    if (args->values[PACKETS].given == args->values[ELEMENTS].given)
        return cli_usage_error(args->command, "give one of --packets and --elements");
    static struct listing l;
    l.passes.headings = true;
    l.passes.user = &l;
    l.passes.begin = begin;
    l.passes.end = end;
    l.lister.text = &l.passes.text;
    return cli_passes_run(&l.passes, args);
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
    .run = run,
};
