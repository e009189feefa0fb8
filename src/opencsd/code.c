/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/code.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

enum {
    MIN_BITS = 10, /* log2 of the entries of a new table */
};

struct ct_ocsd_code *ct_ocsd_code_new(const struct ct_ocsd_decoder *decoder, const struct ct_arch *arch,
                                      bool wfi_waypoint, bool dsb_waypoint)
{
    struct ct_ocsd_code *code = calloc(1, sizeof *code);
    if (!code)
        return NULL;
    code->decoder = decoder;
    code->core = (struct ct_ocsd_core){*arch, wfi_waypoint, dsb_waypoint};
    code->table_count = 1;
    code->table = &code->tables[0];
    return code;
}

static void clear_table(struct ct_ocsd_code_table *table)
{
    free(table->blocks);
    *table = (struct ct_ocsd_code_table){0};
}

void ct_ocsd_code_free(struct ct_ocsd_code *code)
{
    if (!code)
        return;
    for (unsigned i = 0; i < code->table_count; i++)
        clear_table(&code->tables[i]);
    free(code);
}

void ct_ocsd_code_set_context(struct ct_ocsd_code *code, uint64_t context, uint32_t space)
{
    for (unsigned i = 0; i < code->table_count; i++)
        if (code->tables[i].context == context && code->tables[i].space == space) {
            code->table = &code->tables[i];
            return;
        }
    if (code->table_count < CT_OCSD_CODE_CONTEXTS) {
        code->table = &code->tables[code->table_count++];
    } else {
        code->table = &code->tables[code->next_victim++ % CT_OCSD_CODE_CONTEXTS];
        clear_table(code->table);
    }
    code->table->context = context;
    code->table->space = space;
}

struct ct_arch ct_ocsd_arch(ocsd_arch_version_t version, ocsd_core_profile_t profile)
{
    return (struct ct_arch){.major = (uint8_t)(version >> 8),
                            .minor = version == ARCH_V8r3 ? 3 : 0,
                            .newest = version == ARCH_AA64,
                            .profile = profile == profile_CortexM   ? CT_PROFILE_M
                                       : profile == profile_CortexR ? CT_PROFILE_R
                                                                    : CT_PROFILE_A};
}

/* ---- reading ---- */

/* Returns the four bytes at an address, or NULL. */
static const uint8_t *read4(struct ct_ocsd_code *code, uint64_t addr)
{
    uint64_t at = addr - code->window_start;
    if (at < code->window_size && code->window_size - at >= 4)
        return code->window + at;
    code->window_start = addr;
    code->window_size = ct_ocsd_memory_read(&code->decoder->tree->memory, addr, code->table->space,
                                            code->decoder->id, CT_OCSD_CODE_READ_SIZE, code->window);
    return code->window_size >= 4 ? code->window : NULL;
}

/* Tells whether an A64 instruction is a branch that OpenCSD 1.3.3 does not know: of FEAT_CMPBR, FEAT_PAuth_LR
 * or FEAT_TEV. */
static bool is_newer_branch(uint32_t opcode)
{
    return (opcode & 0x7e000000) == 0x74000000 || (opcode & 0xffc0001f) == 0x5500001f ||
           ((opcode & 0xfffffbe0) == 0xd65f0be0 && (opcode & 0x1f) != 0x1f) ||
           (opcode & 0xfffffbff) == 0xd6ff03e0;
}

/* ---- instructions that 1.3.3 sees otherwise, most of which the architecture leaves open ---- */

/* Tells whether 1.3.3 takes an A32 word for an indirect branch since it has the program counter where data
 * processing, or a load, has its result. */
static bool is_pc_result(uint32_t opcode)
{
    const uint32_t class = opcode >> 25 & 7;
    const uint32_t operation = opcode >> 20 & 0x1f;
    const bool bit4 = opcode >> 4 & 1;
    if (opcode >> 28 == 15 || (opcode >> 12 & 15) != 15)
        return false;
    switch (class) {
    case 0: /* not of BX, MRS, CLZ and the like, nor of STL */
        return !((operation & 0x19) == 0x10 && !(opcode >> 7 & 1)) &&
               !((operation & 0x19) == 0x18 && operation != 0x1a && (opcode >> 4 & 15) == 9);
    case 1:
        return operation == 0x10 || operation == 0x14; /* MOVW, MOVT */
    case 2:
        return (operation & 0x17) == 3; /* LDRT */
    case 3:
        return (operation & 0x17) == 3 && !bit4;
    default:
        return false;
    }
}

