/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/watch_access.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/ctx.h"

/* Discriminators of the DWT's data trace (DDI 0403E, table D4-5): PC and address of the four comparators in
 * turn, then the data read and written. */
#define DWT_FIRST 8
#define DWT_DATA  16
#define DWT_END   24

static bool is_data_packet(const struct ct_elem *e)
{
    return e->kind == CT_ELEM_DWT && e->n >= DWT_FIRST && e->n < DWT_END;
}

/* ---- halves ---- */

/* Returns whether `next` is the second half of an access of 64 bits. */
static bool is_second_half(const struct ct_access *held, const struct ct_access *next)
{
    const uint64_t mask = next->addr_bits == 16 ? UINT16_MAX : UINT32_MAX;
    return held->bytes == 4 && held->addr % 8 == 0 && next->bytes == 4 && next->is_store == held->is_store &&
           next->has_pc && held->has_pc && next->pc == held->pc && next->has_data == held->has_data &&
           next->comparator == held->comparator && next->addr == ((held->addr + 4) & mask);
}

static void hold(struct ct_access_reader *r, const struct ct_access *access)
{
    if (r->is_held && is_second_half(&r->held, access)) {
        r->held.data |= access->data << 32;
        r->held.bytes = 8;
    } else {
        r->held = *access;
    }
    r->is_held = true;
}

/* ---- DWT ---- */

static void note_no_address(struct ct_access_reader *r, const char *of)
{
    if (!r->lacks_address)
        ct_log(r->watches->ctx, CT_LOG_WARNING,
               "data trace of %s: it has no addresses, so accesses to variables are unknown; trace addresses "
               "with the data%s",
               of, strcmp(of, "a DWT") == 0 ? ", or watch the comparator (dwt:0)" : "");
    r->lacks_address = true;
}

/* Sets the address of an access from bits 15:0, which the packet has. With a known address of the comparator,
 * chooses the closest one. */
static void place_access(uint32_t comparator, struct ct_access *access)
{
    access->addr_bits = 16;
    if (!comparator)
        return;
    const uint32_t distance = ((uint32_t)access->addr - comparator) & UINT16_MAX;
    access->addr = comparator + distance - (distance > INT16_MAX ? UINT32_C(0x10000) : 0);
    access->addr_bits = 32;
}

/* Takes a packet of an access. The addresses of data and instruction come before the data. Returns whether
 * the access is complete. */
static bool take_dwt(struct ct_access_reader *r, const struct ct_elem *e)
{
    const uint8_t comparator = e->n / 2u % 4;
    if (comparator != r->coming.comparator) {
        r->coming = (struct ct_access){.comparator = comparator, .addr_bits = 16};
        r->has_addr = false;
    }
    if (e->n < DWT_DATA && e->n % 2 == 0) {
        r->coming = (struct ct_access){.comparator = comparator, .pc = e->v, .has_pc = true};
        r->has_addr = false;
        return false;
    }
    if (e->n < DWT_DATA) {
        r->coming.addr = e->v & UINT16_MAX;
        r->has_addr = true;
        return false;
    }
    struct ct_access access = r->coming;
    const bool has_addr = r->has_addr;
    r->coming = (struct ct_access){.comparator = comparator};
    r->has_addr = false;
    if (!has_addr) {
        note_no_address(r, "a DWT");
        return false;
    }
    place_access(r->watches->dwt_comp[comparator], &access);
    access.data = e->v;
    access.has_data = true;
    access.bytes = (uint8_t)((e->aux & CT_SW_BITS) / 8);
    access.is_store = e->n % 2;
    hold(r, &access);
    return true;
}

/* Returns whether a packet leads to the second half of the held access. */
static bool dwt_goes_on(const struct ct_access_reader *r, const struct ct_elem *e)
{
    struct ct_access next = r->coming;
    if (e->n / 2u % 4 != r->held.comparator)
        return false;
    if (e->n < DWT_DATA && e->n % 2 == 0)
        return r->held.has_pc && r->held.pc == e->v && r->held.bytes == 4 && r->held.addr % 8 == 0;
    if (e->n < DWT_DATA)
        return next.has_pc && ((r->held.addr + 4) & UINT16_MAX) == (e->v & UINT16_MAX);
    next.addr_bits = 16;
    next.bytes = (uint8_t)((e->aux & CT_SW_BITS) / 8);
    next.is_store = e->n % 2;
    next.has_data = true;
    return r->has_addr && is_second_half(&r->held, &next);
}

