/* SPDX-License-Identifier: Apache-2.0 */
/* Follows values backwards. Before a block, its immediate dominator ran. When no block that may run between
 * the two changes the value, it is that at the end of the dominator; otherwise the block itself is where it
 * comes from.
 *
 * Places of the stack frame hold values, too, as without optimisation. A store through another pointer, or a
 * call, does not change them when no instruction of the function gives away an address of the frame. */
#include <string.h>

#include "base/bytes.h"
#include "program/cfg_values.h"

#define DEEPEST     200
#define MOST_BLOCKS 512 /* between a block and its dominator */
#define A64_ZERO    31
#define A64_FRAME   29
#define ARM_PC      15
#define ARM_SP      13
#define A32_FRAME   11
#define T32_FRAME   7

/* ---- values ---- */

uint64_t ct_value_for(const struct ct_value *value, uint64_t x)
{
    x = x * value->scale + value->inner;
    if (value->bits < 64)
        x = value->is_signed ? (uint64_t)ct_sext(x, value->bits) : x & ct_mask64(value->bits);
    x = value->is_signed ? (uint64_t)((int64_t)x >> value->right) : x >> value->right;
    return x + value->outer;
}

bool ct_value_is_sum(const struct ct_value *value, bool is_wide)
{
    return value->scale == 1 && !value->right && value->bits >= (is_wide ? 64 : 32);
}

bool ct_value_is_alike(const struct ct_value *a, const struct ct_value *b)
{
    return a->from == b->from && a->from != CT_VALUE_UNKNOWN && a->from != CT_VALUE_CONST && a->at == b->at &&
           a->block == b->block && a->place.reg == b->place.reg && a->place.offset == b->place.offset &&
           a->place.size == b->place.size;
}

static bool is_constant(const struct ct_value *v)
{
    return v->from == CT_VALUE_CONST;
}

static struct ct_value origin(enum ct_value_from from, uint32_t block, uint64_t at,
                              struct ct_value_place place)
{
    return (struct ct_value){
        .from = (uint8_t)from, .block = block, .at = at, .place = place, .bits = 64, .scale = 1};
}

static struct ct_value plus(struct ct_value v, uint64_t more)
{
    if (is_constant(&v))
        v.constant += more;
    else
        v.outer += more;
    return v;
}

/* Returns a multiple of a value; UNKNOWN when that has another form. */
static struct ct_value times(struct ct_value v, uint64_t factor)
{
    if (is_constant(&v)) {
        v.constant *= factor;
        return v;
    }
    if (v.bits < 64 || v.right)
        return (struct ct_value){0};
    v.scale *= factor;
    v.inner = (v.inner + v.outer) * factor;
    v.outer = 0;
    return v;
}

/* Returns the sum of multiples of the same x; UNKNOWN when it is none. */
static struct ct_value sum_of_alike(struct ct_value a, const struct ct_value *b)
{
    if (!ct_value_is_alike(&a, b) || a.bits < 64 || b->bits < 64 || a.right || b->right)
        return (struct ct_value){0};
    a.scale += b->scale;
    a.inner += a.outer + b->inner + b->outer;
    a.outer = 0;
    return a;
}

/* Returns whether `bits` bits hold a value that was shifted right. */
static bool is_held(const struct ct_value *v, unsigned bits, bool is_signed)
{
    const unsigned left = v->bits - v->right;
    return !v->outer && (v->is_signed ? is_signed && left <= bits : left + is_signed <= bits);
}

