/* SPDX-License-Identifier: Apache-2.0 */
#include "fractal/wire.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/ctx.h"
#include "base/require.h"

#define PARTS_WAITING 64 /* most DVM messages of which one part is missing */

const struct ct_wire_channel ct_wire_channels[CT_FRACTAL_CHANNEL_COUNT] = {
    [CT_FRACTAL_CHANNEL_AC] = {"AC", ct_ace_snoops, 4, 48, 0, CT_FRACTAL_ACE},
    [CT_FRACTAL_CHANNEL_AR] = {"AR", ct_ace_reads, 4, 48, 0, CT_FRACTAL_ACE},
    [CT_FRACTAL_CHANNEL_AW] = {"AW", ct_ace_writes, 3, 48, 0, CT_FRACTAL_ACE},
    [CT_FRACTAL_CHANNEL_SNP] = {"SNP", ct_chi_snoops, 5, 49, 3, CT_FRACTAL_CHI},
    [CT_FRACTAL_CHANNEL_REQ] = {"REQ", ct_chi_requests, 7, 52, 0, CT_FRACTAL_CHI},
};

/* One part of a DVM message. */
struct part {
    struct ct_fractal_flit flit;
    bool waits;
};

struct ct_fractal_wire {
    struct ct_ctx *ctx;
    const struct ct_wire_protocol *protocol;
    uint8_t number;                   /* enum ct_fractal_protocol */
    struct ct_fractal_message next;   /* next message to be fetched */
    uint64_t left;                    /* messages left of an operation on several pages, including `next` */
    uint64_t page;                    /* distance between the addresses of these messages */
    struct part parts[PARTS_WAITING]; /* ACE: only the first entry; CHI: by TxnID */
};

static const struct ct_wire_protocol *protocol_of(unsigned protocol)
{
    return protocol == CT_FRACTAL_ACE ? &ct_wire_ace : protocol == CT_FRACTAL_CHI ? &ct_wire_chi : NULL;
}

/* ---- names ---- */

const char *ct_fractal_protocol_name(unsigned protocol)
{
    static const char *const names[CT_FRACTAL_PROTOCOL_COUNT] = {"neutral", "ace", "chi"};
    return protocol < CT_FRACTAL_PROTOCOL_COUNT ? names[protocol] : "?";
}

const char *ct_fractal_channel_name(unsigned channel)
{
    return channel < CT_FRACTAL_CHANNEL_COUNT ? ct_wire_channels[channel].name : "?";
}

/* Returns the opcode's entry in a channel. NULL: it is reserved or too wide. */
static const struct ct_opcode *opcode_of(unsigned channel, unsigned opcode)
{
    if (channel >= CT_FRACTAL_CHANNEL_COUNT || opcode >> ct_wire_channels[channel].opcode_bits)
        return NULL;
    const struct ct_opcode *o = &ct_wire_channels[channel].opcode[opcode];
    return o->name ? o : NULL;
}

const char *ct_fractal_flit_name(unsigned channel, unsigned opcode)
{
    const struct ct_opcode *o = opcode_of(channel, opcode);
    return o ? o->name : "?";
}

/* ---- encoding ---- */

/* Makes the flit of an access to a physical address. Returns CT_ERR_ARG if the address is too wide. */
static int encode_access(unsigned channel, unsigned opcode, uint64_t pa, struct ct_fractal_flit *out)
{
    const struct ct_wire_channel *c = &ct_wire_channels[channel];
    *out = (struct ct_fractal_flit){
        .addr = pa >> c->addr_shift, .channel = (uint8_t)channel, .opcode = (uint8_t)opcode};
    return out->addr >> c->addr_bits ? CT_ERR_ARG : 1;
}

int ct_fractal_encode_command(enum ct_fractal_protocol protocol, const struct ct_fractal_command *c,
                              struct ct_fractal_flit out[CT_FRACTAL_FLITS])
{
    const struct ct_wire_protocol *p = protocol_of(protocol);
    struct ct_dvm dvm;
    CT_REQUIRE(NULL, c, out, (unsigned)protocol < CT_FRACTAL_PROTOCOL_COUNT,
               c->kind < CT_FRACTAL_CMD_KIND_COUNT);
    if (!p)
        return 0;
    switch (c->kind) {
    case CT_FRACTAL_CMD_READ:
        return encode_access(p->requests, p->read_shared, c->pa, out);
    case CT_FRACTAL_CMD_PEEK:
        return encode_access(p->requests, p->read_once, c->pa, out);
    case CT_FRACTAL_CMD_CLEAN:
        return encode_access(p->requests, p->clean_invalid, c->pa, out);
    default:
        return ct_dvm_of_command(c, &dvm) ? p->pack(&dvm, p->requests, out) : CT_ERR_ARG;
    }
}

