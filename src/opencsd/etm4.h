/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder of an ETMv4 or ETE. */
#pragma once

#include "coretap/packet.h"
#include "opencsd/etm4_packet.h"
#include "opencsd/etm4_search.h"
#include "opencsd/feed.h"
#include "opencsd/held.h"
#include "opencsd/path.h"

enum ct_ocsd_etm4_state {
    CT_OCSD_ETM4_NO_SYNC,   /* the next packet reports that synchronisation is missing */
    CT_OCSD_ETM4_WAIT_SYNC, /* waits for an alignment packet */
    CT_OCSD_ETM4_WAIT_INFO, /* waits for a trace info */
    CT_OCSD_ETM4_DECODE,
};

/* A way in which the program contradicts the trace or is invalid. */
struct ct_ocsd_mismatch {
    ocsd_err_t code;
    unsync_info_t reason; /* reason for losing synchronisation */
    bool fatal;           /* decoding ends */
    const char *message;
};

struct ct_ocsd_etm4 {
    struct ct_ocsd_decoder base;
    struct ct_source source;
    struct ct_etm4_decoder *packets;
    struct ct_ocsd_path path;
    struct ct_ocsd_feed feed;
    struct ct_ocsd_held_queue held;
    struct ct_ocsd_etm4_search search; /* before synchronisation */
    ocsd_etmv4_i_pkt packet;           /* the last packet, for clients that want packets */
    struct ct_ocsd_etm4_width widths[CT_OCSD_ETM4_ADDRESSES]; /* of the addresses that a match can repeat */
    uint64_t source_addr;                                     /* source address that execution walks to */
    uint64_t addr_before;           /* address of execution before the last address packet, if no atom
                                     * followed that yet */
    uint8_t isa_before;             /* instruction set at addr_before */
    ocsd_trc_index_t address_index; /* trace index of that address packet */
    ocsd_trc_index_t index;         /* trace index of the current packet */
    ocsd_trc_index_t commit_index;  /* index of the item committed last, within the same call as in 1.3.3;
                                     * else 0 */
    uint32_t max_spec;              /* most P0 elements that may be speculative */
    uint32_t depth;  /* held P0 elements, including those before the trace, counted by a trace info */
    uint32_t commit; /* P0 elements still to be committed */
    uint32_t cancel; /* P0 elements still to be cancelled, after those that are committed */
    uint8_t version; /* 0x45: ETMv4.5, 0x50: ETE 1.0 */
    uint8_t state;   /* enum ct_ocsd_etm4_state */
    uint8_t reason;  /* unsync_info_t: reason for missing synchronisation */
    uint8_t el_sec;  /* exception level and security state, as in packets */
    bool ete, m_profile, v7m, cycle_count, trans_start_p0, ts_markers; /* configuration */
    bool split_source;   /* N atoms on the way to a source address end a range of their own */
    int checks;          /* CT_OCSD_CHECK_… */
    uint64_t next_start; /* expected start of the next range */
    bool has_next_start; /* next_start is valid */
    const struct ct_ocsd_mismatch *mismatch; /* what is wrong with the program, or NULL */
    bool told_failure;                       /* an error was logged in this call */
    bool late;                               /* elements and messages as in OpenCSD 1.5.5 */
    bool halted;                             /* decoding has ended */
    bool out_of_memory;                      /* memory ran out */
    bool synced;                             /* an alignment packet came */
    bool told_unsynced;                      /* a packet before it went further than to monitors */
    bool after_overflow;                     /* no trace on came since an overflow */
    bool marker_seen;                        /* a timestamp marker was output */
    bool pending_address;                    /* an exception or Q packet waits for its address */
    bool last_is1;                           /* instruction set of the last address packet */
    bool address_waits;                      /* an address packet came that no atom followed yet, and was
                                              * applied at once */
    bool mispredict;                         /* the newest atom is to be inverted, after the commits */
    bool discard;                            /* everything held is to be dropped */
    bool flushing;                           /* the client is flushing the rest of a packet after a pause */
    bool ending;                             /* the trace has ended, and its last elements are being output */
    bool need_context;                       /* the context is unknown */
    bool sf;                                 /* 64-bit state */
    bool context_sf;   /* 64-bit state in the last context packet, even before a reset */
    bool lacks_return; /* the return stack was empty */
    bool to_source;    /* execution walks to source_addr */
};

