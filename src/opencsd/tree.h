/* SPDX-License-Identifier: Apache-2.0 */
/* A decode tree: the frames of a trace, a decoder per trace ID, the memory of the target, and the client's
 * callbacks. */
#pragma once

#include "opencsd/decoder.h"
#include "opencsd/frames.h"
#include "opencsd/memory.h"

enum {

    CT_OCSD_IDS = 128, /* trace IDs; a tree without frames has its decoder at 0 */
    CT_OCSD_FRAME_TEXT = OCSD_DFRMTR_PACKED_RAW_OUT | OCSD_DFRMTR_UNPACKED_RAW_OUT,
};

struct ct_ocsd_tree {
    bool framed;
    bool late; /* the client knows elements and packets as they are since 1.4 */
    struct ct_ocsd_frames frames;
    struct ct_ocsd_decoder *decoders[CT_OCSD_IDS];
    struct ct_ocsd_memory memory;
    FnTraceElemIn take_element; /* callback of the client, or NULL for the library's printer */
    const void *element_context;
    bool attaches; /* decoders created later get this output, too, as since 1.4 */
    struct ct_ocsd_outlet
        *outlet;         /* outlet that the logger had when the tree's text callback was set, or NULL */
    bool prints_frames;  /* ocsd_dt_set_raw_frame_printer was called */
    uint32_t frame_text; /* flags of CT_OCSD_FRAME_TEXT: what is printed of frames */
    uint32_t taken;      /* bytes taken in the last call with frames */
    uint64_t epoch;      /* incremented by each call of the client, between which memory may change */
};

/* Returns the decoder of a trace ID, or NULL. */
struct ct_ocsd_decoder *ct_ocsd_tree_find(const struct ct_ocsd_tree *tree, uint8_t id);

/* Sets where the elements of the existing decoders go: a callback, or the library's printer if that is NULL;
 * `attached` is false when they go to neither. */
void ct_ocsd_tree_set_output(struct ct_ocsd_tree *tree, FnTraceElemIn take_element, const void *context,
                             bool attached);
