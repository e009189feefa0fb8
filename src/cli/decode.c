/* SPDX-License-Identifier: Apache-2.0 */
/* coretap decode: the trace as events with a running cycle count. */
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/results.h"
#include "coretap/event.h"
#include "coretap/format.h"
#include "coretap/merge.h"

enum option {
    FORMAT = CLI_CAPTURE_OPTIONS,
    ALONG,
    MERGE,
    TEXT_PORTS,
    BYTEWISE,
    THREADS,
    ELF,
    NO_NAMES,
    SYMBOLS,
    DISASM,
    FROM,
    TO,
    INDEX,
    TABLE1,
    FILTER,
    OPTIONS = FILTER + 1 + CLI_FILTER_WHO_ROWS,
};

static const char *const formats[] = {"tsv", "jsonl", "csv", NULL};    /* enum ct_event_format */
static const char *const alongs[] = {"auto", "binary", "trace", NULL}; /* enum ct_events_from */

static const struct cli_option options[OPTIONS] = {
    CLI_CAPTURE_TABLE,
    [FORMAT] = CLI_CHOICE_OPTION("format", 'f', formats,
                                 "tsv: columns type, cycle, value, note. csv and jsonl add the buffer, the "
                                 "trace ID and the offset in the buffer."),
    [ALONG] = CLI_CHOICE_OPTION("along", 0, alongs,
                                "Where branch targets come from. binary: the memory images; every taken "
                                "branch is found. trace: the trace alone, which is complete only with branch "
                                "broadcast. auto: the images if the capture has any."),
    [MERGE] = CLI_FLAG_OPTION("merge", 'm',
                              "Merge all sources into one sequence, ordered by timestamps and the cycle "
                              "counts between them. The first columns are the time and the trace ID. Sources "
                              "without timestamps come last. All timestamps must come from one clock."),
    [TEXT_PORTS] = CLI_FLAG_OPTION(
        "text-ports", 0,
        "Treat what software writes to stimulus ports (ITM) and channels (STM) as text: print whole lines, "
        "as Txt, instead of single writes. With --merge a line has the time of the write that ends it."),
    [BYTEWISE] = {.name = "bytewise",
                  .kind = CLI_NUMBER,
                  .optional = true,
                  .arg = "U",
                  .min = 1,
                  .max = 8,
                  .help = "ETMv4 and ETE: decode U bytes (default 1) per step with the function D(b, S, T) "
                          "of the paper (docs/bytewise.md). The result is the same; it takes longer. Other "
                          "protocols are decoded as usual."},
    [THREADS] = CLI_THREADS_OPTION,
    [ELF] = CLI_ELF_OPTION,
    [NO_NAMES] = CLI_FLAG_OPTION("no-names", 0, "Print addresses without function names."),
    [SYMBOLS] =
        CLI_FLAG_OPTION("symbols", 0,
                        "Also print the source line of each address, as FILE:LINE in a column of its own "
                        "(jsonl: file and line). The column is empty where there is no debug information."),
    [DISASM] = CLI_FLAG_OPTION("disasm", 0,
                               "Print the instruction at each address, which is the next one to run, in a "
                               "column of its own (jsonl: instruction). The column is empty where the memory "
                               "is not known. A build without Capstone shows opcodes."),
    [FROM] = CLI_TEXT_OPTION(
        "from", 0, "POINT",
        "Print only events from this point on: a time since the first timestamp of the capture (12.5s, 3ms, "
        "20us, 700ns), a traced timestamp (190327ticks), or cycles since the beginning of each stream "
        "(500000cyc). With --merge, times and timestamps refer to the first column."),
    [TO] = CLI_TEXT_OPTION("to", 0, "POINT", "Print only events before this point."),
    [INDEX] = CLI_FILTER_INDEX,
    [TABLE1] = CLI_FLAG_OPTION(
        "table1", 0,
        "Print only branches and events of the trace unit, in the columns of Table I of the decoder paper "
        "(docs/architecture.md, paper 1): type, cycle in hexadecimal, and the target or the name of the "
        "event, such as L1D_CACHE_REFILL. Losses are printed, too."),
    [FILTER] = CLI_FILTER_FREQUENCY,
    CLI_FILTER_WHO,
};

/* What printing events needs: names of addresses, and the writer of lines. */
struct printing {
    const struct cli_args *args;
    struct ct_programs *programs;
    struct ct_event_writer *writer;
};

