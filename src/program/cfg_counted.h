/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that count the rounds of loops: the tests and counters of one loop (cfg_counted.c), and
 * the numbers that a value can have when it depends on an outer loop or on a caller (cfg_numbers.c). */
#pragma once

#include "program/cfg_values.h"

#define CT_NUMBERS_PROGRESSIONS 128

/* The numbers first + k * by for each k below count. */
struct ct_progression {
    uint64_t first, by;
    uint32_t count;
};

/* All numbers that something can be; others may be among them. */
struct ct_numbers {
    struct ct_progression at[CT_NUMBERS_PROGRESSIONS];
    uint32_t count;
};

/* What may still be spent on one loop. */
struct ct_effort {
    uint32_t turns; /* iterations that are tried */
    uint32_t depth; /* loops and calls around it that are looked at */
};

/* Finds the numbers that the x of `value` (struct ct_value) can be when execution reaches block `where` of a
 * function: with a constant, itself; of a counter of a loop around, those that it counts; of an argument,
 * those of all calls. Returns false when the code does not show them. */
bool ct_numbers_of(const struct ct_cfg *cfg, const struct ct_value *value, uint32_t where, bool is_wide,
                   struct ct_effort *effort, struct ct_numbers *out);

/* Adds a progression, unless another one has all of its numbers. Returns false when there are too many. */
bool ct_numbers_add(struct ct_numbers *numbers, struct ct_progression run);

/* Finds the numbers that the counter `value` of a loop has at its head, in the iterations that reach block
 * `where`. */
bool ct_counter_numbers(const struct ct_cfg *cfg, const struct ct_value *value, uint32_t where, bool is_wide,
                        struct ct_effort *effort, struct ct_numbers *out);
