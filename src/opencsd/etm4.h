/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder of an ETMv4 or ETE. */
#ifndef CT_OPENCSD_ETM4_H
#define CT_OPENCSD_ETM4_H

#include "coretap/packet.h"
#include "opencsd/feed.h"
#include "opencsd/held.h"
#include "opencsd/path.h"

enum {
    CT_OCSD_UNSYNCED = 8, /* bytes without synchronisation that make a packet */
};

enum ct_ocsd_etm4_state {
    CT_OCSD_ETM4_NO_SYNC,   /* the next packet says that synchronisation is missing */
    CT_OCSD_ETM4_WAIT_SYNC, /* for an alignment packet */
    CT_OCSD_ETM4_WAIT_INFO, /* for a trace info */
    CT_OCSD_ETM4_DECODE,
};

/* How a program contradicts the trace, or is none. */
struct ct_ocsd_mismatch {
    ocsd_err_t code;
    unsync_info_t reason; /* why synchronisation is lost */
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
    ocsd_etmv4_i_pkt packet;         /* the last one, for who wants packets */
    uint64_t source_addr;            /* the source address that is walked to */
    uint64_t addr_before;            /* where execution was before an address that no atom followed yet */
    uint8_t isa_before;              /* instruction set at addr_before */
    ocsd_trc_index_t address_index;  /* index of the packet of the address at addr_before */
    ocsd_trc_index_t index;          /* of the packet in work */
    ocsd_trc_index_t unsynced_index; /* of the first byte without synchronisation */
    ocsd_trc_index_t commit_index;   /* of the item that left last, in this call of 1.3.3's; else 0 */
    uint32_t max_spec;               /* P0 elements that may be speculative */
    uint32_t depth;   /* P0 elements that are held, and those that a trace info says came before the trace */
    uint32_t commit;  /* P0 elements that are to leave */
    uint32_t cancel;  /* P0 elements that are to be taken back behind those that leave */
    uint8_t version;  /* 0x45: ETMv4.5, 0x50: ETE 1.0 */
    uint8_t state;    /* enum ct_ocsd_etm4_state */
    uint8_t reason;   /* unsync_info_t, why synchronisation is missing */
    uint8_t unsynced; /* bytes since synchronisation is missing, up to CT_OCSD_UNSYNCED */
    uint8_t el_sec;   /* exception level and security state, as in packets */
    bool ete, m_profile, v7m, cycle_count, trans_start_p0, ts_markers; /* its configuration */
    bool split_source;   /* N atoms on the way to a source address end a range of their own */
    int checks;          /* CT_OCSD_CHECK_… */
    uint64_t next_start; /* where the next range must begin */
    bool has_next_start; /* next_start is known */
    const struct ct_ocsd_mismatch *mismatch; /* what is wrong with the program; or NULL */
    bool told_failure;                       /* an error was logged in this call */
    bool late;                               /* elements and messages are those of OpenCSD 1.5.5 */
    bool halted;                             /* decoding ends here */
    bool out_of_memory;                      /* something could not be stored */
    bool synced;                             /* an alignment packet came */
    bool after_overflow;                     /* no trace on came since */
    bool marker_seen;                        /* a timestamp marker was given */
    bool pending_address;                    /* an exception or a Q waits for its address */
    bool last_is1;                           /* instruction set of the last address packet */
    bool address_waits;                      /* such an address came, and was taken at once */
    bool mispredict;                         /* the newest atom is to be turned round, behind what leaves */
    bool discard;                            /* all that is held is dropped */
    bool flushing;                           /* the client asked for the rest of a packet, behind a pause */
    bool ending;                             /* the trace is over, and the last elements are on their way */
    bool need_context;                       /* the context is not known */
    bool sf;                                 /* 64-bit state */
    bool context_sf;   /* 64-bit state in the last context packet, also before a reset */
    bool lacks_return; /* the return stack was empty */
    bool to_source;    /* source_addr is walked to */
};

/* Makes a decoder of the source. OCSD_ERR_HW_CFG_UNSUPP for registers that cannot be, OCSD_ERR_MEM. */
ocsd_err_t ct_ocsd_etm4_new(const struct ct_ocsd_tree *tree, const struct ct_source *source, int create_flags,
                            struct ct_ocsd_decoder **out);

