/* SPDX-License-Identifier: Apache-2.0 */
/* AMBA CHI, IHI 0050F.b: opcodes by B13.10.18 (tables B13.12 and B13.15), their accesses by B4.4.2 (table
 * B4.25), and the packing of DVM messages by B8.4.2 (table B8.10) and B8.4.3.1 (table B8.14). */
#include "fractal/wire.h"

#define SNP_DVM_OP 0x0d
#define REQ_DVM_OP 0x14

/* A forwarding snoop requests the same as the plain one, and names the receiver of the data. Stashing snoops
 * that invalidate come from writes with a stash hint; other stashing snoops change nothing. */
const struct ct_opcode ct_chi_snoops[32] = {
    [0x00] = {"SnpLCrdReturn", CT_WIRE_NOTHING},
    [0x01] = {"SnpShared", CT_FRACTAL_READ_SHARED},
    [0x02] = {"SnpClean", CT_FRACTAL_READ_CLEAN},
    [0x03] = {"SnpOnce", CT_FRACTAL_READ_ONCE},
    [0x04] = {"SnpNotSharedDirty", CT_FRACTAL_READ_NOT_SHARED_DIRTY},
    [0x05] = {"SnpUniqueStash", CT_FRACTAL_WRITE},
    [0x06] = {"SnpMakeInvalidStash", CT_FRACTAL_WRITE},
    [0x07] = {"SnpUnique", CT_FRACTAL_READ_UNIQUE},
    [0x08] = {"SnpCleanShared", CT_FRACTAL_CLEAN_SHARED},
    [0x09] = {"SnpCleanInvalid", CT_FRACTAL_CLEAN_INVALID},
    [0x0a] = {"SnpMakeInvalid", CT_FRACTAL_MAKE_INVALID},
    [0x0b] = {"SnpStashUnique", CT_WIRE_NOTHING},
    [0x0c] = {"SnpStashShared", CT_WIRE_NOTHING},
    [0x0d] = {"SnpDVMOp", CT_WIRE_DVM},
    [0x10] = {"SnpQuery", CT_WIRE_NOTHING},
    [0x11] = {"SnpSharedFwd", CT_FRACTAL_READ_SHARED},
    [0x12] = {"SnpCleanFwd", CT_FRACTAL_READ_CLEAN},
    [0x13] = {"SnpOnceFwd", CT_FRACTAL_READ_ONCE},
    [0x14] = {"SnpNotSharedDirtyFwd", CT_FRACTAL_READ_NOT_SHARED_DIRTY},
    [0x15] = {"SnpPreferUnique", CT_FRACTAL_READ_UNIQUE},
    [0x16] = {"SnpPreferUniqueFwd", CT_FRACTAL_READ_UNIQUE},
    [0x17] = {"SnpUniqueFwd", CT_FRACTAL_READ_UNIQUE},
};

#define ATOMIC(name)                                                                                         \
    {                                                                                                        \
        name, CT_FRACTAL_READ_UNIQUE                                                                         \
    }

/* Each request is treated as the snoop that it makes a home send. An atomic reads and writes at the home,
 * which takes the line from the caches as for ReadUnique. */
