/* SPDX-License-Identifier: Apache-2.0 */
/* Needed by the reader of ELF files to add the segments of an image to a memory. */
#pragma once

#include "coretap/program.h"

#include <stdbool.h>
#include <sys/types.h>

/* A file that was read whole, once for all its regions. */
struct ct_mapped_file {
    struct ct_mapped_file *next;
    dev_t dev;
    ino_t ino;
    uint64_t offset; /* of the first byte: not 0 inside of an archive */
    const uint8_t *bytes;
    size_t size;
    bool is_module;                /* a kernel module, which was linked: module.h */
    struct ct_small_block *beside; /* the block of struct ct_small_files that contains its bytes; NULL:
                                      none */
    const char *text;              /* original format of the file: text_image.h; NULL: that of `bytes` */
    char path[];
};

/* Blocks that hold the bytes of small files one after the other. A memory may consist of hundreds of files;
 * separate pages for each would take several times as long as reading it. All zero: none. */
struct ct_small_files {
    struct ct_small_block *blocks; /* newest first */
};

/* The files of memories that share them. All zero: none. */
struct ct_memory_files {
    struct ct_mapped_file *first; /* newest first */
    struct ct_small_files small;
};

/* Makes an empty memory that takes its files from `files`, and adds those that are missing there. They must
 * outlive it. A kernel module is not shared, because its calls depend on the other files of its memory.
 * CT_ERR_NOMEM. */
int ct_memory_new_sharing(struct ct_ctx *ctx, struct ct_memory_files *files, struct ct_memory **out);

/* Frees the files. */
void ct_memory_files_free(struct ct_memory_files *files);

/* Where a region's bytes come from, and so how they are freed. */
enum ct_region_kind {
    CT_REGION_HEAP,  /* copied to the heap */
    CT_REGION_FILE,  /* inside of a file */
    CT_REGION_PAGES, /* a separate anonymous mapping */
};

struct ct_region {
    uint64_t addr;
    uint64_t last; /* address of the last byte, because a region may end with the address space */
    const uint8_t *bytes;
    const struct ct_mapped_file *file; /* NULL when the bytes are the caller's */
    uint64_t image_addr;               /* address of the image that the region is part of */
    uint32_t space;
    uint8_t kind; /* enum ct_region_kind */
    bool of_elf;  /* it is a segment, and image_addr a load bias */
};

/* Reads the regular file at `path`. Links a kernel module, with sections where `placed` says or, if that is
 * NULL, by the kernel's rules; converts firmware in text form to an ELF file (text_image.h). CT_ERR_IO,
 * CT_ERR_FORMAT (it is empty), those of ct_module_link. */
int ct_mapped_file_open(struct ct_ctx *ctx, const char *path, const struct ct_module_place *placed,
                        struct ct_mapped_file **out);
void ct_mapped_file_close(struct ct_mapped_file *file);

/* The same for one of many files, whose bytes may be stored with those of others in `small`. */
int ct_mapped_file_open_one(struct ct_ctx *ctx, const char *path, const struct ct_module_place *placed,
                            struct ct_small_files *small, struct ct_mapped_file **out);

/* Frees the bytes of all files stored in it, and zeroes it. */
void ct_small_files_free(struct ct_small_files *small);

struct ct_ctx *ct_memory_ctx(const struct ct_memory *memory);

/* Returns the file after `file`, or the first one for NULL, and the address of an image of it; NULL when
 * there is none. */
const struct ct_mapped_file *ct_memory_next_file(const struct ct_memory *memory,
                                                 const struct ct_mapped_file *file, uint64_t *bias);

/* Adds a region. If this succeeds, its bytes belong to the memory. */
int ct_memory_insert(struct ct_memory *memory, const struct ct_region *region);

/* Adds each PT_LOAD segment of an ELF file at its address plus `bias`. Stops at the first failure. */
int ct_memory_add_elf(struct ct_memory *memory, const struct ct_mapped_file *file, uint64_t bias,
                      uint32_t space);

/* Resolves calls out of kernel modules: to functions of other ELF files of the memory, in the same half of
 * the address space. To be called when all images were added. Logs how many are not found. CT_ERR_FORMAT,
 * CT_ERR_NOMEM. */
int ct_memory_link(struct ct_memory *memory);
