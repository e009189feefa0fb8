/* SPDX-License-Identifier: Apache-2.0 */
/* Makes TEST_WITH give each test a context. */
#pragma once

#include "coretap/base.h"
#include "support/unit.h"

static int ctx_begin(void **state)
{
    *state = ct_ctx_new();
    return *state ? 0 : -1;
}

static int ctx_end(void **state)
{
    ct_ctx_free(*state);
    return 0;
}

FIXTURE(struct ct_ctx, ctx_begin, ctx_end);
