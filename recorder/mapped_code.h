/* SPDX-License-Identifier: Apache-2.0 */
/* What the recorder is told when a system call maps a file as executable. */
#pragma once

#include <stdint.h>

#include "trace_stream.h"

/* Looks at a system call, whose third and fifth argument are `protection` and `file`.
 * - Sends the file to the inbox of the area, because it may be deleted before its code runs. It is not sent
 *   when the inbox is full.
 * - Notes the path of the jitdump of this process in the area: a program maps a page of its jitdump as
 *   executable to tell perf where that file is (tools/perf/Documentation/jitdump-specification.txt of
 *   Linux). */
void mapped_code_look(struct trace_area *area, int64_t number, int arm32, uint64_t protection, uint64_t file);
