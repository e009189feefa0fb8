/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of an ETMv4 or ETE as OpenCSD reads them, which differs from coretap's packets where a field is
 * longer than it can be, or lacks what its header says. */
#ifndef CT_OPENCSD_ETM4_FIELDS_H
#define CT_OPENCSD_ETM4_FIELDS_H

#include <stddef.h>
#include <stdint.h>

struct ct_etm4_decoder;

/* What a trace info packet says; 0 for what it lacks. */
struct ct_ocsd_trace_info {
    uint32_t sections; /* PLCTL: INFO, KEY, SPEC and CYCT in bits 0 to 3 */
    uint32_t info;
    uint32_t spec;
    uint32_t threshold;
};

/* Reads a whole trace info packet. */
struct ct_ocsd_trace_info ct_ocsd_etm4_trace_info(const uint8_t *bytes);

/* Lets a packet have as many bytes as the feed keeps. */
void ct_ocsd_etm4_lengthen(struct ct_etm4_decoder *decoder);

/* Decodes one packet, a struct ct_etm4_packet, as ct_etm4_decode does. */
size_t ct_ocsd_etm4_decode(void *decoder, const uint8_t *data, size_t size, uint64_t pos, int final,
                           void *packet, size_t *count);

#endif