/* Creates a decoder for the source. Errors: OCSD_ERR_HW_CFG_UNSUPP for invalid registers, OCSD_ERR_MEM. */
ocsd_err_t ct_ocsd_etm4_new(const struct ct_ocsd_tree *tree, const struct ct_source *source, int create_flags,
                            struct ct_ocsd_decoder **out);

/* ---- packets, which add held items (etm4_take.c) ---- */

/* Takes one packet. d->index is its trace index. */
void ct_ocsd_etm4_take(struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *packet);

/* Holds the items that a packet adds, and notes its commits and cancels. */
void ct_ocsd_etm4_hold(struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *packet);

/* ---- packets with immediate effect (etm4_quick.c) ---- */

/* Takes consecutive packets of atoms, addresses and times as long as their effect is immediate, starting at
 * *at of the piece. Sets *at to the first byte not taken, which goes to the packet decoder. Returns the
 * client's response. */
ocsd_datapath_resp_t ct_ocsd_etm4_take_run(struct ct_ocsd_etm4 *d, const struct ct_ocsd_piece *piece,
                                           uint32_t *at);

/* Takes an atom or address packet if nothing can be cancelled and nothing of the path is held. Returns false
 * when it did not. */
bool ct_ocsd_etm4_take_quickly(struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *packet);

/* ---- committing held items (etm4_leave.c) ---- */

/* Outputs committed items, up to a response other than CONT. */
ocsd_datapath_resp_t ct_ocsd_etm4_pump(struct ct_ocsd_etm4 *d);

/* ---- loss of synchronisation (etm4_loss.c) ---- */

/* Loses synchronisation and drops what is held. */
void ct_ocsd_etm4_lose(struct ct_ocsd_etm4 *d, unsync_info_t reason);

/* Reports that synchronisation is missing, because of the current packet. */
void ct_ocsd_etm4_no_sync(struct ct_ocsd_etm4 *d);

/* Reports that synchronisation was lost inside a packet. While the client flushes, 1.3.3 reports it with the
 * next packet, and also the end of decoding, if the client continues. */
void ct_ocsd_etm4_tell_loss(struct ct_ocsd_etm4 *d);

/* Loses synchronisation because of a packet, and reports why. */
void ct_ocsd_etm4_fail(struct ct_ocsd_etm4 *d, ocsd_err_t code, const char *message);

/* Loses synchronisation because a packet commits or cancels more than is held. Held items are output after
 * the next synchronisation, as in 1.3.3. */
void ct_ocsd_etm4_overrun(struct ct_ocsd_etm4 *d, ocsd_trc_index_t index, const char *message);

/* Loses synchronisation because the item of the packet at `index` cannot be committed: it has no following
 * address, or returned to an unknown address. */
void ct_ocsd_etm4_fail_commit(struct ct_ocsd_etm4 *d, ocsd_trc_index_t index);

/* Loses synchronisation because of the program, at the item of the packet at `index`. */
void ct_ocsd_etm4_fail_image(struct ct_ocsd_etm4 *d, ocsd_trc_index_t index);

/* ---- execution (etm4_walk.c) ---- */

/* Takes the oldest of an item's committed atoms, removes them from the item, and adds their elements to the
 * output. Takes at most `most`, and fewer when the caller has to check something between them. Returns how
 * many. */
uint32_t ct_ocsd_etm4_atoms(struct ct_ocsd_etm4 *d, struct ct_ocsd_held *item, uint32_t most);

/* Takes atoms, the oldest in bit 0, as long as execution depends only on their branches. Outputs the range of
 * each before reading the next, while the client continues: *resp is its response. `range`: a range element
 * with the current context. Returns how many were taken. */
uint8_t ct_ocsd_etm4_give(struct ct_ocsd_etm4 *d, uint32_t atoms, uint8_t count,
                          ocsd_generic_trace_elem *range, ocsd_datapath_resp_t *resp);

/* Takes any other committed item, and adds its elements to the output. */
void ct_ocsd_etm4_execute(struct ct_ocsd_etm4 *d, const struct ct_ocsd_held *item);

/* Takes an exception with its return address. */
void ct_ocsd_etm4_except(struct ct_ocsd_etm4 *d, const struct ct_ocsd_held *exception,
                         const struct ct_ocsd_held *address);
