/* SPDX-License-Identifier: Apache-2.0 */
/* coretap decode: the trace as events with a running cycle count. */
#include "cli/commands.h"
#include "cli/event_names.h"
#include "cli/event_printer.h"
#include "cli/merge.h"
#include "cli/streams.h"
#include "coretap/event.h"

enum option {
    FORMAT = CLI_CAPTURE_OPTIONS,
    ALONG,
    MERGE,
    TEXT_PORTS,
    THREADS,
    ELF,
    NO_NAMES,
};

enum along {
    ALONG_AUTO,
    ALONG_BINARY,
    ALONG_TRACE,
};

static const char *const formats[] = {"tsv", "jsonl", "csv", NULL};
static const char *const alongs[] = {"auto", "binary", "trace", NULL};

static const struct cli_option options[] = {
    CLI_CAPTURE_TABLE,
    [FORMAT] = {.name = "format",
                .letter = 'f',
                .kind = CLI_CHOICE,
                .choices = formats,
                .help = "tsv: columns type, cycle, value, note. csv and jsonl also have the buffer, the "
                        "trace ID and the "
                        "offset in it."},
    [ALONG] = {.name = "along",
               .kind = CLI_CHOICE,
               .choices = alongs,
               .help = "Where branch targets come from. binary: the memory images, so that every branch is "
                       "found. trace: "
                       "the trace alone, which is complete when it was made with branch broadcast. auto: the "
                       "images when "
                       "the capture has any."},
    [MERGE] =
        {.name = "merge",
         .letter = 'm',
         .kind = CLI_FLAG,
         .help =
             "All sources in one order, by their timestamps and the cycle counts between them; the first "
             "columns "
             "are the time and the trace ID. Sources without timestamps come last. The timestamps must be of "
             "one clock."},
    [TEXT_PORTS] =
        {.name = "text-ports",
         .kind = CLI_FLAG,
         .help = "What software writes to stimulus ports (ITM) and channels (STM) is text: print it "
                 "by lines, as Txt, in place of the single writes. With --merge a line has the time of the "
                 "write that ends it."},
    [THREADS] = CLI_THREADS_OPTION,
    [ELF] = CLI_ELF_OPTION,
    [NO_NAMES] = {.name = "no-names",
                  .kind = CLI_FLAG,
                  .help = "Addresses alone, without what they are called."},
};

#define BATCH 2048

struct decoding {
    struct cli_streams streams;
    struct ct_events *events;
    struct cli_event_printer printer; /* its origin is that of the pass */
    struct cli_event_names names;
    bool told_head;
    struct ct_event batch[BATCH];
};

static void print(struct decoding *d, size_t count)
{
    cli_streams_heading(&d->streams);
    for (size_t i = 0; i < count; i++)
        cli_event_print(&d->printer, &d->batch[i]);
}

static int on_elems(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch)
{
    struct decoding *d = user;
    size_t done = 0;
    (void)stream;
    while (done < batch->count) {
        size_t count;
        done += ct_events_from_elems(d->events, batch->elems + done, batch->count - done, batch->end,
                                     d->batch, BATCH, &count);
        print(d, count);
    }
    return d->streams.text.failed ? CT_ERR_IO : 0;
}

static int on_flow(void *user, const struct ct_stream *stream, const struct ct_flow_batch *batch)
{
    struct decoding *d = user;
    size_t done = 0;
    (void)stream;
    ct_events_set_memory(d->events, batch->memory);
    if (d->names.names && !cli_event_names_in(&d->names, batch->memory))
        return CT_ERR_ARG;
    while (done < batch->count) {
        size_t count;
        done += ct_events_from_flow(d->events, batch->records + done, batch->count - done, d->batch, BATCH,
                                    &count);
        print(d, count);
    }
    return d->streams.text.failed ? CT_ERR_IO : 0;
}

/* TRCCONFIGR.BB, ETMCR bit 8. */
static bool has_branch_broadcast(const struct ct_source *source)
{
    if (source->protocol == CT_PROTOCOL_PTM || source->protocol == CT_PROTOCOL_ETM3)
        return source->regs.etmcr >> 8 & 1;
    return source->regs.configr >> 3 & 1;
}

static bool is_software(const struct ct_source *source)
{
    return source->protocol == CT_PROTOCOL_STM || source->protocol == CT_PROTOCOL_ITM;
}