static void decode_a32(const struct ct_ocsd_core *core, uint32_t opcode, uint64_t addr, struct ct_insn *insn)
{
    const bool is_mcr2 = (opcode & 0xff100010) == 0xfe000010; /* has the barriers of MCR */
    ct_insn_decode_a32(is_mcr2 ? opcode ^ UINT32_C(1) << 28 : opcode, addr, &core->arch, insn);
    if (insn->type == CT_INSN_OTHER && is_pc_result(opcode))
        insn->type = CT_INSN_IBR;
    if ((opcode & 0x0ff000f0) == 0x01600060) { /* ERET */
        insn->type = CT_INSN_OTHER;
        insn->sub = CT_INSN_SUB_NONE;
    }
}

/* Decodes a T32 instruction, whose first halfword is the upper one. */
static void decode_t32(const struct ct_ocsd_core *core, uint32_t opcode, uint64_t addr, struct ct_insn *insn)
{
    const bool is_rfe = (opcode & 0xffd00000) == 0xe8100000 || (opcode & 0xffd00000) == 0xe9900000;
    const bool is_pc_load = (opcode & 0xfff0f800) == 0xf850f800 && (opcode >> 16 & 15) != 15;
    ct_insn_decode_t32(opcode, addr, &core->arch, insn);
    if (insn->type == CT_INSN_OTHER && (is_rfe || is_pc_load))
        insn->type = CT_INSN_IBR;
}

void ct_ocsd_insn_decode(const struct ct_ocsd_core *core, uint32_t opcode, uint64_t addr, enum ct_isa isa,
                         struct ct_insn *insn)
{
    switch (isa) {
    case CT_ISA_A64:
        /* 1.3.3 takes BC.cond (FEAT_HBC) for B.cond on any core */
        ct_insn_decode_a64((opcode & 0xff000010) == 0x54000010 ? opcode & ~UINT32_C(16) : opcode, addr,
                           &core->arch, insn);
        if (is_newer_branch(opcode))
            *insn = (struct ct_insn){.size = 4, .isa = CT_ISA_A64};
        break;
    case CT_ISA_A32:
        decode_a32(core, opcode, addr, insn);
        break;
    default:
        decode_t32(core, opcode << 16 | opcode >> 16, addr, insn);
        break;
    }
    if ((insn->type == CT_INSN_WFI_WFE && !core->wfi_waypoint) ||
        (insn->type == CT_INSN_DSB_DMB && !core->dsb_waypoint))
        insn->type = CT_INSN_OTHER;
}

static bool read_insn(struct ct_ocsd_code *code, uint64_t addr, enum ct_isa isa, struct ct_insn *insn,
                      uint32_t *opcode)
{
    const uint8_t *p = isa > CT_ISA_T32 ? NULL : read4(code, addr);
    if (!p)
        return false;
    *opcode = ct_load32(p);
    ct_ocsd_insn_decode(&code->core, *opcode, addr, isa, insn);
    return true;
}

bool ct_ocsd_code_insn(struct ct_ocsd_code *code, uint64_t addr, enum ct_isa isa, struct ct_insn *insn)
{
    uint32_t opcode;
    code->window_size = 0;
    return read_insn(code, addr, isa, insn, &opcode);
}

bool ct_ocsd_code_is_there(struct ct_ocsd_code *code, uint64_t addr)
{
    code->window_size = 0;
    return read4(code, addr) != NULL;
}

static uint64_t add_to_hash(uint64_t hash, uint32_t opcode)
{
    return (hash ^ opcode) * UINT64_C(0x9e3779b97f4a7c15) + (hash >> 29);
}

