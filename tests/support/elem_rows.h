/* SPDX-License-Identifier: Apache-2.0 */
/* A form of elements in which a test can compare what went into an emitter with what came back. */
#pragma once

#include "coretap/elem.h"

enum elem_rows {
    ELEM_ROWS_ALL,
    ELEM_ROWS_NO_SYNCS, /* no SYNCs inside a stream */
};

/* Converts elements in place and returns how many are left. Atoms that follow each other become one row, cut
 * anew into elements of 32. Positions and counts of lost bytes become 0. */
size_t elem_rows(struct ct_elem *elems, size_t count, enum elem_rows which);
