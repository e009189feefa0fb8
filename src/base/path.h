/* SPDX-License-Identifier: Apache-2.0 */
/* Paths as text. */
#pragma once

#include <stdbool.h>
#include <string.h>

/* Returns the last component of a path. */
static inline const char *ct_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Returns whether the last components of two paths are equal. */
static inline bool ct_same_base_name(const char *a, const char *b)
{
    return strcmp(ct_base_name(a), ct_base_name(b)) == 0;
}
