/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes packets of an ETMv4 or ETE as OpenCSD does. That differs from coretap's packets when a field is too
 * long, or lacks what its header announces. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct ct_etm4_decoder;

/* The fields of a trace info packet; 0 for missing ones. */
struct ct_ocsd_trace_info {
    uint32_t sections; /* PLCTL: INFO, KEY, SPEC and CYCT in bits 0 to 3 */
    uint32_t info;
    uint32_t spec;
    uint32_t threshold;
};

/* Reads a complete trace info packet. */
struct ct_ocsd_trace_info ct_ocsd_etm4_trace_info(const uint8_t *bytes);

/* Allows packets as long as the feed can keep. */
void ct_ocsd_etm4_lengthen(struct ct_etm4_decoder *decoder);

/* Decodes one packet, a struct ct_etm4_packet, like ct_etm4_decode. */
size_t ct_ocsd_etm4_decode(void *decoder, const uint8_t *data, size_t size, uint64_t pos, int final,
                           void *packet, size_t *count);
