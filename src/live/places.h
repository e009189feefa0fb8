/* SPDX-License-Identifier: Apache-2.0 */
/* Places of the programs to which inputs of specifications can be bound, for selection on the page. */
#pragma once

#include "coretap/json.h"
#include "coretap/live.h"

struct ct_live_places;

/* Collects the functions and lines of all programs, which must be loaded and must stay, and the places with
 * values of sources and programs. Any thread may search them afterwards. NULL: out of memory. */
struct ct_live_places *ct_live_places_new(const struct ct_live_options *options);
void ct_live_places_free(struct ct_live_places *places);

/* Writes an object of lists with names that contain `text`, ignoring case, at most 50 each, those that begin
 * with it first: "functions"; "lines" (FILE:LINE); "values": ports, comparators, named events, events of
 * trace units, contexts; "variables", if a source traces loads and stores; and "others", which is always
 * complete. */
void ct_live_places_json(const struct ct_live_places *places, const char *text, struct ct_json *json);
