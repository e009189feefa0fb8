/* SPDX-License-Identifier: Apache-2.0 */
/* The longest path of a function, and the names of its places. */
#pragma once

#include "coretap/format.h"

/* Return a block, the name of its function, and a loop, by number. */
const struct ct_cfg_block *ct_wcet_view_block(const struct ct_wcet_view *view, uint32_t number);
const char *ct_wcet_view_function(const struct ct_wcet_view *view, uint32_t block);
const struct ct_cfg_loop *ct_wcet_view_loop(const struct ct_wcet_view *view, uint32_t number);

/* Returns the source file of a block's begin without folders, and its line. NULL when unknown. */
const char *ct_wcet_view_line(const struct ct_wcet_view *view, uint32_t block, uint32_t *line);

/* Return the name of an assumption (enum ct_wcet_assumption), its meaning, and its block. */
const char *ct_wcet_view_assumed_name(uint32_t kind);
const char *ct_wcet_view_assumed_text(const struct ct_wcet_assumed *assumed);
uint32_t ct_wcet_view_assumed_block(const struct ct_wcet_view *view, const struct ct_wcet_assumed *assumed);
