/* SPDX-License-Identifier: Apache-2.0 */
#include "bytewise/etm4_bytewise.h"

#include "proto/etm4_finish.h"

/* What the next byte is. */
enum step {
    UNSYNCED, /* outside any packet */
    HEADER,
    EXTENSION,
    ASYNC,
    PLCTL, /* trace info, followed by its sections in order */
    PLCTL_MORE,
    INFO,
    KEY,
    SPEC,
    THRESHOLD,
    WINDOW,
    TIMESTAMP,
    TIMESTAMP_COUNT,
    CONTEXT,
    VMID,
    CONTEXT_ID,
    SHORT_FIRST,
    SHORT_SECOND,
    LONG_FIRST,
    LONG_SECOND,
    LONG_REST,
    Q_COUNT,
    F1_COMMITS,
    F1_COUNT,
    F2,
    COUNT,
    EXCEPTION,
    EXCEPTION_MORE,
    ITE_LEVEL,
    ITE_VALUE,
    KEY_COUNT, /* conditional packets */
    COND_BYTE,
    RESULT_FIRST,
    RESULT_SECOND,
    DONE, /* none: the byte was the last of its packet */
};

int ct_etm4_bytewise_init(struct ct_ctx *ctx, const struct ct_source *source, struct ct_etm4_bytewise *b)
{
    *b = (struct ct_etm4_bytewise){.stream = {.step = UNSYNCED}};
    int rc = ct_etm4_config_init(ctx, source, &b->trace.config);
    if (rc)
        return rc;
    ct_etm4_headers_init(&b->trace.config, b->trace.headers);
    ct_etm4_history_init(&b->trace, 0);
    return CT_OK;
}

void ct_etm4_bytewise_reset(struct ct_etm4_bytewise *b)
{
    b->stream = (struct ct_etm4_stream_state){.step = UNSYNCED};
    ct_etm4_decoder_reset(&b->trace);
}

/* Makes the next byte begin the field `step`. */
static inline enum step begin(struct ct_etm4_stream_state *s, enum step step)
{
    s->field = 0;
    s->index = 0;
    return step;
}

/* Adds a byte to a field with seven bits a byte, of which `most` bytes are used. Returns true for the last
 * byte. */
static inline bool add_cont(struct ct_etm4_stream_state *s, uint8_t byte, unsigned most)
{
    if (s->index < most)
        s->field |= (uint64_t)(byte & 0x7f) << (7 * s->index);
    s->index++; /* cannot overflow: a packet has fewer bytes */
    return !(byte & 0x80);
}

/* Adds a byte to a field of `bytes` bytes. Returns true for the last byte. */
static inline bool add_byte(struct ct_etm4_stream_state *s, uint8_t byte, unsigned bytes)
{
    s->field |= (uint64_t)byte << (8 * s->index++);
    return s->index == bytes;
}

static inline enum step begin_address(struct ct_etm4_stream_state *s, const struct ct_etm4_decoder *t,
                                      enum step step, unsigned is)
{
    s->address = t->history[0];
    s->address.is = (uint8_t)is;
    return begin(s, step);
}

static enum step begin_q(struct ct_etm4_stream_state *s, const struct ct_etm4_decoder *t)
{
    unsigned form = s->packet.header & 15;
    switch (form) {
    case 0x0:
    case 0x1:
    case 0x2:
        s->address = t->history[form];
        s->packet.idx = (uint8_t)form;
        s->packet.flags |= CT_ETM4_MATCH;
        return begin(s, Q_COUNT);
    case 0x5:
    case 0x6:
        return begin_address(s, t, SHORT_FIRST, form == 0x6);
    case 0xa:
    case 0xb:
        return begin_address(s, t, LONG_FIRST, form == 0xb);
    default:
        return form == 0xf ? DONE : begin(s, Q_COUNT);
    }
}

