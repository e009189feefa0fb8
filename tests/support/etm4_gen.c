/* SPDX-License-Identifier: Apache-2.0 */
#include "support/etm4_gen.h"

#include <string.h>

#include "base/bytes.h"

static uint32_t pick(struct rng *rng, const uint32_t *from, uint32_t n)
{
    return from[rng_below(rng, n)];
}

#define PICK(rng, ...)                                                                                       \
    pick(rng, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

void gen_source(struct rng *rng, enum gen_source_kind kind, struct ct_source *out)
{
    int ete = rng_chance(rng, 110);
    uint32_t version = ete ? PICK(rng, 0, 1, 2) : PICK(rng, 0, 1, 2, 3, 4, 5, 6);
    uint32_t vmid_size = PICK(rng, 0, 1, 2, 4);
    if (!ete && version == 0) /* wider VMIDs exist since 4.1 */
        vmid_size &= 1;
    struct ct_source_regs regs = {
        .traceidr = 0x10,
        .idr0 = 0x0c001ea1 & ~(UINT32_C(1) << 9),
        .idr1 = ete ? 0x4100fff3 : 0x4100f403 | version << 4,
        .idr2 = PICK(rng, 4, 8) | PICK(rng, 0, 4) << 5 | vmid_size << 10 | PICK(rng, 0, 4, 8) << 25,
        .devarch = 0x47705a13 | version << 16,
    };
    regs.idr0 |= rng_below(rng, 2) << 29 | rng_below(rng, 2) << 23 | rng_below(rng, 2) << 9;
    regs.configr = 0x1 | (uint32_t)(rng_next(rng) & 0x18d8); /* BB, CCI, CID, VMID, TS, RS */
    if (kind != GEN_UNSPECULATED)
        regs.idr8 = PICK(rng, 0, 0, 1, 3, 16, 200);
    if (kind == GEN_ANY && rng_chance(rng, 64)) {
        regs.idr0 |= 1u << 15; /* QSUPP */
        regs.configr |= 1u << 13;
    }
    if (rng_chance(rng, 64))
        regs.idr2 |= 1u << 31; /* WFXMODE */
    if (kind == GEN_ANY && !ete && rng_chance(rng, 100)) {
        regs.idr0 |= 1u << 6 | 1u << 12; /* TRCCOND, CONDTYPE */
        regs.configr |= 7u << 8;
    }
    if (kind == GEN_ANY && !ete && rng_chance(rng, 100)) {
        regs.idr0 |= 3u << 3 | 3u << 1; /* TRCDATA, INSTP0 */
        regs.configr |= 3u << 16 | 3u << 1;
    }
    *out = (struct ct_source){
        .name = "random",
        .core = "core",
        .protocol = ete ? CT_PROTOCOL_ETE : CT_PROTOCOL_ETM4,
        .trace_id = 0x10,
        .arch = {.major = 8, .minor = 3, .profile = CT_PROFILE_A, .newest = (uint8_t)ete},
        .regs = regs,
    };
    if (!ete && rng_chance(rng, 32))
        out->arch = (struct ct_arch){.major = (uint8_t)PICK(rng, 7, 8), .profile = CT_PROFILE_M};
}

void gen_init(struct gen *gen, struct rng *rng, const struct ct_source *source)
{
    *gen = (struct gen){.rng = rng};
    ct_etm4_config_init(NULL, source, &gen->config);
}

/* ---- addresses ---- */

static void push(struct gen *gen, uint64_t value, unsigned is)
{
    memmove(gen->history + 1, gen->history, 2 * sizeof(gen->history[0]));
    memmove(gen->history_is + 1, gen->history_is, 2);
    gen->history[0] = value;
    gen->history_is[0] = (uint8_t)is;
}

/* Returns an address worth branching to: in code, near the end of code, or anywhere. */
static uint64_t some_address(struct gen *gen, unsigned is)
{
    struct rng *rng = gen->rng;
    uint64_t value = rng_wide(rng, 64);
    if (gen->want) {
        value = gen->want;
        gen->want = 0;
    } else if (gen->region_count && !rng_chance(rng, 6)) {
        const struct gen_region *r = &gen->regions[rng_below(rng, gen->region_count)];
        for (int i = 0; i < 8 && r->is != is; i++)
            r = &gen->regions[rng_below(rng, gen->region_count)];
        value = r->addr + rng_below(rng, r->size + 8);
    }
    return value & ~ct_mask64(is ? 1 : 2);
}

static void set_address(struct gen *gen, struct ct_etm4_packet *p, unsigned is, unsigned form)
{
    uint64_t last = gen->history[0], value = some_address(gen, is), keep = 0;
    unsigned shift = is ? 1 : 2;
    if (form == 0) /* short */
        keep = ~ct_mask64(15 + shift);
    else if (form == 4)
        keep = ~UINT64_C(0xffffffff);
    value &= ~keep;
    if (form == 0 || gen->sf)
        value |= last & keep;
    p->value = value;
    p->is = (uint8_t)is;
    p->valid = 64;
    push(gen, value, is);
}

/* Chooses a waypoint as the next address: a source address names one, and a decoder walks the code as far as
 * that. */
static void want_waypoint(struct gen *gen, unsigned is)
{
    for (unsigned i = 0; i < 8 && gen->region_count; i++) {
        const struct gen_region *r = &gen->regions[rng_below(gen->rng, gen->region_count)];
        if (r->is == is && r->waypoint_count)
            gen->want = r->addr + r->waypoints[rng_below(gen->rng, r->waypoint_count)];
    }
}

static void set_match(struct gen *gen, struct ct_etm4_packet *p)
{
    p->idx = (uint8_t)rng_below(gen->rng, 3);
    p->value = gen->history[p->idx];
    p->is = gen->history_is[p->idx];
    p->valid = 64;
    push(gen, p->value, p->is);
}

static void set_context(struct gen *gen, struct ct_etm4_packet *p)
{
    struct rng *rng = gen->rng;
    const struct ct_etm4_config *c = &gen->config;
    p->flags |= CT_ETM4_HAS_CONTEXT;
    p->el_sec = (uint8_t)(rng_below(rng, 4) | rng_below(rng, c->ete ? 4 : 2) << 4);
    if (gen->region_count) { /* so that images are found: not root and realm, which old decoders lack */
        p->el_sec &= 0x13;
        if (gen->regions[rng_below(rng, gen->region_count)].sf)
            p->flags |= CT_ETM4_SF;
    } else if (rng_chance(rng, 128)) {
        p->flags |= CT_ETM4_SF;
    }
    if (c->vmid_bytes && rng_chance(rng, 128)) {
        p->flags |= CT_ETM4_HAS_VMID;
        p->vmid = (uint32_t)rng_next(rng) & (uint32_t)ct_mask64(8u * c->vmid_bytes);
    }
    if (c->ctxt_bytes && rng_chance(rng, 128)) {
        p->flags |= CT_ETM4_HAS_CTXT;
        p->ctxt = (uint32_t)rng_wide(rng, 32);
    }
    gen->sf = (p->flags & CT_ETM4_SF) != 0;
}

/* ---- one packet ---- */

static void set_trace_info(struct gen *gen, struct ct_etm4_packet *p)
{
    struct rng *rng = gen->rng;
    if (rng_chance(rng, 200))
        p->info = (uint16_t)(rng_next(rng) & (gen->config.ete ? 0x71 : 0x3f));
    if (rng_chance(rng, 64)) {
        p->flags |= CT_ETM4_HAS_SPEC;
        p->count2 = rng_below(rng, gen->config.max_spec + 1);
    }
    if (p->info & 1) {
        p->flags |= CT_ETM4_HAS_CCTHR;
        p->count = (uint32_t)rng_wide(rng, 12);
    }
    if (p->info & 0x40)
        p->flags |= CT_ETM4_TSTATE;
    gen->ccthr = p->count;
    gen->ts = 0;
    memset(gen->history, 0, sizeof(gen->history));
    memset(gen->history_is, 0, sizeof(gen->history_is));
}

static void set_timestamp(struct gen *gen, struct ct_etm4_packet *p)
{
    gen->ts = rng_chance(gen->rng, 128) ? gen->ts + rng_wide(gen->rng, 30) : rng_wide(gen->rng, 64);
    p->value = gen->ts;
    if (rng_chance(gen->rng, gen->config.cycle_count ? 200 : 20)) {
        p->flags |= CT_ETM4_HAS_COUNT;
        p->count = (uint32_t)rng_wide(gen->rng, gen->config.cc_bits);
    }
}

static void set_atoms(struct gen *gen, struct ct_etm4_packet *p, unsigned format)
{
    static const uint8_t f4[] = {0xe, 0x0, 0xa, 0x5}, f5[] = {0x00, 0x0a, 0x15, 0x1e};
    struct rng *rng = gen->rng;
    p->natoms = (uint8_t)format;
    if (format <= 3) {
        p->atoms = (uint32_t)rng_next(rng) & (uint32_t)ct_mask64(format);
    } else if (format == 4) {
        p->atoms = f4[rng_below(rng, 4)];
    } else if (format == 5) {
        p->atoms = f5[rng_below(rng, 4)];
    } else {
        p->natoms = (uint8_t)(4 + rng_below(rng, rng_chance(rng, 200) ? 4 : 21));
        p->atoms = (uint32_t)ct_mask64(p->natoms - rng_below(rng, 2));
    }
}

static void set_ccnt(struct gen *gen, struct ct_etm4_packet *p, unsigned format)
{
    static const uint8_t bits[] = {0, 20, 4, 2};
    struct rng *rng = gen->rng;
    int known = format != 1 || rng_chance(rng, 220);
    if (known) {
        p->flags |= CT_ETM4_HAS_COUNT;
        p->count = gen->ccthr + (uint32_t)rng_wide(rng, bits[format]);
    }
    if (gen->config.comm_opt)
        return;
    p->flags |= CT_ETM4_HAS_COMMIT;
    if (format == 1)
        p->count2 = (uint32_t)rng_wide(rng, 32);
    else if (format == 3)
        p->count2 = 1 + rng_below(rng, 4);
    else if (gen->config.max_spec > 15 && rng_chance(rng, 100))
        p->count2 = gen->config.max_spec - 15 + rng_below(rng, 16);
    else
        p->count2 = 1 + rng_below(rng, 16);
}

static void set_q(struct gen *gen, struct ct_etm4_packet *p)
{
    struct rng *rng = gen->rng;
    unsigned form = rng_below(rng, 5);
    if (form == 4)
        return;
    p->flags |= CT_ETM4_HAS_COUNT;
    p->count = 1 + (uint32_t)rng_wide(rng, gen->region_count ? 5 : 31);
    if (form == 3)
        return;
    p->flags |= CT_ETM4_HAS_ADDR;
    if (form == 0) {
        p->flags |= CT_ETM4_MATCH;
        set_match(gen, p);
    } else {
        set_address(gen, p, rng_below(rng, 2), form == 1 ? 0 : 4);
    }
}

static void set_speculation(struct gen *gen, struct ct_etm4_packet *p)
{
    static const uint8_t natoms[] = {0, 1, 2, 1}, atoms[] = {0, 1, 3, 0};
    unsigned code = rng_below(gen->rng, 4);
    p->natoms = natoms[code];
    p->atoms = atoms[code];
}

static void set_exception(struct gen *gen, struct ct_etm4_packet *p)
{
    struct rng *rng = gen->rng;
    do
        p->info = (uint16_t)rng_wide(rng, rng_chance(rng, 40) ? 10 : 5);
    while (gen->config.ete && ((p->info & 0x1f) == 0 || (p->info & 0x1f) == 0x18));
    p->idx = (uint8_t)rng_below(rng, 4);
    if (rng_chance(rng, 16))
        p->flags |= CT_ETM4_FAULT_PENDING;
}

/* Makes a conditional packet: a random header of its type, and payload bits in the layout of packet.h. */
static void set_conditional(struct gen *gen, struct ct_etm4_packet *p)
{
    static const struct {
        uint8_t type, first, last;
    } headers[] = {
        {CT_ETM4_COND_I_F1, 0x6c, 0x6c},   {CT_ETM4_COND_I_F2, 0x40, 0x42},
        {CT_ETM4_COND_I_F3, 0x6d, 0x6d},   {CT_ETM4_COND_FLUSH, 0x43, 0x43},
        {CT_ETM4_COND_RES_F1, 0x68, 0x6b}, {CT_ETM4_COND_RES_F1, 0x6e, 0x6f},
        {CT_ETM4_COND_RES_F2, 0x48, 0x4a}, {CT_ETM4_COND_RES_F2, 0x4c, 0x4e},
        {CT_ETM4_COND_RES_F3, 0x50, 0x5f}, {CT_ETM4_COND_RES_F4, 0x44, 0x46},
        {CT_ETM4_NUM_DS_MKR, 0x20, 0x27},  {CT_ETM4_UNNUM_DS_MKR, 0x28, 0x2c},
    };
    struct rng *rng = gen->rng;
    unsigned i;
    do
        i = rng_below(rng, sizeof(headers) / sizeof(headers[0]));
    while (headers[i].type != p->type);
    p->header = (uint8_t)(headers[i].first + rng_below(rng, headers[i].last - headers[i].first + 1u));
    if (p->type == CT_ETM4_COND_I_F1)
        p->value = rng_wide(rng, 32);
    else if (p->type == CT_ETM4_COND_I_F3 || p->type == CT_ETM4_COND_RES_F3)
        p->value = rng_below(rng, 256);
    else if (p->type == CT_ETM4_COND_RES_F1)
        p->value = rng_wide(rng, 32) | (p->header < 0x6c ? rng_wide(rng, 32) << 32 : 0);
}

int gen_packet(struct gen *gen, unsigned type, struct ct_etm4_packet *p)
{
    const struct ct_etm4_config *c = &gen->config;
    struct rng *rng = gen->rng;
    *p = (struct ct_etm4_packet){.type = (uint8_t)type};
    switch ((enum ct_etm4_type)type) {
    case CT_ETM4_ASYNC:
    case CT_ETM4_DISCARD:
    case CT_ETM4_OVERFLOW:
    case CT_ETM4_TRACE_ON:
        return 1;
    case CT_ETM4_TRACE_INFO:
        set_trace_info(gen, p);
        return 1;
    case CT_ETM4_TIMESTAMP:
        set_timestamp(gen, p);
        return 1;
    case CT_ETM4_TS_MARKER:
        return c->version >= 0x46;
    case CT_ETM4_CTXT:
        if (rng_chance(rng, 200))
            set_context(gen, p);
        return 1;
    case CT_ETM4_ADDR_S_IS0:
    case CT_ETM4_ADDR_S_IS1:
        set_address(gen, p, type - CT_ETM4_ADDR_S_IS0, 0);
        return 1;
    case CT_ETM4_ADDR_L_32IS0:
    case CT_ETM4_ADDR_L_32IS1:
        set_address(gen, p, type - CT_ETM4_ADDR_L_32IS0, 4);
        return 1;
    case CT_ETM4_ADDR_L_64IS0:
    case CT_ETM4_ADDR_L_64IS1:
        set_address(gen, p, type - CT_ETM4_ADDR_L_64IS0, 8);
        return 1;
    case CT_ETM4_ADDR_CTXT_L_32IS0:
    case CT_ETM4_ADDR_CTXT_L_32IS1:
        set_address(gen, p, type - CT_ETM4_ADDR_CTXT_L_32IS0, 4);
        set_context(gen, p);
        return 1;
    case CT_ETM4_ADDR_CTXT_L_64IS0:
    case CT_ETM4_ADDR_CTXT_L_64IS1:
        set_address(gen, p, type - CT_ETM4_ADDR_CTXT_L_64IS0, 8);
        set_context(gen, p);
        return 1;
    case CT_ETM4_ADDR_MATCH:
        set_match(gen, p);
        return 1;
    case CT_ETM4_SRC_ADDR_S_IS0:
    case CT_ETM4_SRC_ADDR_S_IS1:
        if (c->ete) {
            want_waypoint(gen, type - CT_ETM4_SRC_ADDR_S_IS0);
            set_address(gen, p, type - CT_ETM4_SRC_ADDR_S_IS0, 0);
        }
        return c->ete;
    case CT_ETM4_SRC_ADDR_L_32IS0:
    case CT_ETM4_SRC_ADDR_L_32IS1:
        if (c->ete) {
            want_waypoint(gen, type - CT_ETM4_SRC_ADDR_L_32IS0);
            set_address(gen, p, type - CT_ETM4_SRC_ADDR_L_32IS0, 4);
        }
        return c->ete;
    case CT_ETM4_SRC_ADDR_L_64IS0:
    case CT_ETM4_SRC_ADDR_L_64IS1:
        if (c->ete) {
            want_waypoint(gen, type - CT_ETM4_SRC_ADDR_L_64IS0);
            set_address(gen, p, type - CT_ETM4_SRC_ADDR_L_64IS0, 8);
        }
        return c->ete;
    case CT_ETM4_SRC_ADDR_MATCH:
        if (c->ete)
            set_match(gen, p);
        return c->ete;
    case CT_ETM4_ATOM_F1 ... CT_ETM4_ATOM_F6:
        set_atoms(gen, p, type - CT_ETM4_ATOM_F1 + 1);
        return 1;
    case CT_ETM4_Q:
        if (c->q_elements)
            set_q(gen, p);
        return c->q_elements;
    case CT_ETM4_CCNT_F1:
    case CT_ETM4_CCNT_F2:
    case CT_ETM4_CCNT_F3:
        set_ccnt(gen, p, type - CT_ETM4_CCNT_F1 + 1);
        return 1;
    case CT_ETM4_COMMIT:
    case CT_ETM4_CANCEL_F1:
    case CT_ETM4_CANCEL_F1_MISPRED:
        p->count2 = (uint32_t)rng_wide(rng, 32);
        return 1;
    case CT_ETM4_CANCEL_F2:
        p->count2 = 1;
        set_speculation(gen, p);
        return 1;
    case CT_ETM4_CANCEL_F3:
        p->count2 = 2 + rng_below(rng, 4);
        p->natoms = (uint8_t)rng_below(rng, 2);
        p->atoms = p->natoms;
        return 1;
    case CT_ETM4_MISPREDICT:
        set_speculation(gen, p);
        return 1;
    case CT_ETM4_COND_I_F1 ... CT_ETM4_COND_RES_F4:
        set_conditional(gen, p);
        return c->conditional && !c->ete;
    case CT_ETM4_NUM_DS_MKR:
    case CT_ETM4_UNNUM_DS_MKR:
        set_conditional(gen, p);
        return c->data_trace && !c->ete;
    case CT_ETM4_EXCEPT:
        set_exception(gen, p);
        return 1;
    case CT_ETM4_EXCEPT_RTN:
        return !c->ete;
    case CT_ETM4_FUNC_RET:
        return c->m_profile && !c->v7m && c->version >= 0x42;
    case CT_ETM4_EVENT:
        p->info = (uint16_t)(1 + rng_below(rng, 15));
        return 1;
    case CT_ETM4_ITE:
        p->value = rng_next(rng);
        p->el_sec = (uint8_t)rng_below(rng, 4);
        return c->version >= 0x53;
    case CT_ETM4_TRANS_ST:
    case CT_ETM4_TRANS_COMMIT:
        return c->ete;
    case CT_ETM4_TRANS_FAIL:
    case CT_ETM4_PE_RESET:
        if (c->ete) {
            push(gen, 0, CT_IS0);
            p->info = type == CT_ETM4_TRANS_FAIL ? 0x18 : 0;
        }
        return c->ete;
    case CT_ETM4_IGNORE:
        return c->version >= 0x43;
    case CT_ETM4_NOT_SYNC:
    case CT_ETM4_INCOMPLETE_EOT:
    case CT_ETM4_BAD_SEQUENCE:
    case CT_ETM4_BAD_TRACEMODE:
    case CT_ETM4_RESERVED:
    case CT_ETM4_RESERVED_CFG:
    case CT_ETM4_EXTENSION:
    case CT_ETM4_TYPE_COUNT:
        break;
    }
    return 0;
}
