/* The packet decoder of ETMv4 and ETE: bytes to packets, one flat switch on the form of the header. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/ctx.h"
#include "base/etm4_config.h"
#include "proto/etm4_state.h"

/* Zero bytes of an alignment packet before its 0x80. */
#define ASYNC_ZEROS 11
#define ASYNC_SIZE  (ASYNC_ZEROS + 1)

int ct_etm4_decoder_new(struct ct_ctx *ctx, const struct ct_source *source, struct ct_etm4_decoder **out)
{
    struct ct_etm4_config config;
    int rc = ct_etm4_config_init(ctx, source, &config);
    if (rc)
        return rc;
    struct ct_etm4_decoder *d = calloc(1, sizeof *d);
    if (!d)
        return ct_fail_nomem(ctx, "ETMv4 packet decoder");
    d->config = config;
    ct_etm4_headers_init(&config, d->headers);
    ct_etm4_decoder_reset(d);
    *out = d;
    return CT_OK;
}

void ct_etm4_decoder_free(struct ct_etm4_decoder *d)
{
    free(d);
}

/* An address history that says `valid` bits of zero are known. */
static void history_init(struct ct_etm4_decoder *d, uint8_t valid)
{
    for (int i = 0; i < 3; i++)
        d->history[i] = (struct ct_etm4_address){.valid = valid, .size = 64};
}

void ct_etm4_decoder_reset(struct ct_etm4_decoder *d)
{
    history_init(d, 0);
    d->timestamp = 0;
    d->cc_threshold = 0;
    d->sf = d->info_seen = d->synced = false;
    d->run_size = 0;
}

static void history_push(struct ct_etm4_decoder *d, const struct ct_etm4_address *address)
{
    d->history[2] = d->history[1];
    d->history[1] = d->history[0];
    d->history[0] = *address;
}

/* Every address packet, source addresses and matches included, moves the history on. */
static void set_address(struct ct_etm4_decoder *d, struct ct_etm4_packet *packet,
                        const struct ct_etm4_address *address)
{
    struct ct_etm4_address now = *address; /* it may be part of the history that is about to move */
    history_push(d, &now);
    packet->value = now.value;
    packet->valid = now.valid < now.size ? now.valid : 64;
    packet->is = now.is;
}

static void set_bad(struct ct_etm4_packet *packet, uint8_t type)
{
    packet->err = packet->type;
    packet->type = type;
}

/* IHI 0064H 6.4.2 (async), 6.4.8 and 6.4.9 (discard, overflow). */
static void extension(struct ct_etm4_cursor *c, struct ct_etm4_packet *packet)
{
    uint8_t which = ct_etm4_u8(c);
    if (c->cut)
        return;
    if (which == 3) {
        packet->type = CT_ETM4_DISCARD;
    } else if (which == 5) {
        packet->type = CT_ETM4_OVERFLOW;
    } else if (which != 0) {
        set_bad(packet, CT_ETM4_BAD_SEQUENCE);
    } else {
        packet->type = CT_ETM4_ASYNC;
        for (int zeros = 2; zeros < ASYNC_SIZE; zeros++) {
            uint8_t byte = ct_etm4_u8(c);
            if (c->cut || (byte == 0x80 && zeros == ASYNC_ZEROS))
                return;
            if (byte != 0 || zeros == ASYNC_ZEROS) {
                set_bad(packet, CT_ETM4_BAD_SEQUENCE);
                return;
            }
        }
    }
}

/* IHI 0064H 6.4.4: PLCTL says which sections follow: INFO, KEY, SPEC, CYCT, and on an ETE the window. */
static void trace_info(struct ct_etm4_decoder *d, struct ct_etm4_cursor *c, struct ct_etm4_packet *packet)
{
    uint8_t plctl = ct_etm4_u8(c);
    if (plctl & 0x80)
        ct_etm4_cont(c, 0);
    uint32_t info = plctl & 1 ? ct_etm4_cont(c, 5) : 0;
    if (plctl & 2)
        ct_etm4_cont(c, 0); /* P0 key: data trace only */
    uint32_t spec = plctl & 4 ? ct_etm4_cont(c, 5) : 0;
    uint32_t threshold = plctl & 8 ? ct_etm4_cont(c, 5) : 0;
    if (plctl & 16)
        ct_etm4_cont(c, 0);
    if (c->cut)
        return;
    packet->info = (uint8_t)info;
    packet->count = threshold;
    packet->count2 = spec;
    packet->flags = (uint16_t)((info & 1 ? CT_ETM4_HAS_CCTHR : 0) | (plctl & 4 ? CT_ETM4_HAS_SPEC : 0) |
                               (info & 0x40 ? CT_ETM4_TSTATE : 0) | (d->info_seen ? 0 : CT_ETM4_FIRST_INFO));
    d->info_seen = true;
    d->cc_threshold = threshold;
    d->timestamp = 0;
    history_init(d, 64);
}

