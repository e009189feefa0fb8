/* SPDX-License-Identifier: Apache-2.0 */
/* A file that is opened where its path was resolved and checked, and nowhere else. */
#ifndef CT_BASE_OPEN_RESOLVED_H
#define CT_BASE_OPEN_RESOLVED_H

/* Opens the regular file at `path` for reading, which realpath() made: in it nothing is a
 * symbolic link any more. Fails if something became one since, so that what was checked about the
 * path holds of the file. Result: a descriptor, or -1 with errno (EINVAL: no regular file, or the
 * path does not begin with a slash). */
int ct_open_resolved(const char *path);

#endif
