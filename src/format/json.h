/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the JSON that is written, for code that has a file to write it to. */
#ifndef CT_FORMAT_JSON_H
#define CT_FORMAT_JSON_H

#include <stdbool.h>
#include <stdio.h>

#include "coretap/json.h"

/* With `out` alone it is ready to write. */
struct ct_json {
    FILE *out;
    unsigned depth;
    bool first;         /* nothing was written yet at this depth */
    bool script;        /* as in struct ct_json_options */
    struct ct_out *own; /* of ct_json_new, whose file `out` is */
};

/* Gives a text as it stands inside of a string to a receiver. Returns what the receiver did. */
int ct_json_write(const char *text, bool script, ct_write_fn *write, void *user);

#endif