struct ct_value ct_value_extend(struct ct_value v, unsigned bits, bool is_signed)
{
    if (bits >= 64)
        return v;
    if (is_constant(&v)) {
        v.constant = is_signed ? (uint64_t)ct_sext(v.constant, bits) : v.constant & ct_mask64(bits);
    } else if (v.right) {
        if (!is_held(&v, bits, is_signed))
            v.from = CT_VALUE_UNKNOWN;
    } else if (bits <= v.bits) {
        v.inner += v.outer;
        v.outer = 0;
        v.bits = (uint8_t)bits;
        v.is_signed = is_signed;
    } else if (v.is_signed ? v.outer != 0 || !is_signed
                           : v.outer > ct_mask64(bits - is_signed) - ct_mask64(v.bits)) {
        v.from = CT_VALUE_UNKNOWN;
    }
    return v;
}

/* Returns the low `bits` of a value, extended and shifted right. UNKNOWN when that has another form. */
static struct ct_value shifted_right(struct ct_value v, unsigned by, unsigned bits, bool is_signed)
{
    v = ct_value_extend(v, bits, is_signed);
    if (is_constant(&v)) {
        v.constant = is_signed ? (uint64_t)((int64_t)v.constant >> by) : v.constant >> by;
        return v;
    }
    if (v.bits == 64 && !v.right) {
        v.inner += v.outer;
        v.outer = 0;
        v.is_signed = is_signed;
    }
    if (v.outer || (v.is_signed && !is_signed) || v.right + by >= v.bits)
        return (struct ct_value){0};
    v.right += (uint8_t)by;
    return v;
}

/* ---- registers with addresses of the frame ---- */

static uint32_t stack_pointer(const struct ct_values *s)
{
    return s->cfg->is_a64 ? CT_LIFT_A64_SP : ARM_SP;
}

static uint32_t frame_pointer(enum ct_isa isa)
{
    return isa == CT_ISA_A64 ? A64_FRAME : isa == CT_ISA_A32 ? A32_FRAME : T32_FRAME;
}

static bool is_frame(const struct ct_values *s, enum ct_isa isa, uint32_t reg)
{
    return reg == stack_pointer(s) || reg == frame_pointer(isa);
}

/* Returns the offset of an address from the stack pointer at the entry, if it is one. */
static bool frame_offset(const struct ct_values *s, const struct ct_value *v, int64_t *offset)
{
    if (v->from != CT_VALUE_ENTRY || v->place.reg != stack_pointer(s) || !ct_value_is_sum(v, true))
        return false;
    *offset = (int64_t)(v->inner + v->outer);
    if (!s->cfg->is_a64)
        *offset = ct_sext((uint64_t)*offset, 32);
    return true;
}

/* Finds the address in a register. One that is loaded from the frame is unknown. It is not one of the frame,
 * unless that escapes, and to follow it would mean to look again at the stores whose addresses are asked
 * for. */
static struct ct_value address_in(struct ct_values *s, uint32_t block, uint64_t addr, uint32_t reg)
{
    const bool before = s->is_address;
    s->is_address = true;
    const struct ct_value v = ct_value_of_register(s, block, addr, reg, true);
    s->is_address = before;
    return v;
}

/* Returns whether an instruction gives away what a register with an address of the frame contains. Sums into
 * such a register do not, and saving the caller's register does not. */
static bool gives_away(struct ct_values *s, uint32_t block, uint64_t addr, const struct ct_lift *l,
                       uint32_t reg)
{
    const enum ct_isa isa = (enum ct_isa)s->cfg->blocks.at[block].isa;
    if (l->stores == CT_LIFT_STORES_ANYWHERE && !l->calls && l->rn == reg)
        return true;
    if (!(l->gives >> reg & 1))
        return false;
    if ((l->kind == CT_LIFT_ADDI || l->kind == CT_LIFT_COPY) && is_frame(s, isa, l->rd))
        return false;
    const struct ct_value v = address_in(s, block, addr, reg);
    return reg == stack_pointer(s) || v.from != CT_VALUE_ENTRY || v.place.reg != reg;
}

