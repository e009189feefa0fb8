/* SPDX-License-Identifier: Apache-2.0 */
/* What an address is called, for lines of which there are millions: found once and then looked up. */
#ifndef CT_FORMAT_ADDRESS_NAME_H
#define CT_FORMAT_ADDRESS_NAME_H

#include <stdbool.h>

#include "coretap/stacks.h"
#include "format/text.h"

/* "function+0x10", "function" at its begin, or "module+0x1234" where no function has a name. */
struct ct_address_name {
    const char *label; /* of the function or module; NULL: no program has code there */
    uint64_t offset;
    uint32_t size; /* of the label */
    bool is_place; /* in a module: the offset stands there even when it is 0 */
    bool is_plain; /* no byte of the label has to be escaped in any format, and it is short */
};

struct ct_address_names;

/* CT_ERR_NOMEM. */
int ct_address_names_new(struct ct_ctx *ctx, struct ct_address_names **out);
void ct_address_names_free(struct ct_address_names *names);

/* Sets the programs, which are borrowed. Of several that have an address the first counts. */
void ct_address_names_set(struct ct_address_names *names, const struct ct_program_place *programs,
                          size_t count);

/* The name of an address in a memory (ct_node.memory), there until the next call. */
const struct ct_address_name *ct_address_names_find(struct ct_address_names *names, uint64_t addr,
                                                    uint32_t memory);

/* How a name stands in a line. */
enum ct_address_style {
    CT_ADDRESS_TSV,  /* control characters are spaces */
    CT_ADDRESS_CSV,  /* as before, inside quotes, which are doubled */
    CT_ADDRESS_JSON, /* inside of a string */
};

/* Writes "label+0x10"; there is room for CT_TEXT_LINE bytes before and afterwards. */
void ct_address_name_put(struct ct_text *text, enum ct_address_style style,
                         const struct ct_address_name *name);

#endif
