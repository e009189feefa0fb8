/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the layout of a file in memory. */
#pragma once

#include "coretap/program.h"

/* Like ct_layout_load, from the bytes of a file that is called `name` in messages. */
int ct_layout_make(struct ct_ctx *ctx, const char *name, const void *bytes, size_t size, uint64_t bias,
                   struct ct_layout **out);