int ct_fractal_encode_message(enum ct_fractal_protocol protocol, const struct ct_fractal_message *m,
                              struct ct_fractal_flit out[CT_FRACTAL_FLITS])
{
    const struct ct_wire_protocol *p = protocol_of(protocol);
    struct ct_dvm dvm;
    CT_REQUIRE(NULL, m, out, (unsigned)protocol < CT_FRACTAL_PROTOCOL_COUNT, m->op < CT_FRACTAL_OP_COUNT);
    if (!p || m->op == CT_FRACTAL_DATA || m->op == CT_FRACTAL_REG_WRITE)
        return 0;
    if (m->op <= CT_FRACTAL_MAKE_INVALID)
        return encode_access(p->snoops, p->snoop[m->op], m->addr, out);
    if (m->op == CT_FRACTAL_WRITE || m->op == CT_FRACTAL_WRITE_BACK)
        return encode_access(p->writes, m->op == CT_FRACTAL_WRITE ? p->write : p->write_back, m->addr, out);
    if (!ct_dvm_of_message(m, &dvm) || dvm.address >> 49)
        return CT_ERR_ARG;
    return p->pack(&dvm, p->snoops, out);
}

/* ---- decoding ---- */

/* Returns the opcode's entry of a flit. NULL, with a message, if the flit is invalid. */
static const struct ct_opcode *check(struct ct_ctx *ctx, unsigned protocol,
                                     const struct ct_fractal_flit *flit)
{
    const unsigned channel = flit->channel;
    const struct ct_wire_channel *c = &ct_wire_channels[channel < CT_FRACTAL_CHANNEL_COUNT ? channel : 0];
    const struct ct_opcode *o = opcode_of(channel, flit->opcode);
    if (channel >= CT_FRACTAL_CHANNEL_COUNT || c->protocol != protocol)
        ct_fail(ctx, CT_ERR_FORMAT, "a flit of channel %s: %s has no such channel; the flit was ignored",
                ct_fractal_channel_name(channel), ct_fractal_protocol_name(protocol));
    else if (flit->opcode >> c->opcode_bits)
        ct_fail(ctx, CT_ERR_FORMAT, "%s opcode 0x%x: the opcode has more than %u bits; the flit was ignored",
                c->name, flit->opcode, c->opcode_bits);
    else if (!o)
        ct_fail(ctx, CT_ERR_FORMAT, "%s opcode 0x%x: the opcode is reserved; the flit was ignored", c->name,
                flit->opcode);
    else if (flit->addr >> c->addr_bits)
        ct_fail(ctx, CT_ERR_FORMAT,
                "%s.%s address 0x%" PRIx64 ": the address has more than %u bits; the flit was ignored",
                c->name, o->name, flit->addr, c->addr_bits);
    else
        return o;
    return NULL;
}

/* Reports that the flits of a DVM operation are invalid. Returns CT_ERR_FORMAT. */
static int unfit(struct ct_ctx *ctx, const struct ct_fractal_flit *flit, const char *why)
{
    return ct_fail(ctx, CT_ERR_FORMAT, "%s.%s 0x%" PRIx64 ": %s; the flit was ignored",
                   ct_fractal_channel_name(flit->channel), ct_fractal_flit_name(flit->channel, flit->opcode),
                   flit->addr, why);
}

/* Makes the command that is a single request for a line. Returns 0 if there is none. */
static int decode_access(const struct ct_wire_protocol *p, const struct ct_fractal_flit *flit,
                         struct ct_fractal_command *out)
{
    *out = (struct ct_fractal_command){.pa = flit->addr << ct_wire_channels[flit->channel].addr_shift};
    if (flit->channel != p->requests)
        return 0;
    if (flit->opcode == p->read_shared)
        out->kind = CT_FRACTAL_CMD_READ;
    else if (flit->opcode == p->read_once)
        out->kind = CT_FRACTAL_CMD_PEEK;
    else if (flit->opcode == p->clean_invalid)
        out->kind = CT_FRACTAL_CMD_CLEAN;
    else
        return 0;
    return 1;
}

int ct_fractal_decode_command(struct ct_ctx *ctx, enum ct_fractal_protocol protocol,
                              const struct ct_fractal_flit *flits, size_t count,
                              struct ct_fractal_command *out)
{
    const struct ct_wire_protocol *p = protocol_of(protocol);
    struct ct_dvm dvm;
    const char *why = NULL;
    bool is_dvm = true;
    CT_REQUIRE(ctx, p, flits, count, count <= CT_FRACTAL_FLITS, out);
    for (size_t i = 0; i < count; i++) {
        const struct ct_opcode *o = check(ctx, protocol, &flits[i]);
        if (!o)
            return CT_ERR_FORMAT;
        is_dvm = is_dvm && o->op == CT_WIRE_DVM;
    }
    if (!is_dvm && count == 1 && decode_access(p, &flits[0], out))
        return CT_OK;
    if (is_dvm && p->unpack(flits, (unsigned)count, &dvm, &why) == 1 && ct_dvm_to_command(&dvm, out))
        return CT_OK;
    return unfit(ctx, &flits[0], why ? why : "no command of FRACTAL has this form");
}

