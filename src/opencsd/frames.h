/* SPDX-License-Identifier: Apache-2.0 */
/* Unpacks CoreSight frames one by one (ARM IHI 0029, "Trace formatter"). The demultiplexer of frame.h
 * collects the bytes of each trace ID; a client of OpenCSD sees the order of bytes of several IDs, and can
 * pause inside a frame. */
#pragma once

#include "opencsd/decoder.h"

enum {
    CT_OCSD_FRAME_PARTS = 9, /* most changes of the ID in a frame, plus the part before the first */
    CT_OCSD_NO_ID = 0xff,
};

/* The bytes of one trace ID in a frame. */
struct ct_ocsd_part {
    uint8_t id;         /* trace ID or CT_OCSD_NO_ID */
    uint8_t begin, end; /* range in `bytes` of the frame */
    uint8_t place;      /* position of the first byte in the frame */
};

struct ct_ocsd_frames {
    uint32_t flags; /* OCSD_DFRMTR_… */
    bool began;     /* data came, so `next` is valid */
    bool synced;    /* a synchronisation word was seen, if there are any */
    bool half_word; /* a call ended with the first half of a synchronisation word */
    ocsd_demux_stats_t stats;
    uint8_t id;             /* current trace ID or CT_OCSD_NO_ID */
    ocsd_trc_index_t next;  /* trace index expected of the next data */
    ocsd_trc_index_t index; /* trace index of the current frame */
    uint8_t raw[CT_OCSD_FRAME_SIZE];
    uint8_t fill;                      /* bytes of the frame received so far */
    uint8_t bytes[CT_OCSD_FRAME_SIZE]; /* data of the frame, without IDs and flags */
    struct ct_ocsd_part parts[CT_OCSD_FRAME_PARTS];
    uint8_t part_count;
    bool had_parts; /* a part was passed on, or printed by a flush */
    uint8_t part;   /* next part to be passed on */
    bool printed;   /* the next part was printed already */
    bool counted;   /* the next part was counted already */
};

/* The bytes before a frame. */
struct ct_ocsd_words {
    uint32_t skipped; /* bytes before the first synchronisation word */
    uint32_t size;    /* bytes of synchronisation words after these */
    bool broken;      /* the expected first word is missing */
    bool resets;      /* the words fill whole frames, which resets the decoders */
};

/* Resets the frame and the ID. Keeps the statistics and had_parts. */
void ct_ocsd_frames_init(struct ct_ocsd_frames *frames, uint32_t flags);

/* Prints a part without bytes, if enabled, at the first flush before the first frame, as 1.3.3 does. */
void ct_ocsd_frames_flush(struct ct_ocsd_frames *frames);

/* Returns the unit, in bytes, of which the size of each call must be a multiple. */
uint32_t ct_ocsd_frames_unit(const struct ct_ocsd_frames *frames);

/* Examines the bytes where a frame begins or continues. Returns what precedes the frame. */
struct ct_ocsd_words ct_ocsd_frames_words(struct ct_ocsd_frames *frames, const uint8_t *bytes, uint32_t size);

/* Takes bytes at trace index `index`, at most up to the end of a frame, which is then unpacked. The first
 * `words` bytes are synchronisation words. Returns how many were taken; 0 on an error, with *message. */
uint32_t ct_ocsd_frames_add(struct ct_ocsd_frames *frames, ocsd_trc_index_t index, const uint8_t *bytes,
                            uint32_t size, uint32_t words, const char **message);

/* Prints synchronisation words that reset decoders, if enabled. */
void ct_ocsd_frames_print_words(const struct ct_ocsd_frames *frames, ocsd_trc_index_t index,
                                const uint8_t *bytes, uint32_t size);

/* Prints a part of the current frame, if enabled. */
void ct_ocsd_frames_print_part(const struct ct_ocsd_frames *frames, const struct ct_ocsd_part *part);

/* Copies the data of consecutive frames without an ID, `most` at most. `bytes` needs CT_OCSD_FRAME_SIZE bytes
 * per frame. Returns the number of frames. */
uint32_t ct_ocsd_frames_gather(const uint8_t *raw, uint32_t size, uint32_t most, uint8_t *bytes);

/* Starts passing on the frame at `raw`, which has no ID, after its first `done` data bytes. */
void ct_ocsd_frames_go_on(struct ct_ocsd_frames *frames, ocsd_trc_index_t index, const uint8_t *raw,
                          uint8_t done);
