/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the set of programs. */
#pragma once

#include "base/arena.h"
#include "coretap/programs.h"

#include <stdbool.h>

struct ct_known_program {
    struct ct_program is; /* must come first: the caller's pointer is to this member */
    struct ct_programs *set;
    struct ct_known_program *first; /* the program with the same file and addresses that holds the loaded
                                       parts: this one or another */
    uint8_t *in_memory;             /* by number of the memory: 1 when the program was in it; NULL: in all */
    bool in_capture;                /* the capture knows the program */
    bool nowhere;                   /* it belongs only to other captures, as far as known */
    const struct ct_module_place *placed; /* for a kernel module, in the arena of the set; NULL: unknown */
    bool is_looked_at, is_core;           /* whether it is a copy of memory, set once its headers were read */
    struct ct_code_range *rest;           /* for a copy of memory: its code that no other program has; NULL:
                                             not computed since programs were added or removed */
    size_t rest_count;
    struct ct_symbols *symbols;
    struct ct_symbols *headers; /* from the headers only; NULL also when the symbols were loaded before */
    struct ct_lines *lines;
    bool keeps_symbols, keeps_lines; /* `symbols`, `lines` belong to the options.files of the set */
    struct ct_memory *memory;
    struct ct_cfg *cfg;
    struct ct_layout *layout;
    struct ct_named_table *named;
    struct ct_known_variable *variables; /* the requested ones, in the arena of the set */
};

/* A variable of a program. */
struct ct_known_variable {
    struct ct_known_variable *next;
    const char *name; /* as it was requested */
    struct ct_variable *variable;
};

/* An image that is not an ELF file, with a name for its addresses. */
struct ct_known_image {
    struct ct_image image;
    struct ct_symbols *symbols;
};

/* A symbol map, which names code outside of programs. */
struct ct_known_map {
    const char *path;
    struct ct_symbols *symbols;
    bool of_capture; /* not named by the caller */
    bool nowhere;    /* it belongs only to other captures */
};

struct ct_programs {
    struct ct_ctx *ctx;
    struct ct_arena arena;
    struct ct_programs_options options;
    struct ct_known_program **all;
    size_t count;
    struct ct_known_image *images;
    size_t image_count;
    struct ct_known_map *maps;
    size_t map_count;
    struct ct_program_place *places; /* of programs and images, made on first use */
    size_t place_room;
    struct ct_buffer *sources; /* buffers of the capture, for ct_programs_sources */
    size_t source_count;
};

/* The result of comparing the code of a file with that of an image of a capture. */
struct ct_same_code {
    uint64_t pages;       /* pages of code that both have */
    uint64_t other_pages; /* pages in which most words differ */
    uint64_t first_other; /* address of the first differing page */
};

struct ct_elf_look;

/* Compares the code of the file at `path`, loaded at `bias`, with an image, and adds to the result. */
void ct_same_code(const char *path, const struct ct_elf_look *elf, uint64_t bias,
                  const struct ct_image *image, struct ct_same_code *same);

/* Returns whether the file is another build. */
bool ct_same_code_is_other(const struct ct_same_code *same);

/* Checks that the file at `path`, loaded at `bias`, is not another build of a file that ran according to the
 * capture: one with the same name or address. When build ids do not decide it, the code in the capture's
 * memory does, or that of the file at the address; a file that overlaps no other code passes. If *image is
 * NULL it becomes the image of the capture with the same build id, if any. CT_ERR_CONFIG. */
int ct_program_version(struct ct_ctx *ctx, const char *path, uint64_t bias, const struct ct_capture *capture,
                       const struct ct_image **image);

/* Checks that an image that only names code in a copy of memory is a file with that code. Other images pass,
 * and modules, whose code changes when it is linked. CT_ERR_CONFIG. */
int ct_program_names_memory(struct ct_ctx *ctx, const struct ct_image *names,
                            const struct ct_capture *capture);

/* Returns whether a program that the capture names has other code than the capture's memory, after a warning.
 * The capture has compared build ids, so only files without one are looked at. */
bool ct_program_was_replaced(struct ct_ctx *ctx, const struct ct_image *ran,
                             const struct ct_capture *capture);

/* Drops the computed rests of copies of memory, because programs are added. */
void ct_programs_forget_rests(struct ct_programs *programs);

/* Adds the symbol maps of a capture, and warns of one that cannot be read. CT_ERR_LIMIT, CT_ERR_NOMEM. */
int ct_programs_add_maps(struct ct_programs *programs, const struct ct_capture *capture);

/* Lets the symbol maps of captures name nothing until they are added again. */
void ct_programs_leave_maps(struct ct_programs *programs);

/* Frees the loaded parts of a program. */
void ct_known_program_unload(struct ct_known_program *program);
