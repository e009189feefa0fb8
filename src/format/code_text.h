/* SPDX-License-Identifier: Apache-2.0 */
/* What stands in the source and in memory at an address, for lines of which there are millions: each address
 * is looked up once as long as there is room for it. */
#ifndef CT_FORMAT_CODE_TEXT_H
#define CT_FORMAT_CODE_TEXT_H

#include <stdbool.h>

#include "format/code_names.h"

/* The longest text of an instruction, with its end. */
#define CT_CODE_INSN 192

/* An instruction. */
struct ct_code_line {
    const char *file;        /* of the source that it was made from; NULL: not known, or not wanted */
    uint32_t line;           /* 0: not known */
    uint8_t size;            /* bytes; 0: memory there cannot be read, or is not wanted */
    char insn[CT_CODE_INSN]; /* in words; empty when `size` is 0 */
};

/* Where the instruction is. */
struct ct_code_address {
    uint64_t addr;
    const struct ct_source *source; /* whose trace tells of it */
    uint32_t memory;                /* ct_node.memory */
    uint32_t space;                 /* enum ct_space; 0: not known, any */
    uint8_t isa;                    /* enum ct_isa; UNKNOWN: what the symbols say */
};

/* Tells whether both are the same place, of the same instruction set. */
static inline bool ct_code_address_same(const struct ct_code_address *a, const struct ct_code_address *b)
{
    return a->addr == b->addr && a->source == b->source && a->memory == b->memory && a->space == b->space &&
           a->isa == b->isa;
}

struct ct_code_text_options {
    const struct ct_capture *capture; /* whose memory is read before that of files; NULL: there is none */
    bool lines;                       /* lines of the source are wanted */
    bool insns;                       /* instructions are wanted */
};

struct ct_code_text;

/* Makes an object that knows the programs of `names`, which have to stay. CT_ERR_NOMEM. */
int ct_code_text_new(struct ct_code_names *names, const struct ct_code_text_options *options,
                     struct ct_code_text **out);
void ct_code_text_free(struct ct_code_text *code);

/* Finds what is at an address, valid until the next call. CT_ERR_NOMEM, those of ct_code_names_find. */
int ct_code_text_find(struct ct_code_text *code, const struct ct_code_address *at,
                      const struct ct_code_line **out);

/* Appends "file:12" to a line with tabs; nothing when the source is not known. */
void ct_code_source_put(struct ct_text *text, enum ct_address_style style, const struct ct_code_line *line);

#endif
