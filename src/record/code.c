/* SPDX-License-Identifier: Apache-2.0 */
#include "record/code.h"

#include <stdlib.h>
#include <string.h>

#include "base/addr_map.h"
#include "base/bytes.h"
#include "base/ctx.h"
#include "base/room.h"
#include "base/search.h"

#define PAGE CT_CODE_PAGE

/* Most versions of all places together. Code that changes more often is treated as unchanged. */
#define VERSIONS_MAX 8192u

struct ct_code {
    struct ct_ctx *ctx;
    struct ct_arch arch;
    struct ct_arena arena;
    struct ct_code_block **blocks;
    size_t block_room;
    struct ct_code_place **places;
    size_t place_count;
    size_t place_room;
    struct ct_addr_map numbers; /* of places by address */
    uint32_t changing;          /* places with several versions */
    uint32_t versions;          /* versions of all places, without the first of each */
    bool t32;
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
    free(code->places);
    ct_addr_map_free(&code->numbers);
    free(code->blocks);
    ct_arena_free(&code->arena);
    free(code);
}

/* ---- memory ---- */

/* Finds or makes the place at `addr`. NULL: out of memory. */
static struct ct_code_place *place_at(struct ct_code *code, uint64_t addr)
{
    const uint32_t number = ct_addr_map_get(&code->numbers, addr);
    if (number != CT_ADDR_NONE)
        return code->places[number];
    struct ct_code_place *place = ct_arena_alloc(&code->arena, sizeof *place);
    struct ct_code_page *page = ct_arena_alloc(&code->arena, sizeof *page);
    if (!place || !page || !CT_MAKE_ROOM(code->places, code->place_room, code->place_count + 1) ||
        ct_addr_map_put(&code->numbers, addr, (uint32_t)code->place_count)) {
        ct_fail_nomem(code->ctx, "recorded memory");
        return NULL;
    }
    place->addr = addr;
    page->place = place;
    place->first = place->newest = page;
    code->places[code->place_count++] = place;
    return place;
}

static bool was_executed(const struct ct_code_page *page, size_t at)
{
    return page->executed[at / 8] >> at % 8 & 1;
}

/* Returns whether the page can have these executed bytes at `at`: everything executed there before is
 * equal. */
static bool agrees(const struct ct_code_page *page, size_t at, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (was_executed(page, at + i) && page->bytes[at + i] != bytes[i])
            return false;
    return true;
}

/* Puts executed bytes into the page, over bytes that were not executed. */
static void put_executed(struct ct_code_page *page, size_t at, const uint8_t *bytes, size_t size)
{
    memcpy(page->bytes + at, bytes, size);
    for (size_t i = at; i < at + size; i++)
        page->executed[i / 8] |= (uint8_t)(1u << i % 8);
}

/* Adds a version of a place, with the previous version's bytes: around the changed code they are assumed to
 * be the same. */
static struct ct_code_page *add_version(struct ct_code *code, struct ct_code_place *place)
{
    struct ct_code_page *page = ct_arena_alloc(&code->arena, sizeof *page);
    if (!page) {
        ct_fail_nomem(code->ctx, "recorded memory");
        return NULL;
    }
    memcpy(page->bytes, place->newest->bytes, PAGE);
    page->place = place;
    page->older = place->newest;
    page->version = page->older->version + 1;
    place->newest = page;
    code->versions++;
    if (!place->changing)
        place->changing = ++code->changing;
    return page;
}

/* Finds or makes a version with the part of a block in one place. *page is NULL when there are too many
 * versions. */
static int show_part(struct ct_code *code, uint64_t addr, const uint8_t *bytes, size_t size,
                     struct ct_code_place **place, struct ct_code_page **page)
{
    const size_t at = addr % PAGE;
    *place = place_at(code, addr - at);
    if (!*place)
        return CT_ERR_NOMEM;
    struct ct_code_page *version = (*place)->newest;
    bool found = agrees(version, at, bytes, size);
    while (!found && version->older) {
        version = version->older;
        found = agrees(version, at, bytes, size);
    }
    *page = found ? version : NULL;
    if (!found && code->versions < VERSIONS_MAX && !(*page = add_version(code, *place)))
        return CT_ERR_NOMEM;
    if (*page)
        put_executed(*page, at, bytes, size);
    return CT_OK;
}

static int show_block(struct ct_code *code, struct ct_code_block *b)
{
    const uint64_t next = (b->addr / PAGE + 1) * PAGE;
    const size_t first = b->end > next ? (size_t)(next - b->addr) : (size_t)(b->end - b->addr);
    const size_t rest = (size_t)(b->end - b->addr) - first;
    const int status = show_part(code, b->addr, b->bytes, first, &b->places[0], &b->pages[0]);
    return status || !rest ? status
                           : show_part(code, next, b->bytes + first, rest < PAGE ? rest : PAGE, &b->places[1],
                                       &b->pages[1]);
}

int ct_code_add_memory(struct ct_code *code, uint64_t addr, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0, n; i < size; i += n) {
        const size_t at = (addr + i) % PAGE;
        n = size - i < PAGE - at ? size - i : PAGE - at;
        struct ct_code_place *place = place_at(code, addr + i - at);
        if (!place)
            return CT_ERR_NOMEM;
        for (size_t k = 0; k < n; k++)
            if (!was_executed(place->newest, at + k))
                place->newest->bytes[at + k] = bytes[i + k];
    }
    return CT_OK;
}

static int by_address(const void *a, const void *b)
{
    struct ct_code_place *const *x = a, *const *y = b;
    return ct_order((*x)->addr, (*y)->addr);
}

