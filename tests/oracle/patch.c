/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/patch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

const char *const patch_reasons[PATCH_COUNT] = {
    [PATCH_CONTEXT_SIZE] = "a context announces an identifier that TRCIDR2 gives no bytes: no trace unit "
                           "does, and 1.3.3 takes the "
                           "next byte for part of it",
    [PATCH_WORLD] = "context of root or realm: 1.3.3 does not know the memory spaces of these",
    [PATCH_SPEC] = "speculation depth in a trace info: 1.3.3 counts these P0 elements, but commits later "
                   "ones in their place",
    [PATCH_LONG_FIELD] = "a field of more than five continued bytes with a field behind it: 1.3.3 reads on "
                         "from the sixth byte",
    [PATCH_CANCEL] =
        "cancel of an ETE with MAXSPEC above 0: 1.3.3 does not count source addresses when it cancels, and "
        "takes back more before them",
    [PATCH_MISPREDICT] =
        "mispredict: where an address lies between it and the atom, or no atom is there, 1.3.3 "
        "uses memory after freeing it",
    [PATCH_TARGET] = "exception without a return address, or execution after it without an address of where: "
                     "1.3.3 loses its way "
                     "among the elements that it holds, or goes on from the return address",
    [PATCH_RETURN_TARGET] = "exception with E1:E0 = 2 behind a taken branch, return stack on: 1.3.3 pops the "
                            "return stack before it takes "
                            "the address",
    [PATCH_RETURN] = "return with an empty return stack and no address: 1.3.3 waits for an alignment packet "
                     "and drops what it had "
                     "not put out, coretap waits for an address",
    [PATCH_ERET] = "exception return without an address, return stack on: its target is never on the return "
                   "stack (IHI 0064 "
                   "5.3.1; OpenCSD's issue 88), 1.3.3 takes the top",
    [PATCH_M_RETURN] =
        "exception return of v8-M: a P0 element on all M profiles, as OpenCSD has it from 1.8.3 on (its "
        "pull request 90); 1.3.3 counts it on v7-M alone",
};

static unsigned context_info_at(const struct ct_etm4_packet *p)
{
    switch (p->type) {
    case CT_ETM4_CTXT:
        return p->flags & CT_ETM4_HAS_CONTEXT ? 1 : 0;
    case CT_ETM4_ADDR_CTXT_L_32IS0:
    case CT_ETM4_ADDR_CTXT_L_32IS1:
        return 5;
    case CT_ETM4_ADDR_CTXT_L_64IS0:
    case CT_ETM4_ADDR_CTXT_L_64IS1:
        return 9;
    default:
        return 0;
    }
}

/* Clears bits of a byte. Returns 1 when any was set. */
static int clear(uint8_t *byte, unsigned bits)
{
    int any = (*byte & bits) != 0;
    *byte = (uint8_t)(*byte & ~bits);
    return any;
}

/* Returns whether five bytes in a row after the header have bit 7, which is longer than any field. */
static int is_long(const uint8_t *bytes, const struct ct_etm4_packet *p)
{
    unsigned row = 0;
    if (p->type != CT_ETM4_CCNT_F1 && p->type != CT_ETM4_TRACE_INFO && p->type != CT_ETM4_BAD_SEQUENCE)
        return 0;
    for (unsigned i = 1; i < p->size && row < 5; i++)
        row = bytes[i] & 0x80 ? row + 1 : 0;
    return row >= 5;
}

/* Clears the speculation depth of a trace info. Its sections are in the order of the bits in the byte after
 * the header; this one is the third. */
static int clear_spec(uint8_t *bytes, const struct ct_etm4_packet *p)
{
    unsigned at = 1, any = 0;
    if (p->type != CT_ETM4_TRACE_INFO || !p->count2)
        return 0;
    while (bytes[at++] & 0x80)
        continue;
    for (unsigned section = 0; section < 2; section++)
        if (bytes[1] >> section & 1)
            while (bytes[at++] & 0x80)
                continue;
    for (;; at++) {
        any |= bytes[at] & 0x7fu;
        bytes[at] &= 0x80;
        if (!bytes[at])
            return any != 0;
    }
}

static int is_mispredict(const struct ct_etm4_packet *p)
{
    return p->type >= CT_ETM4_CANCEL_F1_MISPRED && p->type <= CT_ETM4_MISPREDICT;
}

