/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes a capture through one of two libraries and prints all of its output.
 *
 * usage: play LIBRARY CAPTURE [NAME=NUMBER]...     names are those of struct player */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "coretap/program.h"
#include "opencsd/player.h"

static uint32_t read_image(const struct player *player, uint64_t addr, uint32_t space, uint32_t size,
                           uint8_t *bytes)
{
    size_t there;
    const uint8_t *at = ct_memory_at(player->memory, addr, space == OCSD_MEM_SPACE_ANY ? 0 : space, &there);
    if (there > size)
        there = size;
    if (at)
        memcpy(bytes, at, there);
    return at ? (uint32_t)there : 0;
}

static int set_option(struct player *player, const char *text)
{
    static const struct {
        const char *name;
        size_t offset;
    } options[] = {
        {"chunk", offsetof(struct player, chunk)},
        {"wait", offsetof(struct player, wait)},
        {"create_flags", offsetof(struct player, create_flags)},
        {"tree_flags", offsetof(struct player, tree_flags)},
        {"show_memory", offsetof(struct player, show_memory)},
        {"show_raw", offsetof(struct player, show_raw)},
        {"as_packets", offsetof(struct player, as_packets)},
        {"frames", offsetof(struct player, frames)},
        {"reset", offsetof(struct player, reset)},
        {"flush", offsetof(struct player, flush)},
        {"no_end", offsetof(struct player, no_end)},
        {"severity", offsetof(struct player, severity)},
    };
    const size_t name = strcspn(text, "=");
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (strlen(options[i].name) != name || strncmp(text, options[i].name, name) != 0 || !text[name])
            continue;
        const uint32_t value = (uint32_t)strtoul(text + name + 1, NULL, 0);
        memcpy((char *)player + options[i].offset, &value, sizeof value);
        return 0;
    }
    fprintf(stderr, "play: there is no option %s\n", text);
    return -1;
}

static uint8_t *read_trace(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    if (file && !fseek(file, 0, SEEK_END)) {
        *size = (size_t)ftell(file);
        bytes = malloc(*size + 1);
        rewind(file);
        if (bytes && fread(bytes, 1, *size, file) != *size)
            *size = 0;
    }
    if (file)
        fclose(file);
    return bytes;
}

static int play_buffer(struct player *player, const struct ct_buffer *buffer)
{
    struct ct_memory *memory;
    size_t size = 0;
    uint8_t *trace = read_trace(buffer->path, &size);
    if (!trace || ct_memory_new(NULL, &memory)) {
        free(trace);
        return 1;
    }
    for (size_t i = 0; i < buffer->image_count; i++)
        ct_memory_add_image(memory, &buffer->images[i]);
    player->buffer = buffer;
    player->single = buffer->framing == CT_FRAMING_NONE;
    player->memory = memory;
    player->read = read_image;
    player_play(player, trace, size);
    ct_memory_free(memory);
    free(trace);
    return 0;
}

int main(int argc, char **argv)
{
    struct library library;
    struct player player = {.library = &library,
                            .out = stdout,
                            .chunk = 1u << 20,
                            .severity = 1,
                            .tree_flags = OCSD_DFRMTR_FRAME_MEM_ALIGN | OCSD_DFRMTR_RESET_ON_4X_FSYNC};
    struct ct_capture *capture;
    if (argc < 3 || library_load(argv[1], &library))
        return 2;
    for (int i = 3; i < argc; i++)
        if (set_option(&player, argv[i]))
            return 2;
    struct ct_ctx *ctx = ct_ctx_new();
    if (!ctx || ct_capture_open(ctx, argv[2], &capture)) {
        fprintf(stderr, "play: %s\n", ctx ? ct_ctx_error(ctx) : "no memory");
        return 2;
    }
    int failed = 0;
    for (size_t i = 0; i < capture->buffer_count; i++)
        failed |= play_buffer(&player, &capture->buffers[i]);
    ct_capture_free(capture);
    ct_ctx_free(ctx);
    return failed;
}
