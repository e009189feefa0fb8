/* SPDX-License-Identifier: Apache-2.0 */
#include "program/part_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ctx.h"
#include "base/read_at.h"
#include "base/room.h"
#include "base/whole_file.h"
#include "base/word_sum.h"

#define MAGIC "ctpart1"
#define ORDER UINT32_C(0x01020304)
#define ALIGN 32u /* of sections */

struct head {
    char magic[8];
    uint64_t sum; /* over the head, with 0 here, and all sections */
    uint32_t order, kind, search, pad;
    uint64_t sizes[CT_PART_SECTIONS];
};

static size_t aligned(size_t size)
{
    return (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

static uint64_t sum_of(const struct head *head, const struct ct_part_section *sections)
{
    struct head plain = *head;
    struct ct_word_sum sum = {0};
    plain.sum = 0;
    ct_word_sum_add(&sum, (const char *)&plain, sizeof plain);
    for (size_t i = 0; i < CT_PART_SECTIONS; i++)
        ct_word_sum_add(&sum, sections[i].bytes, sections[i].size);
    return ct_word_sum_end(&sum);
}

/* ---- reading ---- */

/* Sets the sections. Returns whether the file is whole. */
static bool is_whole(struct ct_part_file *file, enum ct_part_kind kind)
{
    struct head head;
    uint64_t at = aligned(sizeof head);
    if (file->size < at)
        return false;
    memcpy(&head, file->bytes, sizeof head);
    if (memcmp(head.magic, MAGIC, sizeof head.magic) != 0 || head.order != ORDER || head.kind != kind)
        return false;
    for (size_t i = 0; i < CT_PART_SECTIONS; i++) {
        if (at > file->size || head.sizes[i] > file->size - at)
            return false;
        file->sections[i] = (struct ct_part_section){file->bytes + at, (size_t)head.sizes[i]};
        at += aligned((size_t)head.sizes[i]);
    }
    file->search = head.search;
    return sum_of(&head, file->sections) == head.sum;
}

/* Returns whether a file may be used: one of another user might say anything. */
static bool is_own(const struct stat *st)
{
    return S_ISREG(st->st_mode) && st->st_size > 0 && (st->st_uid == geteuid() || st->st_uid == 0) &&
           !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* Maps or reads the file. Returns NULL on failure. */
static uint8_t *take(struct ct_ctx *ctx, int fd, const char *path, size_t size)
{
    void *bytes;
    if (!ctx->maps_files)
        return ct_whole_file_read(NULL, fd, path, size, &bytes) ? NULL : bytes;
    bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    return bytes == MAP_FAILED ? NULL : bytes;
}

struct ct_part_file *ct_part_file_open(struct ct_ctx *ctx, const char *path, enum ct_part_kind kind)
{
    struct stat st;
    struct ct_part_file *file = NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) == 0 && is_own(&st) && (file = calloc(1, sizeof *file))) {
        file->size = (size_t)st.st_size;
        file->bytes = take(ctx, fd, path, file->size);
    }
    close(fd);
    if (file && (!file->bytes || !is_whole(file, kind))) {
        ct_part_file_close(file);
        file = NULL;
    }
    return file;
}

void ct_part_file_close(struct ct_part_file *file)
{
    if (file && file->bytes)
        ct_whole_file_free(file->bytes, file->size);
    free(file);
}

const char *ct_part_text_at(const struct ct_part_file *file, const char *text)
{
    const struct ct_part_section *texts = &file->sections[CT_PART_TEXTS];
    return text ? (const char *)texts->bytes + (uintptr_t)text : NULL;
}

/* ---- writing ---- */

const char *ct_part_text(struct ct_part_pack *pack, const char *text, bool *fine)
{
    if (!text || !*fine)
        return NULL;
    uint32_t at = ct_addr_map_get(&pack->places, (uintptr_t)text);
    if (at == CT_ADDR_NONE) {
        const size_t size = strlen(text) + 1;
        const size_t first = pack->texts_size ? pack->texts_size : 1; /* offset 0 stands for NULL */
        if (size > UINT32_MAX - first - 1 || !CT_MAKE_ROOM(pack->texts, pack->texts_room, first + size) ||
            ct_addr_map_put(&pack->places, (uintptr_t)text, (uint32_t)first)) {
            *fine = false;
            return NULL;
        }
        pack->texts[0] = '\0';
        memcpy(pack->texts + first, text, size);
        pack->texts_size = first + size;
        at = (uint32_t)first;
    }
    return (const char *)(uintptr_t)at; /* NOLINT(performance-no-int-to-ptr) */
}

/* Writes bytes, and zeros up to the next section. */
static int write_aligned(int fd, const void *bytes, size_t size)
{
    static const char zeros[ALIGN];
    const int error = ct_write_all(fd, bytes, size);
    return error ? error : ct_write_all(fd, zeros, aligned(size) - size);
}

int ct_part_file_write(int fd, enum ct_part_kind kind, const struct ct_part_pack *pack)
{
    struct head head = {.magic = MAGIC, .order = ORDER, .kind = kind, .search = pack->search};
    struct ct_part_section sections[CT_PART_SECTIONS];
    memcpy(sections, pack->sections, sizeof sections);
    sections[CT_PART_TEXTS] = (struct ct_part_section){pack->texts, pack->texts_size};
    for (size_t i = 0; i < CT_PART_SECTIONS; i++)
        head.sizes[i] = sections[i].size;
    head.sum = sum_of(&head, sections);
    int error = write_aligned(fd, &head, sizeof head);
    for (size_t i = 0; i < CT_PART_SECTIONS && !error; i++)
        error = write_aligned(fd, sections[i].bytes, sections[i].size);
    return error;
}

void ct_part_pack_free(struct ct_part_pack *pack)
{
    free(pack->texts);
    ct_addr_map_free(&pack->places);
    free(pack->copy);
    free(pack->other);
}
