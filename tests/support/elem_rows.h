/* SPDX-License-Identifier: Apache-2.0 */
/* Elements in the form in which those that went into an emitter and those that came back are compared. */
#ifndef CT_TEST_ELEM_ROWS_H
#define CT_TEST_ELEM_ROWS_H

#include "coretap/elem.h"

enum elem_rows {
    ELEM_ROWS_ALL,
    ELEM_ROWS_NO_SYNCS, /* without the SYNCs inside a stream */
};

/* Changes them in place: atoms that follow each other become one row, cut anew into elements of 32; positions
 * and counts of lost bytes are 0. Result: how many are left. */
size_t elem_rows(struct ct_elem *elems, size_t count, enum elem_rows which);

#endif