const struct ct_opcode ct_chi_requests[128] = {
    [0x00] = {"ReqLCrdReturn", CT_WIRE_NOTHING},
    [0x01] = {"ReadShared", CT_FRACTAL_READ_SHARED},
    [0x02] = {"ReadClean", CT_FRACTAL_READ_CLEAN},
    [0x03] = {"ReadOnce", CT_FRACTAL_READ_ONCE},
    [0x04] = {"ReadNoSnp", CT_FRACTAL_READ_ONCE},
    [0x05] = {"PCrdReturn", CT_WIRE_NOTHING},
    [0x07] = {"ReadUnique", CT_FRACTAL_READ_UNIQUE},
    [0x08] = {"CleanShared", CT_FRACTAL_CLEAN_SHARED},
    [0x09] = {"CleanInvalid", CT_FRACTAL_CLEAN_INVALID},
    [0x0a] = {"MakeInvalid", CT_FRACTAL_MAKE_INVALID},
    [0x0b] = {"CleanUnique", CT_FRACTAL_CLEAN_INVALID},
    [0x0c] = {"MakeUnique", CT_FRACTAL_MAKE_INVALID},
    [0x0d] = {"Evict", CT_WIRE_NOTHING},
    [0x11] = {"ReadNoSnpSep", CT_FRACTAL_READ_ONCE},
    [0x13] = {"CleanSharedPersistSep", CT_FRACTAL_CLEAN_SHARED},
    [0x14] = {"DVMOp", CT_WIRE_DVM},
    [0x15] = {"WriteEvictFull", CT_FRACTAL_WRITE_BACK},
    [0x17] = {"WriteCleanFull", CT_FRACTAL_WRITE_BACK},
    [0x18] = {"WriteUniquePtl", CT_FRACTAL_WRITE},
    [0x19] = {"WriteUniqueFull", CT_FRACTAL_WRITE},
    [0x1a] = {"WriteBackPtl", CT_FRACTAL_WRITE_BACK},
    [0x1b] = {"WriteBackFull", CT_FRACTAL_WRITE_BACK},
    [0x1c] = {"WriteNoSnpPtl", CT_FRACTAL_WRITE},
    [0x1d] = {"WriteNoSnpFull", CT_FRACTAL_WRITE},
    [0x20] = {"WriteUniqueFullStash", CT_FRACTAL_WRITE},
    [0x21] = {"WriteUniquePtlStash", CT_FRACTAL_WRITE},
    [0x22] = {"StashOnceShared", CT_WIRE_NOTHING},
    [0x23] = {"StashOnceUnique", CT_WIRE_NOTHING},
    [0x24] = {"ReadOnceCleanInvalid", CT_FRACTAL_READ_ONCE},
    [0x25] = {"ReadOnceMakeInvalid", CT_FRACTAL_READ_ONCE},
    [0x26] = {"ReadNotSharedDirty", CT_FRACTAL_READ_NOT_SHARED_DIRTY},
    [0x27] = {"CleanSharedPersist", CT_FRACTAL_CLEAN_SHARED},
    [0x28] = ATOMIC("AtomicStoreADD"),
    [0x29] = ATOMIC("AtomicStoreCLR"),
    [0x2a] = ATOMIC("AtomicStoreEOR"),
    [0x2b] = ATOMIC("AtomicStoreSET"),
    [0x2c] = ATOMIC("AtomicStoreSMAX"),
    [0x2d] = ATOMIC("AtomicStoreSMIN"),
    [0x2e] = ATOMIC("AtomicStoreUMAX"),
    [0x2f] = ATOMIC("AtomicStoreUMIN"),
    [0x30] = ATOMIC("AtomicLoadADD"),
    [0x31] = ATOMIC("AtomicLoadCLR"),
    [0x32] = ATOMIC("AtomicLoadEOR"),
    [0x33] = ATOMIC("AtomicLoadSET"),
    [0x34] = ATOMIC("AtomicLoadSMAX"),
    [0x35] = ATOMIC("AtomicLoadSMIN"),
    [0x36] = ATOMIC("AtomicLoadUMAX"),
    [0x37] = ATOMIC("AtomicLoadUMIN"),
    [0x38] = ATOMIC("AtomicSwap"),
    [0x39] = ATOMIC("AtomicCompare"),
    [0x3a] = {"PrefetchTgt", CT_WIRE_NOTHING},
    [0x41] = {"MakeReadUnique", CT_FRACTAL_CLEAN_INVALID},
    [0x42] = {"WriteEvictOrEvict", CT_FRACTAL_WRITE_BACK},
    [0x43] = {"WriteUniqueZero", CT_FRACTAL_WRITE},
    [0x44] = {"WriteNoSnpZero", CT_FRACTAL_WRITE},
    [0x47] = {"StashOnceSepShared", CT_WIRE_NOTHING},
    [0x48] = {"StashOnceSepUnique", CT_WIRE_NOTHING},
    [0x4c] = {"ReadPreferUnique", CT_FRACTAL_READ_UNIQUE},
    [0x4d] = {"CleanInvalidPoPA", CT_FRACTAL_CLEAN_INVALID},
    [0x4e] = {"WriteNoSnpDef", CT_FRACTAL_WRITE},
    [0x50] = {"WriteNoSnpFullCleanSh", CT_FRACTAL_WRITE},
    [0x51] = {"WriteNoSnpFullCleanInv", CT_FRACTAL_WRITE},
    [0x52] = {"WriteNoSnpFullCleanShPerSep", CT_FRACTAL_WRITE},
    [0x54] = {"WriteUniqueFullCleanSh", CT_FRACTAL_WRITE},
    [0x56] = {"WriteUniqueFullCleanShPerSep", CT_FRACTAL_WRITE},
    [0x58] = {"WriteBackFullCleanSh", CT_FRACTAL_WRITE_BACK},
    [0x59] = {"WriteBackFullCleanInv", CT_FRACTAL_WRITE_BACK},
    [0x5a] = {"WriteBackFullCleanShPerSep", CT_FRACTAL_WRITE_BACK},
    [0x5c] = {"WriteCleanFullCleanSh", CT_FRACTAL_WRITE_BACK},
    [0x5e] = {"WriteCleanFullCleanShPerSep", CT_FRACTAL_WRITE_BACK},
    [0x60] = {"WriteNoSnpPtlCleanSh", CT_FRACTAL_WRITE},
    [0x61] = {"WriteNoSnpPtlCleanInv", CT_FRACTAL_WRITE},
    [0x62] = {"WriteNoSnpPtlCleanShPerSep", CT_FRACTAL_WRITE},
    [0x64] = {"WriteUniquePtlCleanSh", CT_FRACTAL_WRITE},
    [0x66] = {"WriteUniquePtlCleanShPerSep", CT_FRACTAL_WRITE},
    [0x70] = {"WriteNoSnpPtlCleanInvPoPA", CT_FRACTAL_WRITE},
    [0x71] = {"WriteNoSnpFullCleanInvPoPA", CT_FRACTAL_WRITE},
    [0x79] = {"WriteBackFullCleanInvPoPA", CT_FRACTAL_WRITE_BACK},
};

