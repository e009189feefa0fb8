/* SPDX-License-Identifier: Apache-2.0 */
/* Finds timestamps of a source, in a pass of its own over its buffer. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "coretap/merge.h"

/* What a search for a timestamp found. */
struct ct_found_time {
    uint64_t time; /* value of the timestamp; 0 when there is none */
    bool found;
    bool has_trace; /* there is a byte of the source */
};

/* Finds the first timestamp of a source that is not before `least`. The errors of ct_chain_new and
 * ct_chain_run, with which *out is what was found before them. */
int ct_find_time(struct ct_ctx *ctx, const struct ct_merge_source *source, uint64_t least,
                 struct ct_found_time *out);
