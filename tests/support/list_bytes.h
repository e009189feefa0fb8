/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the bytes of one trace source as text, decoded whole or in pieces of any size. */
#pragma once

#include "support/rng.h"
#include "coretap/decode.h"

/* Memory of the target, the same in all memory spaces. */
struct list_region {
    uint64_t addr;
    const uint8_t *bytes;
    size_t size;
};

/* Returns packets (CT_LEVEL_PACKET) or elements (CT_LEVEL_FLOW) as text that the caller frees, or NULL when
 * the source is not accepted. The trace ID is 10. With `cuts` NULL all bytes come at once. */
char *list_bytes(const struct ct_source *source, const struct list_region *regions, size_t region_count,
                 const uint8_t *bytes, size_t size, enum ct_level level, struct rng *cuts);
