/* SPDX-License-Identifier: Apache-2.0 */
/* Results that are an array of an object. */
#pragma once

#include "base/ctx.h"

/* Returns the member `array` of an object, and sets *count to its member `length`: NULL and 0 when `object`
 * or `count` is null. */
#define CT_ARRAY_OF(object, array, length, count)                                                            \
    (ct_no_array(object, count) ? NULL : (*(count) = (object)->length, (object)->array))
