/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the states of two runs by stream, and continues a state in a run of another specification that has
 * the same streams. Only for specifications with plain values (ct_mon_joint_fits). */
#pragma once

#include "monitor/run.h"

/* A stream or an input of a run, by its number in the run's specification. `run` is NULL when nothing has run
 * yet. */
struct ct_mon_place {
    const struct ct_monitor *run;
    uint32_t number;
};

/* Returns whether two equal streams hold the same value and always will for equal events. */
bool ct_mon_state_same(const struct ct_mon_place *a, const struct ct_mon_place *b);

/* Returns whether the values that two inputs of open instants held before are equal, as far as both are
 * known. */
bool ct_mon_state_same_before(const struct ct_mon_place *a, const struct ct_mon_place *b);

/* Returns whether two runs are at the same instant, so that one run could replace both. */
bool ct_mon_state_agree(const struct ct_monitor *a, const struct ct_monitor *b);

/* Makes a run continue from the states of others: `streams` and `inputs` say whose state each of its streams
 * and inputs takes over, `clock` at which instant. Forgets what the run held itself. Returns false when out
 * of memory. */
bool ct_mon_state_take(struct ct_monitor *to, const struct ct_mon_place *streams,
                       const struct ct_mon_place *inputs, const struct ct_monitor *clock);
