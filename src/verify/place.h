/* SPDX-License-Identifier: Apache-2.0 */
/* The places that feed inputs, and their cores. */
#pragma once

#include "verify/verify.h"

#define CT_VERIFY_PLACE_MAX 512 /* bytes of a place, including the NUL */

/* core number for "@each": a separate run for each core */
#define CT_VERIFY_EACH_CORE (UINT32_MAX - 1)

/* Returns the place of an input: from its binding, its source, or its name. The text may be in `room`. NULL:
 * it has no place. */
const char *ct_verify_place_of(const struct ct_monitor_stream *in, const struct ct_verify_bind *binds,
                               size_t count, char room[CT_VERIFY_PLACE_MAX]);

/* Cuts the core off a place; the rest is then in `room`. Returns the core's number, CT_VERIFY_EACH_CORE, or
 * CT_VERIFY_ANY_CORE when there is no core: text after an @ may also be part of a symbol's name. */
uint32_t ct_verify_place_core(const struct ct_verifier *v, const char **place,
                              char room[CT_VERIFY_PLACE_MAX]);

/* Adds to the error of a place that was not found that its core does not exist. Returns rc. */
int ct_verify_no_core(const struct ct_verifier *v, const char *place, int rc);
