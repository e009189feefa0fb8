/* SPDX-License-Identifier: Apache-2.0 */
/* Random specifications with streams of Ints. The first streams are inputs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coretap/monitor.h"

enum {
    SPEC_INPUTS = 2,
    SPEC_STREAMS = 9, /* all but the inputs are outputs, in this order */
    SPEC_TEXT = 8000,
};

/* Returns the next number of the random sequence whose state is *seed. */
uint32_t spec_random(uint32_t *seed);

/* Writes a specification of streams s0, s1, ... into `text`, of SPEC_TEXT bytes, and returns its length. Sets
 * signals[i] where stream i outputs the changes of its held value. */
size_t random_spec(uint32_t seed, char *text, bool signals[SPEC_STREAMS]);

/* Makes random events of all inputs from `time` to `until`, with values of -1 to 2. Returns how many. */
size_t spec_events(uint32_t *seed, uint64_t time, uint64_t until, struct ct_monitor_event *events);
