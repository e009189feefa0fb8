/* SPDX-License-Identifier: Apache-2.0 */
/* The packets that OpenCSD 1.3.3 makes of the bytes before the first alignment packet of an ETMv4 or ETE:
 *
 * - NOT_SYNC: up to eight bytes, or more when they begin with zeros. A zero begins the next packet.
 * - BAD_SEQUENCE: eleven zeros and a byte that does not end an alignment packet.
 * - ASYNC: eleven zeros and 0x80; also each zero in front of these eleven, by itself. */
#pragma once

#include <opencsd/c_api/opencsd_c_api.h>
#include <stdbool.h>

enum {
    CT_OCSD_ASYNC_ZEROS = 11, /* zeros of an alignment packet */
    CT_OCSD_SEARCH_ROOM = 24, /* bytes of the longest packet */
};

/* A search for the alignment packet. All zero: nothing was seen. */
struct ct_ocsd_etm4_search {
    uint8_t bytes[CT_OCSD_SEARCH_ROOM]; /* of the packet that is not complete */
    uint32_t size, zeros;               /* number of these bytes; of zeros, if all of them are zeros */
    ocsd_trc_index_t first, last;       /* trace indices of the first and the last of them */
    uint32_t ready; /* so many of them are a packet, which is found when another byte follows; 0: none */
    uint8_t packet[CT_OCSD_SEARCH_ROOM]; /* bytes of the last packet that was found */
};

/* A packet that was found. */
struct ct_ocsd_etm4_found {
    uint8_t type, err;      /* enum ct_etm4_type */
    ocsd_trc_index_t first; /* trace index */
    const uint8_t *bytes;   /* valid until the next call */
    uint32_t size;
    bool aligned; /* it is a complete alignment packet */
};

/* Looks at the next byte. Returns whether that completes a packet. *taken becomes false if the byte belongs
 * to the packet after it and has to be passed again. */
bool ct_ocsd_etm4_search_next(struct ct_ocsd_etm4_search *search, uint8_t byte, ocsd_trc_index_t index,
                              struct ct_ocsd_etm4_found *found, bool *taken);

/* Ends the search. Returns whether bytes were left, as an incomplete packet. */
bool ct_ocsd_etm4_search_end(struct ct_ocsd_etm4_search *search, struct ct_ocsd_etm4_found *found);
