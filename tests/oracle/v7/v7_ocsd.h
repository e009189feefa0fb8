/* SPDX-License-Identifier: Apache-2.0 */
/* Runs OpenCSD as an oracle for PTM and ETMv3: its output becomes lines of the listing. */
#pragma once

#include "coretap/input.h"

#include <opencsd/c_api/opencsd_c_api.h>

/* Creates a decoder for the source in a tree. */
int v7_ocsd_create(dcd_tree_handle_t tree, const struct ct_source *source, int flags, unsigned char *id);

/* A growing list of lines. */
struct v7_lines {
    char *text;
    size_t size, room;
};

void v7_lines_free(struct v7_lines *lines);
void v7_add(struct v7_lines *lines, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Memory of the target, the same in all spaces. */
struct v7_region {
    uint32_t addr;
    uint32_t size;
    const uint8_t *bytes;
};

/* Adds one line per packet (docs/listing.md) without ID and bytes. Returns 0 or an error of OpenCSD. */
int v7_ocsd_packets(struct v7_lines *lines, const struct ct_source *source, const uint8_t *bytes,
                    size_t size);

/* Adds one line per element (docs/listing.md) without ID. */
int v7_ocsd_elems(struct v7_lines *lines, const struct ct_source *source, const struct v7_region *regions,
                  unsigned region_count, const uint8_t *bytes, size_t size);

/* Add the same lines, decoded by the library. */
int v7_coretap_packets(struct v7_lines *lines, const struct ct_source *source, const uint8_t *bytes,
                       size_t size);
int v7_coretap_elems(struct v7_lines *lines, const struct ct_source *source, const struct v7_region *regions,
                     unsigned region_count, const uint8_t *bytes, size_t size);
