/* SPDX-License-Identifier: Apache-2.0 */
/* The longest path of a function, and the names of its places. */
#pragma once

#include "coretap/format.h"

/* Return a block and the name of its function, by number. */
const struct ct_cfg_block *ct_wcet_view_block(const struct ct_wcet_view *view, uint32_t number);
const char *ct_wcet_view_function(const struct ct_wcet_view *view, uint32_t block);

/* A block and its place in the source. */
struct ct_wcet_place {
    uint32_t block;
    uint32_t line;
    const char *file; /* without folders; NULL when unknown */
};

/* Return the place of a block's begin, of a loop, whose block is its head, and of an assumption. */
struct ct_wcet_place ct_wcet_view_at_block(const struct ct_wcet_view *view, uint32_t block);
struct ct_wcet_place ct_wcet_view_at_loop(const struct ct_wcet_view *view, uint32_t loop);
struct ct_wcet_place ct_wcet_view_at_assumed(const struct ct_wcet_view *view,
                                             const struct ct_wcet_assumed *assumed);

/* Returns the name of an assumption (enum ct_wcet_assumption). */
const char *ct_wcet_view_assumed_name(uint32_t kind);

#define CT_WCET_TEXT 1024 /* bytes of the longest text below; longer names of files are cut */

/* Returns the meaning of an assumption, and what to do about it. May use the text. */
const char *ct_wcet_view_assumed_text(const struct ct_wcet_view *view, const struct ct_wcet_assumed *assumed,
                                      char text[CT_WCET_TEXT]);