/* ---- ETMv3 ---- */

/* Finds whether the instruction at `pc` loads or stores. Returns false when its code is not known, or when it
 * does neither. */
static bool read_instruction(const struct ct_access_reader *r, uint64_t pc, enum ct_isa isa,
                             struct ct_insn_access *out)
{
    for (size_t i = 0; i < r->watches->code_count; i++) {
        const struct ct_watched_code *code = &r->watches->code[i];
        size_t size;
        const uint8_t *bytes = ct_memory_at(code->memory, pc - code->shift, CT_SPACE_ANY, &size);
        if (!bytes || size < 2)
            continue;
        const uint32_t low = ct_load16(bytes);
        const uint32_t high = size < 4 ? 0 : ct_load16(bytes + 2);
        ct_insn_access_of(isa == CT_ISA_T32 ? low << 16 | high : high << 16 | low, isa, out);
        return out->bytes != 0;
    }
    return false;
}

/* Begins the access of an instruction. Returns false when nothing is known of the instruction. */
static bool begin_transfer(struct ct_access_reader *r, const struct ct_step_mark *mark, struct ct_access *out)
{
    const struct ct_elem *e = &mark->elem;
    struct ct_insn_access insn = {0};
    if (!mark->n || !read_instruction(r, mark->value, (enum ct_isa)mark->isa, &insn)) {
        if (!r->lacks_code)
            ct_log(r->watches->ctx, CT_LOG_WARNING,
                   "data trace: some of it belongs to code in no program (for example at 0x%" PRIx64
                   "); loads and stores of variables by that code are missing; name the program with --elf",
                   mark->value);
        r->lacks_code = true;
        return false;
    }
    *out = (struct ct_access){.addr = e->v >> 32,
                              .addr_bits = 32,
                              .pc = mark->value,
                              .has_pc = true,
                              .bytes = insn.bytes,
                              .is_store = !insn.loads};
    /* a swap stores after its load, at the same address */
    if (insn.loads && insn.stores && r->has_last && r->last.pc == mark->value)
        out->is_store = !r->last.is_store;
    return true;
}

/* Finds the address of a transfer. Of multiple transfers only the first has an address (IHI 0014Q 7.8.2). */
static bool place_transfer(struct ct_access_reader *r, const struct ct_step_mark *mark, struct ct_access *out)
{
    struct ct_insn_access insn;
    if (mark->elem.aux & CT_DATA_HAS_ADDR)
        return begin_transfer(r, mark, out);
    if (!r->has_last || !mark->n || r->last.pc != mark->value) {
        if (mark->n &&
            read_instruction(r, mark->value, (enum ct_isa)mark->isa, &insn)) /* otherwise a coprocessor's */
            note_no_address(r, "an ETMv3");
        return false;
    }
    *out = r->last;
    out->addr = (out->addr + out->bytes) & UINT32_MAX;
    return true;
}

static bool take_transfer(struct ct_access_reader *r, const struct ct_step_mark *mark)
{
    const struct ct_elem *e = &mark->elem;
    const unsigned tag = (e->aux & CT_DATA_TAG) >> CT_DATA_TAG_SHIFT;
    struct ct_access access;
    if (e->n == CT_DATA_LATE) {
        if (!r->has_late[tag])
            return false;
        access = r->late[tag];
        r->has_late[tag] = false;
    } else if (e->n == CT_DATA_VALUE || e->n == CT_DATA_LATER || e->n == CT_DATA_NOT_TRACED) {
        if (e->n == CT_DATA_NOT_TRACED && !(e->aux & CT_DATA_HAS_ADDR) && !r->has_last)
            return false;
        r->has_last = place_transfer(r, mark, &access);
        if (!r->has_last)
            return false;
        r->last = access;
    } else {
        r->has_last = false;
        return false;
    }
    if (e->n == CT_DATA_LATER) {
        r->late[tag] = access;
        r->has_late[tag] = true;
        return false;
    }
    access.has_data = e->aux & CT_DATA_HAS_VALUE && e->n != CT_DATA_NOT_TRACED;
    access.data = access.has_data ? (uint32_t)e->v : 0;
    hold(r, &access);
    return true;
}

