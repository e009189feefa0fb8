/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes perf.data files: the result is read as its users do, and its trace decoded to elements. Every other
 * file exists, an ELF program of 4096 bytes, unless its name contains "gone". */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "chain/memories.h"
#include "coretap/decode.h"
#include "fuzz.h"
#include "input/reader.h"

#define OTHER_SIZE 4096u

struct input {
    const uint8_t *data;
    size_t size;
};

static bool is_input(const char *path)
{
    return strcmp(path, "perf.data") == 0;
}

static enum ct_file_kind look(void *user, const char *path, uint64_t *size)
{
    const struct input *input = user;
    *size = is_input(path) ? input->size : OTHER_SIZE;
    errno = ENOENT;
    return strstr(path, "gone") ? CT_FILE_NONE : CT_FILE_REGULAR;
}

static ssize_t read_at(void *user, const char *path, uint64_t offset, char *buf, size_t cap)
{
    static const uint8_t program[OTHER_SIZE] = {[0] = 0x7f,
                                                [1] = 'E',
                                                [2] = 'L',
                                                [3] = 'F',
                                                [EI_CLASS] = ELFCLASS64,
                                                [EI_DATA] = ELFDATA2LSB,
                                                [18] = EM_AARCH64,
                                                [32] = 64,
                                                [54] = 56,
                                                [56] = 1,
                                                /* a segment of code: the whole file, at 0x1000 */
                                                [64] = PT_LOAD,
                                                [68] = PF_R | PF_X,
                                                [64 + 17] = 0x10,
                                                [64 + 33] = OTHER_SIZE >> 8};
    const struct input *input = user;
    const uint8_t *data = is_input(path) ? input->data : program;
    size_t size = is_input(path) ? input->size : OTHER_SIZE;
    size_t left = offset < size ? size - (size_t)offset : 0;
    size_t n = left < cap ? left : cap;
    if (n)
        memcpy(buf, data + offset, n);
    return (ssize_t)n;
}

static ssize_t read_first(void *user, const char *path, char *buf, size_t cap)
{
    return read_at(user, path, 0, buf, cap);
}

static void check_images(const struct ct_generation *g)
{
    for (size_t i = 0; i < g->image_count; i++) {
        const struct ct_image *image = &g->images[i];
        if (!image->size || image->offset + image->size > OTHER_SIZE + (uint64_t)UINT32_MAX ||
            image->addr + (image->size - 1) < image->addr)
            abort();
        if (i && g->images[i - 1].addr + (g->images[i - 1].size - 1) >= image->addr)
            abort();
    }
    if (g->has_main > g->program_count || g->program_count > g->image_count + g->has_main)
        abort();
    for (size_t i = 0; i < g->program_count; i++)
        for (size_t k = 0; k < i; k++)
            if (ct_image_same(&g->programs[i], &g->programs[k]))
                abort();
}

static void check_maps(const struct ct_maps *maps)
{
    for (size_t i = 0; i < maps->process_count; i++) {
        const struct ct_process *p = &maps->processes[i];
        if (!p->generation_count || (i && p[-1].pid >= p->pid))
            abort();
        for (size_t k = 0; k < p->generation_count; k++) {
            if (k && p->generations[k - 1].from > p->generations[k].from)
                abort();
            check_images(&p->generations[k]);
        }
    }
    for (size_t i = 1; i < maps->thread_count; i++)
        if (maps->threads[i - 1].tid > maps->threads[i].tid)
            abort();
}

static void decode(const struct input *input, const struct ct_buffer *buffer, struct ct_ctx *ctx)
{
    const struct ct_chain_sink sink = {.user = NULL};
    const struct ct_chain_options options = {.size = sizeof options, .level = CT_LEVEL_ELEMENT};
    struct ct_chain *chain;
    if (ct_chain_new(ctx, buffer, &options, &sink, &chain))
        return;
    int rc = 0;
    for (size_t i = 0; !rc && i < buffer->piece_count; i++) {
        const struct ct_piece *piece = &buffer->pieces[i];
        if (!piece->size || piece->offset > input->size || piece->size > input->size - piece->offset)
            abort();
        rc = ct_chain_begin_piece(chain, piece);
        if (!rc)
            rc = ct_chain_push(chain, input->data + piece->offset, (size_t)piece->size);
    }
    if (!rc)
        ct_chain_finish(chain);
    ct_chain_free(chain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct ct_capture_options options = {
        .size = sizeof options, .symfs = "root", .buildid_dir = "cache"};
    if (size > 1 << 16 || size < 8 || memcmp(data, "PERFILE2", 8) != 0)
        return 0;
    struct input input = {data, size};
    struct ct_files files = {.user = &input, .look = look, .read = read_first, .read_at = read_at};
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_capture *capture;
    if (!ctx)
        return 0;
    int status = ct_capture_open_files(ctx, &files, "perf.data", &options, &capture);
    if (status ? capture != NULL || !*ct_ctx_error(ctx) : !capture)
        abort();
    if (capture) {
        check_maps(capture->maps);
        if (capture->main_count > capture->program_count)
            abort();
        for (size_t i = 0; i < capture->buffer_count; i++)
            decode(&input, &capture->buffers[i], ctx);
    }
    ct_capture_free(capture);
    ct_ctx_free(ctx);
    return 0;
}
