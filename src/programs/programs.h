/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the set of programs share. */
#ifndef CT_PROGRAMS_PROGRAMS_H
#define CT_PROGRAMS_PROGRAMS_H

#include "base/arena.h"
#include "coretap/programs.h"

#include <stdbool.h>

struct ct_known_program {
    struct ct_program is; /* must come first: the caller's pointer is to this member */
    struct ct_programs *set;
    struct ct_known_program *first; /* the program of the same file and addresses that holds what is loaded:
                                       this one or another */
    uint8_t *in_memory;             /* by number of the memory: 1 when the program lay in it; NULL: it lay in
                                       all */
    bool in_capture;                /* the capture knows the program */
    bool nowhere;                   /* it belongs to another capture, as far as is known */
    const struct ct_module_place *placed; /* of a kernel module, in the arena of the set; NULL: not known */
    bool is_looked_at, is_core;           /* whether it is a copy of memory, once its headers were read */
    struct ct_code_range *rest;           /* of a copy of memory: its code that no other program has; NULL: it
                                             was not asked for since programs came or went */
    size_t rest_count;
    struct ct_symbols *symbols;
    struct ct_symbols *headers; /* what headers tell; NULL also when the symbols were loaded before */
    struct ct_lines *lines;
    struct ct_memory *memory;
    struct ct_cfg *cfg;
    struct ct_layout *layout;
    struct ct_named_table *named;
    struct ct_known_variable *variables; /* those that were asked for, in the arena of the set */
};

/* A variable of a program. */
struct ct_known_variable {
    struct ct_known_variable *next;
    const char *name; /* as it was asked for */
    struct ct_variable *variable;
};

/* An image that is no ELF file, with a name for its addresses. */
struct ct_known_image {
    struct ct_image image;
    struct ct_symbols *symbols;
};

struct ct_programs {
    struct ct_ctx *ctx;
    struct ct_arena arena;
    struct ct_programs_options options;
    struct ct_known_program **all;
    size_t count;
    struct ct_known_image *images;
    size_t image_count;
    struct ct_program_place *places; /* of programs and images, made when first asked for */
    size_t place_room;
    struct ct_buffer *sources; /* buffers of the capture, with what ct_programs_sources says */
    size_t source_count;
};

/* How far the code of a file is that of an image of a capture. */
struct ct_same_code {
    uint64_t pages;       /* of code that both have */
    uint64_t other_pages; /* pages most words of which differ */
    uint64_t first_other; /* address of the first of these */
};

struct ct_elf_look;

/* Compares the code of the file at `path`, loaded at `bias`, with an image, and adds what it finds. */
void ct_same_code(const char *path, const struct ct_elf_look *elf, uint64_t bias,
                  const struct ct_image *image, struct ct_same_code *same);

/* Tells whether the file is another build. */
bool ct_same_code_is_other(const struct ct_same_code *same);

/* Checks that the file at `path`, loaded at `bias`, is no other build of a file that the capture says ran: of
 * one that has this name, or lay at this place. Where build ids do not tell, the code of the capture's memory
 * does, or of the file that lay there; a file without code at the place of any passes. If *image is NULL it
 * becomes the image of the capture that has the same build id, if one is here. CT_ERR_CONFIG. */
int ct_program_version(struct ct_ctx *ctx, const char *path, uint64_t bias, const struct ct_capture *capture,
                       const struct ct_image **image);

/* Checks that an image that only names what lies in a copy of memory is a file with the code that is there.
 * Other images pass, and modules, whose code is not the file's before it is linked. CT_ERR_CONFIG. */
int ct_program_names_memory(struct ct_ctx *ctx, const struct ct_image *names,
                            const struct ct_capture *capture);

/* Forgets what code of copies of memory is in no other program, because programs come. */
void ct_programs_forget_rests(struct ct_programs *programs);

/* Frees what was loaded of a program. */
void ct_known_program_unload(struct ct_known_program *program);

#endif
