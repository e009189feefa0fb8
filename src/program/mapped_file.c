/* SPDX-License-Identifier: Apache-2.0 */
/* Reads files into memory. */
#include "base/archive.h"
#include "base/ctx.h"
#include "base/module_name.h"
#include "base/table_memory.h"
#include "base/unpack.h"
#include "base/whole_file.h"
#include "program/memory.h"
#include "program/module.h"
#include "program/text_image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The first block of a memory holds the few small files that most captures have; the others fill large
 * pages. */
#define FIRST_SIZE ((size_t)256 << 10)
#define BLOCK_SIZE ((size_t)4 << 20)
#define FIRST_FILE ((size_t)64 << 10)  /* the largest file in the first block */
#define SMALL_FILE ((size_t)512 << 10) /* the largest file in the others */
#define LINE       ((size_t)64)        /* cache line, to which files are aligned */

struct ct_small_block {
    struct ct_small_block *next;
    uint8_t *bytes;
    size_t used, size;
};

static struct ct_small_block *add_block(struct ct_small_files *small)
{
    const size_t size = small->blocks ? BLOCK_SIZE : FIRST_SIZE;
    struct ct_small_block *block = malloc(sizeof *block);
    uint8_t *bytes = block ? ct_table_of_records(size, 1) : NULL;
    if (!bytes) {
        free(block);
        return NULL;
    }
    *block = (struct ct_small_block){.next = small->blocks, .bytes = bytes, .size = size};
    small->blocks = block;
    return block;
}

/* Returns the bytes that a file takes in a block. */
static size_t room_of(size_t size)
{
    return (size + LINE - 1) & ~(LINE - 1);
}

/* Returns a block with room for a file after others; NULL: the file needs its own pages. */
static struct ct_small_block *block_for(struct ct_small_files *small, size_t size)
{
    struct ct_small_block *block = small ? small->blocks : NULL;
    const size_t most = block && block->size == BLOCK_SIZE ? SMALL_FILE : FIRST_FILE;
    if (!small || size > most)
        return NULL;
    return block && block->size - block->used >= room_of(size) ? block : add_block(small);
}

void ct_small_files_free(struct ct_small_files *small)
{
    while (small->blocks) {
        struct ct_small_block *block = small->blocks;
        small->blocks = block->next;
        free(block->bytes);
        free(block);
    }
}

/* Frees the bytes. When the file is the last one in a block, the next file reuses its room. This is how a
 * file that turns out to be a duplicate is freed. */
static void free_bytes(struct ct_mapped_file *file)
{
    struct ct_small_block *block = file->beside;
    if (!block)
        ct_whole_file_free(file->bytes, file->size);
    else if (file->bytes + room_of(file->size) == block->bytes + block->used)
        block->used = (size_t)(file->bytes - block->bytes);
    file->beside = NULL;
}

/* Replaces the bytes of a compressed file by the uncompressed ones. */
static int unpack(struct ct_ctx *ctx, struct ct_mapped_file *file)
{
    uint8_t *bytes;
    size_t size;
    void *room;
    if (!ct_module_is_named(file->path) || !ct_unpack_is(file->bytes, file->size))
        return CT_OK;
    int rc = ct_unpack(ctx, file->path, file->bytes, file->size, CT_MODULE_UNPACKED, &bytes, &size);
    if (rc)
        return rc;
    rc = ct_whole_file_copy(ctx, file->path, bytes, size, &room);
    free(bytes);
    if (rc)
        return rc;
    free_bytes(file);
    file->bytes = room;
    file->size = size;
    return CT_OK;
}

