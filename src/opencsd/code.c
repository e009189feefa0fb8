/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/code.h"

#include <stdlib.h>

#include "base/bytes.h"

struct ct_ocsd_code *ct_ocsd_code_new(const struct ct_ocsd_decoder *decoder, const struct ct_ocsd_core *core)
{
    struct ct_ocsd_code *code = calloc(1, sizeof *code);
    if (!code)
        return NULL;
    code->decoder = decoder;
    code->core = *core;
    code->table_count = 1;
    code->table = &code->tables[0];
    ct_ocsd_reads_clear(&code->reads);
    return code;
}

static void clear_table(struct ct_ocsd_code_table *table)
{
    ct_ocsd_blocks_deinit(&table->blocks);
    ct_ocsd_pages_deinit(&table->pages);
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
    code->last = CT_OCSD_NO_BLOCK;
    code->broken_waits = false;
    code->page_epoch = 0;
    ct_ocsd_reads_clear(&code->reads);
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

static const struct ct_ocsd_page *page_at(struct ct_ocsd_code *code, uint64_t addr)
{
    const struct ct_ocsd_tree *tree = code->decoder->tree;
    const struct ct_ocsd_reader reader = {&tree->memory, tree->epoch, code->table->space, code->decoder->id};
    return ct_ocsd_pages_at(&code->table->pages, &reader, addr);
}

/* Reads bytes from the client. Returns how many. */
static uint32_t read_client(const struct ct_ocsd_code *code, uint64_t addr, uint8_t *bytes)
{
    return ct_ocsd_memory_read(&code->decoder->tree->memory, addr, code->table->space, code->decoder->id,
                               CT_OCSD_READ_SIZE, bytes);
}

/* Makes the reads that 1.3.3 makes for the code from `addr` to `end`, which can be read. Returns the number
 * of the oldest one that has some of it. */
static uint32_t follow_reads(struct ct_ocsd_code *code, uint64_t addr, uint64_t end, enum ct_isa isa)
{
    struct ct_ocsd_reads *reads = &code->reads;
    uint32_t oldest = reads->last + 1;
    while (addr < end) {
        uint32_t age = ct_ocsd_reads_find(reads, addr);
        if (age == CT_OCSD_READS_KEPT) {
            ct_ocsd_reads_add(reads, addr);
            age = 0;
        }
        const uint32_t number = reads->last - age;
        const uint64_t left = reads->addrs[age] + CT_OCSD_READ_SIZE - addr;
        oldest = (int32_t)(number - oldest) < 0 ? number : oldest;
        addr += isa == CT_ISA_T32 ? left - 2 : left & ~UINT64_C(3); /* first one that is not inside */
    }
    return oldest;
}

/* Resets the window before reading. */
static void begin_reading(struct ct_ocsd_code *code, uint64_t addr)
{
    code->window_size = 0;
    code->in_pages = true;
    code->bad_opcode = false;
    code->begin = addr;
    code->is_behind = false;
}

/* Moves the window to the page of an address or, where pages end, to bytes read from the client. */
static void move_window(struct ct_ocsd_code *code, uint64_t addr)
{
    const struct ct_ocsd_page *page = page_at(code, addr);
    code->window_start = addr & ~(uint64_t)(CT_OCSD_PAGE_SIZE - 1);
    if (page && addr - code->window_start + 4 <= page->size) {
        code->window = page->bytes;
        code->window_size = page->size;
        return;
    }
    code->in_pages = false;
    code->window = code->bytes;
    code->window_start = addr;
    code->window_size = read_client(code, addr, code->bytes);
}

/* Returns the four bytes at an address behind the end of memory, if an answer that 1.3.3 keeps has them; else
 * NULL. */
static const uint8_t *read_behind(struct ct_ocsd_code *code, uint64_t addr, enum ct_isa isa)
{
    follow_reads(code, code->begin, addr, isa);
    const uint32_t age = ct_ocsd_reads_find(&code->reads, addr);
    if (age < CT_OCSD_READS_KEPT && !code->core.late) {
        const uint64_t at = addr - code->reads.addrs[age];
        code->is_behind = read_client(code, code->reads.addrs[age], code->bytes) >= at + CT_OCSD_READ_NEED;
        if (code->is_behind)
            return code->bytes + at;
    }
    ct_ocsd_reads_fail(&code->reads);
    return NULL;
}

/* Returns the four bytes at an address, or NULL. */
static const uint8_t *read4(struct ct_ocsd_code *code, uint64_t addr, enum ct_isa isa)
{
    if (addr - code->window_start >= code->window_size || code->window_size - (addr - code->window_start) < 4)
        move_window(code, addr);
    const uint64_t at = addr - code->window_start;
    return at < code->window_size && code->window_size - at >= 4 ? code->window + at
                                                                 : read_behind(code, addr, isa);
}

/* Returns whether an A64 instruction is a return of FEAT_PAuth_LR. OpenCSD 1.3.3 does not know them; later
 * versions do on all cores of Armv8.3. */
static bool is_pauth_lr(uint32_t opcode)
{
    return (opcode & 0xffc0001f) == 0x5500001f ||
           ((opcode & 0xfffffbe0) == 0xd65f0be0 && (opcode & 0x1f) != 0x1f);
}

/* Returns whether an A64 instruction is a branch that no OpenCSD knows, of FEAT_CMPBR or FEAT_TEV. */
static bool is_newer_branch(uint32_t opcode)
{
    return (opcode & 0x7e000000) == 0x74000000 || (opcode & 0xfffffbff) == 0xd6ff03e0;
}

/* ---- instructions that 1.3.3 decodes differently, most of them unallocated or unpredictable ---- */

/* Returns whether 1.3.3 treats an A32 word as an indirect branch because a data processing instruction or a
 * load writes the program counter. */
static bool is_pc_result(uint32_t opcode)
{
    const uint32_t class = opcode >> 25 & 7;
    const uint32_t operation = opcode >> 20 & 0x1f;
    const bool bit4 = opcode >> 4 & 1;
    if (opcode >> 28 == 15 || (opcode >> 12 & 15) != 15)
        return false;
    switch (class) {
    case 0: /* except BX, MRS, CLZ and similar, and STL */
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
    const bool is_mcr2 = (opcode & 0xff100010) == 0xfe000010; /* has the barriers of MCR, too */
    ct_insn_decode_a32(is_mcr2 ? opcode ^ UINT32_C(1) << 28 : opcode, addr, &core->arch, insn);
    if (insn->type == CT_INSN_OTHER && is_pc_result(opcode))
        insn->type = CT_INSN_IBR;
    if ((opcode & 0x0ff000f0) == 0x01600060) { /* ERET */
        insn->type = CT_INSN_OTHER;
        insn->sub = CT_INSN_SUB_NONE;
    }
}

/* Decodes a T32 instruction. Its first halfword is the upper one. */
static void decode_t32(const struct ct_ocsd_core *core, uint32_t opcode, uint64_t addr, struct ct_insn *insn)
{
    const bool is_rfe = (opcode & 0xffd00000) == 0xe8100000 || (opcode & 0xffd00000) == 0xe9900000;
    const bool is_pc_load = (opcode & 0xfff0f800) == 0xf850f800 && (opcode >> 16 & 15) != 15;
    /* 1.3.3 decodes MCR as the barriers of CP15 on the M profile, too */
    const bool is_mcr = (opcode & 0xffff0f00) == 0xee070f00;
    const struct ct_arch arch = {.major = core->arch.major, .profile = CT_PROFILE_A};
    ct_insn_decode_t32(opcode, addr, is_mcr ? &arch : &core->arch, insn);
    if (insn->type == CT_INSN_OTHER && (is_rfe || is_pc_load))
        insn->type = CT_INSN_IBR;
}

static void decode_a64(const struct ct_ocsd_core *core, uint32_t opcode, uint64_t addr, struct ct_insn *insn)
{
    /* 1.3.3 decodes BC.cond (FEAT_HBC) as B.cond on any core */
    const bool is_bc = (opcode & 0xff000010) == 0x54000010;
    const bool is_return = is_pauth_lr(opcode);
    struct ct_arch arch = core->arch;
    arch.newest |= is_return && arch.minor >= 3;
    ct_insn_decode_a64(is_bc ? opcode & ~UINT32_C(16) : opcode, addr, &arch, insn);
    if (is_newer_branch(opcode) || (is_return && !core->late))
        *insn = (struct ct_insn){.size = 4, .isa = CT_ISA_A64};
}

void ct_ocsd_insn_decode(const struct ct_ocsd_core *core, uint32_t opcode, uint64_t addr, enum ct_isa isa,
                         struct ct_insn *insn)
{
    switch (isa) {
    case CT_ISA_A64:
        decode_a64(core, opcode, addr, insn);
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

static bool read_insn(struct ct_ocsd_code *code, uint64_t addr, enum ct_isa isa, struct ct_insn *insn)
{
    const uint8_t *p = isa > CT_ISA_T32 ? NULL : read4(code, addr, isa);
    if (!p)
        return false;
    const uint32_t opcode = ct_load32(p);
    code->bad_opcode = code->core.checks_opcodes && isa == CT_ISA_A64 && opcode >> 16 == 0;
    if (!code->bad_opcode)
        ct_ocsd_insn_decode(&code->core, opcode, addr, isa, insn);
    return !code->bad_opcode;
}

bool ct_ocsd_code_insn(struct ct_ocsd_code *code, uint64_t addr, enum ct_isa isa, struct ct_insn *insn)
{
    begin_reading(code, addr);
    const bool done = read_insn(code, addr, isa, insn);
    if (done)
        follow_reads(code, addr, addr + insn->size, isa);
    return done;
}

bool ct_ocsd_code_is_there(struct ct_ocsd_code *code, uint64_t addr)
{
    begin_reading(code, addr);
    return read4(code, addr, CT_ISA_A32) != NULL;
}

/* Walks from block->start to the next waypoint. */
static void walk(struct ct_ocsd_code *code, struct ct_ocsd_block *block)
{
    begin_reading(code, block->start);
    block->end = block->start;
    block->n = 0;
    block->last = (struct ct_insn){0};
    block->found = false;
    block->epoch = code->decoder->tree->epoch;
    while (!block->found && block->n < CT_OCSD_MOST_INSTRUCTIONS) {
        struct ct_insn insn;
        if (!read_insn(code, block->end, (enum ct_isa)block->isa, &insn))
            break;
        block->last = insn;
        block->end += insn.size;
        block->n++;
        block->found = insn.type != CT_INSN_OTHER;
    }
    block->in_pages = code->in_pages;
    if (block->found) /* otherwise read_behind did */
        block->read = follow_reads(code, block->start, block->end, (enum ct_isa)block->isa);
}

/* Returns whether a page is unchanged since a block was last verified. */
static bool is_page_unchanged(struct ct_ocsd_code *code, uint64_t number, const struct ct_ocsd_block *block)
{
    if (code->page_number != number || code->page_epoch != code->decoder->tree->epoch) {
        const struct ct_ocsd_page *page = page_at(code, number << CT_OCSD_PAGE_BITS);
        if (!page)
            return false;
        code->page_number = number;
        code->page_epoch = page->epoch;
        code->page_changed = page->changed;
    }
    return block->epoch >= code->page_changed;
}

/* Returns whether the code of a block is unchanged. Unknown, so false, if it is not entirely in pages. */
static bool is_unchanged(struct ct_ocsd_code *code, const struct ct_ocsd_block *block)
{
    const uint64_t end = (block->end - 1) >> CT_OCSD_PAGE_BITS;
    bool fine = block->in_pages;
    for (uint64_t at = block->start >> CT_OCSD_PAGE_BITS; fine && at <= end; at++)
        fine = is_page_unchanged(code, at, block);
    return fine;
}

/* Reads the code at an address and stores it, in place of block `number` if there is one. Code that memory
 * cuts off is not stored, because memory may continue next time, nor is code behind its end. Returns the
 * block's number. */
static uint32_t read_block(struct ct_ocsd_code *code, uint32_t number, uint64_t addr, enum ct_isa isa)
{
    struct ct_ocsd_blocks *blocks = &code->table->blocks;
    struct ct_ocsd_block *before = &blocks->blocks[number];
    struct ct_ocsd_block now = {
        .start = addr, .isa = (uint8_t)isa, .next = {before->next[0], before->next[1]}};
    walk(code, &now);
    if (!now.found || code->is_behind) {
        if (number != CT_OCSD_NO_BLOCK)
            before->epoch = 0;
        code->broken = now;
        return CT_OCSD_NO_BLOCK;
    }
    if (number == CT_OCSD_NO_BLOCK)
        return ct_ocsd_blocks_add(blocks, &now);
    *before = now;
    return number;
}

/* Returns the number of the block at an address: the last successor of the previous block, or else from the
 * table. */
static uint32_t find_block(const struct ct_ocsd_code *code, uint64_t addr, enum ct_isa isa)
{
    const struct ct_ocsd_blocks *blocks = &code->table->blocks;
    const uint32_t number = blocks->blocks[code->last].next[code->last_executed];
    const struct ct_ocsd_block *block = &blocks->blocks[number];
    return block->start == addr && block->isa == isa ? number
                                                     : ct_ocsd_blocks_find(blocks, addr, (uint8_t)isa);
}

const struct ct_ocsd_block *ct_ocsd_code_look(struct ct_ocsd_code *code, uint64_t addr, enum ct_isa isa)
{
    struct ct_ocsd_blocks *blocks = &code->table->blocks;
    const uint64_t epoch = code->decoder->tree->epoch;
    if (code->broken_waits && code->broken.start == addr && code->broken.isa == isa)
        return &code->broken;
    code->broken_waits = false;
    if (!ct_ocsd_blocks_grow(blocks))
        return NULL;
    uint32_t number = find_block(code, addr, isa);
    struct ct_ocsd_block *block = &blocks->blocks[number];
    if (number != CT_OCSD_NO_BLOCK && block->epoch != epoch && is_unchanged(code, block))
        block->epoch = epoch;
    if (number == CT_OCSD_NO_BLOCK || block->epoch != epoch)
        number = read_block(code, number, addr, isa);
    else if (!ct_ocsd_reads_keeps(&code->reads, block->read))
        block->read = follow_reads(code, addr, block->end, isa);
    blocks->blocks[code->last].next[code->last_executed] = number;
    code->last = number;
    code->broken_waits = number == CT_OCSD_NO_BLOCK && !code->broken.found;
    return number == CT_OCSD_NO_BLOCK ? &code->broken : &blocks->blocks[number];
}

const struct ct_ocsd_block *ct_ocsd_code_at(struct ct_ocsd_code *code, uint64_t addr, enum ct_isa isa)
{
    const struct ct_ocsd_block *block = ct_ocsd_code_look(code, addr, isa);
    code->broken_waits = false;
    return block;
}
