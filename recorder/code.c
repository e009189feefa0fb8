/* SPDX-License-Identifier: Apache-2.0 */
#include "code.h"

#include <stddef.h>
#include <string.h>

#include "chunks.h"
#include "mappings.h"

#define PAGE  UINT64_C(4096)
#define PAGES (1u << 16) /* pages of code that are written whole; of others only executed blocks */
#define FILES 1024u

/* What was written so far. */
static struct {
    uint32_t block_chunk;  /* chunk that blocks are written to */
    uint64_t pages[PAGES]; /* a hash table: page number + 1 */
    uint32_t page_count;
    struct {
        uint64_t start, end;
    } files[FILES]; /* mapped files */
    uint32_t file_count;
} own;

uint32_t code_first_chunk(void)
{
    return own.block_chunk = chunks_take(TRACE_CHUNK_BLOCKS);
}

static struct trace_chunk *blocks_chunk(uint32_t words)
{
    struct trace_chunk *chunk = &rec.area->chunks[own.block_chunk];
    if (atomic_load(&chunk->used) + words <= TRACE_CHUNK_WORDS)
        return chunk;
    const uint32_t at = chunks_take(TRACE_CHUNK_BLOCKS);
    if (at == TRACE_NO_CHUNK) {
        atomic_store(&rec.detached, 1);
        return NULL;
    }
    atomic_store(&chunk->next, at);
    own.block_chunk = at;
    return &rec.area->chunks[at];
}

uint32_t *code_begin(const struct trace_block *head, struct trace_chunk **chunk)
{
    const uint32_t words = (uint32_t)(sizeof *head + head->size + 3) / 4;
    *chunk = atomic_load(&rec.detached) ? NULL : blocks_chunk(words);
    if (!*chunk)
        return NULL;
    uint32_t *at = (*chunk)->words + atomic_load(&(*chunk)->used);
    memcpy(at, head, sizeof *head);
    at[words - 1] = words * 4 > sizeof *head + head->size ? 0 : at[words - 1];
    return at + sizeof *head / 4;
}

void code_end(const struct trace_block *head, struct trace_chunk *chunk)
{
    atomic_fetch_add(&chunk->used, (uint32_t)(sizeof *head + head->size + 3) / 4);
}

static bool page_is_new(uint64_t addr)
{
    const uint64_t key = addr / PAGE + 1;
    if (own.page_count > PAGES / 2)
        return false;
    uint64_t i = key * UINT64_C(0x9e3779b97f4a7c15) >> 48;
    while (own.pages[i] && own.pages[i] != key)
        i = (i + 1) % PAGES;
    if (own.pages[i])
        return false;
    own.pages[i] = key;
    own.page_count++;
    return true;
}

static bool is_in_file(uint64_t va)
{
    for (uint32_t i = 0; i < own.file_count; i++)
        if (own.files[i].start <= va && va < own.files[i].end)
            return true;
    return false;
}

/* Writes the file that the code at `va` comes from, unless it is written already. */
static void put_file(uint64_t va, const uint8_t *host)
{
    static struct mapping mapping;
    static struct trace_file file;
    struct trace_chunk *chunk;
    if (rec.system || is_in_file(va) || own.file_count == FILES || !mapping_at(host, &mapping))
        return;
    const uint64_t start = va - ((uintptr_t)host - mapping.start), length = mapping.end - mapping.start;
    file = (struct trace_file){.offset = {(uint32_t)mapping.offset, (uint32_t)(mapping.offset >> 32)},
                               .length = {(uint32_t)length, (uint32_t)(length >> 32)},
                               .inode = {(uint32_t)mapping.inode, (uint32_t)(mapping.inode >> 32)}};
    const size_t size = strlen(mapping.path) + 1;
    memcpy(file.path, mapping.path, size);
    const struct trace_block head = {.addr = {(uint32_t)start, (uint32_t)(start >> 32)},
                                     .size = (uint16_t)(offsetof(struct trace_file, path) + size),
                                     .flags = TRACE_BLOCK_FILE};
    uint32_t *out = code_begin(&head, &chunk);
    if (!out)
        return;
    memcpy(out, &file, head.size);
    code_end(&head, chunk);
    own.files[own.file_count].start = start;
    own.files[own.file_count++].end = start + length;
}

void code_put_page(uint64_t va, const uint8_t *host)
{
    struct trace_chunk *chunk;
    if (!host || !page_is_new(va))
        return;
    put_file(va, host);
    const uint64_t start = va & ~(PAGE - 1);
    const struct trace_block head = {.addr = {(uint32_t)start, (uint32_t)(start >> 32)},
                                     .size = (uint16_t)PAGE};
    uint32_t *out = code_begin(&head, &chunk);
    if (!out)
        return;
    memcpy(out, host - (va - start), PAGE);
    code_end(&head, chunk);
}
