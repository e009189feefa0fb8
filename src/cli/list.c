/* SPDX-License-Identifier: Apache-2.0 */
/* coretap list: packets or elements, one a line. */
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/results.h"
#include "coretap/format.h"

enum option {
    PACKETS = CLI_CAPTURE_OPTIONS,
    ELEMENTS,
    SPLIT,
    FORMAT,
    SYMBOLS,
    DISASM,
    ELF,
    THREADS,
    CORE,
};

static const char *const formats[] = {"text", "jsonl", NULL};

static const struct cli_option options[] = {
    CLI_CAPTURE_TABLE,
    [PACKETS] = CLI_FLAG_OPTION("packets", 'p', "List the protocol packets."),
    [ELEMENTS] = CLI_FLAG_OPTION("elements", 'e',
                                 "List the elements, that is what the packets mean along the program: "
                                 "instruction ranges, exceptions, contexts, times."),
    [SPLIT] = CLI_FLAG_OPTION(
        "split-source-ranges", 0,
        "Split a range made by a source address packet at the branches in it that were not taken."),
    [FORMAT] = CLI_CHOICE_OPTION(
        "format", 'f', formats,
        "jsonl: one object per line, with the buffer; lines of code are in its list 'code'."),
    [SYMBOLS] = CLI_FLAG_OPTION(
        "symbols", 0,
        "With --elements: below each element with a code address, and for each function and source line of a "
        "range, print a line that begins with a tab: address, FUNCTION+0x10, FILE:LINE."),
    [DISASM] = CLI_FLAG_OPTION("disasm", 0,
                               "With --elements: print such a line for each instruction of a range, followed "
                               "by its text. A build without Capstone shows opcodes."),
    [ELF] = CLI_ELF_FILES,
    [THREADS] = CLI_THREADS_OPTION,
    [CORE] = CLI_FILTER_CORE,
};

/* The receiver of batches: the whole listing, or a part of a stream that a thread makes. */
struct lines {
    struct ct_lister *lister;
    struct cli_results *read;       /* NULL in a part */
    const struct ct_buffer *buffer; /* the last buffer */
    struct ct_programs *programs;   /* those whose code is listed or that were named, or NULL */
};

/* Flushes the lines of a stream from standard input, because somebody may be watching it. */
static int on_bytes(void *user, uint64_t bytes)
{
    const struct lines *l = user;
    (void)bytes;
    return l->buffer->path[0] == '-' ? ct_lister_flush(l->lister) : CT_OK;
}

static int on_packets(void *user, const struct ct_stream *stream, const struct ct_packet_batch *batch)
{
    const struct lines *l = user;
    return ct_lister_packets(l->lister, stream, batch);
}

static int on_flow(void *user, const struct ct_stream *stream, const struct ct_flow_batch *batch)
{
    const struct lines *l = user;
    return ct_lister_flow(l->lister, stream, batch);
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
    return ct_lister_join(whole->lister, lister, keep);
}

/* Returns the given option about code, or NULL. */
static const char *code_option(const struct cli_args *args)
{
    return args->values[SYMBOLS].given ? "symbols" : args->values[DISASM].given ? "disasm" : NULL;
}

static int tell_unnamed(void *user, const struct ct_program *program)
{
    const struct lines *l = user;
    (void)program;
    cli_programs_tell_unnamed(l->read->args);
    return CT_OK;
}

/* Adds symbols or instructions to the listing. Returns false after a message. */
static bool add_code(struct lines *l)
{
    const struct cli_args *args = l->read->args;
    const struct ct_lister_code_options how = {.size = sizeof how,
                                               .programs = l->programs,
                                               .capture = l->read->capture.capture,
                                               .user = l,
                                               .unnamed = tell_unnamed,
                                               .symbols = args->values[SYMBOLS].given,
                                               .insns = args->values[DISASM].given};
    if (ct_lister_code(l->lister, &how) == CT_OK)
        return true;
    cli_library_error(args->ctx);
    return false;
}

