/* SPDX-License-Identifier: Apache-2.0 */
/* States of memory: which versions of code that changes were in force at the same time. Each piece of trace
 * is of one state. */
#ifndef CT_RECORD_STATES_H
#define CT_RECORD_STATES_H

#include "record/code.h"

#define CT_STATES_MAX 1024

struct ct_states;

/* Makes the list of states. State 0 has the first version of everything. CT_ERR_NOMEM. */
int ct_states_new(struct ct_ctx *ctx, struct ct_code *code, struct ct_states **out);
void ct_states_free(struct ct_states *states);

/* Finds the number of the state that a view is in now, or CT_STATES_MAX when there are too many.
 * CT_ERR_NOMEM. */
int ct_states_find(struct ct_states *states, const struct ct_code_view *view, uint32_t *number);

/* Puts a view back into a state. */
void ct_states_restore(const struct ct_states *states, uint32_t number, struct ct_code_view *view);

uint32_t ct_states_count(const struct ct_states *states);

/* Gives the version of a place in a state. */
uint32_t ct_states_version(const struct ct_states *states, uint32_t number,
                           const struct ct_code_place *place);

/* Tells whether a place has different versions in some states. */
bool ct_states_differ(const struct ct_states *states, const struct ct_code_place *place);

#endif
