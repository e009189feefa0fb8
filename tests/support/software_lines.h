/* SPDX-License-Identifier: Apache-2.0 */
/* Lists a few bytes of software trace as text. */
#pragma once

#include "coretap/input.h"

enum lines_kind {
    LINES_PACKETS,
    LINES_ELEMENTS,
    LINES_EVENTS, /* as `coretap decode` prints them */
    LINES_TEXT,   /* … with --text-ports, as JSON */
};

/* Returns the lines of `digits` in a source without frames, as text that the caller frees. For an STM the
 * digits are units, the first one first; for other protocols they are bytes. Blanks are ignored. */
char *lines_of(const struct ct_source *source, const char *digits, enum lines_kind kind);
