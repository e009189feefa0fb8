/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the set of programs. */
#ifndef CT_PROGRAMS_PROGRAMS_H
#define CT_PROGRAMS_PROGRAMS_H

#include "base/arena.h"
#include "coretap/programs.h"

#include <stdbool.h>

struct ct_known_program {
    struct ct_program is; /* first: what the caller has is a pointer to it */
    struct ct_programs *set;
    struct ct_known_program *first; /* of the same file with the same addresses, which has what is
                                       loaded: itself or another */
    uint8_t *in_memory;             /* by number: 1 for those that it lay in; NULL: all */
    bool in_capture;                /* the capture knows it */
    bool nowhere;                   /* it is of another capture, as far as is known */
    struct ct_symbols *symbols;
    struct ct_lines *lines;
    struct ct_memory *memory;
    struct ct_cfg *cfg;
    struct ct_layout *layout;
};

/* Memory that is no ELF file, with a name for it. */
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
    struct ct_program_place *places; /* of both, when they were asked for */
    size_t place_room;
};

/* Frees what was loaded. */
void ct_known_program_unload(struct ct_known_program *program);

#endif
