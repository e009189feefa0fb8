/* SPDX-License-Identifier: Apache-2.0 */
/* Names of languages whose compilers encode them by a few rules. */
#pragma once

#include <stdbool.h>

/* Returns whether ct_demangle may know a name: those it knows have one of a few prefixes or suffixes. */
bool ct_demangle_may(const char *name);

/* Returns the readable form of a name of Fortran, OCaml or Haskell, to be freed; NULL when it is none of
 * these, or with errno ENOMEM when out of memory. The result is never longer than the name. */
char *ct_demangle_by_rules(const char *name);
