/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCSD's interface for ITM, introduced by 1.7.1; coretap may be built with headers of an earlier version.
 * Numbers and layouts are those of the public headers of 1.8; the names are our own. */
#pragma once

#include <opencsd/c_api/opencsd_c_api.h>
#include <stdint.h>
#include <string.h>

#define CT_OCSD_ITM_VERSION 0x010701u /* first version with ITM */
#define CT_OCSD_ITM_NAME    "ITM"     /* OCSD_BUILTIN_DCD_ITM */

enum {
    CT_OCSD_PROTOCOL_ITM = 7,   /* OCSD_PROTOCOL_ITM */
    CT_OCSD_LATE_ITMTRACE = 18, /* OCSD_GEN_TRC_ELEM_ITMTRACE, for the client */
    CT_OCSD_ITMTRACE = 32,      /* the same type inside the library, because headers may use 18 for another
                                 * type */
};

/* Configuration of a decoder: ocsd_itm_cfg. */
struct ct_ocsd_itm_cfg {
    uint32_t reg_tcr; /* trace ID in bits 22:16; prescaler of local timestamps in bits 9:8, with bit 4 */
};

/* ocsd_itm_pkt_type. */
enum ct_ocsd_itm_packet_type {
    CT_OCSD_ITM_NOTSYNC,
    CT_OCSD_ITM_INCOMPLETE_EOT,
    CT_OCSD_ITM_NO_ERR_TYPE,
    CT_OCSD_ITM_ASYNC,
    CT_OCSD_ITM_OVERFLOW,
    CT_OCSD_ITM_SWIT,
    CT_OCSD_ITM_DWT,
    CT_OCSD_ITM_TS_LOCAL,
    CT_OCSD_ITM_TS_GLOBAL_1,
    CT_OCSD_ITM_TS_GLOBAL_2,
    CT_OCSD_ITM_EXTENSION,
    CT_OCSD_ITM_BAD_SEQUENCE,
    CT_OCSD_ITM_RESERVED,
};

/* Meaning of `source` in packets without a source. */
enum {
    CT_OCSD_ITM_CLOCK_CHANGED = 1, /* first part of a global timestamp */
    CT_OCSD_ITM_WRAP = 2,
    CT_OCSD_ITM_TOP_BIT = 0x1f, /* extension: number of the highest bit of the value */
    CT_OCSD_ITM_HARDWARE = 0x80 /* extension: from the hardware source */
};

/* A packet: ocsd_itm_pkt. */
struct ct_ocsd_itm_packet {
    uint32_t type;      /* enum ct_ocsd_itm_packet_type */
    uint8_t source;     /* port; discriminator; TC of a local timestamp; or the bits above */
    uint32_t value;     /* payload; bits 31:0 of this packet's part of a timestamp */
    uint8_t size;       /* bytes */
    uint8_t value_high; /* bits above 31 of that part */
    uint32_t err;       /* enum ct_ocsd_itm_packet_type: type of a bad or incomplete packet */
};

/* swt_itm_type: type of an element */
enum ct_ocsd_itm_type {
    CT_OCSD_ITM_STIMULUS,
    CT_OCSD_ITM_HARDWARE_SOURCE,
    CT_OCSD_ITM_LOCAL_TIME, /* plus TC: synchronous, timestamp delayed, packet delayed, both delayed */
    CT_OCSD_ITM_GLOBAL_TIME = 6,
};

/* Payload of an element, for the client: swt_itm_info. */
struct ct_ocsd_itm_info {
    uint32_t type;  /* enum ct_ocsd_itm_type */
    uint8_t source; /* port including its page; discriminator */
    uint8_t size;   /* bytes of the payload */
    uint32_t value; /* payload; prescaled cycles of a local timestamp */
    uint8_t overflow;
};

/* The payload inside the library, where elements have the layout of 1.3.3. */
struct ct_ocsd_itm_payload {
    uint8_t type, source, size, overflow;
    uint32_t value;
};

_Static_assert(sizeof(struct ct_ocsd_itm_payload) == sizeof(ocsd_swt_info_t), "payloads take one's place");

static inline void ct_ocsd_itm_set_payload(ocsd_generic_trace_elem *element,
                                           const struct ct_ocsd_itm_payload *payload)
{
    memcpy(&element->sw_trace_info, payload, sizeof *payload);
}

static inline struct ct_ocsd_itm_payload ct_ocsd_itm_payload_of(const ocsd_generic_trace_elem *element)
{
    struct ct_ocsd_itm_payload payload;
    memcpy(&payload, &element->sw_trace_info, sizeof payload);
    return payload;
}
