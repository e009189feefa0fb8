/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes bursts to elements, whose packets are found with the scan (scan.h), 64 bytes at a time. */
#pragma once

#include "etm4/events.h"

struct ct_etm4_elem_tables {
    struct ct_elem plain[256]; /* the element of each header, without a payload */
};

void ct_etm4_elem_tables_init(struct ct_etm4_elem_tables *tables, const struct ct_etm4_burst *burst);

/* Does what ct_etm4_burst_elems does, but stops where less than a block of bytes or of room is left. Only for
 * machines where ct_etm4_scan_there() is true. */
size_t ct_etm4_burst_elems_fast(struct ct_etm4_burst *burst, const struct ct_etm4_elem_tables *tables,
                                const struct ct_etm4_event_tables *rows, const uint8_t *data, size_t size,
                                uint32_t pos, struct ct_elem *elems, size_t cap, size_t *count);
