/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a file at a path that was resolved and checked before, and nowhere else. */
#pragma once

/* Opens the regular file at `path`, which realpath() returned and which therefore has no symbolic link in it.
 * Fails if a part of the path became a link since, so that what was checked about the path is true for the
 * file. Returns a descriptor, or -1 with errno (EINVAL: no regular file, or the path does not begin with a
 * slash). */
int ct_open_resolved(const char *path);
