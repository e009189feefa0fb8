/* SPDX-License-Identifier: Apache-2.0 */
/* AMBA ACE, IHI 0022: table D3-7 (ARSNOOP), D3-8 (AWSNOOP), D3-19 (ACSNOOP), and its DVM messages. */
#include "fractal/wire.h"

#define ACE_DVM 0xf

const struct ct_opcode ct_ace_snoops[16] = {
    [0x0] = {"ReadOnce", CT_FRACTAL_READ_ONCE},
    [0x1] = {"ReadShared", CT_FRACTAL_READ_SHARED},
    [0x2] = {"ReadClean", CT_FRACTAL_READ_CLEAN},
    [0x3] = {"ReadNotSharedDirty", CT_FRACTAL_READ_NOT_SHARED_DIRTY},
    [0x7] = {"ReadUnique", CT_FRACTAL_READ_UNIQUE},
    [0x8] = {"CleanShared", CT_FRACTAL_CLEAN_SHARED},
    [0x9] = {"CleanInvalid", CT_FRACTAL_CLEAN_INVALID},
    [0xd] = {"MakeInvalid", CT_FRACTAL_MAKE_INVALID},
    [0xe] = {"DVMComplete", CT_WIRE_NOTHING},
    [0xf] = {"DVMMessage", CT_WIRE_DVM},
};

/* A core that makes its shared line unique invalidates the other copies: CleanUnique appears as CleanInvalid,
 * and MakeUnique, which writes the whole line, as MakeInvalid. */
const struct ct_opcode ct_ace_reads[16] = {
    [0x0] = {"ReadOnce", CT_FRACTAL_READ_ONCE},
    [0x1] = {"ReadShared", CT_FRACTAL_READ_SHARED},
    [0x2] = {"ReadClean", CT_FRACTAL_READ_CLEAN},
    [0x3] = {"ReadNotSharedDirty", CT_FRACTAL_READ_NOT_SHARED_DIRTY},
    [0x7] = {"ReadUnique", CT_FRACTAL_READ_UNIQUE},
    [0x8] = {"CleanShared", CT_FRACTAL_CLEAN_SHARED},
    [0x9] = {"CleanInvalid", CT_FRACTAL_CLEAN_INVALID},
    [0xb] = {"CleanUnique", CT_FRACTAL_CLEAN_INVALID},
    [0xc] = {"MakeUnique", CT_FRACTAL_MAKE_INVALID},
    [0xd] = {"MakeInvalid", CT_FRACTAL_MAKE_INVALID},
    [0xe] = {"DVMComplete", CT_WIRE_NOTHING},
    [0xf] = {"DVMMessage", CT_WIRE_DVM},
};

const struct ct_opcode ct_ace_writes[8] = {
    [0] = {"WriteUnique", CT_FRACTAL_WRITE},
    [1] = {"WriteLineUnique", CT_FRACTAL_WRITE},
    [2] = {"WriteClean", CT_FRACTAL_WRITE_BACK},
    [3] = {"WriteBack", CT_FRACTAL_WRITE_BACK},
    [4] = {"Evict", CT_WIRE_NOTHING},
    [5] = {"WriteEvict", CT_FRACTAL_WRITE_BACK},
};

/* Packs the first part of a message. Bits 43:40 are VA[48:45]. */
static uint64_t pack_first(const struct ct_dvm *d)
{
    const uint64_t low = d->has_vi ? d->vi : (uint64_t)(d->vmid & 0xff) << 8 | (d->asid & 0xff);
    return (uint64_t)d->has_address | (uint64_t)d->stage << 2 | (uint64_t)d->leaf << 4 |
           (uint64_t)(d->has_asid || d->has_vi) << 5 | (uint64_t)(d->has_vmid || d->has_vi) << 6 |
           (uint64_t)d->security << 8 | (uint64_t)d->exception << 10 | (uint64_t)d->type << 12 | low << 16 |
           (uint64_t)(d->asid >> 8) << 32 |
           (d->type == CT_DVM_PICI ? 0 : ct_wire_bits(d->address, 48, 45) << 40);
}

/* Packs the address of the second part. A virtual address has more bits than the field: bit 3 is VA[40], and
 * bits 43:40 are VA[44:41]. */