static bool block_gives_away(struct ct_values *s, uint32_t number)
{
    const struct ct_cfg_block *block = &s->cfg->blocks.at[number];
    const enum ct_isa isa = (enum ct_isa)block->isa;
    struct ct_lift l;
    for (uint64_t at = block->end; at > block->start;) {
        at = ct_cfg_before(s->cfg, at, isa);
        if (!s->budget || !ct_cfg_lift(s->cfg, at, isa, &l))
            return true;
        s->budget--;
        if (gives_away(s, number, at, &l, stack_pointer(s)) ||
            gives_away(s, number, at, &l, frame_pointer(isa)))
            return true;
    }
    return false;
}

/* Returns whether code other than that of the function may know an address of its frame. */
static bool escapes(struct ct_values *s)
{
    const struct ct_cfg_function *f = &s->cfg->functions.at[s->function];
    if (s->escapes < 0) {
        bool found = false;
        for (uint32_t i = 0; !found && i < f->count; i++)
            found = block_gives_away(s, s->cfg->members.at[f->first + i]);
        s->escapes = found;
    }
    return s->escapes;
}

/* ---- effects of instructions ---- */

enum effect {
    KEEPS,
    SETS,    /* the place gets the value of register rd */
    CHANGES, /* in another way */
};

/* Returns what an instruction does to a place of the frame. */
static enum effect effect_on_stack(struct ct_values *s, uint32_t block, uint64_t addr,
                                   const struct ct_lift *l, const struct ct_value_place *place)
{
    const enum ct_isa isa = (enum ct_isa)s->cfg->blocks.at[block].isa;
    int64_t offset;
    if (l->stores == CT_LIFT_STORES_NOTHING)
        return KEEPS;
    if (l->calls) {
        const struct ct_value sp = address_in(s, block, addr, stack_pointer(s));
        return frame_offset(s, &sp, &offset) && offset <= place->offset && !escapes(s) ? KEEPS : CHANGES;
    }
    if (l->stores == CT_LIFT_STORES_ANYWHERE)
        return escapes(s) ? CHANGES : KEEPS;
    const struct ct_value base = address_in(s, block, addr, l->rn);
    if (is_constant(&base))
        return KEEPS;
    if (!frame_offset(s, &base, &offset))
        return is_frame(s, isa, l->rn) || escapes(s) ? CHANGES : KEEPS;
    offset += l->imm;
    if (offset >= place->offset + (int64_t)place->size || offset + l->size <= place->offset)
        return KEEPS;
    return l->kind == CT_LIFT_STORE && !l->is_maybe && offset == place->offset && l->size == place->size
               ? SETS
               : CHANGES;
}

static enum effect effect_of(struct ct_values *s, uint32_t block, uint64_t addr, const struct ct_lift *l,
                             const struct ct_value_place *place)
{
    if (place->reg == CT_PLACE_STACK)
        return effect_on_stack(s, block, addr, l, place);
    return l->writes >> place->reg & 1 ? CHANGES : KEEPS;
}

/* Reads what an instruction loads from memory that is never written. */
static bool load_fixed(const struct ct_values *s, uint64_t addr, const struct ct_lift *l, uint64_t *out)
{
    if (!s->cfg->is_a64)
        addr &= UINT32_MAX;
    const uint8_t *bytes = l->size <= 8 ? ct_cfg_fixed(s->cfg, addr, l->size) : NULL;
    if (!bytes)
        return false;
    *out = l->size == 1   ? bytes[0]
           : l->size == 2 ? ct_load16(bytes)
           : l->size == 4 ? ct_load32(bytes)
                          : ct_load64(bytes);
    return true;
}

