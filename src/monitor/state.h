/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a run, stream by stream: comparing it, and going on with it in another run, of another
 * specification that has the same streams. Only specifications of plain values (ct_mon_joint_fits). */
#ifndef CT_MONITOR_STATE_H
#define CT_MONITOR_STATE_H

#include "monitor/run.h"

/* A stream or an input of a run, by its number in the run's specification. `run` is NULL where nothing has
 * run yet. */
struct ct_mon_place {
    const struct ct_monitor *run;
    uint32_t number;
};

/* Tells whether two equal streams hold the same and will do so for equal events. */
bool ct_mon_state_same(const struct ct_mon_place *a, const struct ct_mon_place *b);

/* Tells whether what two inputs of open instants held before is the same, as far as both know it. */
bool ct_mon_state_same_before(const struct ct_mon_place *a, const struct ct_mon_place *b);

/* Tells whether two runs are at the same instant, so that one run could do what both of them do. */
bool ct_mon_state_agree(const struct ct_monitor *a, const struct ct_monitor *b);

/* Makes a run go on where others are: `streams` and `inputs` say of each of its streams and inputs whose
 * state it takes over, `clock` at which instant. What it held itself is forgotten. False: no memory. */
bool ct_mon_state_take(struct ct_monitor *to, const struct ct_mon_place *streams,
                       const struct ct_mon_place *inputs, const struct ct_monitor *clock);

#endif