static uint64_t pack_second(const struct ct_dvm *d)
{
    if (d->type == CT_DVM_PICI)
        return d->address;
    return ct_wire_bits(d->address, 39, 4) << 4 | ct_wire_bits(d->address, 40, 40) << 3 |
           ct_wire_bits(d->address, 44, 41) << 40;
}

static int pack(const struct ct_dvm *dvm, unsigned channel, struct ct_fractal_flit out[CT_FRACTAL_FLITS])
{
    out[0] =
        (struct ct_fractal_flit){.addr = pack_first(dvm), .channel = (uint8_t)channel, .opcode = ACE_DVM};
    if (!dvm->has_address)
        return 1;
    out[1] =
        (struct ct_fractal_flit){.addr = pack_second(dvm), .channel = (uint8_t)channel, .opcode = ACE_DVM};
    return 2;
}

/* Unpacks the address of the second part. */
static uint64_t unpack_second(const struct ct_dvm *d, uint64_t first, uint64_t second)
{
    if (d->type == CT_DVM_PICI)
        return second;
    return ct_wire_bits(second, 39, 4) << 4 | ct_wire_bits(second, 3, 3) << 40 |
           ct_wire_bits(second, 43, 40) << 41 | ct_wire_bits(first, 43, 40) << 45;
}

static int unpack(const struct ct_fractal_flit *flits, unsigned parts, struct ct_dvm *out, const char **why)
{
    const uint64_t first = flits[0].addr;
    const bool both = ct_wire_bits(first, 6, 5) == 3;
    *out = (struct ct_dvm){.type = (uint8_t)ct_wire_bits(first, 14, 12),
                           .exception = (uint8_t)ct_wire_bits(first, 11, 10),
                           .security = (uint8_t)ct_wire_bits(first, 9, 8),
                           .stage = (uint8_t)ct_wire_bits(first, 3, 2),
                           .leaf = ct_wire_bits(first, 4, 4),
                           .has_address = ct_wire_bits(first, 0, 0)};
    if (out->type >= CT_DVM_TYPES)
        *why = "the type of this DVM message is reserved";
    else if (ct_wire_bits(first, 7, 7))
        *why = "bit 7 of this DVM message is set, but ranges of DVMv8.4 are supported only for CHI";
    if (*why)
        return CT_ERR_FORMAT;
    out->has_vi = out->type == CT_DVM_PICI && both;
    out->has_asid = !out->has_vi && ct_wire_bits(first, 5, 5);
    out->has_vmid = !out->has_vi && ct_wire_bits(first, 6, 6);
    if (out->has_vi)
        out->vi = (uint16_t)ct_wire_bits(first, 31, 16);
    if (out->has_asid)
        out->asid = (uint16_t)(ct_wire_bits(first, 39, 32) << 8 | ct_wire_bits(first, 23, 16));
    if (out->has_vmid)
        out->vmid = (uint16_t)ct_wire_bits(first, 31, 24);
    if (!out->has_address)
        return 1;
    if (parts == 2)
        out->address = unpack_second(out, first, flits[1].addr);
    return parts == 2;
}

const struct ct_wire_protocol ct_wire_ace = {
    .snoops = CT_FRACTAL_CHANNEL_AC,
    .writes = CT_FRACTAL_CHANNEL_AW,
    .requests = CT_FRACTAL_CHANNEL_AR,
    .snoop = {[CT_FRACTAL_READ_ONCE] = 0x0,
              [CT_FRACTAL_READ_SHARED] = 0x1,
              [CT_FRACTAL_READ_CLEAN] = 0x2,
              [CT_FRACTAL_READ_NOT_SHARED_DIRTY] = 0x3,
              [CT_FRACTAL_READ_UNIQUE] = 0x7,
              [CT_FRACTAL_CLEAN_SHARED] = 0x8,
              [CT_FRACTAL_CLEAN_INVALID] = 0x9,
              [CT_FRACTAL_MAKE_INVALID] = 0xd},
    .write = 0,
    .write_back = 3,
    .read_shared = 0x1,
    .read_once = 0x0,
    .clean_invalid = 0x9,
    .pack = pack,
    .unpack = unpack,
};
