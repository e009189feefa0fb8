/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "coretap/fleet.h"

struct ct_manifest {
    struct ct_ctx *ctx;
    struct ct_fleet_capture *captures;
    size_t count, room;
    uint32_t *slots; /* hash table by digest, open addressing: number of a capture plus 1; 0: free */
    size_t slot_count;
    struct ct_arena arena;
};

/* Returns the capture with this digest, or NULL. */
const struct ct_fleet_capture *ct_manifest_same(const struct ct_manifest *manifest,
                                                const uint8_t digest[CT_FLEET_DIGEST]);
