/* SPDX-License-Identifier: Apache-2.0 */
#include "coretap/format.h"
#include "format/info.h"

static void add_image(struct ct_json *json, const struct ct_image *image)
{
    ct_json_object(json, NULL);
    ct_json_text(json, "path", image->path);
    ct_json_number(json, "address", image->addr);
    ct_json_number(json, "offset", image->offset);
    ct_json_number(json, "size", image->size);
    ct_json_number(json, "space", image->space);
    ct_json_bool(json, "elf", image->is_elf);
    ct_json_object_end(json);
}

static void add_images(struct ct_json *json, const struct ct_image *images, size_t count)
{
    ct_json_array(json, "images");
    for (size_t i = 0; i < count; i++)
        add_image(json, &images[i]);
    ct_json_array_end(json);
}

static void add_process(struct ct_json *json, const struct ct_process *process)
{
    ct_json_object(json, NULL);
    ct_json_number(json, "pid", process->pid);
    ct_json_array(json, "generations");
    for (size_t i = 0; i < process->generation_count; i++) {
        ct_json_object(json, NULL);
        ct_json_number(json, "from", process->generations[i].from);
        ct_json_text(json, "name", process->generations[i].name);
        add_images(json, process->generations[i].images, process->generations[i].image_count);
        ct_json_object_end(json);
    }
    ct_json_array_end(json);
    ct_json_object_end(json);
}

/* Writes the states of memory, for code that changed while it ran. */
static void add_states(struct ct_json *json, const struct ct_process *process)
{
    ct_json_array(json, "memory_states");
    for (size_t i = 0; i < process->generation_count; i++) {
        ct_json_object(json, NULL);
        add_images(json, process->generations[i].images, process->generations[i].image_count);
        ct_json_object_end(json);
    }
    ct_json_array_end(json);
}

/* Writes processes and threads, for captures that have them. */
static void add_maps(struct ct_json *json, const struct ct_maps *maps)
{
    ct_json_array(json, "processes");
    for (size_t i = 0; i < maps->process_count; i++)
        add_process(json, &maps->processes[i]);
    ct_json_array_end(json);
    ct_json_array(json, "threads");
    for (size_t i = 0; i < maps->thread_count; i++) {
        ct_json_object(json, NULL);
        ct_json_number(json, "tid", maps->threads[i].tid);
        ct_json_number(json, "pid", maps->threads[i].pid);
        ct_json_number(json, "from", maps->threads[i].from);
        ct_json_object_end(json);
    }
    ct_json_array_end(json);
}

static void add_texts(struct ct_json *json, const char *key, const char *const *texts, size_t count)
{
    ct_json_array(json, key);
    for (size_t i = 0; i < count; i++)
        ct_json_text(json, NULL, texts[i]);
    ct_json_array_end(json);
}

void ct_info_json_capture(struct ct_json *json, const struct ct_capture *capture)
{
    ct_json_object(json, NULL);
    ct_json_text(json, "capture", capture->path);
    ct_json_text(json, "kind", capture->kind);
    add_texts(json, "missing", capture->missing, capture->missing_count);
    if (capture->damage_count)
        add_texts(json, "damage", capture->damage, capture->damage_count);
    if (capture->maps && capture->maps->by_piece)
        add_states(json, capture->maps->processes);
    else if (capture->maps)
        add_maps(json, capture->maps);
    ct_json_array(json, "buffers");
}

void ct_info_json_end(struct ct_json *json, const struct ct_losses *losses)
{
    ct_json_array_end(json);
    ct_losses_json(json, losses, CT_LOSSES_PROGRAM);
    ct_json_object_end(json);
}

static void add_frames(struct ct_json *json, const struct ct_frame_stats *f)
{
    ct_json_object(json, "frames");
    ct_json_number(json, "frames", f->frames);
    ct_json_number(json, "fsyncs", f->fsyncs);
    ct_json_number(json, "hsyncs", f->hsyncs);
    ct_json_number(json, "resets", f->resets);
    ct_json_number(json, "footer_bytes", f->footer_bytes);
    ct_json_number(json, "null_bytes", f->null_bytes);
    ct_json_number(json, "trigger_bytes", f->trigger_bytes);
    ct_json_number(json, "reserved_bytes", f->reserved_bytes);
    ct_json_number(json, "no_id_bytes", f->no_id_bytes);
    ct_json_number(json, "lost_bytes", f->lost_bytes);
    ct_json_object(json, "id_bytes");
    for (unsigned id = 0; id < 128; id++) {
        char key[4];
        snprintf(key, sizeof key, "%02x", id);
        if (f->id_bytes[id])
            ct_json_number(json, key, f->id_bytes[id]);
    }
    ct_json_object_end(json);
    ct_json_object_end(json);
}

static void add_fact(void *user, const char *subject, const char *text)
{
    ct_json_text(user, subject, text);
}

static void add_stats(struct ct_json *json, const struct ct_stream *stream)
{
    const struct ct_stream_stats *s = &stream->stats;
    ct_json_number(json, "packets", s->packets);
    ct_json_number(json, "elements", s->elements);
    ct_json_number(json, "atoms", s->atoms);
    ct_json_number(json, "instructions", s->instructions);
    ct_json_number(json, "branches", s->branches);
    if (s->instructions)
        ct_json_real(json, "bytes_per_instruction", (double)s->bytes / (double)s->instructions);
    ct_losses_members(json, &s->losses, CT_LOSSES_PROGRAM);
    ct_json_object(json, "packet_types");
    for (unsigned i = 0; i < CT_PACKET_TYPES; i++) {
        if (s->packet_types[i])
            ct_json_number(json, ct_packet_type_name((enum ct_protocol)stream->source->protocol, i),
                           s->packet_types[i]);
    }
    ct_json_object_end(json);
}

static void add_source(struct ct_json *json, const struct ct_info_buffer *info,
                       const struct ct_source *source)
{
    char text[32];
    ct_json_object(json, NULL);
    ct_json_text(json, "name", source->name);
    snprintf(text, sizeof text, "%02x", source->trace_id);
    ct_json_text(json, "id", text);
    ct_json_text(json, "protocol", ct_protocol_name((enum ct_protocol)source->protocol));
    ct_source_version(source, text, sizeof text);
    ct_json_text(json, "version", text);
    ct_json_text(json, "core", source->core);
    ct_json_text(json, "model", source->model);
    ct_json_object(json, "configuration");
    ct_source_describe(source, add_fact, json);
    ct_json_object_end(json);
    ct_json_number(json, "bytes", ct_info_source_bytes(info, source));
    const struct ct_stream *stream = ct_info_stream(info, source);
    ct_json_bool(json, "decoded", stream != NULL);
    if (stream)
        add_stats(json, stream);
    ct_json_object_end(json);
}

void ct_info_json_buffer(struct ct_json *json, const struct ct_info_buffer *info)
{
    const struct ct_buffer *b = info->buffer;
    ct_json_object(json, NULL);
    ct_json_text(json, "name", b->name);
    ct_json_text(json, "path", b->path);
    ct_json_number(json, "bytes", info->frames ? info->frames->input_bytes : 0);
    ct_json_text(json, "framing", ct_framing_name(info->framing));
    if (info->frames)
        add_frames(json, info->frames);
    ct_json_array(json, "sources");
    for (size_t i = 0; i < b->source_count; i++)
        add_source(json, info, &b->sources[i]);
    ct_json_array_end(json);
    add_images(json, b->images, b->image_count);
    ct_json_object_end(json);
}
