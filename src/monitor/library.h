/* SPDX-License-Identifier: Apache-2.0 */
/* The standard library. A definition is parsed when its name is first looked up, because a specification uses
 * few of them. */
#pragma once

#include "monitor/elab.h"

/* name of the library's source in messages */
#define CT_MON_LIBRARY_NAME "<library>"

/* Finds the definitions of `source` and registers them in the scope of the library. Each begins at the
 * beginning of a line and ends before the next one. */
void ct_mon_library_open(struct ct_mon_elab *e, const struct ct_mon_source *source);

/* Declares the definitions of this name if that has not been done. Returns false when nothing is new. */
bool ct_mon_library_declare(struct ct_mon_library *library, const char *name);

/* Adds the names of all annotations, or of all other definitions, to a list. */
void ct_mon_library_names(const struct ct_mon_library *library, bool annotations, struct ct_mon_names *names);

/* Declares all definitions. */
void ct_mon_library_declare_all(struct ct_mon_library *library);