/* IHI 0064H 6.4.11. */
static void timestamp(struct ct_etm4_decoder *d, struct ct_etm4_cursor *c, struct ct_etm4_packet *packet)
{
    unsigned bits;
    uint64_t value = ct_etm4_timestamp(c, &bits);
    uint32_t count = packet->header & 1 ? ct_etm4_cont(c, 3) : 0;
    if (c->cut)
        return;
    uint64_t mask = ct_mask64(bits);
    d->timestamp = (d->timestamp & ~mask) | value;
    packet->value = d->timestamp;
    if (packet->header & 1) {
        packet->count = count & (uint32_t)ct_mask64(d->config.cc_bits);
        packet->flags |= CT_ETM4_HAS_COUNT;
    }
}

static void context(struct ct_etm4_decoder *d, struct ct_etm4_cursor *c, struct ct_etm4_packet *packet)
{
    ct_etm4_context(c, &d->config, packet);
    if (!c->cut)
        d->sf = packet->flags & CT_ETM4_SF;
}

/* IHI 0064H 6.4.12, address packets; the context of a combined packet takes effect behind its address. */
static void address(struct ct_etm4_decoder *d, struct ct_etm4_cursor *c, struct ct_etm4_packet *packet,
                    const struct ct_etm4_header *header)
{
    struct ct_etm4_address now = d->history[0];
    bool with_context = false;
    switch (header->form) {
    case CT_ETM4_FORM_ADDR_SHORT:
        ct_etm4_address_short(c, header->is, &now);
        break;
    case CT_ETM4_FORM_ADDR_CTXT_32:
        with_context = true;
        ct_etm4_address_32(c, header->is, d->sf, &now);
        break;
    case CT_ETM4_FORM_ADDR_32:
        ct_etm4_address_32(c, header->is, d->sf, &now);
        break;
    case CT_ETM4_FORM_ADDR_CTXT_64:
        with_context = true;
        ct_etm4_address_64(c, header->is, &now);
        break;
    default:
        ct_etm4_address_64(c, header->is, &now);
        break;
    }
    if (with_context)
        context(d, c, packet);
    if (!c->cut)
        set_address(d, packet, &now);
}

static void address_match(struct ct_etm4_decoder *d, struct ct_etm4_packet *packet)
{
    packet->idx = packet->header & 3;
    set_address(d, packet, &d->history[packet->idx]);
}

/* IHI 0064H 6.4.15: what there is of an address, then of a count, is in the low four bits of the header. */
static void q(struct ct_etm4_decoder *d, struct ct_etm4_cursor *c, struct ct_etm4_packet *packet)
{
    struct ct_etm4_address now = d->history[0];
    unsigned form = packet->header & 15;
    bool has_address = true;
    switch (form) {
    case 0x0:
    case 0x1:
    case 0x2:
        now = d->history[form];
        packet->idx = (uint8_t)form;
        packet->flags |= CT_ETM4_MATCH;
        break;
    case 0x5:
    case 0x6:
        ct_etm4_address_short(c, form == 0x6, &now);
        break;
    case 0xa:
    case 0xb:
        ct_etm4_address_32(c, form == 0xb, d->sf, &now);
        break;
    default:
        has_address = false;
        break;
    }
    if (form != 0xf) {
        packet->count = ct_etm4_cont(c, 5);
        packet->flags |= CT_ETM4_HAS_COUNT;
    }
    if (c->cut || !has_address)
        return;
    packet->flags |= CT_ETM4_HAS_ADDR;
    set_address(d, packet, &now);
}

/* IHI 0064H 6.4.10: format 1 has fields of any size, formats 2 and 3 small ones above the threshold. */
static void cycle_count_f1(struct ct_etm4_decoder *d, struct ct_etm4_cursor *c, struct ct_etm4_packet *packet)
{
    if (!d->config.comm_opt) {
        packet->count2 = ct_etm4_cont(c, 5);
        packet->flags |= CT_ETM4_HAS_COMMIT;
    }
    if (!(packet->header & 1)) {
        packet->count = d->cc_threshold + ct_etm4_cont(c, 3);
        packet->flags |= CT_ETM4_HAS_COUNT;
    }
}

static void cycle_count_f2(struct ct_etm4_decoder *d, struct ct_etm4_cursor *c, struct ct_etm4_packet *packet)
{
    uint8_t byte = ct_etm4_u8(c);
    packet->count = d->cc_threshold + (byte & 15u);
    packet->flags |= CT_ETM4_HAS_COUNT;
    if (!d->config.comm_opt) {
        uint32_t base = packet->header & 1 ? d->config.max_spec - 15 : 1;
        packet->count2 = base + (byte >> 4);
        packet->flags |= CT_ETM4_HAS_COMMIT;
    }
}