struct decoding {
    struct cli_results read;
    struct printing printing;
    const struct ct_buffer *buffer; /* of the current stream */
    struct ct_event_origin origin;
};

/* ---- printing ---- */

static int tell_unnamed(void *user, const struct ct_program *program)
{
    const struct printing *p = user;
    (void)program;
    cli_programs_tell_unnamed(p->args);
    return 0;
}

static int tell_unnamed_events(void *user)
{
    const struct printing *p = user;
    if (!p->args->quiet)
        cli_say("%s", ct_ctx_error(p->args->ctx));
    return 0;
}

/* Returns whether the capture has code, if an option requires it. Returns false after a message. */
static bool has_code(const struct cli_args *args, const struct cli_capture *capture)
{
    const struct cli_value *v = args->values;
    return cli_capture_has_code(capture, v[SYMBOLS].given ? "symbols" : v[DISASM].given ? "disasm" : NULL);
}

/* Opens the programs. Named ones are added to the images of the capture, even when names of addresses are not
 * wanted. */
static bool open_programs(struct printing *p, const struct cli_args *args, struct cli_capture *capture)
{
    const bool wanted = !args->values[NO_NAMES].given || args->values[ELF].given;
    return !wanted || cli_programs_open(&p->programs, args, ELF, capture);
}

static bool open_writer(struct printing *p, const struct cli_args *args, const struct cli_capture *capture)
{
    const struct ct_event_write_options how = {
        .size = sizeof how,
        .programs = args->values[NO_NAMES].given ? NULL : p->programs,
        .capture = capture->capture,
        .user = p,
        .unnamed = tell_unnamed,
        .unnamed_events = tell_unnamed_events,
        .format = args->values[TABLE1].given ? CT_EVENT_FORMAT_TABLE1 : (uint8_t)args->values[FORMAT].number,
        .merged = args->values[MERGE].given,
        .sources = args->values[SYMBOLS].given,
        .insns = args->values[DISASM].given,
        .text_ports = args->values[TEXT_PORTS].given};
    p->args = args;
    if (ct_event_writer_new(args->ctx, &how, cli_output_write, stdout, &p->writer) == CT_OK)
        return true;
    cli_library_error(args->ctx);
    return false;
}

static void close_printing(struct printing *p)
{
    ct_event_writer_free(p->writer);
    ct_programs_free(p->programs);
}

/* Warns when branches will be missing from the output. */
static void tell_branches(const struct ct_buffer *buffer, const struct ct_source *source, enum ct_level level)
{
    if (level == CT_LEVEL_ELEMENT && !ct_source_has_branches(source))
        cli_say(
            "%s, source %s: it was traced without branch broadcast, so the trace has no targets of direct "
            "branches; these branches are not printed; add the program's images to the capture to see them",
            buffer->name, source->name);
}

/* ---- one source after another ---- */

static int on_events(void *user, const struct ct_stream *stream, const struct ct_event *events, size_t count)
{
    struct decoding *d = user;
    (void)stream;
    return ct_event_writer_add(d->printing.writer, &d->origin, events, count);
}

/* Flushes the events of a stream from standard input, because somebody may be watching it. */
static int on_bytes(void *user, uint64_t bytes)
{
    struct decoding *d = user;
    (void)bytes;
    return d->buffer->path[0] == '-' ? ct_event_writer_flush(d->printing.writer) : CT_OK;
}

static bool has_bytewise(const struct ct_source *source)
{
    return source->protocol == CT_PROTOCOL_ETM4 || source->protocol == CT_PROTOCOL_ETE;
}

/* Returns whether --bytewise changes anything. Returns false after a message. */
static bool can_bytewise(const struct cli_capture *capture)
{
    for (size_t i = 0; i < capture->count; i++)
        for (size_t k = 0; k < capture->buffers[i].source_count; k++)
            if (has_bytewise(&capture->buffers[i].sources[k]))
                return true;
    cli_usage_error(
        capture->args->command,
        "--bytewise decodes only ETMv4 and ETE, but the capture has no such source; leave --bytewise out");
    return false;
}

static bool on_opened(void *user)
{
    struct decoding *d = user;
    struct cli_capture *capture = &d->read.capture;
    return (!d->read.args->values[BYTEWISE].given || can_bytewise(capture)) &&
           has_code(d->read.args, capture) && open_programs(&d->printing, d->read.args, capture) &&
           open_writer(&d->printing, d->read.args, capture);
}