static struct ct_value fetched(struct ct_values *s, uint32_t block, uint64_t addr, const struct ct_lift *l,
                               bool is_wide)
{
    struct ct_value v = address_in(s, block, addr, l->rn);
    int64_t offset;
    uint64_t word;
    if (!s->cfg->is_a64 && l->rn == ARM_PC)
        v.constant &= ~UINT64_C(3);
    if (is_constant(&v)) {
        v = load_fixed(s, v.constant + (uint64_t)l->imm, l, &word) ? ct_value_constant(word)
                                                                   : (struct ct_value){0};
    } else if (!s->is_address && frame_offset(s, &v, &offset) && offset + l->imm + l->size <= 0) {
        const struct ct_value_place place = {
            .reg = CT_PLACE_STACK, .offset = offset + l->imm, .size = l->size};
        v = ct_value_before(s, block, addr, place, is_wide && l->size > 4);
    } else {
        v.from = CT_VALUE_UNKNOWN;
    }
    if (l->size >= 4 && !is_wide)
        return v;
    return ct_value_extend(v, l->is_signed ? l->bits : 8u * l->size, l->is_signed);
}

static struct ct_value sum(struct ct_values *s, uint32_t block, uint64_t addr, const struct ct_lift *l,
                           bool is_wide)
{
    const struct ct_value a = ct_value_of_register(s, block, addr, l->rn, is_wide);
    const struct ct_value b = ct_value_of_register(s, block, addr, l->rm, is_wide);
    if (l->bits == 0 && is_constant(&b))
        return plus(a, b.constant << l->shift);
    if (l->shift == 0 && is_constant(&a))
        return plus(ct_value_extend(b, l->bits ? l->bits : 64, l->is_signed), a.constant);
    const struct ct_value shifted = l->bits ? (struct ct_value){0} : times(b, UINT64_C(1) << l->shift);
    return sum_of_alike(a, &shifted);
}

static struct ct_value difference(struct ct_values *s, uint32_t block, uint64_t addr, const struct ct_lift *l,
                                  bool is_wide)
{
    const struct ct_value a = ct_value_of_register(s, block, addr, l->rn, is_wide);
    const struct ct_value b = ct_value_of_register(s, block, addr, l->rm, is_wide);
    const struct ct_value negative = times(b, UINT64_MAX);
    return is_constant(&b)   ? plus(a, 0 - b.constant)
           : is_constant(&a) ? plus(negative, a.constant)
                             : sum_of_alike(a, &negative);
}

static struct ct_value product(struct ct_values *s, uint32_t block, uint64_t addr, const struct ct_lift *l,
                               bool is_wide)
{
    const struct ct_value a = ct_value_of_register(s, block, addr, l->rn, is_wide);
    const struct ct_value b = ct_value_of_register(s, block, addr, l->rm, is_wide);
    return is_constant(&b)   ? times(a, b.constant)
           : is_constant(&a) ? times(b, a.constant)
                             : (struct ct_value){0};
}

/* Returns a constant whose 16 bits from a bit on are replaced. */
static struct ct_value with_part(struct ct_value v, const struct ct_lift *l)
{
    if (!is_constant(&v))
        return (struct ct_value){0};
    return ct_value_constant((v.constant & ~(UINT64_C(0xffff) << l->shift)) | (uint64_t)l->imm << l->shift);
}

