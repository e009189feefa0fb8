/* SPDX-License-Identifier: Apache-2.0 */
/* Random specifications of Int streams, the first of which are inputs. */
#ifndef RANDOM_SPEC_H
#define RANDOM_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SPEC_INPUTS = 2,
    SPEC_STREAMS = 9, /* all but the inputs are outputs, in this order */
    SPEC_TEXT = 8000,
};

/* Gives the next number of a row that the seed begins. */
uint32_t spec_random(uint32_t *seed);

/* Writes a specification of streams s0, s1, ... into `text`, of SPEC_TEXT bytes. signals[i] is set where
 * stream i puts out the changes of what it holds. Result: its length. */
size_t random_spec(uint32_t seed, char *text, bool signals[SPEC_STREAMS]);

#endif