/* Walks from block->start to the next waypoint. */
static void walk(struct ct_ocsd_code *code, struct ct_ocsd_block *block)
{
    uint32_t opcode;
    code->window_size = 0;
    block->end = block->start;
    block->n = 0;
    block->hash = 0;
    block->last = (struct ct_insn){0};
    block->found = false;
    block->epoch = code->decoder->tree->epoch;
    while (!block->found && block->n < CT_OCSD_MOST_INSTRUCTIONS) {
        struct ct_insn insn;
        if (!read_insn(code, block->end, (enum ct_isa)block->isa, &insn, &opcode))
            break;
        block->last = insn;
        block->hash = add_to_hash(block->hash, insn.size == 2 ? opcode & 0xffff : opcode);
        block->end += insn.size;
        block->n++;
        block->found = insn.type != CT_INSN_OTHER;
    }
}

/* Reads the bytes of a block again. Returns true when they are as they were. */
static bool is_unchanged(struct ct_ocsd_code *code, const struct ct_ocsd_block *block)
{
    struct ct_ocsd_block now = {.start = block->start, .isa = block->isa};
    if (block->end - block->start > CT_OCSD_CODE_READ_SIZE - 4 || block->isa == CT_ISA_T32) {
        walk(code, &now);
        return now.found && now.end == block->end && now.hash == block->hash;
    }
    const uint32_t size = (uint32_t)(block->end - block->start);
    code->window_size = ct_ocsd_memory_read(&code->decoder->tree->memory, block->start, code->table->space,
                                            code->decoder->id, size, code->window);
    code->window_start = block->start;
    uint64_t hash = 0;
    for (uint32_t at = 0; at + 4 <= code->window_size; at += 4)
        hash = add_to_hash(hash, ct_load32(code->window + at));
    return code->window_size == size && hash == block->hash;
}

/* ---- the table ---- */

/* Returns the place of a block among 2^bits of them: its own, or the free one that it would have. */
static struct ct_ocsd_block *place_of(struct ct_ocsd_block *blocks, unsigned bits, uint64_t addr, uint8_t isa)
{
    const size_t mask = ((size_t)1 << bits) - 1;
    size_t at = ct_ocsd_code_hash(addr, bits);
    while (blocks[at].used && (blocks[at].start != addr || blocks[at].isa != isa))
        at = (at + 1) & mask;
    return &blocks[at];
}

/* Makes room for one more block. Returns false without memory. */
static bool grow(struct ct_ocsd_code_table *table)
{
    if (table->bits && table->count < (size_t)1 << (table->bits - 1))
        return true;
    const unsigned bits = table->bits ? table->bits + 1 : MIN_BITS;
    const size_t before = table->bits ? (size_t)1 << table->bits : 0;
    struct ct_ocsd_block *blocks = calloc((size_t)1 << bits, sizeof *blocks);
    if (!blocks)
        return false;
    for (size_t i = 0; i < before; i++) {
        const struct ct_ocsd_block *block = &table->blocks[i];
        if (block->used)
            *place_of(blocks, bits, block->start, block->isa) = *block;
    }
    free(table->blocks);
    table->blocks = blocks;
    table->bits = bits;
    return true;
}

/* Reads the code at an address, and keeps it in the place that it has. Where memory ends it is not kept: it
 * may go on next time. */
static const struct ct_ocsd_block *read_block(struct ct_ocsd_code *code, struct ct_ocsd_block *block,
                                              uint64_t addr, enum ct_isa isa)
{
    struct ct_ocsd_block now = {.start = addr, .isa = (uint8_t)isa, .used = true};
    walk(code, &now);
    if (now.found) {
        code->table->count += !block->used;
        *block = now;
        return block;
    }
    if (block->used) /* what came before it in the table is found past it */
        block->epoch = 0;
    code->broken = now;
    return &code->broken;
}

const struct ct_ocsd_block *ct_ocsd_code_at(struct ct_ocsd_code *code, uint64_t addr, enum ct_isa isa)
{
    struct ct_ocsd_code_table *table = code->table;
    const uint64_t epoch = code->decoder->tree->epoch;
    if (!grow(table))
        return NULL;
    struct ct_ocsd_block *block = place_of(table->blocks, table->bits, addr, (uint8_t)isa);
    if (block->used && block->epoch == epoch)
        return block;
    if (!block->used || !is_unchanged(code, block))
        return read_block(code, block, addr, isa);
    block->epoch = epoch;
    return block;
}