/* ---- DVM fields shared by the request and the first part of the snoop, three bits apart ---- */

/* Packs bits 40:4 of a request's Addr. */
static uint64_t pack_fields(const struct ct_dvm *d)
{
    const uint64_t vmid = d->has_vi ? ct_wire_bits(d->vi, 15, 8) : d->vmid & 0xffu;
    const uint64_t asid = d->has_vi ? ct_wire_bits(d->vi, 7, 0) : d->asid;
    return (uint64_t)d->has_address << 4 | (uint64_t)(d->has_vmid || d->has_vi) << 5 |
           (uint64_t)(d->has_asid || d->has_vi) << 6 | (uint64_t)d->security << 7 |
           (uint64_t)d->exception << 9 | (uint64_t)d->type << 11 | vmid << 14 | asid << 22 |
           (uint64_t)d->stage << 38 | (uint64_t)d->leaf << 40;
}

/* Unpacks bits 40:4 of a request's Addr. */
static void unpack_fields(uint64_t fields, uint64_t vmid_high, struct ct_dvm *d)
{
    *d = (struct ct_dvm){.has_address = ct_wire_bits(fields, 4, 4),
                         .security = (uint8_t)ct_wire_bits(fields, 8, 7),
                         .exception = (uint8_t)ct_wire_bits(fields, 10, 9),
                         .type = (uint8_t)ct_wire_bits(fields, 13, 11),
                         .stage = (uint8_t)ct_wire_bits(fields, 39, 38),
                         .leaf = ct_wire_bits(fields, 40, 40)};
    d->has_vi = d->type == CT_DVM_PICI && ct_wire_bits(fields, 6, 5) == 3;
    d->has_vmid = !d->has_vi && ct_wire_bits(fields, 5, 5);
    d->has_asid = !d->has_vi && ct_wire_bits(fields, 6, 6);
    if (d->has_vi)
        d->vi = (uint16_t)(ct_wire_bits(fields, 21, 14) << 8 | ct_wire_bits(fields, 29, 22));
    if (d->has_vmid)
        d->vmid = (uint16_t)(vmid_high << 8 | ct_wire_bits(fields, 21, 14));
    if (d->has_asid)
        d->asid = (uint16_t)ct_wire_bits(fields, 37, 22);
}

