/* SPDX-License-Identifier: Apache-2.0 */
/* An allocator for a test and the libraries that it loads, in which one allocation fails. */
#pragma once

/* Begins to count allocations. Number `which`, counted from 0, fails; -1: none. */
void failing_begin(long which);

/* Stops counting. Returns the number of allocations; *left is the number of those not freed. */
long failing_end(long *left);
