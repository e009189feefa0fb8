/* SPDX-License-Identifier: Apache-2.0 */
/* The object that writes JSON, for code that has a file to write to. */
#ifndef CT_FORMAT_JSON_H
#define CT_FORMAT_JSON_H

#include <stdbool.h>
#include <stdio.h>

#include "coretap/json.h"

/* A writer of JSON. With `out` set and all else zero it is ready. */
struct ct_json {
    FILE *out;
    unsigned depth;
    bool first;         /* nothing was written at this depth yet */
    bool script;        /* as in struct ct_json_options */
    struct ct_out *own; /* of ct_json_new: the stream behind `out` */
};

/* Writes an address: a string, because numbers of JSON do not hold all of them exactly. */
void ct_json_address(struct ct_json *json, const char *key, uint64_t addr);

/* Gives a text to a receiver as it stands inside of a string. Returns what the receiver did. */
int ct_json_write(const char *text, bool script, ct_write_fn *write, void *user);

#endif
