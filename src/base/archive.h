/* SPDX-License-Identifier: Apache-2.0 */
/* Files inside of zip archives, such as the libraries in Android packages: "base.apk!/lib/arm64-v8a/libx.so".
 * Only stored entries are supported, not compressed ones, so that they can be mapped. The format is that of
 * PKWARE's APPNOTE.TXT, with its 64-bit extension for packages of 4 GiB and more. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the bytes of a file are in the file that was opened. */
struct ct_archived {
    bool inside;           /* the file is an entry of an archive */
    uint64_t offset, size; /* of an entry */
};

#define CT_ARCHIVE_NAME 4096u

/* Opens a file for reading, or the archive that contains it. Returns -1 with errno: ENOENT also when the
 * archive has no such entry, ENOTSUP when the entry is compressed. */
int ct_archive_open(const char *path, struct ct_archived *where);

/* Finds the stored entry of an archive that contains the byte at `offset`. Writes its name to `name`, which
 * has CT_ARCHIVE_NAME bytes. Returns false when `path` is no archive or has no such entry; errno is ENOMEM
 * when out of memory. */
bool ct_archive_find(const char *path, uint64_t offset, char *name, struct ct_archived *where);

/* Returns the name of the entry, after "!/", in the path of a file inside of an archive; or NULL. */
const char *ct_archive_entry(const char *path);
