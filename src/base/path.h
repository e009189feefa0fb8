/* SPDX-License-Identifier: Apache-2.0 */
/* Paths as text. */
#ifndef CT_BASE_PATH_H
#define CT_BASE_PATH_H

#include <string.h>

/* Returns the last part of a path. */
static inline const char *ct_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

#endif
