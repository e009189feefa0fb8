/* SPDX-License-Identifier: Apache-2.0 */
/* What the reader of ELF files needs to add the segments of an image to a memory. */
#ifndef CT_PROGRAM_MEMORY_H
#define CT_PROGRAM_MEMORY_H

#include "coretap/program.h"

#include <sys/types.h>

/* A file that was read whole, once however many regions lie in it. */
struct ct_mapped_file {
    struct ct_mapped_file *next;
    dev_t dev;
    ino_t ino;
    uint64_t offset; /* of the first byte: not 0 inside of an archive */
    const uint8_t *bytes;
    size_t size;
    char path[];
};

/* Where a region's bytes come from, which tells how they are freed. */
enum ct_region_kind {
    CT_REGION_HEAP,  /* copied to the heap */
    CT_REGION_FILE,  /* inside of a file */
    CT_REGION_PAGES, /* an anonymous mapping of their own */
};

struct ct_region {
    uint64_t addr;
    uint64_t last; /* address of the last byte, because a region may end with the address space */
    const uint8_t *bytes;
    const struct ct_mapped_file *file; /* NULL when the bytes are the caller's */
    uint64_t image_addr;               /* address of the image that the region is part of */
    uint32_t space;
    uint8_t kind; /* enum ct_region_kind */
};

/* Reads the regular file at `path`. CT_ERR_IO, CT_ERR_FORMAT (it is empty), CT_ERR_NOMEM. */
int ct_mapped_file_open(struct ct_ctx *ctx, const char *path, struct ct_mapped_file **out);
void ct_mapped_file_close(struct ct_mapped_file *file);

struct ct_ctx *ct_memory_ctx(const struct ct_memory *memory);

/* Adds a region. If that succeeds, its bytes belong to the memory. */
int ct_memory_insert(struct ct_memory *memory, const struct ct_region *region);

/* Adds each PT_LOAD segment of an ELF file at its address plus `bias`. Stops at the first that fails. */
int ct_memory_add_elf(struct ct_memory *memory, const struct ct_mapped_file *file, uint64_t bias,
                      uint32_t space);

#endif