/* Returns whether a transfer is the second half of the held access. */
static bool transfer_goes_on(const struct ct_access_reader *r, const struct ct_step_mark *mark)
{
    const struct ct_elem *e = &mark->elem;
    struct ct_access next = r->held;
    next.addr = e->aux & CT_DATA_HAS_ADDR ? e->v >> 32 : (r->last.addr + 4) & UINT32_MAX;
    next.pc = mark->value;
    next.has_pc = mark->n;
    next.has_data = e->aux & CT_DATA_HAS_VALUE;
    return e->n == CT_DATA_VALUE && r->has_last && is_second_half(&r->held, &next);
}

/* ---- both ---- */

bool ct_access_take(struct ct_access_reader *r, const struct ct_step_mark *mark)
{
    if (mark->kind != CT_MARK_ELEM)
        return false;
    if (is_data_packet(&mark->elem))
        return take_dwt(r, &mark->elem);
    if (mark->elem.kind == CT_ELEM_DATA)
        return take_transfer(r, mark);
    if (ct_elem_loss(&mark->elem) >= 0) {
        memset(r->has_late, 0, sizeof r->has_late);
        r->has_last = r->has_addr = false;
    }
    return false;
}

bool ct_access_goes_on(const struct ct_access_reader *r, const struct ct_step_mark *mark)
{
    if (mark->kind != CT_MARK_ELEM || ct_elem_loss(&mark->elem) >= 0)
        return false;
    if (is_data_packet(&mark->elem))
        return dwt_goes_on(r, &mark->elem);
    return mark->elem.kind == CT_ELEM_DATA && transfer_goes_on(r, mark);
}

/* ---- variables ---- */

static uint64_t low_bits(unsigned bits)
{
    return bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
}

/* Returns the offset in the variable at which the access begins. Negative when it begins before the
 * variable. */
static int64_t offset_in(const struct ct_access *access, const struct ct_watched_variable *variable)
{
    const uint64_t distance = (access->addr - variable->addr) & low_bits(access->addr_bits);
    const bool is_before = distance > low_bits(access->addr_bits) - access->bytes;
    return is_before ? (int64_t)(distance | ~low_bits(access->addr_bits)) : (int64_t)distance;
}

bool ct_access_see(const struct ct_access *access, const struct ct_watched_variable *variable,
                   struct ct_known_bytes *seen)
{
    const int64_t offset = offset_in(access, variable);
    if (offset >= 0 && (uint64_t)offset >= variable->is->size)
        return false;
    if (offset < 0 && offset + access->bytes <= 0)
        return false;
    for (int64_t i = 0; i < access->bytes; i++) {
        const int64_t at = offset + i;
        if (at < 0 || at >= 8)
            continue;
        const uint64_t byte = access->data >> 8 * i & 0xff;
        seen->bytes = (seen->bytes & ~(UINT64_C(0xff) << 8 * at)) | byte << 8 * at;
        seen->known = (uint8_t)(access->has_data ? seen->known | 1u << at : seen->known & ~(1u << at));
    }
    return true;
}

void ct_access_value(const struct ct_access *access, const struct ct_watched_variable *variable,
                     const struct ct_known_bytes *seen, struct ct_watch_event *event)
{
    const struct ct_variable *v = variable->is;
    if (v->form == CT_VARIABLE_BLOCK) {
        event->value = variable->addr + (uint64_t)offset_in(access, variable);
        event->number = 64;
        return;
    }
    const unsigned needed = (unsigned)low_bits((unsigned)v->size);
    event->number = (seen->known & needed) == needed ? v->bits : 0;
    event->value = event->number ? seen->bytes >> v->bit & low_bits(v->bits) : 0;
    if (v->form == CT_VARIABLE_SIGNED && v->bits < 64)
        event->value = (uint64_t)((int64_t)(event->value << (64 - v->bits)) >> (64 - v->bits));
    if (v->form == CT_VARIABLE_REAL && event->number == 32) {
        const uint32_t single = (uint32_t)event->value;
        float f;
        memcpy(&f, &single, sizeof f);
        const double wide = f;
        memcpy(&event->value, &wide, sizeof wide);
    }
    if (v->form == CT_VARIABLE_REAL && event->number)
        event->number = 64; /* width of a double, as in CT_WATCH_REAL */
}
