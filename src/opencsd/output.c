/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/output.h"

#include <stdlib.h>

#include "opencsd/element_text.h"
#include "opencsd/itm_types.h"
#include "opencsd/layout.h"
#include "opencsd/log.h"

/* Makes room for `room` elements. Returns false when out of memory. */
static bool grow(struct ct_ocsd_output *o, unsigned room)
{
    ocsd_generic_trace_elem *elements = realloc(o->elements, room * sizeof *elements);
    if (elements)
        o->elements = elements;
    ocsd_trc_index_t *indices = realloc(o->indices, room * sizeof *indices);
    if (indices)
        o->indices = indices;
    if (elements && indices)
        o->room = room;
    return elements && indices;
}

bool ct_ocsd_output_init(struct ct_ocsd_output *o, const struct ct_ocsd_decoder *decoder)
{
    *o = (struct ct_ocsd_output){
        .decoder = decoder,
        .blank = {.isa = ocsd_isa_unknown, .st_addr = OCSD_VA_MASK, .en_addr = OCSD_VA_MASK}};
    return grow(o, CT_OCSD_OUTPUT_ROOM);
}

void ct_ocsd_output_deinit(struct ct_ocsd_output *o)
{
    free(o->elements);
    free(o->indices);
}

void ct_ocsd_output_drop(struct ct_ocsd_output *o)
{
    o->next = o->count = 0;
    o->leaving = false;
}

void ct_ocsd_output_grow(struct ct_ocsd_output *o)
{
    if (grow(o, 2 * o->room))
        return;
    o->lacks_memory = true;
    o->count--;
}

ocsd_datapath_resp_t ct_ocsd_output_refuse(const struct ct_ocsd_output *o)
{
    const struct ct_ocsd_decoder *decoder = o->decoder;
    ct_ocsd_log(decoder->name, OCSD_ERR_SEV_ERROR, OCSD_ERR_NOT_INIT, OCSD_BAD_TRC_INDEX, OCSD_BAD_CS_SRC_ID,
                decoder->attached ? "No memory access interface attached and enabled"
                                  : "No element output interface attached and enabled");
    return OCSD_RESP_FATAL_NOT_INIT;
}

/* Passes an element to the client in the layout of later versions. */
static ocsd_datapath_resp_t give_late(const struct ct_ocsd_output *o, unsigned i)
{
    const struct ct_ocsd_tree *tree = o->decoder->tree;
    struct ct_ocsd_late_element late;
    ct_ocsd_late_element(&o->elements[i], &late);
    return tree->take_element(tree->element_context, o->indices[i], o->decoder->id, (const void *)&late);
}

ocsd_datapath_resp_t ct_ocsd_output_drain(struct ct_ocsd_output *o)
{
    const struct ct_ocsd_tree *tree = o->decoder->tree;
    ocsd_datapath_resp_t resp = OCSD_RESP_CONT;
    while (o->next < o->count && OCSD_DATA_RESP_IS_CONT(resp)) {
        const unsigned i = o->next++;
        if (!tree->take_element)
            ct_ocsd_element_print(o->indices[i], o->decoder->id, &o->elements[i]);
        else if (tree->late || (int)o->elements[i].elem_type == CT_OCSD_ITMTRACE)
            resp = give_late(o, i);
        else
            resp = tree->take_element(tree->element_context, o->indices[i], o->decoder->id, &o->elements[i]);
    }
    o->leaving = o->next < o->count;
    if (!o->leaving)
        o->next = o->count = 0;
    return resp;
}
