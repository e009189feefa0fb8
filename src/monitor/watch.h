/* SPDX-License-Identifier: Apache-2.0 */
/* The watchpoint dialect (docs/tessla-language.md part B). */
#pragma once

#include "monitor/elab.h"

/* Returns whether the text is in this dialect: a line begins with "define", where the other dialect has
 * "def". */
bool ct_mon_watch_is(struct ct_mon_arena *arena, const struct ct_mon_source *source);

/* Parses and lowers a specification into the core. */
void ct_mon_watch_spec(struct ct_mon_elab *e, const struct ct_mon_source *text);
