/* SPDX-License-Identifier: Apache-2.0 */
/* Structs of the interface as they are from OpenCSD 1.4 on, under the same name of the library: elements and
 * packets of ETMv4 and ETE grew. Clients that were built for it are given these. */
#ifndef CT_OPENCSD_LAYOUT_H
#define CT_OPENCSD_LAYOUT_H

#include <opencsd/c_api/opencsd_c_api.h>
#include <stdbool.h>
#include <stddef.h>

#define CT_OCSD_LATE_VERSION 0x010400u /* the first one with the later layout */

/* An element of the later layout. What there is up to the payload is the same. */
struct ct_ocsd_late_element {
    unsigned char same[offsetof(ocsd_generic_trace_elem, sw_trace_info)];
    uint64_t payload[2];
    const void *extended_data;
};

enum {
    CT_OCSD_INSTRUMENTATION = 33, /* an element of the instrumentation extension, in the library: its payload
                                   * is the exception level, its timestamp the value */
};

/* A packet of the later layout. What there is in front of a member in its midst is the same, and behind it.
 */
struct ct_ocsd_late_etm4_packet {
    unsigned char same[offsetof(ocsd_etmv4_i_pkt, pkt_valid)];
    struct {
        uint8_t el;
        uint64_t value;
    } instrumentation;
    unsigned char rest[sizeof(ocsd_etmv4_i_pkt) - offsetof(ocsd_etmv4_i_pkt, pkt_valid)];
};

/* Returns the version of OpenCSD that the program was built for, in the form of OCSD_VER_NUM: the one that
 * the environment variable CORETAP_OPENCSD_VERSION names ("1.5.5"); else that of the headers that coretap was
 * built with. A program that calls a function of the later layout was built for that. */
uint32_t ct_ocsd_version(void);

/* Takes note that the program was built for a version at least. Returns false when the environment names an
 * earlier one. */
bool ct_ocsd_version_raise(uint32_t version);

/* Tells whether the later layout is wanted, and is not that of the headers. */
bool ct_ocsd_layout_is_late(void);

/* Memory spaces of later versions, of the Realm Management Extension. */
enum {
    CT_OCSD_MEM_SPACE_EL1R = 0x20,
    CT_OCSD_MEM_SPACE_EL2R = 0x40,
    CT_OCSD_MEM_SPACE_ROOT = 0x80,
};

/* Flags of decoders of later versions: that look for programs that contradict the trace, or are none. */
enum {
    CT_OCSD_CHECK_DIRECT = 0x400,    /* OCSD_OPFLG_N_UNCOND_DIR_BR_CHK */
    CT_OCSD_CHECK_STRICT = 0x800,    /* OCSD_OPFLG_STRICT_N_UNCOND_BR_CHK */
    CT_OCSD_CHECK_CONTINUE = 0x1000, /* OCSD_OPFLG_CHK_RANGE_CONTINUE */
    CT_OCSD_CHECK_OPCODES = 0x20000, /* ETM4_OPFLG_PKTDEC_AA64_OPCODE_CHK */
    CT_OCSD_CHECKS =
        CT_OCSD_CHECK_DIRECT | CT_OCSD_CHECK_STRICT | CT_OCSD_CHECK_CONTINUE | CT_OCSD_CHECK_OPCODES,
    CT_OCSD_CHECK_LENGTH = 0x40000000, /* no flag: the environment limits the instructions of a range */
    CT_OCSD_ERR_OPCODE = 44,           /* OCSD_ERR_INVALID_OPCODE */
    CT_OCSD_ERR_LENGTH = 45,           /* OCSD_ERR_I_RANGE_LIMIT_OVERRUN */
    CT_OCSD_ERR_BAD_IMAGE = 46,        /* OCSD_ERR_BAD_DECODE_IMAGE */
    CT_OCSD_BAD_IMAGE = OCSD_VER_NUM < CT_OCSD_LATE_VERSION ? 7 : 6, /* UNSYNC_BAD_IMAGE, behind the last
                                                                      * reason where headers have none */
};

/* Writes an element in the later layout, the only one that those of ITM have. */
void ct_ocsd_late_element(const ocsd_generic_trace_elem *element, struct ct_ocsd_late_element *out);

/* Returns an element of the client's as the library has it: the same, or `room` with what it says. */
const ocsd_generic_trace_elem *ct_ocsd_own_element(const ocsd_generic_trace_elem *element,
                                                   ocsd_generic_trace_elem *room);

/* Writes and reads packets likewise. */
void ct_ocsd_late_packet(const ocsd_etmv4_i_pkt *packet, struct ct_ocsd_late_etm4_packet *out);
void ct_ocsd_early_packet(const void *late, ocsd_etmv4_i_pkt *out);

#if OCSD_VER_NUM < 0x010400
/* Says how memory is kept, which coretap's library does in its own way. OCSD_ERR_INVALID_PARAM_VAL,
 * OCSD_ERR_NOT_INIT without memory. */
OCSD_C_API ocsd_err_t ocsd_dt_set_mem_acc_cacheing(const dcd_tree_handle_t handle, const int enable,
                                                   const uint16_t page_size, const int nr_pages);
#endif

#endif
