/* SPDX-License-Identifier: Apache-2.0 */
/* The allocator of a test, and of the libraries that it loads: one allocation fails. */
#ifndef CT_TEST_OPENCSD_FAILING_H
#define CT_TEST_OPENCSD_FAILING_H

/* From here on allocations are counted, and number `which`, from 0, fails; -1: none does. */
void failing_begin(long which);

/* Ends that. Returns how many allocations there were; `left` are those that were not freed. */
long failing_end(long *left);

#endif
