/* SPDX-License-Identifier: Apache-2.0 */
/* The standard library: each definition is parsed when its name is first looked up, since a specification
 * uses few of them. */
#ifndef CT_MONITOR_LIBRARY_H
#define CT_MONITOR_LIBRARY_H

#include "monitor/elab.h"

/* What messages call its source. */
#define CT_MON_LIBRARY_NAME "<library>"

/* Finds the definitions of `source`, each of which begins at the begin of a line and ends before the next
 * one. From now on the global scope has them. */
void ct_mon_library_open(struct ct_mon_elab *e, const struct ct_mon_source *source);

/* Declares the definitions of this name, once. False: there is nothing new. */
bool ct_mon_library_declare(struct ct_mon_library *library, const char *name);

/* Declares all definitions. */
void ct_mon_library_declare_all(struct ct_mon_library *library);

#endif
