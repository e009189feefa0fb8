/* SPDX-License-Identifier: Apache-2.0 */
#include "etm4/burst.h"

#include <string.h>

#include "base/bytes.h"

static uint32_t head(enum ct_elem_kind kind, unsigned n, unsigned aux)
{
    return (uint32_t)kind | n << 8 | aux << 16;
}

static void set(struct ct_etm4_burst *b, unsigned header, struct ct_etm4_row row)
{
    b->rows[header][0] = b->rows[header][1] = row;
}

/* Sets the rows of a short address: seven bits from bit 2 (IS0) or bit 1 (IS1) on, then eight more when there
 * is another byte. */
static void set_short(struct ct_etm4_burst *b, unsigned header, unsigned is)
{
    struct ct_etm4_row row = {.head = head(CT_ELEM_ADDRESS, is, 64),
                              .form = CT_BURST_SHORT,
                              .address = 1,
                              .shift = (uint8_t)(2 - is),
                              .base = is,
                              .take = 0x7f};
    row.keep = ~ct_mask64(7u + row.shift);
    b->rows[header][0] = row;
    row.take = 0xff7f;
    row.keep = ~ct_mask64(15u + row.shift);
    b->rows[header][1] = row;
}

static void set_long(struct ct_etm4_burst *b, unsigned header, unsigned is, bool wide)
{
    uint64_t low = is ? 0xff7f : 0x7f7f;
    set(b, header,
        (struct ct_etm4_row){.head = head(CT_ELEM_ADDRESS, is, 64),
                             .form = CT_BURST_LONG,
                             .address = 1,
                             .shift = (uint8_t)(2 - is),
                             .base = is,
                             .take = low | (wide ? UINT64_C(0xffffffffffff0000) : 0xffff0000)});
}

static void set_count_f1(struct ct_etm4_burst *b, unsigned header)
{
    struct ct_etm4_row row = {.head = head(CT_ELEM_CYCLES, CT_CYCLES_ALONE, header & 1)};
    if (header & 1) { /* the count is unknown */
        row.form = CT_BURST_PLAIN;
        set(b, header, row);
        return;
    }
    row.form = CT_BURST_COUNT;
    row.base = b->threshold;
    row.take = 0x7f;
    b->rows[header][0] = row;
    row.take = 0x7f7f;
    b->rows[header][1] = row;
}

static void set_cycles(struct ct_etm4_burst *b, unsigned header, uint8_t form)
{
    struct ct_etm4_row row = {.head = head(CT_ELEM_CYCLES, CT_CYCLES_ALONE, 0), .base = b->threshold};
    switch (form) {
    case CT_ETM4_FORM_CCNT_F1:
        set_count_f1(b, header);
        break;
    case CT_ETM4_FORM_CCNT_F2:
        row.form = CT_BURST_COUNT4;
        row.take = 15;
        set(b, header, row);
        break;
    default:
        row.form = CT_BURST_PLAIN;
        row.base += header & 3;
        set(b, header, row);
        break;
    }
}

static void set_header(struct ct_etm4_burst *b, unsigned h, const struct ct_etm4_decoder *d)
{
    const struct ct_etm4_header *header = &d->headers[h];
    bool is_source = header->type >= CT_ETM4_SRC_ADDR_S_IS0 && header->type <= CT_ETM4_SRC_ADDR_MATCH;
    set(b, h, (struct ct_etm4_row){.form = CT_BURST_RARE});
    if (is_source)
        return;
    switch (header->form) {
    case CT_ETM4_FORM_ATOM:
        set(b, h,
            (struct ct_etm4_row){.head = head(CT_ELEM_ATOMS, header->natoms, 0),
                                 .form = CT_BURST_PLAIN,
                                 .base = header->atoms});
        break;
    case CT_ETM4_FORM_EVENT:
        set(b, h, (struct ct_etm4_row){.head = head(CT_ELEM_EVENT, h & 15, 0), .form = CT_BURST_PLAIN});
        break;
    case CT_ETM4_FORM_ADDR_SHORT:
        set_short(b, h, header->is);
        break;
    case CT_ETM4_FORM_ADDR_32:
        set_long(b, h, header->is, false);
        break;
    case CT_ETM4_FORM_ADDR_64:
        set_long(b, h, header->is, true);
        break;
    case CT_ETM4_FORM_ADDR_MATCH:
        set(b, h,
            (struct ct_etm4_row){.head = head(CT_ELEM_ADDRESS, 0, 64),
                                 .form = CT_BURST_MATCH,
                                 .address = 1,
                                 .keep = ~UINT64_C(0),
                                 .source = h & 3});
        break;
    case CT_ETM4_FORM_CCNT_F1:
    case CT_ETM4_FORM_CCNT_F2:
    case CT_ETM4_FORM_CCNT_F3:
        /* A packet that also commits would need more than a row; and with a threshold above the 12 bits that
         * a trace unit has, sums might overflow. */
        if (d->config.comm_opt && b->threshold <= UINT16_MAX)
            set_cycles(b, h, header->form);
        break;
    default:
        break;
    }
}

