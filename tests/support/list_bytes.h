/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of one trace source as the lines of the listing, whole or in pieces of any size. */
#ifndef CT_TEST_LIST_BYTES_H
#define CT_TEST_LIST_BYTES_H

#include "support/rng.h"
#include "coretap/decode.h"

/* Memory of the target, in all spaces. */
struct list_region {
    uint64_t addr;
    const uint8_t *bytes;
    size_t size;
};

/* Packets (CT_LEVEL_PACKET) or elements (CT_LEVEL_FLOW) as text, to be freed; the ID is 10. `cuts` NULL: the
 * bytes come at once. NULL: the source is not accepted. */
char *list_bytes(const struct ct_source *source, const struct list_region *regions, size_t region_count,
                 const uint8_t *bytes, size_t size, enum ct_level level, struct rng *cuts);

#endif
