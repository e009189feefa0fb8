/* SPDX-License-Identifier: Apache-2.0 */
/* The places that feed inputs, and the cores that they are of. */
#ifndef CT_VERIFY_PLACE_H
#define CT_VERIFY_PLACE_H

#include "verify/verify.h"

#define CT_VERIFY_PLACE_MAX 512 /* bytes of a place, with its NUL */

/* what stands for a core behind an @: each of them, in a run of its own */
#define CT_VERIFY_EACH_CORE (UINT32_MAX - 1)

/* Returns the place of an input: that of its binding, of its source, or that its name stands for. It may be
 * in `room`. NULL: there is none. */
const char *ct_verify_place_of(const struct ct_monitor_stream *in, const struct ct_verify_bind *binds,
                               size_t count, char room[CT_VERIFY_PLACE_MAX]);

/* Cuts the core off a place, which then stands in `room`. Result: its number, CT_VERIFY_EACH_CORE, or
 * CT_VERIFY_ANY_CORE when there is none: what is behind an @ may be part of a symbol's name, too. */
uint32_t ct_verify_place_core(const struct ct_verifier *v, const char **place,
                              char room[CT_VERIFY_PLACE_MAX]);

/* Says of a place that is not found, and may have a core, that there is no such core. Returns rc. */
int ct_verify_no_core(const struct ct_verifier *v, const char *place, int rc);

#endif