static int patch(enum patch_kind kind, const struct ct_source *source, uint8_t *bytes,
                 const struct ct_etm4_packet *p)
{
    const struct ct_source_regs *regs = &source->regs;
    unsigned at = context_info_at(p), absent = 0;
    switch (kind) {
    case PATCH_CONTEXT_SIZE:
        if (!ct_bits(regs->idr2, 14, 10))
            absent |= 0x40;
        if (!ct_bits(regs->idr2, 9, 5))
            absent |= 0x80;
        return at ? clear(bytes + at, absent) : 0;
    case PATCH_WORLD:
        return at ? clear(bytes + at, 0x08) : 0; /* NSE */
    case PATCH_SPEC:
        return clear_spec(bytes, p);
    case PATCH_CANCEL:
        if (p->type != CT_ETM4_CANCEL_F1 || !regs->idr8 || source->protocol != CT_PROTOCOL_ETE)
            return 0;
        memset(bytes, 0x80, p->size);
        return 1;
    case PATCH_MISPREDICT:
        if (!is_mispredict(p))
            return 0;
        memset(bytes, 0x80, p->size);
        return 1;
    case PATCH_M_RETURN:
        if (p->type != CT_ETM4_EXCEPT_RTN || source->arch.profile != CT_PROFILE_M || source->arch.major < 8)
            return 0;
        memset(bytes, 0x80, p->size);
        return 1;
    case PATCH_LONG_FIELD:
        if (!is_long(bytes, p))
            return 0;
        memset(bytes, 0x80, p->size); /* contexts without a change */
        return 1;
    default:
        return 0;
    }
}

static int is_address(const struct ct_etm4_packet *p)
{
    return p->type >= CT_ETM4_ADDR_S_IS0 && p->type <= CT_ETM4_ADDR_MATCH;
}

int patch_is_execution(const struct ct_etm4_packet *p)
{
    return p->natoms || p->type == CT_ETM4_EXCEPT || p->type == CT_ETM4_Q ||
           (p->type >= CT_ETM4_SRC_ADDR_S_IS0 && p->type <= CT_ETM4_SRC_ADDR_MATCH);
}

static int says_nothing(const struct ct_etm4_packet *p)
{
    return p->type == CT_ETM4_IGNORE || (p->type == CT_ETM4_CTXT && !(p->flags & CT_ETM4_HAS_CONTEXT));
}

/* Returns whether an exception is complete: it is followed by (a context and) the return address and then,
 * before any execution, by the address of the handler. */
static int is_complete(const struct ct_etm4_packet *p, const struct ct_etm4_packet *end)
{
    while (p < end && says_nothing(p))
        p++;
    if (p < end && p->type == CT_ETM4_CTXT)
        p++;
    while (p < end && says_nothing(p))
        p++;
    if (p == end || !is_address(p))
        return 0;
    for (p++; p < end && !patch_is_execution(p); p++)
        if (is_address(p))
            return 1;
    return 0;
}

int patch_targets(uint8_t *bytes, const struct ct_etm4_packet *packets, size_t count)
{
    int patched = 0;
    for (size_t i = 0; i < count; i++)
        if (packets[i].type == CT_ETM4_EXCEPT && !is_complete(packets + i + 1, packets + count)) {
            memset(bytes + packets[i].pos, 0x80, packets[i].size);
            patched++;
        }
    return patched;
}

/* Patches exceptions with E1:E0 = 2, where the return address is the target of the branch before. Sets 1
 * where that branch may be indirect. */
static int patch_return_targets(const struct ct_source *source, uint8_t *bytes,
                                const struct ct_etm4_packet *packets, size_t count)
{
    int patched = 0, taken = 0;
    if (!(source->regs.configr >> 12 & 1))
        return 0;
    for (size_t i = 0; i < count; i++) {
        const struct ct_etm4_packet *p = &packets[i];
        if (is_address(p))
            taken = 0;
        else if (p->natoms)
            taken = p->atoms >> (p->natoms - 1) & 1;
        if (p->type == CT_ETM4_EXCEPT && p->idx == 2 && taken) {
            bytes[p->pos + 1] ^= 0x41;
            patched++;
        }
    }
    return patched;
}

void patch_stream(struct patches *patches, unsigned kinds, const struct ct_source *source, uint8_t *bytes,
                  const struct ct_etm4_packet *packets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (unsigned kind = 0; kind < PATCH_COUNT; kind++)
            if (kinds >> kind & 1)
                patches->count[kind] += (unsigned)patch(kind, source, bytes + packets[i].pos, &packets[i]);
    if (kinds >> PATCH_RETURN_TARGET & 1)
        patches->count[PATCH_RETURN_TARGET] += (unsigned)patch_return_targets(source, bytes, packets, count);
    if (kinds >> PATCH_TARGET & 1)
        patches->count[PATCH_TARGET] += (unsigned)patch_targets(bytes, packets, count);
}

void patch_report(const struct patches *patches)
{
    for (unsigned kind = 0; kind < PATCH_COUNT; kind++)
        if (patches->count[kind])
            printf("# %" PRIu64 " times taken out: %s\n", patches->count[kind], patch_reasons[kind]);
}
