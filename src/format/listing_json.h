/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a listing as objects of JSON, one a line. They are made of the lines of text, so that both say the
 * same. */
#ifndef CT_FORMAT_LISTING_JSON_H
#define CT_FORMAT_LISTING_JSON_H

#include <stdbool.h>

#include "coretap/input.h"
#include "format/text.h"

struct ct_listing_json {
    struct ct_text lines;           /* of text, until they are objects */
    const char *buffer;             /* that they are of; NULL: not known */
    const struct ct_source *source; /* whose elements they are; NULL: they are packets */
    bool symbols, insns;            /* columns that lines of code have */
};

/* Makes an object without lines. NULL without memory. */
struct ct_listing_json *ct_listing_json_new(void);
void ct_listing_json_free(struct ct_listing_json *json);

/* Appends the objects of all lines that are over to `out`. */
void ct_listing_json_put(struct ct_listing_json *json, struct ct_text *out);

#endif
