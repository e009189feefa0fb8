/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the jitdump file of a program, in which it describes the code that it generates. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Writes into `path` the path of the jitdump of this process when a system call maps it, and leaves `path` as
 * it is otherwise. A program maps a page of its jitdump as executable to tell perf where that file is
 * (tools/perf/Documentation/jitdump-specification.txt of Linux). `protection` and `file` are the third and
 * the fifth argument of the call. */
void jitdump_find(int64_t number, int arm32, uint64_t protection, uint64_t file, char *path, size_t size);
