/* SPDX-License-Identifier: Apache-2.0 */
/* coretap list: packets or elements, one line each. */
#include <pthread.h>
#include <stdlib.h>

#include "chain/protocol.h"
#include "cli/commands.h"
#include "cli/passes.h"
#include "format/listing.h"

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

struct part;

/* Lines of a stream, or of a part of it that a thread makes. */
struct lines {
    struct ct_text *text;
    struct ct_element_lister lister;
    struct cli_passes *passes; /* NULL in a part: it has no heading */
    pthread_mutex_t lock;      /* of the parts that nobody uses */
    struct part *spare;
};

struct listing {
    struct cli_passes passes;
    struct lines lines;
};

static int on_packets(void *user, const struct ct_stream *stream, const struct ct_packet_batch *batch)
{
    struct lines *l = user;
    if (l->passes)
        cli_passes_heading(l->passes);
    ct_protocol_ops((enum ct_protocol)batch->protocol)->list(l->text, stream, batch);
    return l->text->failed ? CT_ERR_IO : 0;
}

static int on_flow(void *user, const struct ct_stream *stream, const struct ct_flow_batch *batch)
{
    struct lines *l = user;
    if (l->passes)
        cli_passes_heading(l->passes);
    l->lister.id = stream->id;
    for (size_t i = 0; i < batch->count; i++)
        ct_list_flow(&l->lister, &batch->records[i]);
    return l->text->failed ? CT_ERR_IO : 0;
}

static int on_bytes(void *user, uint64_t bytes)
{
    const struct lines *l = user;
    return cli_passes_bytes(l->passes, bytes);
}

/* A part is text in memory, which the next one uses again. */
struct part {
    struct lines lines;
    struct part *next;
    struct ct_text text;
};

static void *part_new(void *user, const struct ct_stream *stream)
{
    (void)stream;
    struct lines *whole = user;
    pthread_mutex_lock(&whole->lock);
    struct part *part = whole->spare;
    if (part)
        whole->spare = part->next;
    pthread_mutex_unlock(&whole->lock);
    if (!part) {
        part = malloc(sizeof *part);
        if (!part)
            return NULL;
        ct_text_init(&part->text, NULL);
    }
    part->text.kept_size = 0;
    /* The last line before the part is not ended: more of it may come here. */
    part->lines = (struct lines){.text = &part->text, .lister = {.text = &part->text, .open = true}};
    return part;
}

static void put_part(struct lines *whole, const struct part *part)
{
    const struct ct_text *text = &part->text;
    /* Before the first line of all there is none to be ended. */
    const size_t skip = !whole->lister.open && text->kept[0] == '\n';
    cli_passes_heading(whole->passes);
    ct_text_flush(whole->text);
    fwrite(text->kept + skip, 1, text->kept_size - skip, whole->text->out);
    whole->text->failed |= ferror(whole->text->out) != 0;
    whole->lister.open = part->lines.lister.open;
    whole->lister.last_fields = part->lines.lister.last_fields;
}

static int part_end(void *user, const struct ct_stream *stream, void *part_user, int keep)
{
    (void)stream;
    struct lines *whole = user;
    struct part *part = part_user;
    whole->text->failed |= !ct_text_flush(&part->text);
    if (keep && part->text.kept_size)
        put_part(whole, part);
    pthread_mutex_lock(&whole->lock);
    part->next = whole->spare;
    whole->spare = part;
    pthread_mutex_unlock(&whole->lock);
    return whole->text->failed ? CT_ERR_IO : 0;
}

static void free_parts(struct lines *whole)
{
    while (whole->spare) {
        struct part *next = whole->spare->next;
        free(whole->spare->text.kept);
        free(whole->spare);
        whole->spare = next;
    }
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
    struct listing *l = passes->user;
    /* With packets, no line is open. */
    l->lines.lister.open &= !passes->capture.args->values[PACKETS].given;
    ct_list_flow_end(&l->lines.lister);
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
    l.lines = (struct lines){.text = &l.passes.text, .lister = {.text = &l.passes.text}, .passes = &l.passes};
    pthread_mutex_init(&l.lines.lock, NULL);
    const int code = cli_passes_run(&l.passes, args);
    free_parts(&l.lines);
    pthread_mutex_destroy(&l.lines.lock);
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
