/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of OpenCSD and of coretap as lines of the listing (docs/listing.md, part 4), for comparison. */
#pragma once

#include "oracle/ocsd.h"
#include "format/listing.h"

#define LINE_ID 0x10

/* A growing list of lines. */
struct lines {
    char *text;
    size_t size, room;
};

void lines_free(struct lines *lines);

/* Adds the lines of all elements of a run. */
void lines_of_ocsd(struct lines *lines, const struct ocsd *ocsd, const uint32_t *origin);

/* Decodes the same bytes with the library and adds the lines of all elements. Returns 0 or an error. */
int lines_of_coretap(struct lines *lines, const struct ct_source *source, const struct ocsd_region *regions,
                     unsigned region_count, const uint8_t *bytes, size_t size);
