/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a listing as JSON objects, one a line. They are converted from the lines of text, so that both
 * have the same content. */
#pragma once

#include <stdbool.h>

#include "coretap/input.h"
#include "format/text.h"

struct ct_listing_json {
    struct ct_text lines;           /* lines of text to be converted */
    const char *buffer;             /* the buffer of the lines; NULL: unknown */
    const struct ct_source *source; /* source of elements; NULL for packets */
    bool symbols, insns;            /* columns of lines of code */
};

/* Makes an object without lines. Returns NULL when out of memory. */
struct ct_listing_json *ct_listing_json_new(void);
void ct_listing_json_free(struct ct_listing_json *json);

/* Appends the objects of all complete lines to `out`. */
void ct_listing_json_put(struct ct_listing_json *json, struct ct_text *out);
