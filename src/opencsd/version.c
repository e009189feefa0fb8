/* SPDX-License-Identifier: Apache-2.0 */
/* The version of OpenCSD whose interface and behaviour this is. */
#include <opencsd/c_api/opencsd_c_api.h>

uint32_t ocsd_get_version(void)
{
    return OCSD_VER_NUM;
}

const char *ocsd_get_version_str(void)
{
    return OCSD_VER_STRING;
}