void ct_etm4_burst_set_sf(struct ct_etm4_burst *b, bool sf)
{
    b->sf = sf;
    for (unsigned h = 0; h < 256; h++)
        for (unsigned i = 0; i < 2; i++) {
            struct ct_etm4_row *row = &b->rows[h][i];
            if (row->form == CT_BURST_LONG && !(row->take >> 32))
                row->keep = sf ? ~UINT64_C(0xffffffff) : 0;
        }
}

static void set_rows(struct ct_etm4_burst *b, const struct ct_etm4_decoder *d)
{
    b->threshold = d->cc_threshold;
    for (unsigned h = 0; h < 256; h++)
        set_header(b, h, d);
    ct_etm4_burst_set_sf(b, d->sf);
}

void ct_etm4_burst_init(struct ct_etm4_burst *b, const struct ct_etm4_decoder *d)
{
    *b = (struct ct_etm4_burst){.threshold = 0};
    set_rows(b, d);
}

bool ct_etm4_burst_enter(struct ct_etm4_burst *b, const struct ct_etm4_decoder *d)
{
    if (!d->synced)
        return false;
    for (int i = 0; i < 3; i++) {
        if (d->history[i].valid != 64)
            return false;
        b->address[i] = d->history[i].value | d->history[i].is;
    }
    if (b->threshold != d->cc_threshold || b->sf != d->sf)
        set_rows(b, d);
    return true;
}

void ct_etm4_burst_leave(const struct ct_etm4_burst *b, struct ct_etm4_decoder *d)
{
    for (int i = 0; i < 3; i++) {
        d->history[i].value = b->address[i] & ~UINT64_C(1);
        d->history[i].is = b->address[i] & 1;
    }
}

/* Reads a short address by its rows; `x` are the bytes behind the header. *address is the address before and
 * becomes the new one, with the instruction set in bit 0. Returns the number of bytes of the packet. */
static size_t short_address(const struct ct_etm4_row row[2], uint32_t x, uint64_t *address)
{
    unsigned two = x >> 7 & 1;
    uint64_t low = ((x & 0x7f) | (x >> 1 & 0x7f80 & -two)) << row->shift;
    *address = (*address & row[two].keep) | low | row->base;
    return 2 + two;
}

static size_t long_address(const struct ct_etm4_row *row, uint64_t x, uint64_t *address)
{
    uint64_t bytes = x & row->take;
    uint64_t low =
        (bytes & 0x7f) << row->shift | (bytes & 0xff00) << (row->shift - 1) | (bytes & ~UINT64_C(0xffff));
    *address = (*address & row->keep) | low | row->base;
    return row->take >> 32 ? 9 : 5;
}

/* Adds a cycle count of seven bits a byte to *value. Returns the number of bytes of the packet; 0 when the
 * count has more than three. */
static size_t count_bytes(uint32_t x, uint64_t *value)
{
    uint32_t bits = x & 0x7f;
    size_t size = 2;
    if (x & 0x80) {
        bits |= x >> 1 & 0x3f80;
        size = 3;
        if (x & 0x8000) {
            bits |= x >> 2 & 0x1fc000;
            size = 4;
            if (x & 0x800000)
                return 0;
        }
    }
    *value += bits;
    return size;
}

static void push(uint64_t address[3], uint64_t now)
{
    address[2] = address[1];
    address[1] = address[0];
    address[0] = now;
}

static struct ct_elem element(const struct ct_etm4_row *row, unsigned is, uint32_t pos, uint64_t v)
{
    return (struct ct_elem){.kind = (uint8_t)row->head,
                            .n = (uint8_t)(row->head >> 8 | is),
                            .aux = (uint16_t)(row->head >> 16),
                            .pos = pos,
                            .v = v};
}

