/* SPDX-License-Identifier: Apache-2.0 */
/* Generic elements on their way to the client, who may ask for a pause behind each of them. */
#ifndef CT_OPENCSD_OUTPUT_H
#define CT_OPENCSD_OUTPUT_H

#include <string.h>

#include "opencsd/tree.h"

enum {
    CT_OCSD_OUTPUT_ROOM = 64, /* elements that there is always room for */
};

struct ct_ocsd_output {
    const struct ct_ocsd_decoder *decoder;
    ocsd_generic_trace_elem *elements;
    ocsd_trc_index_t *indices;
    unsigned count, next, room;
    bool lacks_memory;             /* an element is missing */
    bool leaving;                  /* they are being handed out */
    ocsd_generic_trace_elem blank; /* an element with the instruction set and the context that elements have
                                    * from here on, of no type */
};

/* Makes an empty one. Returns false without memory. */
bool ct_ocsd_output_init(struct ct_ocsd_output *output, const struct ct_ocsd_decoder *decoder);
void ct_ocsd_output_deinit(struct ct_ocsd_output *output);

/* Drops what was not handed out. */
void ct_ocsd_output_drop(struct ct_ocsd_output *output);

/* Makes room for one more element. Without memory the last one gives way. */
void ct_ocsd_output_grow(struct ct_ocsd_output *output);

/* Adds an element of a packet at `index`, with the current instruction set and context. Returns it, to be
 * filled in. */
static inline ocsd_generic_trace_elem *ct_ocsd_output_add(struct ct_ocsd_output *output,
                                                          ocsd_gen_trc_elem_t type, ocsd_trc_index_t index)
{
    if (output->count == output->room)
        ct_ocsd_output_grow(output);
    ocsd_generic_trace_elem *e = &output->elements[output->count];
    output->indices[output->count++] = index;
    memcpy(e, &output->blank, sizeof *e); /* an assignment is a slow instruction to some compilers */
    e->elem_type = type;
    return e;
}

/* Tells whether nothing can be made of packets, since the client gave no place for elements, or no memory. */
static inline bool ct_ocsd_output_lacks(const struct ct_ocsd_output *output)
{
    const struct ct_ocsd_decoder *decoder = output->decoder;
    return !decoder->only_packets && !(decoder->attached && decoder->tree->memory.used);
}

/* Logs what the client did not give. Returns the answer to whatever it wants done. */
ocsd_datapath_resp_t ct_ocsd_output_refuse(const struct ct_ocsd_output *output);

/* Hands out what was added, up to an answer that is not CONT. Returns the last answer. */
ocsd_datapath_resp_t ct_ocsd_output_drain(struct ct_ocsd_output *output);

#endif
