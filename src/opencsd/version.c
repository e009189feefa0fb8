/* SPDX-License-Identifier: Apache-2.0 */
/* The version of OpenCSD that the program was built for, returned when the program asks the library. */
#include <stdio.h>

#include "opencsd/layout.h"

uint32_t ocsd_get_version(void)
{
    return ct_ocsd_version();
}

const char *ocsd_get_version_str(void)
{
    static _Thread_local char text[16];
    const uint32_t version = ct_ocsd_version();
    snprintf(text, sizeof text, "%u.%u.%u", version >> 16, version >> 8 & 0xff, version & 0xff);
    return text;
}
