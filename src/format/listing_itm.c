/* SPDX-License-Identifier: Apache-2.0 */
/* Packet lines of ITM and DWT, docs/listing.md. */
#include "format/listing.h"

static const char *const names[CT_ITM_TYPE_COUNT] = {
    [CT_ITM_NOT_SYNC] = "itm_notsync",
    [CT_ITM_INCOMPLETE_EOT] = "itm_incomplete_eot",
    [CT_ITM_BAD_SEQUENCE] = "itm_bad_sequence",
    [CT_ITM_RESERVED] = "itm_reserved",
    [CT_ITM_ASYNC] = "itm_async",
    [CT_ITM_OVERFLOW] = "itm_overflow",
    [CT_ITM_SWIT] = "itm_swit",
    [CT_ITM_DWT] = "itm_dwt",
    [CT_ITM_TS_LOCAL] = "itm_ts_local",
    [CT_ITM_GTS_1] = "itm_gts_1",
    [CT_ITM_GTS_2] = "itm_gts_2",
    [CT_ITM_EXTENSION] = "itm_extension",
};

static void extension(struct ct_text *t, const struct ct_itm_packet *p)
{
    if (p->flags & CT_ITM_PAGE) {
        ct_list_hex(t, " page=", p->value);
        return;
    }
    ct_list_dec(t, " bits=", p->bits);
    ct_list_hex(t, " data=", p->value);
}

static void fields(struct ct_text *t, const struct ct_itm_packet *p)
{
    switch (p->type) {
    case CT_ITM_NOT_SYNC:
        ct_list_dec(t, " bytes=", p->value);
        break;
    case CT_ITM_SWIT:
    case CT_ITM_DWT:
        ct_list_hex(t, p->type == CT_ITM_SWIT ? " src=" : " desc=", p->source);
        ct_text_lit(t, " data=");
        ct_text_hex_digits(t, p->value, p->bits / 4u);
        break;
    case CT_ITM_TS_LOCAL:
        ct_list_hex(t, " ts=", p->value);
        ct_list_dec(t, " tc=", p->source);
        break;
    case CT_ITM_GTS_1:
    case CT_ITM_GTS_2:
        ct_list_hex(t, " ts=", p->value);
        if (p->flags & CT_ITM_CLOCK_CHANGED)
            ct_text_lit(t, " clkch=1");
        if (p->flags & CT_ITM_WRAP)
            ct_text_lit(t, " wrap=1");
        break;
    case CT_ITM_EXTENSION:
        extension(t, p);
        break;
    case CT_ITM_BAD_SEQUENCE:
    case CT_ITM_INCOMPLETE_EOT:
        ct_text_lit(t, " err=");
        ct_text_string(t, names[p->err]);
        break;
    default:
        break;
    }
}

static void list(struct ct_text *t, uint8_t id, uint64_t offset, const uint8_t *bytes, const void *packet,
                 const struct ct_source *source)
{
    const struct ct_itm_packet *p = packet;
    (void)source;
    ct_list_packet_start(t, id, offset, bytes, p->size, names[p->type]);
    fields(t, p);
    ct_text_char(t, '\n');
}

const struct ct_packet_listing ct_list_itm = {
    .names = names,
    .types = CT_ITM_TYPE_COUNT,
    .size = sizeof(struct ct_itm_packet),
    .pos = offsetof(struct ct_itm_packet, pos),
    .list = list,
};