static int begin(void *user, struct ct_session_turn *turn)
{
    struct decoding *d = user;
    const struct cli_args *args = d->read.args;
    const bool headings = args->values[FORMAT].number == CT_EVENT_FORMAT_TSV;
    const char *buffer = cli_results_buffer(&d->read, turn, d->buffer);
    const enum ct_level level =
        ct_events_level(turn->buffer, turn->source, (enum ct_events_from)args->values[ALONG].number);
    tell_branches(turn->buffer, turn->source, level);
    turn->level = (uint8_t)level;
    if (args->values[BYTEWISE].given && has_bytewise(turn->source))
        turn->bytewise = args->values[BYTEWISE].text ? (uint8_t)args->values[BYTEWISE].number : 1;
    turn->sink.bytes = on_bytes;
    if (headings)
        ct_event_writer_heading(d->printing.writer, buffer, cli_results_id(&d->read, turn));
    d->buffer = turn->buffer;
    d->origin =
        (struct ct_event_origin){.buffer = turn->buffer->name, .source = turn->source, .id = turn->id};
    return CT_OK;
}

static int on_decoded(void *user, const struct ct_buffer *buffer, const struct ct_chain *chain)
{
    struct decoding *d = user;
    (void)buffer;
    (void)chain;
    return ct_event_writer_flush(d->printing.writer);
}

static int run_streams(const struct cli_args *args)
{
    struct decoding d = {.read = {.args = args,
                                  .threads = cli_threads(args),
                                  .user = &d,
                                  .opened = on_opened,
                                  .begin = begin,
                                  .events = on_events,
                                  .decoded = on_decoded}};
    const int code = cli_filter_read(&d.read.filter, args, false) ? cli_results_read(&d.read) : CLI_FAILED;
    close_printing(&d.printing);
    cli_results_close(&d.read);
    return code;
}

/* ---- all sources in one order ---- */

static int on_progress(void *user, uint64_t bytes)
{
    cli_progress_update(user, bytes);
    return 0;
}

static void tell_sources(const struct ct_merge *merge)
{
    size_t count;
    const struct ct_merge_source *sources = ct_merge_sources(merge, &count);
    for (size_t i = 0; i < count; i++) {
        const struct ct_merge_source *s = &sources[i];
        tell_branches(s->buffer, s->source, (enum ct_level)s->level);
        if (!s->timed && s->has_trace)
            cli_say("%s, ID %02x: the source has no timestamps, so its place among the others is not known; "
                    "it is printed after them; record with timestamps to merge it",
                    s->buffer->name, s->id);
    }
}

static int print_merged(struct ct_merge *merge, struct ct_event_writer *writer)
{
    struct ct_merge_batch batch;
    int rc;
    while ((rc = ct_merge_next(merge, &batch)) == CT_OK && batch.count) {
        const struct ct_event_origin origin = {.buffer = batch.source->buffer->name,
                                               .source = batch.source->source,
                                               .id = batch.source->id,
                                               .timed = batch.source->timed};
        rc = ct_event_writer_add_timed(writer, &origin, batch.events, batch.count);
        if (rc)
            return rc;
    }
    const int flushed = ct_event_writer_flush(writer);
    return rc ? rc : flushed;
}

/* Decodes all sources in one order. */
struct merging {
    const struct cli_args *args;
    struct cli_capture capture;
    struct cli_filter filter;
    struct ct_filter settled;
    struct ct_ran ran;
    struct printing printing;
    struct ct_merge *merge;
};

static bool open_merge(struct merging *m)
{
    struct cli_capture *capture = &m->capture;
    const struct ct_chain_options chain = cli_capture_chain_options(capture, CT_LEVEL_FLOW);
    const struct ct_merge_options how = {.size = sizeof how,
                                         .ids = {chain.ids[0], chain.ids[1]},
                                         .user = &capture->progress,
                                         .progress = on_progress,
                                         .from = (uint8_t)m->args->values[ALONG].number,
                                         .threads = cli_threads(m->args),
                                         .filter = &m->settled,
                                         .maps = capture->capture->maps};
    if (ct_filter_settle(m->args->ctx, &m->filter.filter, capture->capture, capture->buffers, capture->count,
                         &m->settled) == CT_OK &&
        ct_merge_new(m->args->ctx, capture->buffers, capture->count, &how, &m->merge) == CT_OK)
        return true;
    cli_library_error(m->args->ctx);
    return false;
}

