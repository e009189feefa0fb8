/* SPDX-License-Identifier: Apache-2.0 */
/* Names of languages whose compilers encode them by a few rules. */
#ifndef CT_PROGRAM_DEMANGLE_H
#define CT_PROGRAM_DEMANGLE_H

#include <stdbool.h>

/* Tells whether a name may be one that ct_demangle makes readable: all that it knows begin or end so. */
bool ct_demangle_may(const char *name);

/* Returns the readable form of a name of Fortran, OCaml or Haskell, to be freed; NULL when it is none, or
 * with errno ENOMEM without memory. No form is longer than the name. */
char *ct_demangle_by_rules(const char *name);

#endif
