/* coretap list: packets or elements, one line each. */
#include "cli/capture.h"
#include "cli/commands.h"
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
    struct cli_capture capture;
    struct ct_text text;
    struct ct_element_lister lister;
    const struct ct_buffer *buffer;
    bool tell_buffer; /* its name is still to be printed, before its first line */
    bool tell_id;
    uint64_t bytes; /* of passes that are over */
};

/* Says what the lines that follow are of. An ID without trace has no lines and no heading. */
static void heading(struct listing *l, const struct ct_stream *stream)
{
    if (l->tell_buffer) {
        ct_text_room(&l->text);
        ct_text_lit(&l->text, "# buffer ");
        ct_text_json(&l->text, l->buffer->name);
        ct_text_char(&l->text, '\n');
    }
    if (l->tell_id) {
        ct_text_room(&l->text);
        ct_text_lit(&l->text, "# id ");
        ct_text_hex_digits(&l->text, stream->id, 2);
        ct_text_char(&l->text, '\n');
    }
    l->tell_buffer = l->tell_id = false;
}

static int on_packets(void *user, const struct ct_stream *stream, const struct ct_packet_batch *batch)
{
    struct listing *l = user;
    heading(l, stream);
    for (size_t i = 0; i < batch->count; i++) {
        const struct ct_etm4_packet *packet = &batch->packets[i];
        const uint8_t *bytes = batch->run->data + (packet->pos - batch->run->pos);
        ct_list_etm4_packet(&l->text, stream->id, batch->offsets[i], bytes, packet, stream->source);
    }
    return l->text.failed ? CT_ERR_IO : 0;
}

static int on_flow(void *user, const struct ct_stream *stream, const struct ct_flow_batch *batch)
{
    struct listing *l = user;
    heading(l, stream);
    l->lister.id = stream->id;
    for (size_t i = 0; i < batch->count; i++)
        ct_list_flow(&l->lister, &batch->records[i]);
    return l->text.failed ? CT_ERR_IO : 0;
}

static int on_bytes(void *user, uint64_t bytes)
{
    struct listing *l = user;
    cli_progress_update(&l->capture.progress, l->bytes + bytes);
    return 0;
}

/* One pass over a buffer for one ID: lines of an ID stand together. Result: enum cli_exit. */
static int list_id(struct listing *l, uint8_t id)
{
    const struct cli_args *args = l->capture.args;
    bool packets = args->values[PACKETS].given;
    struct ct_chain_sink sink = {.user = l, .bytes = on_bytes};
    if (packets)
        sink.packets = on_packets;
    else
        sink.flow = on_flow;
    struct ct_chain_options chain_options =
        cli_capture_chain_options(&l->capture, packets ? CT_LEVEL_PACKET : CT_LEVEL_FLOW);
    chain_options.split_source_ranges = args->values[SPLIT].given;
    chain_options.ids[0] = chain_options.ids[1] = 0;
    chain_options.ids[id / 64] = UINT64_C(1) << (id % 64);
    struct ct_chain *chain;
    if (ct_chain_new(args->ctx, l->buffer, &chain_options, &sink, &chain) != CT_OK)
        return cli_library_error(args->ctx);
    int rc = ct_chain_run(chain);
    ct_list_flow_end(&l->lister);
    ct_text_flush(&l->text);
    int code = CLI_CLEAN;
    if (rc && !l->text.failed)
        code = cli_library_error(args->ctx);
    else if (cli_report_damage(chain, l->buffer))
        code = CLI_DAMAGED;
    const struct ct_frame_stats *frames = ct_chain_frame_stats(chain);
    l->bytes += frames ? frames->input_bytes : 0;
    ct_chain_free(chain);
    return code;
}

static int list_buffer(struct listing *l)
{
    const struct cli_value *id = &l->capture.args->values[CLI_CAPTURE_ID];
    bool framed = l->buffer->framing != CT_FRAMING_NONE;
    if (l->capture.args->values[CLI_CAPTURE_FRAMING].number)
        framed = l->capture.args->values[CLI_CAPTURE_FRAMING].number != CT_FRAMING_NONE;
    int worst = CLI_CLEAN;
    for (unsigned i = 0; i < 128 && worst != CLI_FAILED; i++) {
        bool there = !framed && i == 0 && l->buffer->source_count > 0;
        for (size_t s = 0; framed && s < l->buffer->source_count; s++)
            there |= l->buffer->sources[s].trace_id == i;
        if (!there || (id->given && id->number != i))
            continue;
        l->tell_id = !id->given;
        int code = list_id(l, (uint8_t)i);
        worst = code > worst ? code : worst;
    }
    return worst;
}

static int run(const struct cli_args *args)
{
    if (args->values[PACKETS].given == args->values[ELEMENTS].given)
        return cli_usage_error(args->command, "give one of --packets and --elements");
    static struct listing l;
    if (!cli_capture_open(&l.capture, args, !args->values[CLI_CAPTURE_ID].given))
        return CLI_FAILED;
    ct_text_init(&l.text, stdout);
    l.lister.text = &l.text;
    const struct ct_capture *capture = l.capture.capture;
    for (size_t i = 0; i < capture->missing_count && !args->values[PACKETS].given && !args->quiet; i++)
        cli_say("%s", capture->missing[i]);
    bool name_buffers = !args->values[CLI_CAPTURE_BUFFER].given &&
                        (!args->values[CLI_CAPTURE_ID].given || capture->buffer_count > 1);
    int worst = CLI_CLEAN;
    for (size_t i = 0; i < l.capture.count && worst != CLI_FAILED; i++) {
        l.buffer = &l.capture.buffers[i];
        l.tell_buffer = name_buffers;
        int code = list_buffer(&l);
        worst = code > worst ? code : worst;
    }
    cli_capture_close(&l.capture);
    return worst;
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