static int merge_capture(struct merging *m)
{
    if (!has_code(m->args, &m->capture) || !open_programs(&m->printing, m->args, &m->capture) ||
        !open_merge(m) || !open_writer(&m->printing, m->args, &m->capture))
        return CLI_FAILED;
    tell_sources(m->merge);
    const int rc = print_merged(m->merge, m->printing.writer);
    if (!cli_filter_count_merge(&m->filter, &m->capture, m->merge, &m->ran, m->printing.programs))
        return CLI_FAILED;
    /* A write error is reported at the end of the command. */
    return rc && !(rc == CT_ERR_IO && ferror(stdout)) ? cli_library_error(m->args->ctx) : CLI_CLEAN;
}

static int run_merge(const struct cli_args *args)
{
    struct merging m = {.args = args};
    int code = CLI_FAILED;
    if (args->values[INDEX].given)
        cli_usage_error(args->command, "--index cannot be used with --merge, because --merge reads all "
                                       "timestamps from the beginning; leave one of them out");
    else if (cli_filter_read(&m.filter, args, false) && cli_capture_open(&m.capture, args)) {
        if (cli_capture_spool_always(&m.capture))
            code = cli_capture_code(&m.capture, merge_capture(&m));
        if (code != CLI_FAILED && cli_filter_kept_nothing(&m.filter, args, &m.ran))
            code = CLI_DAMAGED;
        ct_merge_free(m.merge);
        close_printing(&m.printing);
        cli_capture_close(&m.capture);
    }
    cli_filter_free(&m.filter);
    return code;
}

/* Refuses options that exclude each other. Returns false after a message. */
static bool check(const struct cli_args *args)
{
    const struct cli_value *v = args->values;
    const bool code = v[SYMBOLS].given || v[DISASM].given;
    const char *why =
        v[MERGE].given && v[BYTEWISE].given ? "--bytewise cannot be used with --merge, because it decodes "
                                              "one source after the other; leave one of them out"
        : v[TABLE1].given && (v[MERGE].given || v[FORMAT].given)
            ? "--table1 has fixed columns without times; leave out --merge and --format"
        : v[TABLE1].given && code   ? "--table1 has fixed columns; leave out --symbols and --disasm"
        : v[NO_NAMES].given && code ? "--no-names does not read the programs, which --symbols and --disasm "
                                      "need; leave out --no-names, or leave out --symbols and --disasm"
                                    : NULL;
    if (why)
        cli_usage_error(args->command, "%s", why);
    return !why;
}

static int run(const struct cli_args *args)
{
    if (!check(args))
        return CLI_FAILED;
    return args->values[MERGE].given ? run_merge(args) : run_streams(args);
}

const struct cli_command cli_command_decode = {
    .name = "decode",
    .summary = "print the trace as events with a running cycle count",
    .operand = "CAPTURE",
    .about =
        "Prints one line for each event of the trace: its type, the cycles counted so far, a value and, "
        "where needed, a note. Each address is followed by its name: function+0x10, or module+0x1234 where "
        "no function is known.\nBr: a taken branch and its target. Go: the address where execution is when "
        "tracing starts, and after exceptions. Evt: hardware event bits. Exc: exception number. Ret: return "
        "from an exception. Ctx: context. Ts: timestamp. On: tracing was switched on. Gap: bytes that could "
        "not be used. NoMem: an address that is in no memory image. Q: execution continued by a path that "
        "was not traced. Tx: memory transaction. Mark: timestamp marker. Sw: software instrumentation, or a "
        "write to a stimulus port (ITM) or channel (STM). Dwt: hardware trace of the DWT. Txt: a line of "
        "text (--text-ports, or named). Val, Begin, Finish: a named value, and the beginning and end of a "
        "named span; the names come from programs that use coretap/itm.h. End: end of the trace.\nThe cycle "
        "count of an event includes the count that the trace unit gave for it. An event without a count of "
        "its own repeats the count of the event before it.",
    .whole = "the events of 'decode' do not record their function or module; use 'coretap watch', which can "
             "select places",
    .examples = "coretap decode capture | head\n"
                "coretap decode --format jsonl -o events.jsonl capture\n"
                "coretap decode --config trace.ini - < trace.bin\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .uses = CLI_USES_ALL | CLI_USES_SYMBOL_MAPS,
    .run = run,
};