static struct ct_value computed(struct ct_values *s, uint32_t block, uint64_t addr, const struct ct_lift *l,
                                bool is_wide)
{
    switch (l->kind) {
    case CT_LIFT_CONST:
        return ct_value_constant((uint64_t)l->imm);
    case CT_LIFT_FETCH:
        return fetched(s, block, addr, l, is_wide);
    case CT_LIFT_ADD:
        return sum(s, block, addr, l, is_wide);
    case CT_LIFT_CMPR:
        return difference(s, block, addr, l, is_wide);
    case CT_LIFT_MUL:
        return product(s, block, addr, l, is_wide);
    case CT_LIFT_COPY:
    case CT_LIFT_ADDI:
    case CT_LIFT_CMP:
    case CT_LIFT_MASK:
    case CT_LIFT_SIGN:
    case CT_LIFT_SHIFT:
    case CT_LIFT_RIGHT:
    case CT_LIFT_RSB:
    case CT_LIFT_PART:
        break;
    default:
        return (struct ct_value){0};
    }
    const struct ct_value v = ct_value_of_register(s, block, addr, l->rn, is_wide);
    switch (l->kind) {
    case CT_LIFT_COPY:
        return l->bits && is_wide ? ct_value_extend(v, l->bits, l->is_signed) : v;
    case CT_LIFT_ADDI:
        return plus(v, (uint64_t)l->imm);
    case CT_LIFT_CMP:
        return plus(v, 0 - (uint64_t)l->imm);
    case CT_LIFT_MASK:
        return ct_value_extend(v, (unsigned)__builtin_popcountll((uint64_t)l->imm), false);
    case CT_LIFT_SIGN:
        return ct_value_extend(v, l->bits, true);
    case CT_LIFT_SHIFT:
        return times(v, UINT64_C(1) << l->shift);
    case CT_LIFT_RIGHT: /* bits that do not matter elsewhere may come down */
        return l->bits > 32 && !is_wide ? (struct ct_value){0}
                                        : shifted_right(v, l->shift, l->bits, l->is_signed);
    case CT_LIFT_RSB:
        return plus(times(v, UINT64_MAX), (uint64_t)l->imm);
    default:
        return with_part(v, l);
    }
}

/* Returns the value that an instruction writes to a register. */
static struct ct_value written(struct ct_values *s, uint32_t block, uint64_t addr, const struct ct_lift *l,
                               struct ct_value_place place, bool is_wide)
{
    struct ct_value v = {0};
    if (l->is_maybe || l->calls)
        ;
    else if (l->moves && place.reg == l->rn)
        v = plus(ct_value_of_register(s, block, addr, l->rn, is_wide), (uint64_t)l->moves);
    else if (place.reg == l->rd)
        v = computed(s, block, addr, l, is_wide && !l->is_narrow);
    if (is_wide && l->is_narrow)
        v = ct_value_extend(v, 32, false);
    return v.from == CT_VALUE_UNKNOWN ? origin(CT_VALUE_INSN, block, addr, place) : v;
}

/* ---- blocks ---- */

static bool changes(struct ct_values *s, uint32_t number, const struct ct_value_place *place)
{
    const struct ct_cfg_block *block = &s->cfg->blocks.at[number];
    struct ct_lift l;
    for (uint64_t at = block->end; at > block->start;) {
        at = ct_cfg_before(s->cfg, at, (enum ct_isa)block->isa);
        if (!s->budget || !ct_cfg_lift(s->cfg, at, (enum ct_isa)block->isa, &l))
            return true;
        s->budget--;
        if (effect_of(s, number, at, &l, place) != KEEPS)
            return true;
    }
    return false;
}

/* Adds the blocks before a block to a list. Returns false when there are too many, or one is not of the
 * function. */
static bool add_before(const struct ct_cfg *cfg, uint32_t block, uint32_t dominator, uint32_t *list,
                       size_t *count)
{
    for (uint32_t e = cfg->blocks.at[block].first_in; e != CT_CFG_NONE; e = cfg->edges.at[e].next_in) {
        const uint32_t from = cfg->edges.at[e].from;
        size_t i = 0;
        if (!ct_cfg_stays(cfg, &cfg->edges.at[e]))
            return false;
        while (i < *count && list[i] != from)
            i++;
        if (from == dominator || i < *count)
            continue;
        if (*count == MOST_BLOCKS)
            return false;
        list[(*count)++] = from;
    }
    return true;
}

/* Returns whether a place has, where the block begins, the value from the end of its dominator. */
static bool is_kept(struct ct_values *s, uint32_t block, uint32_t dominator,
                    const struct ct_value_place *place)
{
    uint32_t list[MOST_BLOCKS];
    size_t count = 0;
    bool kept = add_before(s->cfg, block, dominator, list, &count);
    for (size_t i = 0; kept && i < count; i++)
        kept = add_before(s->cfg, list[i], dominator, list, &count);
    for (size_t i = 0; kept && i < count; i++)
        kept = !changes(s, list[i], place);
    return kept;
}

