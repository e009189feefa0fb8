/* SPDX-License-Identifier: Apache-2.0 */
/* A client that decodes an ITM with coretap's library and writes what it gets as lines of a listing
 * (docs/listing.md). It behaves like a program built for OpenCSD 1.8, whose numbers and layouts are defined
 * here, so headers of 1.8 are not needed. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "opencsd/library.h"

#define ITM_NAME "ITM"

enum {
    ITM_PROTOCOL = 7,
    ITM_ELEMENT = 18,         /* OCSD_GEN_TRC_ELEM_ITMTRACE */
    ITM_ELEMENT_PAYLOAD = 72, /* offset in the element */
    ITM_ELEMENT_SIZE = 96,
};

/* ocsd_itm_cfg. */
struct itm_config {
    uint32_t tcr;
};

/* ocsd_itm_pkt. */
struct itm_packet {
    uint32_t type;
    uint8_t src_id;
    uint32_t value;
    uint8_t val_sz, val_ext;
    uint32_t err_type;
};

/* swt_itm_info. */
struct itm_info {
    uint32_t pkt_type;
    uint8_t payload_src_id, payload_size;
    uint32_t value;
    uint8_t overflow;
};

struct itm_client {
    const struct library *library;
    FILE *out;
    uint32_t tcr;
    bool framed;
    bool packets;   /* output is packets, not elements */
    int flags;      /* for the creation of the decoder */
    uint32_t chunk; /* bytes per call; 0: all of them */
    unsigned wait;  /* elements or packets between pauses; 0: no pause */
    unsigned flush; /* calls between flushes; 0: no flush */
    /* results */
    unsigned calls, taken;
    unsigned fatal; /* fatal answers */
    uint64_t unsynced;
    dcd_tree_handle_t tree;
};

/* Makes the tree with its decoder. Returns the result of ocsd_dt_create_decoder. */
ocsd_err_t itm_client_begin(struct itm_client *client);

/* Passes bytes to the tree, from trace index `index` on. Continues after a fatal answer. */
void itm_client_give(struct itm_client *client, uint32_t index, const uint8_t *bytes, size_t size);

void itm_client_reset(struct itm_client *client);

/* Ends the trace and destroys the tree. */
void itm_client_end(struct itm_client *client);

/* Returns the ITM information of an element. */
struct itm_info itm_info_of(const ocsd_generic_trace_elem *element);