/* Opens the programs. Named ones are added to the images of the capture, even when their code is not listed.
 * Returns false after a message. */
static bool on_opened(void *user)
{
    struct lines *l = user;
    const struct cli_args *args = l->read->args;
    const char *code = code_option(args);
    const bool wanted = code || args->values[ELF].given;
    return cli_capture_has_code(&l->read->capture, code) &&
           (!wanted || cli_programs_open(&l->programs, args, ELF, &l->read->capture)) &&
           (!code || add_code(l));
}

static int begin(void *user, struct ct_session_turn *turn)
{
    struct lines *l = user;
    const struct cli_value *values = l->read->args->values;
    const char *buffer = cli_results_buffer(l->read, turn, l->buffer);
    l->buffer = turn->buffer;
    turn->sink.bytes = on_bytes;
    /* lines of software trace depend on earlier ones, so threads cannot list parts of it */
    if (!ct_protocol_is_software(turn->source->protocol) && !code_option(l->read->args) &&
        !values[FORMAT].number) {
        turn->sink.part_new = part_new;
        turn->sink.part_end = part_end;
    }
    if (values[PACKETS].given) {
        turn->level = CT_LEVEL_PACKET;
        turn->sink.packets = on_packets;
    } else {
        turn->sink.flow = on_flow;
    }
    turn->split_source_ranges = values[SPLIT].given;
    if (values[FORMAT].number)
        buffer = turn->buffer->name;
    return ct_lister_heading(l->lister, buffer, cli_results_id(l->read, turn));
}

static int on_decoded(void *user, const struct ct_buffer *buffer, const struct ct_chain *chain)
{
    const struct lines *l = user;
    (void)buffer;
    (void)chain;
    return ct_lister_end(l->lister);
}

/* Refuses options that exclude each other. Returns false after a message. */
static bool check(const struct cli_args *args)
{
    const struct cli_value *v = args->values;
    const char *code = code_option(args);
    const bool one = v[PACKETS].given != v[ELEMENTS].given;
    if (!one)
        cli_usage_error(args->command, "--packets or --elements is needed, but not both; give one of them");
    if (!one || !v[PACKETS].given || !(code || v[ELF].given))
        return one;
    cli_usage_error(args->command,
                    "--%s works only with --elements, because packets are listed without the program; use "
                    "--elements, or leave it out",
                    code ? code : "elf");
    return false;
}

static int run(const struct cli_args *args)
{
    if (!check(args))
        return CLI_FAILED;
    struct lines lines = {0};
    struct cli_results read = {.args = args,
                               .threads = cli_threads(args),
                               .user = &lines,
                               .opened = on_opened,
                               .begin = begin,
                               .decoded = on_decoded};
    lines.read = &read;
    if (ct_lister_new(args->ctx, cli_output_write, stdout, &lines.lister) != CT_OK)
        return cli_library_error(args->ctx);
    if (args->values[FORMAT].number && ct_lister_json(lines.lister) != CT_OK) {
        ct_lister_free(lines.lister);
        return cli_library_error(args->ctx);
    }
    const int code = cli_filter_read(&read.filter, args, false) ? cli_results_read(&read) : CLI_FAILED;
    ct_lister_free(lines.lister);
    ct_programs_free(lines.programs);
    cli_results_close(&read);
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
        "'# id HH'.\n"
        "With --symbols or --disasm lines that begin with a tab stand below those of elements. Their "
        "columns, "
        "separated by tabs: the address in hexadecimal; with --symbols what it is called (function+0x10, "
        "module+0x1234 where no function is known, [unknown] in no program) and its line of the source, "
        "empty "
        "where it is not known; with --disasm the instruction. The other lines are the same as without.",
    .whole = "'list' can select only by --buffer, --core and --id; use 'coretap decode', which can print a "
             "part of what ran",
    .examples = "coretap list --packets capture\n"
                "coretap list --elements --core cpu_0 -o elements.txt capture\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .uses = CLI_USES_PROGRAMS | CLI_USES_NAMES | CLI_USES_SYMBOL_MAPS,
    .run = run,
};
