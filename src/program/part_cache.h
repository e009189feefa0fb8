/* SPDX-License-Identifier: Apache-2.0 */
/* A folder that keeps loaded symbols and lines of programs for all processes of a machine: the first one
 * loads and writes them, and the others map the file. Only programs with a build id are kept. A file is used
 * as long as the program, its separate file with debug information, and the version of coretap are the same;
 * otherwise it is written again. */
#pragma once

#include "program/kept_parts.h"

struct ct_ctx;

struct ct_part_cache {
    const char *folder;
    bool cannot_write; /* a message said so */
};

/* The place of one part in the cache, while the part is loaded. */
struct ct_part_slot {
    struct ct_ctx *ctx;
    struct ct_debug_files *files;
    const struct ct_part_key *key;
    char *path;      /* of the file */
    char *fresh;     /* of the file while it is written; its lock lets one process load the part */
    int fd;          /* of `fresh`, locked; -1: the part is not to be written */
    unsigned warned; /* ct_ctx_warned before the part was loaded */
};

/* Looks a part up. Returns it when the cache of `files` has it; the caller then owns it. Otherwise returns
 * NULL: the caller loads the part, of bytes read after this call if slot->fd is not -1, and calls
 * ct_part_slot_end in any case. Waits while another process loads the part. */
void *ct_part_slot_begin(struct ct_ctx *ctx, struct ct_debug_files *files, const struct ct_part_key *key,
                         struct ct_part_slot *slot);

/* Writes the part, unless it is NULL. A part with warnings is not written, because every process must give
 * them; nor one made of more files than the program and its separate file. */
void ct_part_slot_end(struct ct_part_slot *slot, const void *part);