/* Handles a header. Returns what follows it. */
static enum step take_header(struct ct_etm4_stream_state *s, struct ct_etm4_decoder *t, uint8_t byte,
                             uint64_t pos)
{
    const struct ct_etm4_header *header = &t->headers[byte];
    s->packet = (struct ct_etm4_packet){.pos = pos, .type = header->type, .header = byte};
    s->size = 0;
    s->context = false;
    switch (header->form) {
    case CT_ETM4_FORM_ADDR_SHORT:
        return begin_address(s, t, SHORT_FIRST, header->is);
    case CT_ETM4_FORM_ADDR_CTXT_32:
    case CT_ETM4_FORM_ADDR_CTXT_64:
        s->context = true;
        return begin_address(s, t, LONG_FIRST, header->is);
    case CT_ETM4_FORM_ADDR_32:
    case CT_ETM4_FORM_ADDR_64:
        return begin_address(s, t, LONG_FIRST, header->is);
    case CT_ETM4_FORM_CCNT_F1:
        return !t->config.comm_opt ? begin(s, F1_COMMITS) : byte & 1 ? DONE : begin(s, F1_COUNT);
    case CT_ETM4_FORM_CCNT_F2:
        return F2;
    case CT_ETM4_FORM_CONTEXT:
        return byte & 1 ? CONTEXT : DONE;
    case CT_ETM4_FORM_TIMESTAMP:
        return begin(s, TIMESTAMP);
    case CT_ETM4_FORM_EXCEPTION:
        return EXCEPTION;
    case CT_ETM4_FORM_COUNT:
        return begin(s, COUNT);
    case CT_ETM4_FORM_EXTENSION:
        return EXTENSION;
    case CT_ETM4_FORM_TRACE_INFO:
        return PLCTL;
    case CT_ETM4_FORM_Q:
        return begin_q(s, t);
    case CT_ETM4_FORM_ITE:
        return ITE_LEVEL;
    case CT_ETM4_FORM_COND_KEY:
        return begin(s, KEY_COUNT);
    case CT_ETM4_FORM_COND_BYTE:
        return COND_BYTE;
    case CT_ETM4_FORM_COND_RES1:
        return begin(s, RESULT_FIRST);
    default:
        ct_etm4_finish_header(t, &s->packet, header);
        return DONE;
    }
}

static enum step take_extension(struct ct_etm4_packet *packet, uint8_t byte, struct ct_etm4_stream_state *s)
{
    switch (byte) {
    case 0:
        packet->type = CT_ETM4_ASYNC;
        s->index = 2;
        return ASYNC;
    case 3:
        packet->type = CT_ETM4_DISCARD;
        return DONE;
    case 5:
        packet->type = CT_ETM4_OVERFLOW;
        return DONE;
    default:
        ct_etm4_set_bad(packet, CT_ETM4_BAD_SEQUENCE);
        return DONE;
    }
}

static enum step take_async(struct ct_etm4_stream_state *s, uint8_t byte)
{
    unsigned zeros = s->index++;
    if (byte == 0x80 && zeros == CT_ETM4_ASYNC_ZEROS)
        return DONE;
    if (byte == 0 && zeros != CT_ETM4_ASYNC_ZEROS)
        return ASYNC;
    ct_etm4_set_bad(&s->packet, CT_ETM4_BAD_SEQUENCE);
    return DONE;
}

/* Returns the first section from `first` on that PLCTL announces; the end of the packet when there is
 * none. */
static enum step next_section(struct ct_etm4_stream_state *s, struct ct_etm4_decoder *t, enum step first)
{
    for (unsigned section = first; section <= WINDOW; section++)
        if (s->plctl >> (section - INFO) & 1)
            return begin(s, (enum step)section);
    ct_etm4_finish_trace_info(t, &s->packet, s->plctl, s->info, s->spec, s->threshold);
    return DONE;
}

static enum step take_section(struct ct_etm4_stream_state *s, struct ct_etm4_decoder *t, enum step step,
                              uint8_t byte)
{
    if (!add_cont(s, byte, 5))
        return step;
    uint32_t value = (uint32_t)s->field;
    if (step == INFO)
        s->info = value;
    else if (step == SPEC)
        s->spec = value;
    else if (step == THRESHOLD)
        s->threshold = value;
    return next_section(s, t, step == PLCTL_MORE ? INFO : step + 1);
}

static enum step take_timestamp(struct ct_etm4_stream_state *s, struct ct_etm4_decoder *t, uint8_t byte)
{
    bool ninth = s->index == 8;
    s->field |= (uint64_t)(ninth ? byte : byte & 0x7f) << (7 * s->index);
    s->index++;
    if (byte & 0x80 && !ninth)
        return TIMESTAMP;
    s->packet.value = s->field;
    s->plctl = (uint8_t)(ninth ? 64 : 7 * s->index); /* its width, needed at the end of the packet */
    if (s->packet.header & 1)
        return begin(s, TIMESTAMP_COUNT);
    ct_etm4_finish_timestamp(t, &s->packet, s->packet.value, s->plctl, 0);
    return DONE;
}

