/* SPDX-License-Identifier: Apache-2.0 */
/* Several specifications as one. Equal inputs and equal streams are there once; an event runs one program,
 * and not one for each specification. Made of specifications that have not begun, or of runs that are at the
 * same instant: then equal streams are one where they hold the same, because from there on they always will.
 */
#ifndef CT_MONITOR_JOINT_H
#define CT_MONITOR_JOINT_H

#include "monitor/state.h"

/* A specification that is to be part of a joint one. */
struct ct_mon_part {
    const struct ct_monitor_spec *spec;
    const uint32_t *inputs;       /* by its input: that of the joint */
    const struct ct_monitor *run; /* has its state: its own run, or that of a joint; NULL: has not begun */
    const uint32_t *streams;      /* by its stream: that of `run`; NULL: the same */
    const uint32_t *run_inputs;   /* by its input: that of `run`; NULL: the same */
    /* filled in: */
    bool left_out;         /* its inputs hold something else than those of the parts before */
    uint32_t *joined;      /* by its stream: that of the joint. Belongs to the joint */
    uint32_t first_output; /* the joint's number of its first output */
};

/* Tells whether a specification may be part of a joint one: its values are numbers, truths, texts, and no
 * function calls itself. */
bool ct_mon_joint_fits(const struct ct_monitor_spec *spec);

/* What of the instants of others a specification sees: two with different ones may not be parts of one. */
enum ct_mon_instants {
    INSTANTS_OF_INPUTS, /* nothing: it goes with any of the two others */
    INSTANTS_OWN,       /* the specification makes instants of its own */
    INSTANTS_ALL,       /* the specification counts all instants */
    INSTANTS_BOTH,      /* the specification does both, so that it can be part of no joint */
};
enum ct_mon_instants ct_mon_joint_instants(const struct ct_monitor_spec *spec);

/* Makes one specification of several, with `inputs` inputs. NULL: no memory, or it would be too large. Free
 * it with ct_monitor_spec_free; the parts' specifications stay alive as long. */
struct ct_monitor_spec *ct_mon_joint_new(struct ct_mon_part *parts, size_t count, uint32_t inputs);

/* Makes a run of a joint specification go on where its parts are. False: no memory. */
bool ct_mon_joint_take(const struct ct_monitor_spec *joint, struct ct_monitor *run);

/* Releases what a joint specification points into. */
void ct_mon_joint_release(struct ct_mon_joint *joint);

#endif
