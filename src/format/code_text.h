/* SPDX-License-Identifier: Apache-2.0 */
/* Source lines and instructions at addresses, for output with millions of lines: each address is looked up
 * once, as long as the cache has room. */
#pragma once

#include <stdbool.h>

#include "format/code_names.h"

/* room for the longest text of an instruction, with its NUL */
#define CT_CODE_INSN 192

/* An instruction with its source line. */
struct ct_code_line {
    const char *file;        /* source file; NULL: unknown, or not wanted */
    uint32_t line;           /* 0: unknown */
    uint8_t size;            /* in bytes; 0: memory cannot be read, or is not wanted */
    char insn[CT_CODE_INSN]; /* disassembled; empty when `size` is 0 */
};

/* The address of an instruction. */
struct ct_code_address {
    uint64_t addr;
    const struct ct_source *source; /* the source whose trace has the address */
    uint32_t memory;                /* ct_node.memory */
    uint32_t space;                 /* enum ct_space; 0: unknown, searches all */
    uint8_t isa;                    /* enum ct_isa; UNKNOWN: as the symbols say */
};

/* Returns whether both are the same address with the same instruction set. */
static inline bool ct_code_address_same(const struct ct_code_address *a, const struct ct_code_address *b)
{
    return a->addr == b->addr && a->source == b->source && a->memory == b->memory && a->space == b->space &&
           a->isa == b->isa;
}

struct ct_code_text_options {
    const struct ct_capture *capture; /* its memory is read before that of files; NULL: none */
    bool lines;                       /* find source lines */
    bool insns;                       /* find instructions */
};

struct ct_code_text;

/* Makes an object that uses the programs of `names`, which must outlive it. CT_ERR_NOMEM. */
int ct_code_text_new(struct ct_code_names *names, const struct ct_code_text_options *options,
                     struct ct_code_text **out);
void ct_code_text_free(struct ct_code_text *code);

/* Finds the source line and instruction at an address, valid until the next call. CT_ERR_NOMEM, the errors of
 * ct_code_names_find. */
int ct_code_text_find(struct ct_code_text *code, const struct ct_code_address *at,
                      const struct ct_code_line **out);

/* Appends "file:12" for a line with tabs, or nothing when the source is unknown. */
void ct_code_source_put(struct ct_text *text, enum ct_address_style style, const struct ct_code_line *line);