static enum step finish_context(struct ct_etm4_stream_state *s, struct ct_etm4_decoder *t)
{
    t->sf = s->packet.flags & CT_ETM4_SF;
    if (s->context)
        ct_etm4_finish_address(t, &s->packet, &s->address);
    return DONE;
}

static enum step take_context_part(struct ct_etm4_stream_state *s, struct ct_etm4_decoder *t, enum step step,
                                   uint8_t byte)
{
    if (step == CONTEXT) {
        ct_etm4_context_info(&s->packet, byte);
        s->plctl = byte;
        if (byte & 0x40 && t->config.vmid_bytes)
            return begin(s, VMID);
    } else if (step == VMID) {
        if (!add_byte(s, byte, t->config.vmid_bytes))
            return VMID;
        s->packet.vmid = (uint32_t)s->field;
        s->packet.flags |= CT_ETM4_HAS_VMID;
    } else {
        if (!add_byte(s, byte, t->config.ctxt_bytes))
            return CONTEXT_ID;
        s->packet.ctxt = (uint32_t)s->field;
        s->packet.flags |= CT_ETM4_HAS_CTXT;
        return finish_context(s, t);
    }
    return s->plctl & 0x80 && t->config.ctxt_bytes ? begin(s, CONTEXT_ID) : finish_context(s, t);
}

/* Ends a complete address. */
static enum step finish_address(struct ct_etm4_stream_state *s, struct ct_etm4_decoder *t)
{
    if (s->packet.type == CT_ETM4_Q)
        return begin(s, Q_COUNT);
    if (s->context)
        return CONTEXT;
    ct_etm4_finish_address(t, &s->packet, &s->address);
    return DONE;
}

/* Sets `count` bits of the address from bit `from` on. */
static void set_bits(struct ct_etm4_address *address, unsigned from, unsigned count, uint64_t bits)
{
    uint64_t mask = ct_mask64(count);
    address->value = (address->value & ~(mask << from)) | (bits & mask) << from;
    if (address->valid < from + count)
        address->valid = (uint8_t)(from + count);
}

/* Clears the bits of an address below the first traced one, and returns its number. */
static unsigned first_bit(struct ct_etm4_address *address)
{
    unsigned from = address->is ? 1 : 2;
    address->value &= ~ct_mask64(from);
    return from;
}

static enum step take_address(struct ct_etm4_stream_state *s, struct ct_etm4_decoder *t, enum step step,
                              uint8_t byte)
{
    struct ct_etm4_address *a = &s->address;
    unsigned form = t->headers[s->packet.header].form;
    bool wide = form == CT_ETM4_FORM_ADDR_64 || form == CT_ETM4_FORM_ADDR_CTXT_64;
    switch (step) {
    case SHORT_FIRST:
        set_bits(a, first_bit(a), 7, byte);
        return byte & 0x80 ? SHORT_SECOND : finish_address(s, t);
    case SHORT_SECOND:
        set_bits(a, a->is ? 8 : 9, 8, byte);
        return finish_address(s, t);
    case LONG_FIRST:
        if (!wide && !t->sf)
            a->value = 0;
        a->size = wide || t->sf ? 64 : 32;
        set_bits(a, first_bit(a), 7, byte);
        return LONG_SECOND;
    case LONG_SECOND:
        set_bits(a, a->is ? 8 : 9, a->is ? 8 : 7, byte);
        s->index = 2;
        return LONG_REST;
    default:
        set_bits(a, 8u * s->index++, 8, byte);
        return s->index < (wide ? 8 : 4) ? LONG_REST : finish_address(s, t);
    }
}

static enum step take_q_count(struct ct_etm4_stream_state *s, struct ct_etm4_decoder *t, uint8_t byte)
{
    if (!add_cont(s, byte, 5))
        return Q_COUNT;
    s->packet.count = (uint32_t)s->field;
    s->packet.flags |= CT_ETM4_HAS_COUNT;
    if ((s->packet.header & 15) != 0xc) {
        s->packet.flags |= CT_ETM4_HAS_ADDR;
        ct_etm4_finish_address(t, &s->packet, &s->address);
    }
    return DONE;
}

static enum step take_count_f1(struct ct_etm4_stream_state *s, const struct ct_etm4_decoder *t,
                               enum step step, uint8_t byte)
{
    if (!add_cont(s, byte, step == F1_COMMITS ? 5 : 3))
        return step;
    if (step == F1_COMMITS) {
        s->packet.count2 = (uint32_t)s->field;
        s->packet.flags |= CT_ETM4_HAS_COMMIT;
        return s->packet.header & 1 ? DONE : begin(s, F1_COUNT);
    }
    s->packet.count = t->cc_threshold + (uint32_t)s->field;
    s->packet.flags |= CT_ETM4_HAS_COUNT;
    return DONE;
}

