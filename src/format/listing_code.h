/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of code below those of elements: name of the address, source line, and instruction
 * (docs/listing.md). */
#pragma once

#include "coretap/format.h"
#include "format/code_text.h"

/* Cached lines of code, because the same ranges run again and again. */
struct ct_code_lines {
    struct ct_code_address at; /* first instruction */
    uint64_t end;
    uint32_t size; /* of the text; 0: empty */
    uint32_t room;
    char *text;
};

#define CT_CODE_LINES_BITS 12

struct ct_listing_code {
    struct ct_code_names names;
    struct ct_code_text *text;
    bool symbols, insns; /* lines have names and source; lines have instructions */
    int result;          /* the first error; later lines are not written */
    uint32_t renewals;   /* of `names`, when the cache was last cleared */
    struct ct_code_lines kept[1u << CT_CODE_LINES_BITS];
};

/* Makes a writer of lines of code. CT_ERR_NOMEM, the other errors of ct_code_names_open. */
int ct_listing_code_new(struct ct_ctx *ctx, const struct ct_lister_code_options *options,
                        struct ct_listing_code **out);
void ct_listing_code_free(struct ct_listing_code *code);

/* Appends the lines of a record from the trace of `source`, read in `memory`. */
void ct_list_code(struct ct_listing_code *code, struct ct_text *text, const struct ct_source *source,
                  uint32_t memory, const struct ct_flow *record);
