/* SPDX-License-Identifier: Apache-2.0 */
#include "coretap/base.h"

#define CT_STR(x)  #x
#define CT_XSTR(x) CT_STR(x)

const char *ct_version(void)
{
    return CT_XSTR(CT_VERSION_MAJOR) "." CT_XSTR(CT_VERSION_MINOR) "." CT_XSTR(CT_VERSION_PATCH);
}

const char *ct_error_name(int code)
{
    switch (code) {
    case CT_OK:
        return "CT_OK";
    case CT_ERR_ARG:
        return "CT_ERR_ARG";
    case CT_ERR_NOMEM:
        return "CT_ERR_NOMEM";
    case CT_ERR_IO:
        return "CT_ERR_IO";
    case CT_ERR_FORMAT:
        return "CT_ERR_FORMAT";
    case CT_ERR_CONFIG:
        return "CT_ERR_CONFIG";
    case CT_ERR_UNSUPPORTED:
        return "CT_ERR_UNSUPPORTED";
    case CT_ERR_LIMIT:
        return "CT_ERR_LIMIT";
    case CT_ERR_NOT_FOUND:
        return "CT_ERR_NOT_FOUND";
    default:
        return "unknown error";
    }
}