/* Replaces the bytes of a kernel module by the linked ones. */
static int link_module(struct ct_ctx *ctx, const struct ct_module_place *place, struct ct_mapped_file *file)
{
    uint8_t *linked;
    size_t size;
    int rc = unpack(ctx, file) ?: ct_module_is(ctx, file->path, file->bytes, file->size, &file->is_module);
    if (rc || !file->is_module)
        return rc;
    rc = ct_module_link(ctx, file->path, place, file->bytes, file->size, &linked, &size);
    if (rc)
        return rc;
    free_bytes(file);
    file->bytes = linked;
    file->size = size;
    return CT_OK;
}

/* Replaces the bytes of firmware in text form by its ELF file. */
static int read_text(struct ct_ctx *ctx, struct ct_mapped_file *file)
{
    uint8_t *bytes;
    size_t size;
    file->text = ct_text_image_kind(file->bytes, file->size);
    int rc = file->text ? ct_text_image_read(ctx, file->path, file->bytes, file->size, &bytes, &size) : CT_OK;
    if (rc || !file->text)
        return rc;
    free_bytes(file);
    file->bytes = bytes;
    file->size = size;
    return CT_OK;
}

static int read_whole(struct ct_ctx *ctx, int fd, const char *path, const struct ct_archived *where,
                      const struct ct_module_place *placed, struct ct_small_files *small,
                      struct ct_mapped_file **out)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return ct_fail(ctx, CT_ERR_IO, "%s: the file cannot be examined: %s; name a file that can be read",
                       path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return ct_fail(
            ctx, CT_ERR_IO,
            "%s: this is not a regular file, so it contains no memory image; name the file of the program",
            path);
    const size_t size = where->inside ? (size_t)where->size : (size_t)st.st_size;
    if (size == 0)
        return ct_fail(ctx, CT_ERR_FORMAT,
                       "%s: the file is empty, so it contains no memory image; use a complete copy", path);
    size_t length = strlen(path) + 1;
    struct ct_mapped_file *file = malloc(sizeof *file + length);
    if (!file)
        return ct_fail_nomem(ctx, path);
    struct ct_small_block *block = block_for(small, size);
    void *bytes = block ? block->bytes + block->used : NULL;
    int result = block           ? ct_whole_file_read_to(ctx, fd, path, where->offset, size, bytes)
                 : where->inside ? ct_whole_file_read_part(ctx, fd, path, where->offset, size, &bytes)
                                 : ct_whole_file_read(ctx, fd, path, size, &bytes);
    if (result != CT_OK) {
        free(file);
        return result;
    }
    if (block)
        block->used += room_of(size);
    *file = (struct ct_mapped_file){.dev = st.st_dev,
                                    .ino = st.st_ino,
                                    .offset = where->offset,
                                    .bytes = bytes,
                                    .size = size,
                                    .beside = block};
    memcpy(file->path, path, length);
    result = link_module(ctx, placed, file) ?: read_text(ctx, file);
    if (result)
        ct_mapped_file_close(file);
    else
        *out = file;
    return result;
}

int ct_mapped_file_open_one(struct ct_ctx *ctx, const char *path, const struct ct_module_place *placed,
                            struct ct_small_files *small, struct ct_mapped_file **out)
{
    struct ct_archived where;
    int fd = ct_archive_open(path, &where);
    if (fd < 0 && errno == ENOTSUP && ct_archive_entry(path))
        return ct_fail(ctx, CT_ERR_IO,
                       "%s: the file is compressed in the archive and cannot be read there; extract it and "
                       "name the extracted file",
                       path);
    if (fd < 0)
        return ct_fail(ctx, CT_ERR_IO, "%s: cannot be opened: %s", path, strerror(errno));
    int result = read_whole(ctx, fd, path, &where, placed, small, out);
    close(fd);
    return result;
}

int ct_mapped_file_open(struct ct_ctx *ctx, const char *path, const struct ct_module_place *placed,
                        struct ct_mapped_file **out)
{
    return ct_mapped_file_open_one(ctx, path, placed, NULL, out);
}

void ct_mapped_file_close(struct ct_mapped_file *file)
{
    if (!file)
        return;
    free_bytes(file);
    free(file);
}
