/* SPDX-License-Identifier: Apache-2.0 */
/* Structs of the interface as they are since OpenCSD 1.4, with the library's name unchanged: elements and
 * packets of ETMv4 and ETE became larger. Clients built for it get these. */
#pragma once

#include <opencsd/c_api/opencsd_c_api.h>
#include <stdbool.h>
#include <stddef.h>

#define CT_OCSD_LATE_VERSION 0x010400u /* first version with the later layout */

/* An element in the later layout. Members before the payload are the same. */
struct ct_ocsd_late_element {
    unsigned char same[offsetof(ocsd_generic_trace_elem, sw_trace_info)];
    uint64_t payload[2];
    const void *extended_data;
};

enum {
    CT_OCSD_INSTRUMENTATION = 33, /* type of instrumentation elements inside the library; exception_number is
                                   * the exception level, timestamp the value */
};

/* A packet in the later layout, which has a new member in the middle. Members before and after it are the
 * same. */
struct ct_ocsd_late_etm4_packet {
    unsigned char same[offsetof(ocsd_etmv4_i_pkt, pkt_valid)];
    struct {
        uint8_t el;
        uint64_t value;
    } instrumentation;
    unsigned char rest[sizeof(ocsd_etmv4_i_pkt) - offsetof(ocsd_etmv4_i_pkt, pkt_valid)];
};

/* Returns the version of OpenCSD that the program was built for, in the form of OCSD_VER_NUM: from the
 * environment variable CORETAP_OPENCSD_VERSION ("1.5.5"), or else that of the headers that coretap was built
 * with. A program that calls a function of the later layout was built for that. */
uint32_t ct_ocsd_version(void);

/* Notes that the program was built for at least this version. Returns false when the environment names an
 * earlier one. */
bool ct_ocsd_version_raise(uint32_t version);

/* Returns whether the client needs the later layout and the headers have the earlier one. */
bool ct_ocsd_layout_is_late(void);

/* Memory spaces of the Realm Management Extension, from later versions. */
enum {
    CT_OCSD_MEM_SPACE_EL1R = 0x20,
    CT_OCSD_MEM_SPACE_EL2R = 0x40,
    CT_OCSD_MEM_SPACE_ROOT = 0x80,
};

/* Flags and codes from later versions, for checking programs that contradict the trace or are invalid. */
enum {
    CT_OCSD_CHECK_DIRECT = 0x400,    /* OCSD_OPFLG_N_UNCOND_DIR_BR_CHK */
    CT_OCSD_CHECK_STRICT = 0x800,    /* OCSD_OPFLG_STRICT_N_UNCOND_BR_CHK */
    CT_OCSD_CHECK_CONTINUE = 0x1000, /* OCSD_OPFLG_CHK_RANGE_CONTINUE */
    CT_OCSD_CHECK_OPCODES = 0x20000, /* ETM4_OPFLG_PKTDEC_AA64_OPCODE_CHK */
    CT_OCSD_CHECKS =
        CT_OCSD_CHECK_DIRECT | CT_OCSD_CHECK_STRICT | CT_OCSD_CHECK_CONTINUE | CT_OCSD_CHECK_OPCODES,
    CT_OCSD_CHECK_LENGTH = 0x40000000, /* internal: the environment limits the instructions of a range */
    CT_OCSD_ERR_OPCODE = 44,           /* OCSD_ERR_INVALID_OPCODE */
    CT_OCSD_ERR_LENGTH = 45,           /* OCSD_ERR_I_RANGE_LIMIT_OVERRUN */
    CT_OCSD_ERR_BAD_IMAGE = 46,        /* OCSD_ERR_BAD_DECODE_IMAGE */
    CT_OCSD_BAD_IMAGE = OCSD_VER_NUM < CT_OCSD_LATE_VERSION ? 7 : 6, /* UNSYNC_BAD_IMAGE; after the last
                                                                      * reason if headers have none */
};

/* Writes an element in the later layout, which ITM elements always have. */
void ct_ocsd_late_element(const ocsd_generic_trace_elem *element, struct ct_ocsd_late_element *out);

/* Returns a client's element in the library's layout: itself, or `room` with its contents. */
const ocsd_generic_trace_elem *ct_ocsd_own_element(const ocsd_generic_trace_elem *element,
                                                   ocsd_generic_trace_elem *room);

/* Convert packets to the later layout, and back. */
void ct_ocsd_late_packet(const ocsd_etmv4_i_pkt *packet, struct ct_ocsd_late_etm4_packet *out);
void ct_ocsd_early_packet(const void *late, ocsd_etmv4_i_pkt *out);

#if OCSD_VER_NUM < 0x010400
/* Sets the client's cache options, which coretap's library ignores because it caches in its own way. Errors:
 * OCSD_ERR_INVALID_PARAM_VAL, OCSD_ERR_NOT_INIT without memory access. */
OCSD_C_API ocsd_err_t ocsd_dt_set_mem_acc_cacheing(const dcd_tree_handle_t handle, const int enable,
                                                   const uint16_t page_size, const int nr_pages);
#endif
