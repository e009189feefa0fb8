/* SPDX-License-Identifier: Apache-2.0 */
/* Files inside of zip archives, as programs of Android lie in its packages:
 * "base.apk!/lib/arm64-v8a/libx.so". Entries are stored there, not compressed, so that they can be mapped.
 * The format is that of PKWARE's APPNOTE.TXT, with its 64-bit extension for packages of 4 GiB and more.
 */
#ifndef CT_BASE_ARCHIVE_H
#define CT_BASE_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the bytes of a file lie in the one that is open. */
struct ct_archived {
    bool inside;           /* the file is an entry of an archive */
    uint64_t offset, size; /* of an entry */
};

#define CT_ARCHIVE_NAME 4096u

/* Opens a file for reading, or the archive that has it. Returns -1 with errno: ENOENT also when the archive
 * has no such entry, ENOTSUP when the entry is compressed. */
int ct_archive_open(const char *path, struct ct_archived *where);

/* Finds the stored entry of an archive that has the byte at `offset`. Its name goes to `name`, of
 * CT_ARCHIVE_NAME bytes. Returns false when `path` is no archive or has no such entry; errno is ENOMEM when
 * memory was missing. */
bool ct_archive_find(const char *path, uint64_t offset, char *name, struct ct_archived *where);

/* Returns where the name of the entry begins, behind "!/", in the path of a file inside of an archive; or
 * NULL. */
const char *ct_archive_entry(const char *path);

#endif