static void cycle_count_f3(struct ct_etm4_decoder *d, struct ct_etm4_packet *packet)
{
    packet->count = d->cc_threshold + (packet->header & 3u);
    packet->flags |= CT_ETM4_HAS_COUNT;
    if (!d->config.comm_opt) {
        packet->count2 = (packet->header >> 2 & 3u) + 1;
        packet->flags |= CT_ETM4_HAS_COMMIT;
    }
}

/* IHI 0064H 6.4.16 to 6.4.18: mispredict, cancel formats 2 and 3, with the atoms they bring. */
static void speculation(struct ct_etm4_packet *packet)
{
    if (packet->type == CT_ETM4_CANCEL_F3) {
        packet->count2 = (packet->header >> 1 & 3u) + 2;
        packet->natoms = packet->header & 1;
        packet->atoms = packet->natoms;
        return;
    }
    static const uint8_t natoms[4] = {0, 1, 2, 1};
    static const uint8_t atoms[4] = {0, 1, 3, 0};
    packet->natoms = natoms[packet->header & 3];
    packet->atoms = atoms[packet->header & 3];
    packet->count2 = packet->type == CT_ETM4_CANCEL_F2;
}

/* IHI 0064H 6.4.7. On an ETE types 0 and 0x18 are packets of their own, always with both bytes. */
static void exception(struct ct_etm4_decoder *d, struct ct_etm4_cursor *c, struct ct_etm4_packet *packet)
{
    uint8_t first = ct_etm4_u8(c);
    unsigned number = first >> 1 & 0x1f;
    bool alone = d->config.ete && (number == 0 || number == 0x18);
    if (first & 0x80 || alone) {
        uint8_t second = ct_etm4_u8(c);
        if (first & 0x80) {
            number |= (second & 0x1fu) << 5;
            if (second & 0x20)
                packet->flags |= CT_ETM4_FAULT_PENDING;
        }
    }
    if (c->cut)
        return;
    packet->info = (uint16_t)number;
    packet->idx = (uint8_t)((first >> 5 & 2) | (first & 1));
    alone = d->config.ete && (number == 0 || number == 0x18);
    if (alone) {
        packet->type = number ? CT_ETM4_TRANS_FAIL : CT_ETM4_PE_RESET;
        history_push(d, &(struct ct_etm4_address){.valid = 64, .size = 64});
    }
}

static void ite(struct ct_etm4_cursor *c, struct ct_etm4_packet *packet)
{
    packet->el_sec = ct_etm4_u8(c) & 3;
    packet->value = ct_etm4_le(c, 8);
}

/* One or two keys with results: the first byte has the result in 3:0 and the key from bit 4 on. */
static void conditional_result_f1(struct ct_etm4_cursor *c, struct ct_etm4_packet *packet)
{
    packet->value = ct_etm4_cont(c, 5);
    bool two = (packet->header & 0xfc) != 0x6c;
    if (two)
        packet->value |= (uint64_t)ct_etm4_cont(c, 5) << 32;
}

/* Decodes the packet at c->p into *packet, of which pos, type and header are filled in. On `cut` nothing
 * in the decoder has changed. */
static void decode_one(struct ct_etm4_decoder *d, struct ct_etm4_cursor *c, struct ct_etm4_packet *packet)
{
    const struct ct_etm4_header *header = &d->headers[*c->p++];
    switch (header->form) {
    case CT_ETM4_FORM_ATOM:
        packet->atoms = header->atoms;
        packet->natoms = header->natoms;
        break;
    case CT_ETM4_FORM_ADDR_SHORT:
    case CT_ETM4_FORM_ADDR_32:
    case CT_ETM4_FORM_ADDR_64:
    case CT_ETM4_FORM_ADDR_CTXT_32:
    case CT_ETM4_FORM_ADDR_CTXT_64:
        address(d, c, packet, header);
        break;
    case CT_ETM4_FORM_ADDR_MATCH:
        address_match(d, packet);
        break;
    case CT_ETM4_FORM_CCNT_F1:
        cycle_count_f1(d, c, packet);
        break;
    case CT_ETM4_FORM_CCNT_F2:
        cycle_count_f2(d, c, packet);
        break;
    case CT_ETM4_FORM_CCNT_F3:
        cycle_count_f3(d, packet);
        break;
    case CT_ETM4_FORM_CONTEXT:
        if (packet->header & 1)
            context(d, c, packet);
        break;
    case CT_ETM4_FORM_TIMESTAMP:
        timestamp(d, c, packet);
        break;
    case CT_ETM4_FORM_EXCEPTION:
        exception(d, c, packet);
        break;
    case CT_ETM4_FORM_EVENT:
        packet->info = packet->header & 15;
        break;
    case CT_ETM4_FORM_COUNT:
        packet->count2 = ct_etm4_cont(c, 5);
        break;
    case CT_ETM4_FORM_SPEC:
        speculation(packet);
        break;
    case CT_ETM4_FORM_EXTENSION:
        extension(c, packet);
        break;
    case CT_ETM4_FORM_TRACE_INFO:
        trace_info(d, c, packet);
        break;
    case CT_ETM4_FORM_Q:
        q(d, c, packet);
        break;
    case CT_ETM4_FORM_ITE:
        ite(c, packet);
        break;
    case CT_ETM4_FORM_COND_KEY:
        packet->value = ct_etm4_cont(c, 5);
        break;
    case CT_ETM4_FORM_COND_BYTE:
        packet->value = ct_etm4_u8(c);
        break;
    case CT_ETM4_FORM_COND_RES1:
        conditional_result_f1(c, packet);
        break;
    case CT_ETM4_FORM_CFG:
        set_bad(packet, CT_ETM4_RESERVED_CFG);
        break;
    default: /* PLAIN: the header is all; RESERVED: so it is, of a packet that is not defined */
        break;
    }
}

