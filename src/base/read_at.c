/* SPDX-License-Identifier: Apache-2.0 */
#include "base/read_at.h"

#include <errno.h>
#include <unistd.h>

ssize_t ct_read_at(int fd, void *bytes, size_t size, uint64_t offset)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t n = pread(fd, (char *)bytes + done, size - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

int ct_write_all(int fd, const void *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        const ssize_t done = write(fd, (const char *)bytes + at, size - at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done ? errno : ENOSPC;
        at += (size_t)done;
    }
    return 0;
}
