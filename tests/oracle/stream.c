/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/stream.h"

#include "base/bytes.h"
#include "support/code_gen.h"

static unsigned find_waypoints(const struct ocsd_region *r, enum ct_isa isa, const struct ct_arch *arch,
                               uint16_t *out)
{
    struct ct_insn insn = {.size = 4};
    unsigned n = 0;
    for (uint32_t at = 0; at + 4 <= r->size; at += insn.size) {
        uint32_t word = ct_load32(r->bytes + at);
        if (isa == CT_ISA_A64)
            ct_insn_decode_a64(word, r->addr + at, arch, &insn);
        else if (isa == CT_ISA_A32)
            ct_insn_decode_a32(word, r->addr + at, arch, &insn);
        else
            ct_insn_decode_t32(word << 16 | word >> 16, r->addr + at, arch, &insn);
        if (insn.type == CT_INSN_BR || insn.type == CT_INSN_IBR || insn.type == CT_INSN_ISB)
            out[n++] = (uint16_t)at;
    }
    return n;
}

void stream_fill_program(struct rng *rng, struct stream *s)
{
    int ete = s->source.protocol ==
              CT_PROTOCOL_ETE; /* mostly A64, because a source address cannot change the instruction set */
    int sf = s->source.arch.profile == CT_PROFILE_A && (ete || rng_chance(rng, 150));
    int m = s->source.arch.profile == CT_PROFILE_M;
    uint64_t base = sf ? rng_wide(rng, 48) : rng_wide(rng, 31);
    int thumb = !sf && (m || rng_chance(rng, 128)); /* one instruction set, because code of another one is
                                                     * noise */
    s->region_count = rng_below(rng, REGIONS + 1);
    base &= ~UINT64_C(0xffff);
    for (unsigned i = 0; i < s->region_count; i++) {
        enum ct_isa isa = sf ? CT_ISA_A64 : thumb ? CT_ISA_T32 : CT_ISA_A32;
        uint32_t size = REGION_SIZE - (rng_below(rng, 2) ? 4 * rng_below(rng, 900) : 0);
        uint32_t space = rng_chance(rng, 40) ? CT_SPACE_EL1N | CT_SPACE_EL2N : 0x1f;
        code_fill(rng, isa, s->code[i], size);
        s->regions[i] = (struct ocsd_region){base, size, space, s->code[i]};
        s->gen_regions[i] = (struct gen_region){
            .addr = base,
            .size = size,
            .is = (uint8_t)thumb,
            .sf = (uint8_t)sf,
            .waypoints = s->waypoints[i],
            .waypoint_count = find_waypoints(&s->regions[i], isa, &s->source.arch, s->waypoints[i]),
        };
        base += rng_chance(rng, 128) ? REGION_SIZE : 0x10000u * (1 + rng_below(rng, 4));
    }
}

void stream_fill_trace(struct rng *rng, struct stream *s)
{
    s->size = gen_trace(rng, &s->source, s->gen_regions, s->region_count, STREAM, s->bytes, ROOM);
}
