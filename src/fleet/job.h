/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "coretap/fleet.h"
#include "fleet/worker.h"

struct ct_digest;

/* A file named by a word of the command. */
struct ct_job_file {
    const char *path;
    uint8_t digest[CT_FLEET_DIGEST]; /* of its bytes */
};

struct ct_fleet_job {
    struct ct_ctx *ctx;
    struct ct_fleet_job_options options; /* its texts are in the arena */
    const struct ct_manifest *manifest;
    size_t words, hidden;          /* numbers of words */
    uint8_t base[CT_FLEET_DIGEST]; /* digest of the common part of the names of all pieces */
    struct ct_digest *digest;      /* for the names of pieces; not in use between two calls */
    const struct ct_job_file *files;
    size_t file_count;
    size_t *order;         /* the captures' numbers */
    struct ct_worker left; /* the process of an earlier capture, for the next one */
    struct ct_arena arena;
};

/* Returns the path of the piece of a capture, which the caller frees; NULL when memory is missing. */
char *ct_job_path(const struct ct_fleet_job *job, size_t number);

/* Returns the path of the folder for the parts of a capture. The same rules. */
char *ct_job_shards_path(const struct ct_fleet_job *job, size_t number);
