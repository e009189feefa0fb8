/* SPDX-License-Identifier: Apache-2.0 */
/* What has to hold in a property: the function that it is in says what did not, and returns 0. */
#ifndef CT_TEST_REQUIRE_H
#define CT_TEST_REQUIRE_H

#include <stdio.h>

#define REQUIRE(what)                                                                                        \
    do {                                                                                                     \
        if (!(what)) {                                                                                       \
            printf("# %s:%d: %s\n", __FILE__, __LINE__, #what);                                              \
            return 0;                                                                                        \
        }                                                                                                    \
    } while (0)

#endif
