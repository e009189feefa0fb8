/* SPDX-License-Identifier: Apache-2.0 */
/* What compiling a specification tells: errors and warnings with their places, inputs and what feeds them,
 * outputs. */
#ifndef CT_LIVE_CHECK_H
#define CT_LIVE_CHECK_H

#include "coretap/json.h"
#include "coretap/verify.h"

/* Writes the members "diagnostics" and, of a specification without errors, "inputs" and "outputs". */
void ct_live_put_check(struct ct_json *json, const struct ct_monitor_spec *spec);

#endif
