/* SPDX-License-Identifier: Apache-2.0 */
/* States of memory: the versions of changing code that are current at the same time. Each piece of trace
 * belongs to one state. */
#pragma once

#include "record/code.h"

#define CT_STATES_MAX 1024

struct ct_states;

/* Makes the list of states. State 0 has the first version of everything. CT_ERR_NOMEM. */
int ct_states_new(struct ct_ctx *ctx, struct ct_code *code, struct ct_states **out);
void ct_states_free(struct ct_states *states);

/* Finds the number of a view's current state; CT_STATES_MAX when there are too many. CT_ERR_NOMEM. */
int ct_states_find(struct ct_states *states, const struct ct_code_view *view, uint32_t *number);

/* Sets a view back to a state. */
void ct_states_restore(const struct ct_states *states, uint32_t number, struct ct_code_view *view);

uint32_t ct_states_count(const struct ct_states *states);

/* Returns the version of a place in a state. */
uint32_t ct_states_version(const struct ct_states *states, uint32_t number,
                           const struct ct_code_place *place);

/* Returns whether the version of a place differs between states. */
bool ct_states_differ(const struct ct_states *states, const struct ct_code_place *place);
