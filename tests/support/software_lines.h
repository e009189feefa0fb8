/* SPDX-License-Identifier: Apache-2.0 */
/* The listing of a few bytes, as text. */
#ifndef CT_TEST_LINES_H
#define CT_TEST_LINES_H

#include "coretap/input.h"

enum lines_kind {
    LINES_PACKETS,
    LINES_ELEMENTS,
    LINES_EVENTS, /* as coretap decode prints them */
    LINES_TEXT,   /* … with --text-ports, as JSON */
};

/* The lines of `digits` in a source without frames: of an STM units, the first one first; of others bytes.
 * Blanks may stand between them. Allocated. */
char *lines_of(const struct ct_source *source, const char *digits, enum lines_kind kind);

#endif
