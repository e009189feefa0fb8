/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/capture_list.h"

#include <string.h>

/* Reads the digits at *at, which end with a space, and moves behind it. */
static bool read_size(const char **at, const char *end, uint64_t *size)
{
    const char *digit = *at;
    for (*size = 0; digit < end && *digit >= '0' && *digit <= '9'; digit++) {
        const unsigned value = (unsigned)(*digit - '0');
        if (*size > (UINT64_MAX - value) / 10)
            return false;
        *size = 10 * *size + value;
    }
    const bool fine = digit > *at && digit < end && *digit == ' ';
    *at = digit + fine;
    return fine;
}

bool ct_capture_list_next(const char **at, const char *end, struct ct_fleet_capture *out)
{
    const char *path = *at + CT_FLEET_DIGEST;
    *out = (struct ct_fleet_capture){0};
    if (end - *at < CT_FLEET_DIGEST || !read_size(&path, end, &out->size))
        return false;
    const char *zero = memchr(path, 0, (size_t)(end - path));
    if (!zero || zero == path)
        return false;
    memcpy(out->digest, *at, sizeof out->digest);
    out->path = path;
    *at = zero + 1;
    return true;
}
