/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes bursts to packets, which are found with the scan (scan.h). */
#pragma once

#include "etm4/events.h"

struct ct_etm4_packet_tables {
    struct ct_etm4_packet plain[256]; /* the packet of each header with a payload of zeros */
    uint8_t longer[256]; /* 1: the packet is one byte longer when the first byte of payload has bit 7 set */
};

/* Makes the tables for a decoder whose last addresses are known in full. */
void ct_etm4_packet_tables_init(struct ct_etm4_packet_tables *tables, const struct ct_etm4_decoder *decoder,
                                const struct ct_etm4_event_tables *rows);

/* Decodes common packets as ct_etm4_decode does, up to the first rare one and as long as there is room for a
 * block of them. `burst` has the last addresses, before and afterwards; *count is the number of packets.
 * Returns the number of bytes decoded. Only for machines where ct_etm4_scan_there() is true. */
size_t ct_etm4_burst_packets(struct ct_etm4_burst *burst, const struct ct_etm4_packet_tables *tables,
                             const struct ct_etm4_event_tables *rows, const uint8_t *data, size_t size,
                             uint64_t pos, struct ct_etm4_packet *packets, size_t cap, size_t *count);

/* Counts common packets in burst->packets, up to the last atoms before a rare packet or the end of the bytes.
 * `burst` has the last addresses, before and afterwards; *count is the number of packets. Returns the number
 * of bytes decoded. Only for machines where ct_etm4_scan_there() is true. */
size_t ct_etm4_burst_counts(struct ct_etm4_burst *burst, const struct ct_etm4_event_tables *rows,
                            const uint8_t *data, size_t size, uint64_t *count);
