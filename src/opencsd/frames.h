/* SPDX-License-Identifier: Apache-2.0 */
/* CoreSight frames taken apart one by one (ARM IHI 0029, "Trace formatter"). The demultiplexer of frame.h
 * gives the bytes of each trace ID in one run; a client of OpenCSD sees how those of several IDs follow each
 * other, and can pause inside of a frame. */
#ifndef CT_OPENCSD_FRAMES_H
#define CT_OPENCSD_FRAMES_H

#include "opencsd/decoder.h"

enum {
    CT_OCSD_FRAME_PARTS = 9, /* most changes of the ID in a frame, and the one before */
    CT_OCSD_NO_ID = 0xff,
};

/* Bytes of one trace ID in a frame. */
struct ct_ocsd_part {
    uint8_t id;         /* or CT_OCSD_NO_ID */
    uint8_t begin, end; /* in `bytes` of the frame */
    uint8_t place;      /* of the first byte in the frame */
};

struct ct_ocsd_frames {
    uint32_t flags; /* OCSD_DFRMTR_… */
    bool began;     /* an index is expected */
    bool synced;    /* with synchronisation words: one was seen */
    bool half_word; /* the first half of one was seen, at the end of a call */
    ocsd_demux_stats_t stats;
    uint8_t id;             /* the current one, or CT_OCSD_NO_ID */
    ocsd_trc_index_t next;  /* index that the next data must have */
    ocsd_trc_index_t index; /* of the frame in work */
    uint8_t raw[CT_OCSD_FRAME_SIZE];
    uint8_t fill;                      /* bytes of the frame that are there */
    uint8_t bytes[CT_OCSD_FRAME_SIZE]; /* data of the frame, without IDs and flags */
    struct ct_ocsd_part parts[CT_OCSD_FRAME_PARTS];
    uint8_t part_count;
    uint8_t part; /* the one that is handed out next */
    bool printed; /* the part that is next was printed already */
    bool counted; /* the part that is next was counted already */
};

/* Bytes in front of a frame, and what they mean. */
struct ct_ocsd_words {
    uint32_t skipped; /* bytes before the first synchronisation word */
    uint32_t size;    /* bytes of synchronisation words behind them */
    bool broken;      /* the first is none */
    bool resets;      /* they are to reset decoders; as many as fill frames */
};

/* Begins anew: no frame, no ID. What was counted stays. */
void ct_ocsd_frames_init(struct ct_ocsd_frames *frames, uint32_t flags);

/* Tells whether a tree can have these flags. */
bool ct_ocsd_frames_are_valid(uint32_t flags);

/* Returns the number of bytes that what a call brings must be a multiple of. */
uint32_t ct_ocsd_frames_unit(const struct ct_ocsd_frames *frames);

/* Looks at the bytes where a frame is to begin, or goes on: what is in front of it. */
struct ct_ocsd_words ct_ocsd_frames_words(struct ct_ocsd_frames *frames, const uint8_t *bytes, uint32_t size);

/* Takes bytes that lie at `index`, of which the first `words` are synchronisation words, at most up to the
 * end of a frame, which is taken apart then. Returns how many; 0 when they cannot be, with *message. */
uint32_t ct_ocsd_frames_add(struct ct_ocsd_frames *frames, ocsd_trc_index_t index, const uint8_t *bytes,
                            uint32_t size, uint32_t words, const char **message);

/* Prints synchronisation words that reset decoders, when that is wanted. */
void ct_ocsd_frames_print_words(const struct ct_ocsd_frames *frames, ocsd_trc_index_t index,
                                const uint8_t *bytes, uint32_t size);

/* Prints a part of the frame in work, when that is wanted. */
void ct_ocsd_frames_print_part(const struct ct_ocsd_frames *frames, const struct ct_ocsd_part *part);

/* Copies the data of frames that have no ID and lie one behind the other, `most` at most. There is room for
 * CT_OCSD_FRAME_SIZE bytes a frame. Returns how many frames these are. */
uint32_t ct_ocsd_frames_gather(const uint8_t *raw, uint32_t size, uint32_t most, uint8_t *bytes);

/* Begins to hand out the frame at `raw`, which has no ID and of which `done` bytes of data are done with. */
void ct_ocsd_frames_go_on(struct ct_ocsd_frames *frames, ocsd_trc_index_t index, const uint8_t *raw,
                          uint8_t done);

/* Takes apart the frame in `raw`. */
void ct_ocsd_frames_unpack(struct ct_ocsd_frames *frames);

#endif