struct ct_code_place **ct_code_places(const struct ct_code *code, size_t *count)
{
    struct ct_code_place **places = malloc((code->place_count + 1) * sizeof *places);
    if (!places)
        return NULL;
    *count = code->place_count;
    for (size_t i = 0; i < *count; i++)
        places[i] = code->places[i];
    qsort(places, *count, sizeof *places, by_address);
    return places;
}

struct ct_code_page *ct_code_version(const struct ct_code_place *place, uint32_t version)
{
    struct ct_code_page *page = place->newest;
    while (page->version != version)
        page = page->older;
    return page;
}

bool ct_code_has_t32(const struct ct_code *code)
{
    return code->t32;
}

const uint32_t *ct_code_changing(const struct ct_code *code)
{
    return &code->changing;
}

/* ---- views ---- */

struct ct_code_view {
    struct ct_code *code;
    struct ct_code_page **now; /* by number of the place; NULL or beyond: its first version */
    size_t room;
    uint32_t epoch;
};

int ct_code_view_new(struct ct_code *code, struct ct_code_view **out)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return ct_fail_nomem(code->ctx, "recorded memory");
    (*out)->code = code;
    return CT_OK;
}

void ct_code_view_free(struct ct_code_view *view)
{
    if (!view)
        return;
    free(view->now);
    free(view);
}

static int grow_view(struct ct_code_view *view, uint32_t changing)
{
    return CT_MAKE_ZEROED_ROOM(view->now, view->room, (size_t)changing + 1)
               ? CT_OK
               : ct_fail_nomem(view->code->ctx, "recorded memory");
}

static struct ct_code_page *in_force(const struct ct_code_view *view, const struct ct_code_place *place)
{
    if (view && place->changing < view->room && view->now[place->changing])
        return view->now[place->changing];
    return place->first;
}

/* Makes a version for part `i` of a block current, unless the current one fits too. *shown false: there are
 * too many versions. */
static int show_in_view(struct ct_code_view *view, struct ct_code_block *b, unsigned i, bool *shown)
{
    const struct ct_code_place *place = b->places[i];
    const uint64_t addr = i ? place->addr : b->addr, end = place->addr + PAGE;
    const uint8_t *bytes = b->bytes + (addr - b->addr);
    const size_t at = addr % PAGE, size = (size_t)((b->end < end ? b->end : end) - addr);
    struct ct_code_page *now = in_force(view, place);
    if (b->pages[i] == now)
        return CT_OK;
    if (agrees(now, at, bytes, size)) {
        put_executed(now, at, bytes, size);
        b->pages[i] = now;
        return CT_OK;
    }
    if (!view || !b->pages[i]) {
        *shown = false;
        return CT_OK;
    }
    if (place->changing >= view->room && grow_view(view, place->changing))
        return CT_ERR_NOMEM;
    view->now[place->changing] = b->pages[i];
    view->epoch++;
    return CT_OK;
}

int ct_code_view_show(struct ct_code_view *view, struct ct_code_block *b, bool *shown)
{
    int status = CT_OK;
    *shown = true;
    for (unsigned i = 0; i < 2 && !status && b->places[i]; i++)
        if (b->places[i]->changing || !b->pages[i])
            status = show_in_view(view, b, i, shown);
    return status;
}

const uint32_t *ct_code_view_epoch(const struct ct_code_view *view)
{
    return view ? &view->epoch : NULL;
}

uint32_t ct_code_view_version(const struct ct_code_view *view, uint32_t changing)
{
    return changing < view->room && view->now[changing] ? view->now[changing]->version : 0;
}

void ct_code_view_set(struct ct_code_view *view, const uint32_t *versions, uint32_t count)
{
    for (uint32_t i = 1; i < view->room; i++)
        if (view->now[i])
            view->now[i] = ct_code_version(view->now[i]->place, i <= count ? versions[i - 1] : 0);
    view->epoch++;
}

/* ---- blocks ---- */

/* Returns how an instruction other than a branch ends a block (DDI 0487, C4.1.93, F3 and F4). A block that
 * ends without raising an exception was long, at the end of a page, or at a system instruction. */
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

/* Decodes the instruction at `p`, which has `left` bytes in the block, and returns how it can end a block. */
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

/* Finds the waypoints, or only counts them if `stops` is NULL. */
static uint32_t find_stops(const struct ct_code *code, struct ct_code_block *b, struct ct_code_stop *stops)
{
    uint32_t count = 0;
    uint8_t it_left = b->it_left;
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
    return count;
}

static int make_room(struct ct_code *code, uint32_t id)
{
    return CT_MAKE_ZEROED_ROOM(code->blocks, code->block_room, (size_t)id + 1)
               ? CT_OK
               : ct_fail_nomem(code->ctx, "recorded code");
}

int ct_code_add_block(struct ct_code *code, uint32_t id, const struct ct_code_block *head,
                      const uint8_t *bytes, size_t size)
{
    int status = make_room(code, id);
    if (status)
        return status;
    struct ct_code_block *b = ct_arena_alloc(&code->arena, sizeof *b);
    uint8_t *copy = ct_arena_alloc(&code->arena, size + 4);
    if (!b || !copy)
        return ct_fail_nomem(code->ctx, "recorded code");
    memcpy(copy, bytes, size);
    *b = *head;
    b->end = head->addr + size;
    b->bytes = copy;
    code->t32 |= head->isa == CT_ISA_T32;
    status = show_block(code, b);
    if (status)
        return status;
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

struct ct_code_block *ct_code_block(const struct ct_code *code, uint32_t id)
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
