/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCSD as an oracle: its packets as records of packet.h, its elements as lines of the listing. */
#ifndef CT_TEST_OCSD_H
#define CT_TEST_OCSD_H

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

/* Arrays grow and are used again from run to run. */
struct ocsd {
    struct ct_etm4_packet *packets;
    size_t packet_count, packet_room;
    struct ocsd_elem *elems;
    size_t elem_count, elem_room;
    size_t used;          /* bytes taken: all, unless `fatal` or `crashed` */
    int fatal;            /* the data path gave up with this response … */
    uint32_t fatal_index; /* … because of the packet here */
    int crashed;          /* 1: the library read memory that it does not have, in the byte behind `used` */
};

void ocsd_free(struct ocsd *ocsd);

/* A decoder of the source in a tree. An ETE can be read by the ETMv4
 * decoder, whose packets can be watched. */
int ocsd_create(dcd_tree_handle_t tree, const struct ct_source *source, int flags, int as_etm4,
                unsigned char *id);

/* Packets only. 0, or an error of OpenCSD when it does not take the configuration. */
int ocsd_run_packets(struct ocsd *ocsd, const struct ct_source *source, const uint8_t *bytes, size_t size);

/* Elements only, decoded along the memory given. A crash of the library is
 * survived, and told in `crashed`. */
int ocsd_run_elems(struct ocsd *ocsd, const struct ct_source *source, const struct ocsd_region *regions,
                   unsigned region_count, const uint8_t *bytes, size_t size);

#endif
