/* SPDX-License-Identifier: Apache-2.0 */
/* The writer of JSON, for code with an open file. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "coretap/json.h"

/* A writer of JSON. All zeros except `out` is a valid one. */
struct ct_json {
    FILE *out;
    unsigned depth;
    bool first;         /* nothing was written at this depth yet */
    bool script;        /* as in struct ct_json_options */
    struct ct_out *own; /* set by ct_json_new: the stream behind `out` */
};

/* Writes an address as a string, because numbers of JSON do not hold all of them exactly. */
void ct_json_address(struct ct_json *json, const char *key, uint64_t addr);

/* Passes a text to a receiver as the inside of a JSON string. Returns the receiver's result. */
int ct_json_write(const char *text, bool script, ct_write_fn *write, void *user);