/* ---- what packets add to what is held (etm4_take.c) ---- */

/* Takes one packet, of which `d->index` says where it is. */
void ct_ocsd_etm4_take(struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *packet);

/* Holds what a packet adds, and notes what it demands. */
void ct_ocsd_etm4_hold(struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *packet);

/* ---- packets that leave at once (etm4_quick.c) ---- */

/* Takes packets of atoms, addresses and times, one behind the other, while they are such as leave at once.
 * They begin at *at of the piece, which becomes the byte behind them; what comes there goes to the packet
 * decoder. Returns the client's answer. */
ocsd_datapath_resp_t ct_ocsd_etm4_take_run(struct ct_ocsd_etm4 *d, const struct ct_ocsd_piece *piece,
                                           uint32_t *at);

/* Takes atoms and addresses where nothing can be taken back, and nothing of the path is held. Returns false
 * when it did not. */
bool ct_ocsd_etm4_take_quickly(struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *packet);

/* ---- what leaves of what is held (etm4_leave.c) ---- */

/* Puts out what is to leave, up to an answer of the client that is not CONT. */
ocsd_datapath_resp_t ct_ocsd_etm4_pump(struct ct_ocsd_etm4 *d);

/* Ends the trace. */
ocsd_datapath_resp_t ct_ocsd_etm4_end(struct ct_ocsd_etm4 *d);

/* ---- synchronisation that is lost (etm4_loss.c) ---- */

/* Loses synchronisation: what is held is gone. */
void ct_ocsd_etm4_lose(struct ct_ocsd_etm4 *d, unsync_info_t reason);

/* Says that synchronisation is missing, because of the packet in work. */
void ct_ocsd_etm4_no_sync(struct ct_ocsd_etm4 *d);

/* Says that synchronisation was lost in the middle of a packet. While the client flushes, 1.3.3 says so with
 * the next packet, and where decoding ends too, if the client goes on. */
void ct_ocsd_etm4_tell_loss(struct ct_ocsd_etm4 *d);

/* Loses synchronisation because of a packet, and says why. */
void ct_ocsd_etm4_fail(struct ct_ocsd_etm4 *d, ocsd_err_t code, const char *message);

/* Loses synchronisation because a packet takes more of what is held than there is. What is held leaves after
 * the next synchronisation, as 1.3.3 has it. */
void ct_ocsd_etm4_overrun(struct ct_ocsd_etm4 *d, ocsd_trc_index_t index, const char *message);

/* Loses synchronisation because the item of a packet at `index` cannot be committed: it has no address behind
 * it, or returned to where nobody knows. */
void ct_ocsd_etm4_fail_commit(struct ct_ocsd_etm4 *d, ocsd_trc_index_t index);

/* Loses synchronisation because of the program, at the item of a packet at `index`. */
void ct_ocsd_etm4_fail_image(struct ct_ocsd_etm4 *d, ocsd_trc_index_t index);

/* ---- execution (etm4_walk.c) ---- */

/* Takes the oldest of an item's atoms, which are committed, and adds the elements that they make to the
 * output. At most `most`, and fewer where something else is to be looked at between them. Returns how many;
 * the item lacks them then. */
uint32_t ct_ocsd_etm4_atoms(struct ct_ocsd_etm4 *d, struct ct_ocsd_held *item, uint32_t most);

/* Takes atoms, the oldest in bit 0, as long as nothing but their branches says where execution goes, and
 * hands out the range of each before the next is looked at, while the client goes on: *resp is its answer.
 * `range` is an element of that type with the current context. Returns how many were taken. */
uint8_t ct_ocsd_etm4_give(struct ct_ocsd_etm4 *d, uint32_t atoms, uint8_t count,
                          ocsd_generic_trace_elem *range, ocsd_datapath_resp_t *resp);

/* Takes any other committed item, and adds the elements that it makes. */
void ct_ocsd_etm4_execute(struct ct_ocsd_etm4 *d, const struct ct_ocsd_held *item);

/* Takes an exception with its return address. */
void ct_ocsd_etm4_except(struct ct_ocsd_etm4 *d, const struct ct_ocsd_held *exception,
                         const struct ct_ocsd_held *address);

#endif
