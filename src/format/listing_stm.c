/* SPDX-License-Identifier: Apache-2.0 */
/* Packet lines of STM, docs/listing.md. */
#include "format/listing.h"

static const char *const names[CT_STM_TYPE_COUNT] = {
    [CT_STM_NOT_SYNC] = "notsync",
    [CT_STM_INCOMPLETE_EOT] = "incomplete_eot",
    [CT_STM_BAD_SEQUENCE] = "bad_sequence",
    [CT_STM_RESERVED] = "reserved",
    [CT_STM_ASYNC] = "async",
    [CT_STM_VERSION] = "version",
    [CT_STM_NULL] = "null",
    [CT_STM_FREQ] = "freq",
    [CT_STM_TRIG] = "trig",
    [CT_STM_GERR] = "gerr",
    [CT_STM_MERR] = "merr",
    [CT_STM_M8] = "m8",
    [CT_STM_M16] = "m16",
    [CT_STM_C8] = "c8",
    [CT_STM_C16] = "c16",
    [CT_STM_FLAG] = "flag",
    [CT_STM_D4] = "d4",
    [CT_STM_D8] = "d8",
    [CT_STM_D16] = "d16",
    [CT_STM_D32] = "d32",
    [CT_STM_D64] = "d64",
    [CT_STM_USER] = "user",
    [CT_STM_XSYNC] = "xsync",
};

static void fields(struct ct_text *t, const struct ct_stm_packet *p)
{
    switch (p->type) {
    case CT_STM_NOT_SYNC:
        ct_list_dec(t, " bytes=", p->value);
        break;
    case CT_STM_VERSION:
        ct_list_dec(t, " ver=", p->value);
        break;
    case CT_STM_FREQ:
        ct_list_dec(t, " freq=", p->value);
        break;
    case CT_STM_M8:
    case CT_STM_M16:
        ct_list_hex(t, " master=", p->master);
        break;
    case CT_STM_C8:
    case CT_STM_C16:
        ct_list_hex(t, " chan=", p->channel);
        break;
    case CT_STM_TRIG:
    case CT_STM_XSYNC:
    case CT_STM_USER:
    case CT_STM_D4 ... CT_STM_D64:
        ct_text_lit(t, " data=");
        ct_text_hex_digits(t, p->value, p->units);
        break;
    case CT_STM_BAD_SEQUENCE:
    case CT_STM_INCOMPLETE_EOT:
        ct_text_lit(t, " err=");
        ct_text_string(t, names[p->err]);
        break;
    default:
        break;
    }
    if (p->flags & CT_STM_HAS_TS)
        ct_list_hex(t, " ts=", p->ts);
}

static void list(struct ct_text *t, uint8_t id, uint64_t offset, const uint8_t *bytes, const void *packet,
                 const struct ct_source *source)
{
    const struct ct_stm_packet *p = packet;
    (void)source;
    uint8_t shown[CT_STM_PACKET_MAX];
    if (p->size) {
        memcpy(shown, bytes, p->size);
        if (p->flags & CT_STM_HALF)
            shown[0] &= 0xf0; /* the low half belongs to the previous packet */
    }
    ct_list_packet_start(t, id, offset, shown, p->size, names[p->type]);
    if (p->flags & CT_STM_MARKER)
        ct_text_char(t, 'm');
    if (p->flags & CT_STM_HAS_TS && p->type != CT_STM_NULL)
        ct_text_lit(t, "ts");
    fields(t, p);
    ct_text_char(t, '\n');
}

const struct ct_packet_listing ct_list_stm = {
    .names = names,
    .types = CT_STM_TYPE_COUNT,
    .size = sizeof(struct ct_stm_packet),
    .pos = offsetof(struct ct_stm_packet, pos),
    .list = list,
};