static enum step take_exception(struct ct_etm4_stream_state *s, struct ct_etm4_decoder *t, enum step step,
                                uint8_t byte)
{
    if (step == EXCEPTION) {
        s->plctl = byte;
        if (byte & 0x80 || ct_etm4_exception_alone(t, byte >> 1 & 0x1f))
            return EXCEPTION_MORE;
        ct_etm4_finish_exception(t, &s->packet, byte, 0);
        return DONE;
    }
    ct_etm4_finish_exception(t, &s->packet, s->plctl, byte);
    return DONE;
}

/* Handles a byte of results: two keys with results, or one. */
static enum step take_result(struct ct_etm4_stream_state *s, enum step step, uint8_t byte)
{
    if (!add_cont(s, byte, 5))
        return step;
    uint64_t value = (uint32_t)s->field;
    if (step == RESULT_FIRST) {
        s->packet.value = value;
        return (s->packet.header & 0xfc) != 0x6c ? begin(s, RESULT_SECOND) : DONE;
    }
    s->packet.value |= value << 32;
    return DONE;
}

/* Handles a byte of a payload. */
static enum step take_payload(struct ct_etm4_stream_state *s, struct ct_etm4_decoder *t, uint8_t byte)
{
    enum step step = (enum step)s->step;
    switch (step) {
    case EXTENSION:
        return take_extension(&s->packet, byte, s);
    case ASYNC:
        return take_async(s, byte);
    case PLCTL:
        s->plctl = byte;
        s->info = s->spec = s->threshold = 0;
        return byte & 0x80 ? begin(s, PLCTL_MORE) : next_section(s, t, INFO);
    case PLCTL_MORE:
    case INFO:
    case KEY:
    case SPEC:
    case THRESHOLD:
    case WINDOW:
        return take_section(s, t, step, byte);
    case TIMESTAMP:
        return take_timestamp(s, t, byte);
    case TIMESTAMP_COUNT:
        if (!add_cont(s, byte, 3))
            return step;
        ct_etm4_finish_timestamp(t, &s->packet, s->packet.value, s->plctl, (uint32_t)s->field);
        return DONE;
    case CONTEXT:
    case VMID:
    case CONTEXT_ID:
        return take_context_part(s, t, step, byte);
    case SHORT_FIRST:
    case SHORT_SECOND:
    case LONG_FIRST:
    case LONG_SECOND:
    case LONG_REST:
        return take_address(s, t, step, byte);
    case Q_COUNT:
        return take_q_count(s, t, byte);
    case F1_COMMITS:
    case F1_COUNT:
        return take_count_f1(s, t, step, byte);
    case F2:
        ct_etm4_finish_count_f2(t, &s->packet, byte);
        return DONE;
    case COUNT:
        if (!add_cont(s, byte, 5))
            return step;
        s->packet.count2 = (uint32_t)s->field;
        return DONE;
    case EXCEPTION:
    case EXCEPTION_MORE:
        return take_exception(s, t, step, byte);
    case ITE_LEVEL:
        s->packet.el_sec = byte & 3;
        return begin(s, ITE_VALUE);
    case ITE_VALUE:
        if (!add_byte(s, byte, 8))
            return step;
        s->packet.value = s->field;
        return DONE;
    case KEY_COUNT:
        if (!add_cont(s, byte, 5))
            return step;
        s->packet.value = (uint32_t)s->field;
        return DONE;
    case COND_BYTE:
        s->packet.value = byte;
        return DONE;
    default:
        return take_result(s, step, byte);
    }
}

/* Handles a byte outside of any packet. The last byte of an alignment packet also makes a packet of the bytes
 * before it. */
static size_t take_unsynced(struct ct_etm4_stream_state *s, uint8_t byte, uint64_t pos,
                            struct ct_etm4_packet *out)
{
    size_t n = 0;
    if (!s->run_size++)
        s->run_pos = pos;
    if (byte != 0x80 || s->zeros < CT_ETM4_ASYNC_ZEROS) {
        s->zeros = byte ? 0 : s->zeros + 1;
        return 0;
    }
    s->run_size -= CT_ETM4_ASYNC_SIZE;
    if (s->run_size)
        out[n++] = (struct ct_etm4_packet){.pos = s->run_pos, .type = CT_ETM4_NOT_SYNC, .value = s->run_size};
    out[n++] = (struct ct_etm4_packet){
        .pos = pos - CT_ETM4_ASYNC_ZEROS, .type = CT_ETM4_ASYNC, .size = CT_ETM4_ASYNC_SIZE};
    s->run_size = 0;
    s->step = HEADER;
    return n;
}

