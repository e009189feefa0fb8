/* SPDX-License-Identifier: Apache-2.0 */
/* Makes elements of the packets of an STM. */
#include "opencsd/stm.h"
#include "opencsd/tree.h"

/* Adds an element with the payload and timestamp of the packet. */
static ocsd_generic_trace_elem *add(struct ct_ocsd_stm *d, const struct ct_stm_packet *p)
{
    ocsd_generic_trace_elem *e = ct_ocsd_software_add(&d->software, OCSD_GEN_TRC_ELEM_SWTRACE);
    e->sw_trace_info = d->info;
    if (p->units) {
        ct_ocsd_stm_set_payload(p, &d->element);
        e->sw_trace_info.swt_payload_pkt_bitsize = 4 * p->units & 0xff;
        e->sw_trace_info.swt_payload_num_packets = 1;
        e->extended_data = 1;
        e->ptr_extended_data = &d->element.payload;
    }
    e->sw_trace_info.swt_marker_packet = (p->flags & CT_STM_MARKER) != 0;
    if (p->flags & CT_STM_HAS_TS) {
        e->sw_trace_info.swt_has_timestamp = 1;
        e->has_ts = 1;
        d->timestamp = p->ts;
    }
    e->timestamp = d->timestamp;
    return e;
}

void ct_ocsd_stm_take(struct ct_ocsd_stm *d, const struct ct_stm_packet *p)
{
    switch (p->type) {
    case CT_STM_D4 ... CT_STM_D64:
        add(d, p);
        break;
    case CT_STM_FLAG:
        add(d, p)->sw_trace_info.swt_marker_packet = 1;
        break;
    case CT_STM_TRIG:
        add(d, p)->sw_trace_info.swt_trigger_event = 1;
        break;
    case CT_STM_FREQ:
        add(d, p)->sw_trace_info.swt_frequency = 1;
        break;
    case CT_STM_NULL:
        if (p->flags & CT_STM_HAS_TS)
            add(d, p);
        break;
    case CT_STM_MERR:
        d->info.swt_channel_id = p->channel;
        add(d, p)->sw_trace_info.swt_master_err = 1;
        break;
    case CT_STM_GERR:
        d->info.swt_id_valid = 0;
        add(d, p)->sw_trace_info.swt_global_err = 1;
        break;
    case CT_STM_VERSION: /* 1.3.3 resets the source only in packets, not here */
        if (d->software.base.tree->late)
            d->info.swt_master_id = d->info.swt_channel_id = 0;
        break;
    case CT_STM_M8:
        d->info.swt_id_valid = 1;
        d->info.swt_master_id = p->master;
        d->info.swt_channel_id = p->channel;
        break;
    case CT_STM_C8:
    case CT_STM_C16:
        d->info.swt_channel_id = p->channel;
        break;
    default: /* alignment, or an incomplete packet */
        break;
    }
}