/* Whether the events of a source come from the flow along its binary. Says so
 * when branches will be missing. */
static bool is_along_binary(const struct cli_args *args, const struct ct_buffer *buffer,
                            const struct ct_source *source)
{
    if (is_software(source))
        return false;
    if (args->values[ALONG].number == ALONG_BINARY ||
        (args->values[ALONG].number == ALONG_AUTO && cli_has_program(buffer)))
        return true;
    if (!has_branch_broadcast(source))
        cli_say("%s, source %s: traced without branch broadcast: branches whose target is in the instruction "
                "are not "
                "in the trace and not printed; name the program's images in the capture to see them",
                buffer->name, source->name);
    return false;
}

static bool open_names(void *user)
{
    struct decoding *d = user;
    const struct cli_args *args = d->streams.read.args;
    return cli_event_names_open(&d->names, args, ELF, !args->values[NO_NAMES].given,
                                &d->streams.read.capture);
}

static int begin(void *user, struct ct_session_turn *turn)
{
    struct decoding *d = user;
    const struct cli_args *args = d->streams.read.args;
    const bool along_binary = is_along_binary(args, turn->buffer, turn->source);
    turn->level = along_binary ? CT_LEVEL_FLOW : CT_LEVEL_ELEMENT;
    if (along_binary)
        turn->sink.flow = on_flow;
    else
        turn->sink.elems = on_elems;
    if (!d->told_head)
        ct_event_head(&d->streams.text, d->printer.format, false);
    d->told_head = true;
    d->printer.origin = (struct ct_event_origin){
        .buffer = turn->buffer->name, .source = turn->source, .id = turn->id, .names = d->names.names};
    ct_events_free(d->events);
    d->events = NULL;
    return ct_events_new(args->ctx, turn->source, &d->events);
}

static int run(const struct cli_args *args)
{
    const enum ct_event_format format = (enum ct_event_format)args->values[FORMAT].number;
    const bool text_ports = args->values[TEXT_PORTS].given;
    if (args->values[MERGE].given && !cli_without_threads(args, "--merge decodes"))
        return CLI_FAILED;
    if (args->values[MERGE].given)
        return cli_merge_run(args, &(struct cli_merge_how){.format = format,
                                                           .text_ports = text_ports,
                                                           .no_names = args->values[NO_NAMES].given,
                                                           .elf = ELF,
                                                           .along_binary = is_along_binary});
    struct decoding d = {
        .printer = {.text = &d.streams.text, .format = format, .text_ports = text_ports},
        .streams = {.read = {.args = args, .threads = cli_threads(args)},
                    .headings = format == CT_EVENT_TSV,
                    .user = &d,
                    .opened = open_names,
                    .begin = begin},
    };
    const int code =
        cli_filter_read(&d.streams.read.filter, args, false) ? cli_streams_run(&d.streams) : CLI_FAILED;
    ct_events_free(d.events);
    cli_event_names_close(&d.names);
    cli_results_close(&d.streams.read);
    return code;
}

const struct cli_command cli_command_decode = {
    .name = "decode",
    .summary = "print the trace as events with a running cycle count",
    .operand = "CAPTURE",
    .about =
        "Prints one line for each event of the trace: its type, the cycles counted up to it, a value and, "
        "where "
        "there is more to say, a note. Beside an address stands what it is called: function+0x10, or "
        "module+0x1234 where no function is known.\n"
        "Br: a taken branch and its target. Go: where execution is when tracing begins, and after "
        "exceptions. Evt: "
        "hardware event bits. Exc: exception number. Ret: return from an exception. Ctx: context. Ts: "
        "timestamp. "
        "On: tracing was switched on. Gap: bytes that could not be used. NoMem: an address that no image "
        "has. Q: "
        "execution went on by an untold path. Tx: memory transaction. Mark: timestamp marker. Sw: software "
        "instrumentation, or what software wrote to a stimulus port (ITM) or channel (STM). Dwt: hardware "
        "trace of "
        "the DWT. Txt: a line of text (--text-ports). End: end of the trace.\n"
        "The cycle count of an event includes the count that the trace unit gave for it; an event without a "
        "count "
        "of its own has that of the event before.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .uses = CLI_USES_ALL,
    .run = run,
};