size_t ct_etm4_burst_elems(struct ct_etm4_burst *b, const uint8_t *data, size_t size, uint32_t pos,
                           struct ct_elem *elems, size_t cap, size_t *count)
{
    size_t at = 0;
    size_t n = 0;
    size_t end = size < CT_ETM4_BURST_AHEAD ? 0 : size - CT_ETM4_BURST_AHEAD;
    uint64_t address[3] = {b->address[0], b->address[1], b->address[2]};
    while (at < end && n < cap) {
        uint8_t header = data[at];
        const struct ct_etm4_row *row = b->rows[header];
        uint64_t value = row->base;
        uint64_t now = address[0];
        size_t bytes = 1;
        switch (row->form) {
        case CT_BURST_PLAIN:
            break;
        case CT_BURST_SHORT:
            bytes = short_address(row, ct_load32(data + at + 1), &now);
            break;
        case CT_BURST_LONG:
            bytes = long_address(row, ct_load64(data + at + 1), &now);
            break;
        case CT_BURST_MATCH:
            now = address[row->source];
            break;
        case CT_BURST_COUNT:
            bytes = count_bytes(ct_load32(data + at + 1), &value);
            break;
        case CT_BURST_COUNT4:
            value += data[at + 1] & 15;
            bytes = 2;
            break;
        default:
            bytes = 0;
            break;
        }
        if (!bytes)
            break;
        if (row->address) {
            push(address, now);
            b->address_count++;
            elems[n++] = element(row, now & 1, pos + (uint32_t)at, now & ~UINT64_C(1));
        } else {
            elems[n++] = element(row, 0, pos + (uint32_t)at, value);
        }
        b->packets[header]++;
        at += bytes;
    }
    memcpy(b->address, address, sizeof address);
    *count = n;
    return at;
}

/* A timestamp packet. */
struct stamp {
    uint64_t low;  /* low bits of the timestamp */
    unsigned bits; /* number of bits in `low` */
    uint32_t count;
    size_t bytes; /* length of the packet; 0: it is longer than a burst reads */
};

/* Reads a timestamp packet (IHI 0064H 6.4.11). CT_ETM4_BURST_AHEAD bytes can be read at `data`. */
static struct stamp read_stamp(const uint8_t *data)
{
    struct stamp s = {.bytes = 1};
    bool more = true;
    for (; more && s.bits < 56; s.bits += 7) {
        const uint8_t byte = data[s.bytes++];
        s.low |= (uint64_t)(byte & 0x7f) << s.bits;
        more = byte & 0x80;
    }
    if (more) {
        s.low |= (uint64_t)data[s.bytes++] << 56;
        s.bits = 64;
    }
    if (data[0] & 1) {
        uint64_t count = 0;
        const size_t size = count_bytes(ct_load32(data + s.bytes), &count);
        s.count = (uint32_t)count;
        s.bytes = size ? s.bytes + size - 1 : 0;
    }
    return s;
}

size_t ct_etm4_burst_stamped(struct ct_etm4_burst *b, struct ct_etm4_decoder *d, const uint8_t *data,
                             size_t size, uint32_t pos, struct ct_elem *elems, size_t cap, size_t *count,
                             bool *dense)
{
    size_t at = 0;
    size_t n = 0;
    *dense = true;
    while (*dense) {
        size_t more;
        const size_t most = cap - n < CT_ETM4_STAMPS_APART ? cap - n : CT_ETM4_STAMPS_APART;
        at += ct_etm4_burst_elems(b, data + at, size - at, pos + (uint32_t)at, elems + n, most, &more);
        n += more;
        *dense = more < CT_ETM4_STAMPS_APART;
        if (!*dense || cap - n < 2 || size - at <= CT_ETM4_BURST_AHEAD || !ct_etm4_is_stamp(data[at]))
            break;
        const struct stamp s = read_stamp(data + at);
        if (!s.bytes)
            break;
        d->timestamp = (d->timestamp & ~ct_mask64(s.bits)) | s.low;
        const uint32_t here = pos + (uint32_t)at;
        elems[n++] = (struct ct_elem){.kind = CT_ELEM_TIMESTAMP, .pos = here, .v = d->timestamp};
        if (d->config.cycle_count) {
            elems[n] = (struct ct_elem){.kind = CT_ELEM_CYCLES, .n = CT_CYCLES_ATTACHED, .pos = here};
            elems[n].v = s.count & ct_mask64(d->config.cc_bits);
            n++;
        }
        b->packets[data[at]]++;
        at += s.bytes;
    }
    *count = n;
    return at;
}
