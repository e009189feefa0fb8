/* SPDX-License-Identifier: Apache-2.0 */
/* A decode tree: the frames of a trace, a decoder for each trace ID, the memory of the target, and the
 * client's callbacks. */
#ifndef CT_OPENCSD_TREE_H
#define CT_OPENCSD_TREE_H

#include "opencsd/decoder.h"
#include "opencsd/frames.h"
#include "opencsd/memory.h"

enum {

    CT_OCSD_IDS = 128, /* trace IDs; a tree without frames has its decoder at 0 */
    CT_OCSD_FRAME_TEXT = OCSD_DFRMTR_PACKED_RAW_OUT | OCSD_DFRMTR_UNPACKED_RAW_OUT,
};

struct ct_ocsd_tree {
    bool framed;
    bool late; /* the client knows elements and packets as they are from 1.4 on */
    struct ct_ocsd_frames frames;
    struct ct_ocsd_decoder *decoders[CT_OCSD_IDS];
    struct ct_ocsd_memory memory;
    FnTraceElemIn take_element; /* the client's, or NULL for the library's printer */
    const void *element_context;
    bool attaches; /* decoders that are made later have this output, too, as from 1.4 on */
    struct ct_ocsd_outlet
        *outlet;         /* what was the logger's when the tree's callback for text was set, or NULL */
    bool prints_frames;  /* ocsd_dt_set_raw_frame_printer was called */
    uint32_t frame_text; /* of CT_OCSD_FRAME_TEXT: what is printed of frames then */
    uint32_t taken;      /* bytes of frames in the last call that had some */
    uint64_t epoch;      /* grows with each call of the client, between which memory may have changed */
};

/* Returns the decoder of a trace ID, or NULL. */
struct ct_ocsd_decoder *ct_ocsd_tree_find(const struct ct_ocsd_tree *tree, uint8_t id);

/* Gives the elements of the decoders that there are to a callback, or to the library's printer where that is
 * NULL; `attached` is false where they go to neither. */
void ct_ocsd_tree_set_output(struct ct_ocsd_tree *tree, FnTraceElemIn take_element, const void *context,
                             bool attached);

#endif