/* Returns whether only calls and jumps of other functions lead to a block. */
static bool is_entry(const struct ct_cfg *cfg, uint32_t block)
{
    uint32_t e = cfg->blocks.at[block].first_in;
    while (e != CT_CFG_NONE && !ct_cfg_stays(cfg, &cfg->edges.at[e]))
        e = cfg->edges.at[e].next_in;
    return e == CT_CFG_NONE;
}

static struct ct_value at_start(struct ct_values *s, uint32_t block, struct ct_value_place place,
                                bool is_wide)
{
    const struct ct_cfg *cfg = s->cfg;
    const struct ct_cfg_block *b = &cfg->blocks.at[block];
    const uint32_t dominator = b->dominator;
    if (cfg->functions.at[s->function].block == block && is_entry(cfg, block))
        return origin(CT_VALUE_ENTRY, block, b->start, place);
    if (dominator == CT_CFG_NONE || !is_kept(s, block, dominator, &place))
        return origin(CT_VALUE_BLOCK, block, b->start, place);
    return ct_value_before(s, dominator, cfg->blocks.at[dominator].end, place, is_wide);
}

/* Does the same, and remembers values of registers. */
static struct ct_value known_at_start(struct ct_values *s, uint32_t block, struct ct_value_place place,
                                      bool is_wide)
{
    struct ct_known *known = &s->known[(block * 4 + place.reg) % CT_VALUES_ROUNDS];
    if (place.reg == CT_PLACE_STACK)
        return at_start(s, block, place, is_wide);
    if (!known->is_there || known->block != block || known->reg != place.reg || known->is_wide != is_wide ||
        known->is_address != s->is_address) {
        const struct ct_value value = at_start(s, block, place, is_wide);
        *known = (struct ct_known){block, place.reg, is_wide, s->is_address, true, value};
    }
    return known->value;
}

static struct ct_value search(struct ct_values *s, uint32_t block, uint64_t addr, struct ct_value_place place,
                              bool is_wide)
{
    const struct ct_cfg_block *b = &s->cfg->blocks.at[block];
    struct ct_lift l;
    while (addr > b->start) {
        addr = ct_cfg_before(s->cfg, addr, (enum ct_isa)b->isa);
        if (!s->budget || !ct_cfg_lift(s->cfg, addr, (enum ct_isa)b->isa, &l))
            return (struct ct_value){0};
        s->budget--;
        const enum effect effect = effect_of(s, block, addr, &l, &place);
        if (effect == KEEPS)
            continue;
        if (effect == SETS)
            return ct_value_of_register(s, block, addr, l.rd, is_wide && place.size > 4);
        return place.reg == CT_PLACE_STACK ? origin(CT_VALUE_INSN, block, addr, place)
                                           : written(s, block, addr, &l, place, is_wide);
    }
    return known_at_start(s, block, place, is_wide);
}

struct ct_value ct_value_before(struct ct_values *s, uint32_t block, uint64_t addr,
                                struct ct_value_place place, bool is_wide)
{
    if (s->depth == DEEPEST)
        return (struct ct_value){0};
    s->depth++;
    const struct ct_value value = search(s, block, addr, place, is_wide);
    s->depth--;
    return value;
}

struct ct_value ct_value_of_register(struct ct_values *s, uint32_t block, uint64_t addr, uint32_t reg,
                                     bool is_wide)
{
    if (s->cfg->is_a64 && reg == A64_ZERO)
        return ct_value_constant(0);
    if (!s->cfg->is_a64 && reg == ARM_PC)
        return ct_value_constant(s->cfg->blocks.at[block].isa == CT_ISA_A32 ? addr + 8 : addr + 4);
    return ct_value_before(s, block, addr, (struct ct_value_place){.reg = reg}, is_wide);
}
