/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that write snapshots. */
#pragma once

#include <stdio.h>

#include "record/snapshot.h"

#define CT_SNAPSHOT_TAIL                                                                                     \
    4 /* bytes behind a region: an instruction is read as four bytes, also when it has two */

/* A text or memory file that is being written. */
struct ct_snapshot_file {
    struct ct_ctx *ctx;
    FILE *out;
    char path[4096];
};

/* Opens a file in the snapshot's part. */
int ct_snapshot_create(struct ct_ctx *ctx, struct ct_snapshot_file *file, const struct ct_snapshot *snapshot,
                       const char *name);
int ct_snapshot_finish(struct ct_snapshot_file *file);

/* All memory with executed code. */
struct ct_snapshot_memory {
    struct ct_code_place **places; /* sorted by address */
    size_t count;
    bool joined;   /* adjacent places that change are one image */
    bool *changes; /* by place: it differs between states */
};

/* Finds all places, and which of them change. The caller frees `places` and `changes`. CT_ERR_NOMEM. */
int ct_snapshot_look(struct ct_ctx *ctx, const struct ct_snapshot *snapshot, struct ct_code *code,
                     struct ct_snapshot_memory *memory);

/* Writes changing code into a separate file, and its description to `out`. */
int ct_snapshot_write_states(struct ct_ctx *ctx, const struct ct_snapshot *snapshot,
                             const struct ct_snapshot_memory *memory, size_t buffers, FILE *out);
