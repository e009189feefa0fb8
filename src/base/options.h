/* SPDX-License-Identifier: Apache-2.0 */
/* Options structs of the public headers, which callers of any version fill in. */
#pragma once

#include <stddef.h>

#include "coretap/base.h"

/* Copies the options struct at `options`, which begins with its own size, to the `size` bytes at `into`.
 * Members that the caller's version lacks become zero; NULL stands for a struct of zeros. In `into` the size
 * is that of this version. CT_ERR_ARG: the size is missing or impossible, or members are set that this
 * version does not know. `who` is the function, for the message. */
int ct_options_read(struct ct_ctx *ctx, const char *who, const void *options, void *into, size_t size);
