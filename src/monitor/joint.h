/* SPDX-License-Identifier: Apache-2.0 */
/* Joins several specifications into one, in which equal inputs and equal streams exist once. An event then
 * runs one program instead of one per specification. The parts have not begun, or their runs are at the same
 * instant; in the latter case equal streams are joined only if they hold the same value, because then they
 * always will. */
#pragma once

#include "monitor/state.h"

/* A specification that becomes part of a joint one. */
struct ct_mon_part {
    const struct ct_monitor_spec *spec;
    const uint32_t *inputs;       /* by its input: the input of the joint */
    const struct ct_monitor *run; /* run that has its state, its own or that of a joint; NULL: it has not
                                   * begun */
    const uint32_t *streams;      /* by its stream: the stream of `run`; NULL: the same numbers */
    const uint32_t *run_inputs;   /* by its input: the input of `run`; NULL: the same numbers */
    /* results: */
    bool left_out;         /* its inputs hold other values than those of earlier parts */
    uint32_t *joined;      /* by its stream: the stream of the joint. Owned by the joint */
    uint32_t first_output; /* number of its first output in the joint */
};

/* Returns whether a specification can be part of a joint one: its values are numbers, truth values or texts,
 * and no function is recursive. */
bool ct_mon_joint_fits(const struct ct_monitor_spec *spec);

/* Which instants of other parts a specification can observe. Parts of different kinds cannot be joined. */
enum ct_mon_instants {
    INSTANTS_OF_INPUTS, /* none: can be joined with either of the next two */
    INSTANTS_OWN,       /* the specification creates instants of its own */
    INSTANTS_ALL,       /* the specification counts all instants */
    INSTANTS_BOTH,      /* the specification does both, so it cannot be joined */
};
enum ct_mon_instants ct_mon_joint_instants(const struct ct_monitor_spec *spec);

/* Makes one specification with `inputs` inputs from several. NULL: out of memory, or it would be too large.
 * Free it with ct_monitor_spec_free; the parts' specifications stay alive until then. */
struct ct_monitor_spec *ct_mon_joint_new(struct ct_mon_part *parts, size_t count, uint32_t inputs);

/* Makes a run of a joint specification continue from the states of its parts. Returns false when out of
 * memory. */
bool ct_mon_joint_take(const struct ct_monitor_spec *joint, struct ct_monitor *run);

/* Releases the specifications that a joint specification points into. */
void ct_mon_joint_release(struct ct_mon_joint *joint);