int ct_fractal_wire_new(struct ct_ctx *ctx, enum ct_fractal_protocol protocol, struct ct_fractal_wire **out)
{
    CT_REQUIRE_OUT(ctx, out);
    if (!protocol_of(protocol))
        return ct_fail(ctx, CT_ERR_ARG, "%s: protocol %u does not exist; nothing was done", __func__,
                       (unsigned)protocol);
    struct ct_fractal_wire *w = calloc(1, sizeof *w);
    if (!w)
        return ct_fail_nomem(ctx, "the decoder of a protocol");
    w->ctx = ctx;
    w->protocol = protocol_of(protocol);
    w->number = (uint8_t)protocol;
    *out = w;
    return CT_OK;
}

void ct_fractal_wire_free(struct ct_fractal_wire *w)
{
    free(w);
}

/* Returns whether two parts belong to one DVM message. In ACE they are consecutive on their channel. */
static bool belong_together(const struct ct_fractal_flit *a, const struct ct_fractal_flit *b)
{
    return a->channel == b->channel && ct_wire_bits(a->data, 43, 32) == ct_wire_bits(b->data, 43, 32);
}

/* Returns the waiting part that a flit completes, else a free entry; NULL: there is none. */
static struct part *part_of(struct ct_fractal_wire *w, const struct ct_fractal_flit *flit)
{
    struct part *place = NULL;
    for (struct part *p = w->parts; p < w->parts + PARTS_WAITING; p++) {
        if (p->waits && belong_together(&p->flit, flit))
            return p;
        if (!p->waits && !place)
            place = p;
    }
    return place;
}

/* Takes a flit of a DVM message. */
static int take_dvm(struct ct_fractal_wire *w, const struct ct_fractal_flit *flit)
{
    struct ct_fractal_flit both[CT_FRACTAL_FLITS] = {*flit};
    struct part *part = part_of(w, flit);
    const char *why = NULL;
    struct ct_dvm dvm;
    unsigned parts = 1;
    if (!part)
        return ct_fail(
            w->ctx, CT_ERR_LIMIT,
            "%u DVM messages are waiting for their second part, which is the limit; another one was ignored",
            PARTS_WAITING);
    if (part->waits) {
        both[0] = part->flit;
        both[parts++] = *flit;
    }
    const int whole = w->protocol->unpack(both, parts, &dvm, &why);
    part->waits = !whole;
    part->flit = *flit;
    if (whole < 0)
        return unfit(w->ctx, flit, why);
    if (!whole || !ct_dvm_to_message(&dvm, &w->next))
        return CT_OK;
    w->left = dvm.range ? ct_dvm_pages(&dvm, &w->page) : 1;
    return CT_OK;
}

int ct_fractal_wire_flit(struct ct_fractal_wire *w, const struct ct_fractal_flit *flit,
                         const struct ct_fractal_message *beside)
{
    CT_REQUIRE_OF(w, flit, beside);
    if (w->left)
        return ct_fail(w->ctx, CT_ERR_LIMIT,
                       "%s: messages of the previous flit are waiting; fetch them before the next flit",
                       __func__);
    const struct ct_opcode *o = check(w->ctx, w->number, flit);
    if (!o)
        return CT_ERR_FORMAT;
    w->next = (struct ct_fractal_message){
        .time = beside->time, .initiator = beside->initiator, .kind = beside->kind, .op = o->op};
    if (o->op == CT_WIRE_DVM)
        return take_dvm(w, flit);
    w->next.addr = flit->addr << ct_wire_channels[flit->channel].addr_shift;
    w->left = o->op != CT_WIRE_NOTHING;
    return CT_OK;
}

int ct_fractal_wire_message(struct ct_fractal_wire *w, struct ct_fractal_message *out)
{
    if (!w || !out || !w->left)
        return 0;
    *out = w->next;
    w->next.addr += w->page;
    w->left--;
    return 1;
}

int ct_fractal_wire_finish(struct ct_fractal_wire *w)
{
    unsigned waiting = 0;
    CT_REQUIRE(NULL, w);
    for (struct part *p = w->parts; p < w->parts + PARTS_WAITING; p++) {
        waiting += p->waits;
        p->waits = false;
    }
    return waiting
               ? ct_fail(
                     w->ctx, CT_ERR_FORMAT,
                     "%u DVM messages are without their second part at the end of the stream; they are lost",
                     waiting)
               : CT_OK;
}
