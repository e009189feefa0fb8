/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a snapshot's trace file that only coretap writes: code that changed while it ran
 * (docs/formats.md). */
#ifndef CT_INPUT_SNAPSHOT_STATES_H
#define CT_INPUT_SNAPSHOT_STATES_H

#include <stdbool.h>

#include "input/reader.h"

/* Images that are in memory at the same time, besides those that always are. */
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
    const struct ct_maps *maps; /* made of the states; NULL when memory does not change */
};

/* Tells whether a section of the trace file is for ct_snapshot_states_item. */
bool ct_snapshot_states_has(const char *section);

/* Takes a line of such a section, or its head. Names of files are relative to `folder`. */
int ct_snapshot_states_item(struct ct_opening *opening, const char *folder, const struct ct_ini_item *item,
                            struct ct_snapshot_states *states);

/* Makes the maps, once the file is read. CT_ERR_CONFIG: a reference leads nowhere. */
int ct_snapshot_states_finish(struct ct_opening *opening, const char *path,
                              struct ct_snapshot_states *states);

/* Gives a buffer its pieces and maps. CT_ERR_CONFIG: they do not fit its file. */
int ct_snapshot_states_apply(struct ct_opening *opening, const struct ct_snapshot_states *states,
                             struct ct_buffer *buffer);

#endif