/* Handles a byte: the function D(b, S, T) of paper 1. Returns how many packets the byte completes. */
static inline size_t take(struct ct_etm4_bytewise *b, uint8_t byte, uint64_t pos, struct ct_etm4_packet *out)
{
    struct ct_etm4_stream_state *s = &b->stream;
    if (s->step == UNSYNCED)
        return take_unsynced(s, byte, pos, out);
    enum step next =
        s->step == HEADER ? take_header(s, &b->trace, byte, pos) : take_payload(s, &b->trace, byte);
    s->size++;
    if (next != DONE && s->size < CT_ETM4_PACKET_MAX) {
        s->step = (uint8_t)next;
        return 0;
    }
    if (next == DONE)
        s->packet.size = (uint8_t)s->size;
    else
        ct_etm4_finish_cut(&s->packet, s->size, s->size < CT_ETM4_PACKET_MAX);
    s->step = HEADER;
    *out = s->packet;
    return 1;
}

/* Dn(k) handles n bytes of a turn, from byte k on. */
#define D1(k) n += take(b, data[at + (k)], pos + at + (k), packets + n);
#define D2(k) D1(k) D1((k) + 1)
#define D3(k) D2(k) D1((k) + 2)
#define D4(k) D2(k) D2((k) + 2)
#define D5(k) D4(k) D1((k) + 4)
#define D6(k) D4(k) D2((k) + 4)
#define D7(k) D4(k) D3((k) + 4)
#define D8(k) D4(k) D4((k) + 4)
#define UNROLLED(u)                                                                                          \
    static size_t run##u(struct ct_etm4_bytewise *b, const uint8_t *data, size_t size, uint64_t pos,         \
                         struct ct_etm4_packet *packets, size_t cap, size_t *count)                          \
    {                                                                                                        \
        size_t at = 0;                                                                                       \
        size_t n = 0;                                                                                        \
        for (; size - at >= (u) && cap - n >= 2 * (u); at += (u)) {                                          \
            D##u(0)                                                                                          \
        }                                                                                                    \
        *count = n;                                                                                          \
        return at;                                                                                           \
    }

UNROLLED(1)
UNROLLED(2)
UNROLLED(3)
UNROLLED(4)
UNROLLED(5)
UNROLLED(6)
UNROLLED(7)
UNROLLED(8)

size_t ct_etm4_bytewise_run(struct ct_etm4_bytewise *b, unsigned unroll, const uint8_t *data, size_t size,
                            uint64_t pos, struct ct_etm4_packet *packets, size_t cap, size_t *count)
{
    size_t (*const runs[CT_ETM4_UNROLL_MAX])(struct ct_etm4_bytewise *, const uint8_t *, size_t, uint64_t,
                                             struct ct_etm4_packet *, size_t,
                                             size_t *) = {run1, run2, run3, run4, run5, run6, run7, run8};
    size_t rest;
    size_t at = runs[unroll - 1](b, data, size, pos, packets, cap, count);
    at += run1(b, data + at, size - at, pos + at, packets + *count, cap - *count, &rest);
    *count += rest;
    return at;
}

size_t ct_etm4_bytewise_go_back(struct ct_etm4_bytewise *b)
{
    struct ct_etm4_stream_state *s = &b->stream;
    size_t n = s->step == HEADER ? 0 : s->size; /* T changes only with the last byte of a packet */
    if (s->step == UNSYNCED) {
        n = s->zeros < CT_ETM4_ASYNC_ZEROS ? s->zeros : CT_ETM4_ASYNC_ZEROS;
        s->zeros -= n;
        s->run_size -= n;
    } else
        s->step = HEADER;
    return n;
}

size_t ct_etm4_bytewise_finish(struct ct_etm4_bytewise *b, struct ct_etm4_packet *packet)
{
    struct ct_etm4_stream_state *s = &b->stream;
    if (s->step == UNSYNCED) {
        *packet = (struct ct_etm4_packet){.pos = s->run_pos, .type = CT_ETM4_NOT_SYNC, .value = s->run_size};
        return s->run_size != 0;
    }
    if (s->step == HEADER)
        return 0;
    ct_etm4_finish_cut(&s->packet, s->size, s->size < CT_ETM4_PACKET_MAX);
    *packet = s->packet;
    s->step = HEADER;
    return 1;
}
