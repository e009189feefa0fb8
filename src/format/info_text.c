/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "coretap/format.h"
#include "format/info.h"

#define SUBJECT_WIDTH 26

static void print_process(FILE *out, const struct ct_process *process)
{
    for (size_t i = 0; i < process->generation_count; i++) {
        const struct ct_generation *g = &process->generations[i];
        fprintf(out, "process %" PRIu32, process->pid);
        if (*g->name)
            fprintf(out, " %s", g->name);
        if (g->from)
            fprintf(out, " from %" PRIu64 ".%09" PRIu64 " s on", g->from / 1000000000, g->from % 1000000000);
        fprintf(out, ": %zu image%s\n", g->image_count, g->image_count == 1 ? "" : "s");
    }
}

/* Prints the number of states of memory, for code that changed while it ran. */
static void print_states(FILE *out, const struct ct_capture *capture)
{
    size_t pieces = 0;
    for (size_t i = 0; i < capture->buffer_count; i++)
        pieces += capture->buffers[i].piece_count;
    fprintf(out, "memory changes: %zu states in %zu pieces of trace\n",
            capture->maps->processes[0].generation_count, pieces);
}

/* Writes a path. A capture or buffer that a program filled in itself may have none. */
static void put_path(FILE *out, const char *path)
{
    ct_put_printable(out, path ? path : "-");
}

void ct_info_text_capture(FILE *out, const struct ct_capture *capture)
{
    put_path(out, capture->path);
    fprintf(out, ": %s, %zu trace buffer%s\n", capture->kind ? capture->kind : "trace", capture->buffer_count,
            capture->buffer_count == 1 ? "" : "s");
    for (size_t i = 0; i < capture->damage_count; i++)
        fprintf(out, "damaged: %s\n", capture->damage[i]);
    for (size_t i = 0; i < capture->missing_count; i++)
        fprintf(out, "missing: %s\n", capture->missing[i]);
    if (capture->maps && capture->maps->by_piece)
        print_states(out, capture);
    else
        for (size_t i = 0; capture->maps && i < capture->maps->process_count; i++)
            print_process(out, &capture->maps->processes[i]);
}

static void print_if(FILE *out, const char *what, uint64_t count)
{
    if (count)
        fprintf(out, "  %-*s %" PRIu64 "\n", SUBJECT_WIDTH, what, count);
}

static void print_frames(FILE *out, const struct ct_frame_stats *f)
{
    print_if(out, "frames", f->frames);
    print_if(out, "synchronisation words", f->fsyncs);
    print_if(out, "half synchronisations", f->hsyncs);
    print_if(out, "resets", f->resets);
    print_if(out, "footer bytes", f->footer_bytes);
    print_if(out, "padding bytes", f->null_bytes);
    print_if(out, "trigger bytes", f->trigger_bytes);
    print_if(out, "bytes of reserved IDs", f->reserved_bytes);
    print_if(out, "bytes before the first ID", f->no_id_bytes);
    print_if(out, "bytes lost between frames", f->lost_bytes);
}

static void print_fact(void *user, const char *subject, const char *text)
{
    fprintf(user, "    %-*s %s\n", SUBJECT_WIDTH - 2, subject, text);
}

static void print_losses(FILE *out, const struct ct_losses *losses)
{
    char text[CT_LOSSES_WORDS];
    print_fact(out, "losses", ct_losses_words(text, losses));
}

