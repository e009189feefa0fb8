/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/info.h"
#include "cli/output.h"
#include "coretap/format.h"

#define SUBJECT_WIDTH 26

static void print_process(const struct ct_process *process)
{
    for (size_t i = 0; i < process->generation_count; i++) {
        const struct ct_generation *g = &process->generations[i];
        printf("process %" PRIu32, process->pid);
        if (*g->name)
            printf(" %s", g->name);
        if (g->from)
            printf(" from %" PRIu64 ".%09" PRIu64 " s on", g->from / 1000000000, g->from % 1000000000);
        printf(": %zu image%s\n", g->image_count, g->image_count == 1 ? "" : "s");
    }
}

/* Prints the number of states of memory, for code that changed while it ran. */
static void print_states(const struct ct_capture *capture)
{
    size_t pieces = 0;
    for (size_t i = 0; i < capture->buffer_count; i++)
        pieces += capture->buffers[i].piece_count;
    printf("memory changes: %zu states in %zu pieces of trace\n",
           capture->maps->processes[0].generation_count, pieces);
}

void cli_info_text_capture(const struct ct_capture *capture)
{
    cli_put_printable(stdout, capture->path);
    printf(": %s, %zu trace buffer%s\n", capture->kind, capture->buffer_count,
           capture->buffer_count == 1 ? "" : "s");
    for (size_t i = 0; i < capture->damage_count; i++)
        printf("damaged: %s\n", capture->damage[i]);
    for (size_t i = 0; i < capture->missing_count; i++)
        printf("missing: %s\n", capture->missing[i]);
    if (capture->maps && capture->maps->by_piece)
        print_states(capture);
    else
        for (size_t i = 0; capture->maps && i < capture->maps->process_count; i++)
            print_process(&capture->maps->processes[i]);
}

static void print_if(const char *what, uint64_t count)
{
    if (count)
        printf("  %-*s %" PRIu64 "\n", SUBJECT_WIDTH, what, count);
}

static void print_frames(const struct ct_frame_stats *f)
{
    print_if("frames", f->frames);
    print_if("synchronisation words", f->fsyncs);
    print_if("half synchronisations", f->hsyncs);
    print_if("resets", f->resets);
    print_if("footer bytes", f->footer_bytes);
    print_if("padding bytes", f->null_bytes);
    print_if("trigger bytes", f->trigger_bytes);
    print_if("bytes of reserved IDs", f->reserved_bytes);
    print_if("bytes before the first ID", f->no_id_bytes);
    print_if("bytes lost between frames", f->lost_bytes);
}

static void print_fact(void *user, const char *subject, const char *text)
{
    (void)user;
    printf("    %-*s %s\n", SUBJECT_WIDTH - 2, subject, text);
}

static void print_losses(const struct ct_losses *losses)
{
    char text[CT_LOSSES_WORDS];
    print_fact(NULL, "losses", ct_losses_words(text, losses));
}

