/* SPDX-License-Identifier: Apache-2.0 */
/* Combines the names of several programs in one list. */
#pragma once

#include "coretap/fractal_names.h"

/* bits 63:56 of an address are a key when a log has several programs: the number of the process, or 0 for the
 * first program */
#define CT_FRACTAL_KEY_BITS 56

/* Adds the names of another program for addresses of a process, as "N:name". All regions must have been
 * added. `other` must outlive `names`. Error: CT_ERR_NOMEM. */
int ct_fractal_names_join(struct ct_fractal_names *names, const struct ct_fractal_names *other,
                          uint8_t process);

/* Returns the address of an event with its key, for ct_fractal_names_at. */
uint64_t ct_fractal_log_key(const struct ct_fractal_log *log, const struct ct_fractal_event *event);

/* Returns the names of an event's process. Their addresses have no keys. */
const struct ct_fractal_names *ct_fractal_log_names_of(const struct ct_fractal_log *log,
                                                       const struct ct_fractal_event *event);
