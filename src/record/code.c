#include "record/code.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/ctx.h"

#define PAGE UINT64_C(4096)

struct ct_code {
    struct ct_ctx *ctx;
    struct ct_arch arch;
    struct ct_arena arena;
    struct ct_code_block **blocks;
    size_t block_room;
    struct ct_code_page **pages; /* in the order in which they came, or sorted */
    size_t page_count;
    struct ct_code_page **table; /* open addressing, a power of two */
    size_t table_size;
};

int ct_code_new(struct ct_ctx *ctx, const struct ct_arch *arch, struct ct_code **out)
{
    struct ct_code *code = calloc(1, sizeof *code);
    if (!code)
        return ct_fail_nomem(ctx, "recorded code");
    code->ctx = ctx;
    code->arch = *arch;
    *out = code;
    return CT_OK;
}

void ct_code_free(struct ct_code *code)
{
    if (!code)
        return;
    for (size_t i = 0; i < code->page_count; i++)
        free(code->pages[i]);
    free(code->pages);
    free(code->table);
    free(code->blocks);
    ct_arena_free(&code->arena);
    free(code);
}

/* ---- memory ---- */

static size_t place_of(const struct ct_code *code, uint64_t addr)
{
    size_t i = (size_t)(addr / PAGE * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (code->table_size - 1);
    while (code->table[i] && code->table[i]->addr != addr)
        i = (i + 1) & (code->table_size - 1);
    return i;
}

static int grow_table(struct ct_code *code)
{
    const size_t size = code->table_size ? code->table_size * 2 : 256;
    struct ct_code_page **pages = realloc(code->pages, size / 2 * sizeof *pages);
    if (pages)
        code->pages = pages;
    struct ct_code_page **table = calloc(size, sizeof *table);
    if (!pages || !table) {
        free(table);
        return ct_fail_nomem(code->ctx, "recorded memory");
    }
    free(code->table);
    code->table = table;
    code->table_size = size;
    for (size_t i = 0; i < code->page_count; i++)
        table[place_of(code, pages[i]->addr)] = pages[i];
    return CT_OK;
}

/* The page that begins at `addr`, made when it is not there; NULL without memory. */
static struct ct_code_page *page_at(struct ct_code *code, uint64_t addr)
{
    if (code->page_count * 2 >= code->table_size && grow_table(code))
        return NULL;
    const size_t i = place_of(code, addr);
    if (code->table[i])
        return code->table[i];
    struct ct_code_page *page = calloc(1, sizeof *page);
    if (!page) {
        ct_fail_nomem(code->ctx, "recorded memory");
        return NULL;
    }
    page->addr = addr;
    code->table[i] = code->pages[code->page_count++] = page;
    return page;
}

/* Bytes into their pages: executed ones replace what only lay there, and stay when others come. *differs: other ones
 * were executed here. */
static int store(struct ct_code *code, uint64_t addr, const uint8_t *bytes, size_t size, bool executed,
                 bool *differs)
{
    for (size_t i = 0; i < size; i++) {
        struct ct_code_page *page = NULL;
        const size_t at = (addr + i) % PAGE;
        if (i == 0 || at == 0)
            page = page_at(code, addr + i - at);
        else
            page = code->table[place_of(code, addr + i - at)];
        if (!page)
            return CT_ERR_NOMEM;
        const uint8_t bit = (uint8_t)(1u << at % 8);
        if (!(page->executed[at / 8] & bit))
            page->bytes[at] = bytes[i];
        else if (executed && page->bytes[at] != bytes[i])
            *differs = true;
        if (executed)
            page->executed[at / 8] |= bit;
    }
    return CT_OK;
}

int ct_code_add_memory(struct ct_code *code, uint64_t addr, const uint8_t *bytes, size_t size)
{
    bool differs;
    return store(code, addr, bytes, size, false, &differs);
}

static int by_address(const void *a, const void *b)
{
    const uint64_t x = (*(struct ct_code_page *const *)a)->addr, y = (*(struct ct_code_page *const *)b)->addr;
    return x < y ? -1 : x > y;
}

struct ct_code_page *const *ct_code_pages(struct ct_code *code, size_t *count)
{
    *count = code->page_count;
    if (code->page_count)
        qsort(code->pages, code->page_count, sizeof(struct ct_code_page *), by_address);
    return code->pages;
}

/* ---- blocks ---- */

/* What raises an exception: Arm ARM DDI 0487, C4.1.93, F3 and F4. A block whose last instruction is neither a
 * branch nor one of these ended because it was long, at the end of a page, or at a system instruction. */
static uint8_t end_a64(uint32_t op)
{
    if ((op & 0xffe0001f) == 0xd4000001) /* SVC */
        return CT_CODE_CALL;
    if ((op & 0xff000000) == 0xd4000000 || op >> 16 == 0) /* HVC, SMC, BRK, HLT, DCPS, UDF */
        return CT_CODE_TRAP;
    return CT_CODE_PLAIN;
}

static uint8_t end_a32(uint32_t op)
{
    if (op >> 28 != 15 && (op >> 24 & 15) == 15)
        return CT_CODE_CALL;
    if ((op & 0x0ff000f0) == 0x07f000f0 || (op & 0x0ff000f0) == 0x01200070) /* UDF, BKPT */
        return CT_CODE_TRAP;
    return CT_CODE_PLAIN;
}

static uint8_t end_t32(uint32_t op, unsigned size)
{
    if (op >> 24 == 0xdf)
        return CT_CODE_CALL;
    if (op >> 24 == 0xde || op >> 24 == 0xbe || (size == 4 && (op & 0xfff0f000) == 0xf7f0a000))
        return CT_CODE_TRAP;
    return CT_CODE_PLAIN;
}

/* Classifies the instruction at `p`, of which `left` bytes are in the block. */
static uint8_t classify(const struct ct_code *code, enum ct_isa isa, const uint8_t *p, size_t left,
                        uint64_t addr, struct ct_insn *insn)
{
    const struct ct_arch *arch = &code->arch;
    uint8_t end;
    if (isa == CT_ISA_A64) {
        ct_insn_decode_a64(ct_load32(p), addr, arch, insn);
        end = end_a64(ct_load32(p));
    } else if (isa == CT_ISA_A32) {
        ct_insn_decode_a32(ct_load32(p), addr, arch, insn);
        end = end_a32(ct_load32(p));
    } else {
        const uint32_t op = (uint32_t)ct_load16(p) << 16 | (left >= 4 ? ct_load16(p + 2) : 0u);
        ct_insn_decode_t32(op, addr, arch, insn);
        end = end_t32(op, insn->size);
    }
    if (insn->type == CT_INSN_WFI_WFE || insn->type == CT_INSN_DSB_DMB)
        insn->type = CT_INSN_OTHER;
    return end;
}

/* Finds the waypoints. With `stops` NULL they are only counted. */
static uint32_t find_stops(const struct ct_code *code, struct ct_code_block *b, struct ct_code_stop *stops)
{
    uint32_t count = 0;
    uint8_t it_left = 0;
    uint64_t addr = b->addr;
    for (uint32_t i = 0; i < b->insns && addr < b->end; i++) {
        struct ct_insn insn;
        b->end_how =
            classify(code, (enum ct_isa)b->isa, b->bytes + (addr - b->addr), b->end - addr, addr, &insn);
        b->last = addr;
        addr += insn.size;
        if (insn.type != CT_INSN_OTHER) {
            if (stops)
                stops[count] =
                    (struct ct_code_stop){.index = i, .in_it = it_left != 0, .insn = insn, .end = addr};
            count++;
        }
        it_left = it_left ? (uint8_t)(it_left - 1) : insn.it;
    }
    b->it_left = it_left;
    return count;
}

static int make_room(struct ct_code *code, uint32_t id)
{
    if (id < code->block_room)
        return CT_OK;
    size_t room = code->block_room ? code->block_room : 1024;
    while (room <= id)
        room *= 2;
    struct ct_code_block **blocks = realloc(code->blocks, room * sizeof *blocks);
    if (!blocks)
        return ct_fail_nomem(code->ctx, "recorded code");
    memset(blocks + code->block_room, 0, (room - code->block_room) * sizeof *blocks);
    code->blocks = blocks;
    code->block_room = room;
    return CT_OK;
}

int ct_code_add_block(struct ct_code *code, uint32_t id, uint64_t addr, enum ct_isa isa, unsigned level,
                      const uint8_t *bytes, size_t size, uint32_t insns)
{
    bool changed = false;
    int status = make_room(code, id);
    if (!status)
        status = store(code, addr, bytes, size, true, &changed);
    if (status)
        return status;
    struct ct_code_block *b = ct_arena_alloc(&code->arena, sizeof *b);
    uint8_t *copy = ct_arena_alloc(&code->arena, size + 4);
    if (!b || !copy)
        return ct_fail_nomem(code->ctx, "recorded code");
    memcpy(copy, bytes, size);
    *b = (struct ct_code_block){.addr = addr,
                                .end = addr + size,
                                .insns = insns,
                                .bytes = copy,
                                .isa = (uint8_t)isa,
                                .level = (uint8_t)level,
                                .changed = changed};
    b->stop_count = find_stops(code, b, NULL);
    if (b->stop_count) {
        b->stops = ct_arena_alloc(&code->arena, b->stop_count * sizeof *b->stops);
        if (!b->stops)
            return ct_fail_nomem(code->ctx, "recorded code");
        find_stops(code, b, b->stops);
    }
    code->blocks[id] = b;
    return CT_OK;
}

const struct ct_code_block *ct_code_block(const struct ct_code *code, uint32_t id)
{
    return id < code->block_room ? code->blocks[id] : NULL;
}

uint64_t ct_code_insn_addr(const struct ct_code_block *b, uint32_t index)
{
    if (b->isa != CT_ISA_T32)
        return b->addr + UINT64_C(4) * index;
    uint64_t at = 0;
    for (uint32_t i = 0; i < index && b->addr + at < b->end; i++)
        at += ct_load16(b->bytes + at) >> 11 >= 29 ? 4 : 2;
    return b->addr + at;
}