static int by_count(const void *a, const void *b)
{
    const uint64_t x = **(const uint64_t *const *)a;
    const uint64_t y = **(const uint64_t *const *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Prints the packet types that occur, the most frequent first. */
static void print_histogram(FILE *out, const struct ct_stream *stream)
{
    const struct ct_stream_stats *s = &stream->stats;
    const uint64_t *order[CT_PACKET_TYPES];
    for (size_t i = 0; i < CT_PACKET_TYPES; i++)
        order[i] = &s->packet_types[i];
    qsort(order, CT_PACKET_TYPES, sizeof order[0], by_count);
    for (size_t i = 0; i < CT_PACKET_TYPES && *order[i]; i++) {
        unsigned type = (unsigned)(order[i] - s->packet_types);
        fprintf(out, "      %-*s %10" PRIu64 "  %5.1f %%\n", SUBJECT_WIDTH - 4,
                ct_packet_type_name((enum ct_protocol)stream->source->protocol, type), *order[i],
                100.0 * (double)*order[i] / (double)s->packets);
    }
}

static void print_instructions(FILE *out, const struct ct_stream_stats *s)
{
    char text[192];
    snprintf(text, sizeof text, "%" PRIu64 ", %" PRIu64 " of them branches that were taken", s->instructions,
             s->branches);
    print_fact(out, "instructions", text);
    if (s->instructions) {
        snprintf(text, sizeof text, "%.3f bytes, %.2f bits", (double)s->bytes / (double)s->instructions,
                 8 * (double)s->bytes / (double)s->instructions);
        print_fact(out, "trace per instruction", text);
    }
}

static void print_stream(FILE *out, const struct ct_stream *stream)
{
    const struct ct_stream_stats *s = &stream->stats;
    const bool software = ct_protocol_is_software(stream->source->protocol);
    char text[192];
    snprintf(text, sizeof text, "%" PRIu64 " packets, %" PRIu64 " elements", s->packets, s->elements);
    if (!software)
        snprintf(text + strlen(text), sizeof text - strlen(text), ", %" PRIu64 " atoms", s->atoms);
    print_fact(out, "decoded", text);
    if (!software)
        print_instructions(out, s);
    print_losses(out, &s->losses);
    if (s->packets) {
        fputs("    packets\n", out);
        print_histogram(out, stream);
    }
}

static void print_source(FILE *out, const struct ct_info_buffer *info, const struct ct_source *source)
{
    char version[32];
    ct_source_version(source, version, sizeof version);
    /* without frames the trace has no IDs; listings print 00 */
    if (info->framing == CT_FRAMING_NONE)
        fprintf(out, "\n  ID 00 (its register says %02x)", source->trace_id);
    else
        fprintf(out, "\n  ID %02x", source->trace_id);
    fprintf(out, ": %s, %s (%s)", source->name, version,
            ct_protocol_name((enum ct_protocol)source->protocol));
    /* perf.data has pieces, names each source after its core, and knows no model */
    if (source->core && (!info->buffer->pieces || source->model || strcmp(source->core, source->name) != 0))
        fprintf(out, ", traces %s (%s)", source->core, source->model ? source->model : "unknown model");
    fputc('\n', out);
    ct_source_describe(source, print_fact, out);
    char text[64];
    snprintf(text, sizeof text, "%" PRIu64 " bytes", ct_info_source_bytes(info, source));
    print_fact(out, "trace", text);
    const struct ct_stream *stream = ct_info_stream(info, source);
    if (stream)
        print_stream(out, stream);
}

/* Prints a trace ID without a source, whose trace cannot be decoded. */
static void print_unknown_id(FILE *out, const struct ct_buffer *buffer, unsigned id, uint64_t bytes)
{
    const struct ct_source *tracing = NULL;
    for (size_t i = 0; i < buffer->source_count; i++) {
        if (buffer->sources[i].trace_id == id)
            return;
        if (ct_source_data_id(&buffer->sources[i]) == id)
            tracing = &buffer->sources[i];
    }
    if (tracing)
        fprintf(out, "\n  ID %02x: data trace of %s, which is not decoded; %" PRIu64 " bytes of trace\n", id,
                tracing->name, bytes);
    else
        fprintf(out, "\n  ID %02x: no source is described; %" PRIu64 " bytes of trace\n", id, bytes);
}

static void print_unknown_ids(FILE *out, const struct ct_info_buffer *info)
{
    if (!info->frames || info->framing == CT_FRAMING_NONE)
        return;
    for (unsigned id = 1; id < 0x70; id++)
        if (info->frames->id_bytes[id])
            print_unknown_id(out, info->buffer, id, info->frames->id_bytes[id]);
}

static void print_image(FILE *out, const struct ct_image *image)
{
    fputs("    ", out);
    put_path(out, image->path);
    fprintf(out, " at 0x%" PRIx64, image->addr);
    if (image->is_elf)
        fputs(image->is_elf == CT_IMAGE_OF_NAMES ? ", ELF, names only" : ", ELF", out);
    else
        fprintf(out, ", %" PRIu64 " bytes", image->size);
    if (image->space != CT_SPACE_ANY)
        fprintf(out, ", spaces 0x%02x", image->space);
    fputc('\n', out);
}

void ct_info_text_buffer(FILE *out, const struct ct_info_buffer *info)
{
    const struct ct_buffer *b = info->buffer;
    fprintf(out, "\nbuffer %s: ", b->name ? b->name : "-");
    put_path(out, b->path);
    fprintf(out, ", %" PRIu64 " bytes, framing %s\n", info->frames ? info->frames->input_bytes : 0,
            ct_framing_name(info->framing));
    if (info->frames)
        print_frames(out, info->frames);
    size_t silent = 0;
    for (size_t i = 0; i < b->source_count; i++) {
        /* A recording of Linux describes all CPUs in each buffer. */
        if (b->pieces && !ct_info_source_bytes(info, &b->sources[i]))
            silent++;
        else
            print_source(out, info, &b->sources[i]);
    }
    if (silent)
        fprintf(out, "\n  trace units without trace here: %zu\n", silent);
    print_unknown_ids(out, info);
    if (info->alike)
        fprintf(out, "\n  images: those of buffer %s\n", info->alike->name ? info->alike->name : "-");
    else if (b->image_count)
        fputs("\n  images\n", out);
    for (size_t i = 0; i < b->image_count && !info->alike; i++)
        print_image(out, &b->images[i]);
}

void ct_info_text_end(FILE *out, const struct ct_losses *losses)
{
    char text[CT_LOSSES_WORDS];
    fprintf(out, "\nlosses: %s\n", ct_losses_words(text, losses));
}
