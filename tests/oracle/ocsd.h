/* SPDX-License-Identifier: Apache-2.0 */
/* Runs OpenCSD as an oracle: its packets become records of packet.h, its elements lines of the listing. */
#pragma once

#include <opencsd/c_api/opencsd_c_api.h>

#include "coretap/packet.h"
#include "oracle/ocsd_config.h"

/* Memory of the target. */
struct ocsd_region {
    uint64_t addr;
    uint32_t size;
    uint32_t space; /* enum ct_space bits */
    const uint8_t *bytes;
};

struct ocsd_elem {
    uint32_t index;
    ocsd_generic_trace_elem elem;
};

/* A decoder run. Its arrays grow and are reused from run to run. */
struct ocsd {
    struct ct_etm4_packet *packets;
    size_t packet_count, packet_room;
    struct ocsd_elem *elems;
    size_t elem_count, elem_room;
    size_t used;          /* bytes consumed: all, unless `fatal` or `crashed` */
    int fatal;            /* decoding ended with this response … */
    uint32_t fatal_index; /* … at the packet here */
    int crashed;          /* 1: the library read memory that it does not own, at the byte after `used` */
};

void ocsd_free(struct ocsd *ocsd);

/* Creates a decoder for the source in a tree. With `as_etm4`, an ETE is read by the ETMv4 decoder, whose
 * packets can be watched. */
int ocsd_create(dcd_tree_handle_t tree, const struct ct_source *source, int flags, int as_etm4,
                unsigned char *id);

/* Decodes to packets. Returns 0, or an error of OpenCSD when it does not accept the configuration. */
int ocsd_run_packets(struct ocsd *ocsd, const struct ct_source *source, const uint8_t *bytes, size_t size);

/* Decodes to elements along the given memory. Survives a crash of the library and sets `crashed`. */
int ocsd_run_elems(struct ocsd *ocsd, const struct ct_source *source, const struct ocsd_region *regions,
                   unsigned region_count, const uint8_t *bytes, size_t size);