static int by_count(const void *a, const void *b)
{
    const uint64_t x = **(const uint64_t *const *)a;
    const uint64_t y = **(const uint64_t *const *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Prints the packet types that occur, the most frequent first. */
static void print_histogram(const struct ct_stream *stream)
{
    const struct ct_stream_stats *s = &stream->stats;
    const uint64_t *order[CT_PACKET_TYPES];
    for (size_t i = 0; i < CT_PACKET_TYPES; i++)
        order[i] = &s->packet_types[i];
    qsort(order, CT_PACKET_TYPES, sizeof order[0], by_count);
    for (size_t i = 0; i < CT_PACKET_TYPES && *order[i]; i++) {
        unsigned type = (unsigned)(order[i] - s->packet_types);
        printf("      %-*s %10" PRIu64 "  %5.1f %%\n", SUBJECT_WIDTH - 4,
               ct_packet_type_name((enum ct_protocol)stream->source->protocol, type), *order[i],
               100.0 * (double)*order[i] / (double)s->packets);
    }
}

static void print_instructions(const struct ct_stream_stats *s)
{
    char text[192];
    snprintf(text, sizeof text, "%" PRIu64 ", %" PRIu64 " of them branches that were taken", s->instructions,
             s->branches);
    print_fact(NULL, "instructions", text);
    if (s->instructions) {
        snprintf(text, sizeof text, "%.3f bytes, %.2f bits", (double)s->bytes / (double)s->instructions,
                 8 * (double)s->bytes / (double)s->instructions);
        print_fact(NULL, "trace per instruction", text);
    }
}

static void print_stream(const struct ct_stream *stream)
{
    const struct ct_stream_stats *s = &stream->stats;
    const bool software = ct_protocol_is_software(stream->source->protocol);
    char text[192];
    snprintf(text, sizeof text, "%" PRIu64 " packets, %" PRIu64 " elements", s->packets, s->elements);
    if (!software)
        snprintf(text + strlen(text), sizeof text - strlen(text), ", %" PRIu64 " atoms", s->atoms);
    print_fact(NULL, "decoded", text);
    if (!software)
        print_instructions(s);
    print_losses(&s->losses);
    if (s->packets) {
        puts("    packets");
        print_histogram(stream);
    }
}

static void print_source(const struct cli_info_buffer *info, const struct ct_source *source)
{
    char version[32];
    ct_source_version(source, version, sizeof version);
    /* without frames the trace has no IDs; listings print 00 */
    if (info->framing == CT_FRAMING_NONE)
        printf("\n  ID 00 (its register says %02x)", source->trace_id);
    else
        printf("\n  ID %02x", source->trace_id);
    printf(": %s, %s (%s)", source->name, version, ct_protocol_name((enum ct_protocol)source->protocol));
    if (source->core && !info->buffer->pieces)
        printf(", traces %s (%s)", source->core, source->model ? source->model : "unknown model");
    fputc('\n', stdout);
    ct_source_describe(source, print_fact, NULL);
    char text[64];
    snprintf(text, sizeof text, "%" PRIu64 " bytes", cli_info_source_bytes(info, source));
    print_fact(NULL, "trace", text);
    const struct ct_stream *stream = cli_info_stream(info, source);
    if (stream)
        print_stream(stream);
}

/* Prints a trace ID without a source, whose trace cannot be decoded. */
static void print_unknown_id(const struct ct_buffer *buffer, unsigned id, uint64_t bytes)
{
    const struct ct_source *tracing = NULL;
    for (size_t i = 0; i < buffer->source_count; i++) {
        if (buffer->sources[i].trace_id == id)
            return;
        if (ct_source_data_id(&buffer->sources[i]) == id)
            tracing = &buffer->sources[i];
    }
    if (tracing)
        printf("\n  ID %02x: data trace of %s, which is not decoded; %" PRIu64 " bytes of trace\n", id,
               tracing->name, bytes);
    else
        printf("\n  ID %02x: no source is described; %" PRIu64 " bytes of trace\n", id, bytes);
}

static void print_unknown_ids(const struct cli_info_buffer *info)
{
    if (!info->frames || info->framing == CT_FRAMING_NONE)
        return;
    for (unsigned id = 1; id < 0x70; id++)
        if (info->frames->id_bytes[id])
            print_unknown_id(info->buffer, id, info->frames->id_bytes[id]);
}

static void print_image(const struct ct_image *image)
{
    fputs("    ", stdout);
    cli_put_printable(stdout, image->path);
    printf(" at 0x%" PRIx64, image->addr);
    if (image->is_elf)
        fputs(image->is_elf == CT_IMAGE_OF_NAMES ? ", ELF, names only" : ", ELF", stdout);
    else
        printf(", %" PRIu64 " bytes", image->size);
    if (image->space != CT_SPACE_ANY)
        printf(", spaces 0x%02x", image->space);
    fputc('\n', stdout);
}

void cli_info_text_buffer(const struct cli_info_buffer *info)
{
    const struct ct_buffer *b = info->buffer;
    printf("\nbuffer %s: ", b->name);
    cli_put_printable(stdout, b->path);
    printf(", %" PRIu64 " bytes, framing %s\n", info->frames ? info->frames->input_bytes : 0,
           ct_framing_name(info->framing));
    if (info->frames)
        print_frames(info->frames);
    size_t silent = 0;
    for (size_t i = 0; i < b->source_count; i++) {
        /* A recording of Linux describes all CPUs in each buffer. */
        if (b->pieces && !cli_info_source_bytes(info, &b->sources[i]))
            silent++;
        else
            print_source(info, &b->sources[i]);
    }
    if (silent)
        printf("\n  trace units without trace here: %zu\n", silent);
    print_unknown_ids(info);
    if (b->image_count)
        puts("\n  images");
    for (size_t i = 0; i < b->image_count; i++)
        print_image(&b->images[i]);
}

void cli_info_text_end(const struct ct_losses *losses)
{
    char text[CT_LOSSES_WORDS];
    printf("\nlosses: %s\n", ct_losses_words(text, losses));
}
