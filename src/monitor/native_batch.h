/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "monitor/native_emit.h"

enum {
    BATCH_INPUTS = 64, /* most inputs */
};

/* Compiles a function (native_batch_fn) called `name`, unless the programs need the bytecode or are too long.
 * Returns false when out of memory. */
bool ct_mon_native_batch(const struct ct_mon_jit_api *jit, gcc_jit_context *ctx,
                         const struct ct_mon_program *p, const char *name);
