/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes files that contain others: zip archives with stored entries, and files packed as a whole. What must
 * hold: an entry that is found is inside of the archive, and is also found by its name and by each of its
 * bytes; unpacked data keeps to its limit; a file that cannot be unpacked is refused with a text. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/archive.h"
#include "base/unpack.h"
#include "coretap/base.h"
#include "fuzz.h"
#include "support/test_file.h"

#define MOST_BYTES 65536
#define LIMIT      ((size_t)1 << 20) /* of unpacked bytes */

/* Opens an entry by its name, which another entry before it may have, too. */
static void open_entry(const char *archive, const char *name, size_t size)
{
    char path[64 + CT_ARCHIVE_NAME];
    struct ct_archived where;
    snprintf(path, sizeof path, "%s!/%s", archive, name);
    const int fd = ct_archive_open(path, &where);
    if (fd < 0) {
        require(errno != 0);
        return;
    }
    require(where.inside && where.offset <= size && where.size <= size - where.offset);
    close(fd);
}

static void read_archive(const uint8_t *data, size_t size)
{
    char path[40], name[CT_ARCHIVE_NAME];
    struct ct_archived where, again;
    FILE *file = test_file(data, size, path);
    require(file != NULL);
    for (uint64_t at = 0; at < size; at += 1 + at / 8) {
        if (!ct_archive_find(path, at, name, &where))
            continue;
        require(where.inside && where.offset <= at && at - where.offset < where.size);
        require(where.offset + where.size <= size && strlen(name) < CT_ARCHIVE_NAME);
        require(ct_archive_find(path, where.offset + where.size - 1, name, &again));
        if (*name)
            open_entry(path, name, size);
        at = where.offset + where.size > at ? where.offset + where.size - 1 : at;
    }
    fclose(file);
}

static void unpack(const uint8_t *data, size_t size)
{
    struct ct_ctx *ctx = ct_ctx_new();
    uint8_t *out;
    size_t out_size;
    if (ct_unpack(ctx, "fuzz", data, size, LIMIT, &out, &out_size) == CT_OK)
        require(out && out_size && out_size <= LIMIT);
    else
        require(!out && *ct_ctx_error(ctx));
    free(out);
    ct_ctx_free(ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size || size > MOST_BYTES)
        return 0;
    if (ct_unpack_is(data, size))
        unpack(data, size);
    else
        read_archive(data, size);
    return 0;
}