/* Looks for the alignment packet in bytes without synchronisation. Result: bytes that belong to the run.
 * Zeros at the end are held back: an alignment packet may have begun there. */
static size_t unsynced_bytes(struct ct_etm4_decoder *d, const uint8_t *data, size_t size, int final)
{
    static const uint8_t zeros[ASYNC_ZEROS];
    size_t from = 0;
    for (;;) {
        const uint8_t *end = from < size ? memchr(data + from, 0x80, size - from) : NULL;
        if (!end)
            break;
        size_t at = (size_t)(end - data);
        if (at >= ASYNC_ZEROS && !memcmp(end - ASYNC_ZEROS, zeros, ASYNC_ZEROS)) {
            d->synced = true;
            return at - ASYNC_ZEROS;
        }
        from = at + 1;
    }
    if (final)
        return size;
    size_t held = 0;
    while (held < ASYNC_ZEROS && held < size && data[size - 1 - held] == 0)
        held++;
    return size - held;
}

/* A packet that is cut: the trace ends in it, or it is longer than a packet can be. */
static void end_cut_packet(size_t size, struct ct_etm4_packet *packet)
{
    *packet = (struct ct_etm4_packet){.pos = packet->pos,
                                      .header = packet->header,
                                      .err = packet->type,
                                      .type = size < CT_ETM4_PACKET_MAX ? CT_ETM4_INCOMPLETE_EOT
                                                                        : CT_ETM4_BAD_SEQUENCE};
}

/* `bytes` more, at `pos`, belong to the run without synchronisation; once it is over it becomes a packet.
 * Result: packets made, 0 or 1. */
static size_t tell_run(struct ct_etm4_decoder *d, size_t bytes, uint64_t pos, int over,
                       struct ct_etm4_packet *packet)
{
    if (d->run_size == 0)
        d->run_pos = pos;
    d->run_size += bytes;
    if (!over || d->run_size == 0)
        return 0;
    *packet = (struct ct_etm4_packet){.pos = d->run_pos, .type = CT_ETM4_NOT_SYNC, .value = d->run_size};
    d->run_size = 0;
    return 1;
}

size_t ct_etm4_decode(struct ct_etm4_decoder *d, const uint8_t *data, size_t size, uint64_t pos, int final,
                      struct ct_etm4_packet *packets, size_t cap, size_t *count)
{
    size_t at = 0;
    size_t n = 0;
    while (n < cap && at < size) {
        if (!d->synced) {
            size_t bytes = unsynced_bytes(d, data + at, size - at, final);
            n += tell_run(d, bytes, pos + at, d->synced, &packets[n]);
            at += bytes;
            if (!d->synced)
                break;
            continue;
        }
        size_t left = size - at < CT_ETM4_PACKET_MAX ? size - at : CT_ETM4_PACKET_MAX;
        struct ct_etm4_packet *packet = &packets[n];
        struct ct_etm4_cursor c = {.p = data + at, .end = data + at + left};
        *packet =
            (struct ct_etm4_packet){.pos = pos + at, .type = d->headers[data[at]].type, .header = data[at]};
        decode_one(d, &c, packet);
        if (c.cut) {
            if (!final && left < CT_ETM4_PACKET_MAX)
                break;
            end_cut_packet(left, packet);
            c.p = c.end;
        }
        packet->size = (uint8_t)(c.p - (data + at));
        at += packet->size;
        n++;
    }
    if (final && at == size && n < cap && !d->synced)
        n += tell_run(d, 0, pos + at, 1, &packets[n]);
    *count = n;
    return at;
}
