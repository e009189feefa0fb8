/* SPDX-License-Identifier: Apache-2.0 */
/* Generic elements on their way to the client, who may request a pause after each. */
#pragma once

#include <string.h>

#include "opencsd/tree.h"

enum {
    CT_OCSD_OUTPUT_ROOM = 64, /* elements for which there is always room */
};

struct ct_ocsd_output {
    const struct ct_ocsd_decoder *decoder;
    ocsd_generic_trace_elem *elements;
    ocsd_trc_index_t *indices;
    unsigned count, next, room;
    bool lacks_memory;             /* an element was lost because memory ran out */
    bool leaving;                  /* elements are being passed to the client */
    ocsd_generic_trace_elem blank; /* template of new elements, without a type: holds the current instruction
                                    * set and context */
};

/* Creates an empty output. Returns false when out of memory. */
bool ct_ocsd_output_init(struct ct_ocsd_output *output, const struct ct_ocsd_decoder *decoder);
void ct_ocsd_output_deinit(struct ct_ocsd_output *output);

/* Drops the elements not passed on yet. */
void ct_ocsd_output_drop(struct ct_ocsd_output *output);

/* Makes room for one more element. When out of memory, drops the last one. */
void ct_ocsd_output_grow(struct ct_ocsd_output *output);

/* Adds an element for a packet at `index`, with the current instruction set and context. Returns it, to be
 * filled in. */
static inline ocsd_generic_trace_elem *ct_ocsd_output_add(struct ct_ocsd_output *output,
                                                          ocsd_gen_trc_elem_t type, ocsd_trc_index_t index)
{
    if (output->count == output->room)
        ct_ocsd_output_grow(output);
    ocsd_generic_trace_elem *e = &output->elements[output->count];
    output->indices[output->count++] = index;
    memcpy(e, &output->blank, sizeof *e); /* memcpy, because some compilers use a slow instruction for the
                                           * assignment */
    e->elem_type = type;
    return e;
}

/* Returns whether elements cannot be made, because the client gave no receiver of elements, or no memory. */
static inline bool ct_ocsd_output_lacks(const struct ct_ocsd_output *output)
{
    const struct ct_ocsd_decoder *decoder = output->decoder;
    return !decoder->only_packets && !(decoder->attached && decoder->tree->memory.used);
}

/* Logs what the client did not provide. Returns the response for the operation. */
ocsd_datapath_resp_t ct_ocsd_output_refuse(const struct ct_ocsd_output *output);

/* Passes the added elements on, up to a response other than CONT. Returns the last response. */
ocsd_datapath_resp_t ct_ocsd_output_drain(struct ct_ocsd_output *output);
