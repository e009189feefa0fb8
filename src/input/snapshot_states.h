/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a snapshot's trace file that only coretap writes: code that changed while it ran
 * (docs/formats.md). */
#pragma once

#include <stdbool.h>

#include "input/reader.h"

/* Images that are in memory at the same time, besides the permanent ones. */
struct ct_snapshot_state {
    uint64_t *images; /* by number */
    size_t count;
};

struct ct_snapshot_piece_spec {
    const char *buffer;
    uint64_t from, state;
    const char *where;
};

struct ct_snapshot_states {
    struct ct_image_spec *images;
    size_t image_count;
    struct ct_snapshot_state *states;
    size_t state_count;
    struct ct_snapshot_piece_spec *pieces;
    size_t piece_count;
    const struct ct_maps *maps; /* made from the states; NULL when memory does not change */
};

/* Returns whether a section of the trace file belongs to ct_snapshot_states_item. */
bool ct_snapshot_states_has(const char *section);

/* Handles a line of such a section, or its header. File names are relative to `folder`. */
int ct_snapshot_states_item(struct ct_opening *opening, const char *folder, const struct ct_ini_item *item,
                            struct ct_snapshot_states *states);

/* Makes the maps, after the file was read. CT_ERR_CONFIG: a reference is invalid. */
int ct_snapshot_states_finish(struct ct_opening *opening, const char *path,
                              struct ct_snapshot_states *states);

/* Sets the pieces and maps of a buffer. CT_ERR_CONFIG: they do not match its file. */
int ct_snapshot_states_apply(struct ct_opening *opening, const struct ct_snapshot_states *states,
                             struct ct_buffer *buffer);

/* Takes file=, address=, offset= or length= of an image; ignores other keys. `folder` is that of the
 * snapshot. */
int ct_snapshot_image(struct ct_opening *opening, const char *folder, const struct ct_ini_item *item,
                      struct ct_image_spec *image);
