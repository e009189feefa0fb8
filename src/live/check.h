/* SPDX-License-Identifier: Apache-2.0 */
/* Reports the result of compiling a specification: errors and warnings with their places, inputs and their
 * sources, outputs. */
#pragma once

#include "coretap/json.h"
#include "coretap/verify.h"

/* Writes the member "diagnostics" and, for a specification without errors, "inputs" and "outputs". */
void ct_live_put_check(struct ct_json *json, const struct ct_monitor_spec *spec);
