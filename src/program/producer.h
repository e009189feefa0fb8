/* SPDX-License-Identifier: Apache-2.0 */
/* What a compiler says of itself in the debug information (DW_AT_producer). */
#pragma once

#include <stdbool.h>

/* Returns whether it is a compiler of LLVM: clang, or one that names LLVM, such as Rust's. */
bool ct_producer_is_llvm(const char *producer);

/* Returns whether it says that it optimised: gcc and Go with their options, clang with those of
 * -grecord-command-line. -Og counts: it joins conditions, too. */
bool ct_producer_optimises(const char *producer);
