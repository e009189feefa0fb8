/* SPDX-License-Identifier: Apache-2.0 */
/* Names of addresses, for output with millions of lines: each is searched once and then found in a cache. */
#pragma once

#include <stdbool.h>

#include "coretap/stacks.h"
#include "format/text.h"

/* The name of an address: "function+0x10", "function" at its start, or "module+0x1234" outside of named
 * functions. */
struct ct_address_name {
    const char *label; /* the function or module; NULL when no program has code there */
    uint64_t offset;
    uint32_t size; /* bytes of the label */
    bool is_place; /* the label is a module; its offset is written even when 0 */
    bool is_plain; /* the label is short, and no byte needs escaping in any format */
};

struct ct_address_names;

/* Makes an object without programs. CT_ERR_NOMEM. */
int ct_address_names_new(struct ct_ctx *ctx, struct ct_address_names **out);
void ct_address_names_free(struct ct_address_names *names);

/* Sets the programs, which are borrowed. When several contain an address, the first one names it. */
void ct_address_names_set(struct ct_address_names *names, const struct ct_program_place *programs,
                          size_t count);

/* Returns the name of an address in a memory (ct_node.memory), valid until the next call. */
const struct ct_address_name *ct_address_names_find(struct ct_address_names *names, uint64_t addr,
                                                    uint32_t memory);

/* The format in which a name is written. */
enum ct_address_style {
    CT_ADDRESS_TSV,  /* control characters become spaces */
    CT_ADDRESS_CSV,  /* inside of quotes, which are doubled; control characters become spaces */
    CT_ADDRESS_JSON, /* inside of a string */
};

/* Appends "label+0x10". Requires room for CT_TEXT_LINE bytes, and leaves as much. */
void ct_address_name_put(struct ct_text *text, enum ct_address_style style,
                         const struct ct_address_name *name);
