/* SPDX-License-Identifier: Apache-2.0 */
/* States of memory: which versions of the code that changed were in force at the same time. A piece of trace
 * is of one of them. */
#ifndef CT_RECORD_STATES_H
#define CT_RECORD_STATES_H

#include "record/code.h"

#define CT_STATES_MAX 1024

struct ct_states;

/* The first state, number 0, has the first version of everything. */
int ct_states_new(struct ct_ctx *ctx, struct ct_code *code, struct ct_states **out);
void ct_states_free(struct ct_states *states);

/* Number of the state that a view is in now; CT_STATES_MAX when there are too many. CT_ERR_NOMEM. */
int ct_states_find(struct ct_states *states, const struct ct_code_view *view, uint32_t *number);

/* Puts a view back into a state. */
void ct_states_restore(const struct ct_states *states, uint32_t number, struct ct_code_view *view);

uint32_t ct_states_count(const struct ct_states *states);

/* The version of a place in a state. */
uint32_t ct_states_version(const struct ct_states *states, uint32_t number,
                           const struct ct_code_place *place);

/* Whether states differ in it. */
bool ct_states_differ(const struct ct_states *states, const struct ct_code_place *place);

#endif
