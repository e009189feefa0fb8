/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary files made of given bytes. */
#pragma once

#include <stdio.h>

/* Makes a file of these bytes, which exists as long as it is open, and sets `path`. Returns NULL when that
 * fails. */
static inline FILE *test_file(const void *bytes, size_t size, char path[40])
{
    FILE *opened = tmpfile();
    if (opened && (fwrite(bytes, size, 1, opened) != 1 || fflush(opened))) {
        fclose(opened);
        return NULL;
    }
    snprintf(path, 40, "/proc/self/fd/%d", opened ? fileno(opened) : -1);
    return opened;
}
