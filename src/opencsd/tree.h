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
};

struct ct_ocsd_tree {
    bool framed;
    bool late; /* the client knows elements and packets as they are from 1.4 on */
    struct ct_ocsd_frames frames;
    struct ct_ocsd_decoder *decoders[CT_OCSD_IDS];
    struct ct_ocsd_memory memory;
    FnTraceElemIn take_element; /* the client's, or NULL */
    const void *element_context;
    bool prints_elements; /* the library's printer takes them */
    uint64_t epoch;       /* grows with each call of the client, between which memory may have changed */
};

/* Returns the decoder of a trace ID, or NULL. */
struct ct_ocsd_decoder *ct_ocsd_tree_find(const struct ct_ocsd_tree *tree, uint8_t id);

#endif