/* Unpacks the address; for a TLBI, also the Scale, TTL and TG of a range from bits 11:6. */
static void unpack_address(uint64_t address, struct ct_dvm *d)
{
    d->address = address;
    if (d->type != CT_DVM_TLBI)
        return;
    d->address &= ~UINT64_C(0xfff); /* without a range, TTL and TG are only hints */
    d->scale = (uint8_t)ct_wire_bits(address, 7, 6);
    d->tg = (uint8_t)ct_wire_bits(address, 11, 10);
}

/* Returns the address with a range's Scale and TG in its low bits. */
static uint64_t low_bits(const struct ct_dvm *d)
{
    return d->address | (d->range ? (uint64_t)d->scale << 6 | (uint64_t)d->tg << 10 : 0);
}

/* ---- DVMOp ---- */

static int pack_request(const struct ct_dvm *d, struct ct_fractal_flit *out)
{
    *out = (struct ct_fractal_flit){.channel = CT_FRACTAL_CHANNEL_REQ,
                                    .opcode = REQ_DVM_OP,
                                    .addr = pack_fields(d) | (uint64_t)d->range << 41 |
                                            ct_wire_bits(d->num, 4, 4) << 42,
                                    .data = (uint64_t)(d->vmid >> 8) << 56 | ct_wire_bits(d->num, 3, 0)};
    if (d->has_address)
        out->data |= ct_wire_bits(low_bits(d), 52, 6) << 4;
    return 1;
}

static void unpack_request(const struct ct_fractal_flit *flit, struct ct_dvm *d)
{
    unpack_fields(flit->addr, ct_wire_bits(flit->data, 63, 56), d);
    d->range = d->type == CT_DVM_TLBI && ct_wire_bits(flit->addr, 41, 41);
    d->num = (uint8_t)(ct_wire_bits(flit->addr, 42, 42) << 4 | ct_wire_bits(flit->data, 3, 0));
    if (d->has_address)
        unpack_address(ct_wire_bits(flit->data, 50, 4) << 6, d);
}

/* ---- SnpDVMOp, in two parts ---- */

/* Packs bits 46:1 of the second part, and bits 42:38 of the first part into *first, which take the bits of a
 * virtual address that do not fit into the second part. */
static uint64_t pack_snoop_address(const struct ct_dvm *d, uint64_t *first)
{
    const uint64_t a = low_bits(d), common = ct_wire_bits(a, 45, 6) << 1;
    if (d->type == CT_DVM_PICI)
        return common | ct_wire_bits(a, 47, 46) << 41 | ct_wire_bits(a, 51, 48) << 43;
    *first |= ct_wire_bits(a, 48, 46) << 38 | ct_wire_bits(a, 50, 50) << 41 | ct_wire_bits(a, 52, 52) << 42;
    return common | ct_wire_bits(a, 49, 49) << 41 | ct_wire_bits(a, 51, 51) << 42;
}

static uint64_t unpack_snoop_address(const struct ct_dvm *d, uint64_t first, uint64_t second)
{
    const uint64_t common = ct_wire_bits(second, 40, 1) << 6;
    if (d->type == CT_DVM_PICI)
        return common | ct_wire_bits(second, 46, 41) << 46;
    return common | ct_wire_bits(first, 40, 38) << 46 | ct_wire_bits(second, 41, 41) << 49 |
           ct_wire_bits(first, 41, 41) << 50 | ct_wire_bits(second, 42, 42) << 51 |
           ct_wire_bits(first, 42, 42) << 52;
}

