/* SPDX-License-Identifier: Apache-2.0 */
/* Makes elements of the packets of an ITM. */
#include "opencsd/itm.h"

enum {
    ROOM = CT_RESOLVE_MIN, /* most elements of elem.h that one packet makes */
};

/* Adds an element for an element of elem.h. */
static ocsd_generic_trace_elem *add(struct ct_ocsd_itm *d, const struct ct_elem *in,
                                    struct ct_ocsd_itm_payload payload)
{
    ocsd_generic_trace_elem *e = ct_ocsd_software_add(&d->software, (ocsd_gen_trc_elem_t)CT_OCSD_ITMTRACE);
    payload.overflow = in->aux & CT_SW_OVERFLOW ? 1 : 0;
    ct_ocsd_itm_set_payload(e, &payload);
    return e;
}

/* Adds an element with traced data. */
static void add_data(struct ct_ocsd_itm *d, const struct ct_elem *in, enum ct_ocsd_itm_type type,
                     uint8_t source)
{
    add(d, in,
        (struct ct_ocsd_itm_payload){.type = (uint8_t)type,
                                     .source = source,
                                     .size = (uint8_t)((in->aux & CT_SW_BITS) / 8),
                                     .value = (uint32_t)in->v});
}

static void set_time(ocsd_generic_trace_elem *e, uint64_t time)
{
    e->has_ts = 1;
    e->timestamp = time;
}

/* Adds a local timestamp; `time` is the sum of all local timestamps so far. */
static void add_local_time(struct ct_ocsd_itm *d, const struct ct_elem *in, uint64_t time)
{
    const struct ct_ocsd_itm_payload payload = {.type = (uint8_t)(CT_OCSD_ITM_LOCAL_TIME + in->n),
                                                .value = (uint32_t)in->v};
    set_time(add(d, in, payload), time);
}

static void add_global_time(struct ct_ocsd_itm *d, const struct ct_elem *in)
{
    ocsd_generic_trace_elem *e = add(d, in, (struct ct_ocsd_itm_payload){.type = CT_OCSD_ITM_GLOBAL_TIME});
    set_time(e, in->v);
    e->cpu_freq_change = d->clock_changed;
    d->clock_changed = false;
}

/* Adds the element for an element of elem.h, if there is one. `time`: the element after it, which a local
 * timestamp has. */
static void take_element(struct ct_ocsd_itm *d, const struct ct_elem *in, const struct ct_elem *time)
{
    switch (in->kind) {
    case CT_ELEM_SW_SOURCE:
        d->channel = (uint8_t)in->aux;
        break;
    case CT_ELEM_SW:
        add_data(d, in, CT_OCSD_ITM_STIMULUS, d->channel);
        break;
    case CT_ELEM_DWT:
        add_data(d, in, CT_OCSD_ITM_HARDWARE_SOURCE, in->n);
        break;
    case CT_ELEM_LOCAL_TIME:
        add_local_time(d, in, time->v);
        break;
    case CT_ELEM_TIMESTAMP:
        if (in->n == CT_TIMESTAMP_GLOBAL)
            add_global_time(d, in);
        break;
    default: /* synchronisation, which the decoder reports itself */
        break;
    }
}

void ct_ocsd_itm_take(struct ct_ocsd_itm *d, const struct ct_itm_packet *packet)
{
    struct ct_elem elems[ROOM];
    size_t count;
    if (packet->type == CT_ITM_ASYNC)
        d->waits = false;
    if (packet->type == CT_ITM_GTS_1 && packet->flags & CT_ITM_CLOCK_CHANGED)
        d->clock_changed = true;
    ct_itm_resolve(d->resolver, packet, 1, 0, elems, ROOM, &count);
    for (size_t i = 0; i < count; i++)
        take_element(d, &elems[i], i + 1 < count ? &elems[i + 1] : &elems[i]);
}
