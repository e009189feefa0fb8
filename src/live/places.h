/* SPDX-License-Identifier: Apache-2.0 */
/* Places of the programs that inputs of specifications can be bound to, for who chooses one on the page. */
#ifndef CT_LIVE_PLACES_H
#define CT_LIVE_PLACES_H

#include "coretap/json.h"
#include "coretap/live.h"

struct ct_live_places;

/* Notes the functions and lines of all programs, which must be loaded already and have to stay, and what
 * sources and programs have values of: any thread may look for them then. NULL without memory. */
struct ct_live_places *ct_live_places_new(const struct ct_live_options *options);
void ct_live_places_free(struct ct_live_places *places);

/* Writes an object with lists: "functions" and "lines" (FILE:LINE) that have `text` in their names, of any
 * case and at most 50 each, those first that begin with it; "values" in the same way: ports, comparators,
 * named events, events of trace units, contexts; "variables", where a source tells of loads and stores; and
 * "others", which are always there. */
void ct_live_places_json(const struct ct_live_places *places, const char *text, struct ct_json *json);

#endif