static int pack_snoops(const struct ct_dvm *d, struct ct_fractal_flit out[CT_FRACTAL_FLITS])
{
    uint64_t first = pack_fields(d) >> 3, second = 1;
    if (d->has_address)
        second |= pack_snoop_address(d, &first);
    for (int i = 0; i < 2; i++)
        out[i] = (struct ct_fractal_flit){.channel = CT_FRACTAL_CHANNEL_SNP, .opcode = SNP_DVM_OP};
    out[0].addr = first;
    out[0].data = (uint64_t)d->range | (uint64_t)(d->vmid >> 8) << 16;
    out[1].addr = second;
    out[1].data = d->num;
    return 2;
}

static int unpack_snoops(const struct ct_fractal_flit *a, const struct ct_fractal_flit *b, struct ct_dvm *d,
                         const char **why)
{
    const struct ct_fractal_flit *first = a->addr & 1 ? b : a, *second = a->addr & 1 ? a : b;
    if ((a->addr & 1) == (b->addr & 1)) {
        *why = "the same part of a SnpDVMOp came twice with one TxnID";
        return CT_ERR_FORMAT;
    }
    unpack_fields(first->addr << 3, ct_wire_bits(first->data, 23, 16), d);
    d->range = d->type == CT_DVM_TLBI && ct_wire_bits(first->data, 0, 0);
    d->num = (uint8_t)ct_wire_bits(second->data, 4, 0);
    if (d->has_address)
        unpack_address(unpack_snoop_address(d, first->addr, second->addr), d);
    return 1;
}

/* ---- the protocol ---- */

static int pack(const struct ct_dvm *dvm, unsigned channel, struct ct_fractal_flit out[CT_FRACTAL_FLITS])
{
    return channel == CT_FRACTAL_CHANNEL_REQ ? pack_request(dvm, &out[0]) : pack_snoops(dvm, out);
}

static int unpack(const struct ct_fractal_flit *flits, unsigned parts, struct ct_dvm *out, const char **why)
{
    if (flits[0].channel == CT_FRACTAL_CHANNEL_REQ)
        unpack_request(&flits[0], out);
    else if (parts < 2)
        return 0;
    else if (unpack_snoops(&flits[0], &flits[1], out, why) < 0)
        return CT_ERR_FORMAT;
    if (out->type >= CT_DVM_TYPES)
        *why = "the DVMType is reserved";
    else if (out->range && (!out->has_address || !out->tg) && out->stage != 3)
        *why = "a TLB invalidation of a range has no address, or a reserved granule";
    return *why ? CT_ERR_FORMAT : 1;
}

const struct ct_wire_protocol ct_wire_chi = {
    .snoops = CT_FRACTAL_CHANNEL_SNP,
    .writes = CT_FRACTAL_CHANNEL_REQ,
    .requests = CT_FRACTAL_CHANNEL_REQ,
    .snoop = {[CT_FRACTAL_READ_ONCE] = 0x03,
              [CT_FRACTAL_READ_SHARED] = 0x01,
              [CT_FRACTAL_READ_CLEAN] = 0x02,
              [CT_FRACTAL_READ_NOT_SHARED_DIRTY] = 0x04,
              [CT_FRACTAL_READ_UNIQUE] = 0x07,
              [CT_FRACTAL_CLEAN_SHARED] = 0x08,
              [CT_FRACTAL_CLEAN_INVALID] = 0x09,
              [CT_FRACTAL_MAKE_INVALID] = 0x0a},
    .write = 0x19,
    .write_back = 0x1b,
    .read_shared = 0x01,
    .read_once = 0x03,
    .clean_invalid = 0x09,
    .pack = pack,
    .unpack = unpack,
};
