/* SPDX-License-Identifier: Apache-2.0 */
/* The times of threads in captures that have ended, for a report of several. */
#pragma once

#include "base/pair_map.h"
#include "coretap/stacks.h"
#include "format/report_page.h"

/* The identity of a function across captures. */
struct ct_report_key {
    uint32_t program; /* index in `programs`, or CT_STACK_NONE */
    uint64_t addr;    /* address in the file; as executed when in no program; UINT64_MAX in no function */
};

/* The threads. All zeros is an empty list. */
struct ct_report_kept {
    struct ct_report_threads threads; /* functions in their trees are indices into `keys` */
    struct ct_report_key *keys;
    size_t key_count, key_room;
    struct ct_program **programs; /* borrowed */
    size_t program_count;
    struct ct_pair_map numbers; /* maps (address, program) to a key */
};

/* Adds the threads of stacks that have ended, with programs at `places`. Keeps the threads with the most
 * time. `stream_of` and `cycles` are as for ct_report_threads_make. CT_ERR_NOMEM. */
int ct_report_kept_add(struct ct_report_kept *kept, const struct ct_stacks *stacks,
                       const struct ct_program_place *places, const uint32_t *stream_of, bool cycles);

void ct_report_kept_free(struct ct_report_kept *kept);
