/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a condition of a property: when it does not hold, REQUIRE prints it and returns 0 from the function
 * that it is in. */
#pragma once

#include <stdio.h>

#define REQUIRE(what)                                                                                        \
    do {                                                                                                     \
        if (!(what)) {                                                                                       \
            printf("# %s:%d: %s\n", __FILE__, __LINE__, #what);                                              \
            return 0;                                                                                        \
        }                                                                                                    \
    } while (0)
