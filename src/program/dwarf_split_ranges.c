/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses and ranges of split units, which libdw only provides when it opened the files itself. */
#include "base/bytes.h"
#include "program/dwarf_split.h"

#include <dwarf.h>

/* Bytes that were not read yet. */
struct cursor {
    const uint8_t *at, *end;
};

/* Reads a little-endian number of `size` bytes, at most 8. Returns false at the end of the bytes. */
static bool take_number(struct cursor *c, unsigned size, uint64_t *number)
{
    *number = 0;
    if ((size_t)(c->end - c->at) < size)
        return false;
    for (unsigned i = 0; i < size; i++)
        *number |= (uint64_t)*c->at++ << 8 * i;
    return true;
}

static bool take_uleb(struct cursor *c, uint64_t *number)
{
    *number = 0;
    for (unsigned shift = 0; c->at < c->end && shift < 64; shift += 7) {
        const uint8_t byte = *c->at++;
        *number |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

/* Returns the bytes from the value of an attribute to the end of the entries. */
static struct cursor bytes_of(const struct ct_split_finder *f, const Dwarf_Attribute *value)
{
    const size_t at = (size_t)((uintptr_t)value->valp - (uintptr_t)f->entries.all);
    if (!f->entries.all || at > f->entries.size)
        return (struct cursor){0};
    return (struct cursor){f->entries.all + at, f->entries.all + f->entries.size};
}

bool ct_split_numbered(const struct ct_split_finder *f, uint64_t number, uint64_t *addr)
{
    if (!f->bytes || number >= f->numbered.size / f->bytes)
        return false;
    const uint8_t *at = f->numbered.all + number * f->bytes;
    *addr = f->bytes == 8 ? ct_load64(at) : ct_load32(at);
    return true;
}

static bool is_number(unsigned form)
{
    return form == DW_FORM_addrx || form == DW_FORM_GNU_addr_index ||
           (form >= DW_FORM_addrx1 && form <= DW_FORM_addrx4);
}

static bool address_of(const struct ct_split_finder *f, Dwarf_Attribute *value, uint64_t *addr)
{
    const unsigned form = dwarf_whatform(value);
    struct cursor c = bytes_of(f, value);
    uint64_t number;
    if (!is_number(form))
        return dwarf_formaddr(value, addr) == 0;
    const bool fixed = form >= DW_FORM_addrx1 && form <= DW_FORM_addrx4;
    return (fixed ? take_number(&c, form - DW_FORM_addrx1 + 1, &number) : take_uleb(&c, &number)) &&
           ct_split_numbered(f, number, addr);
}

bool ct_split_address(const struct ct_split_finder *f, Dwarf_Die *die, unsigned attribute, uint64_t *addr)
{
    Dwarf_Attribute value;
    return dwarf_attr(die, attribute, &value) && address_of(f, &value, addr);
}

/* ---- ranges ---- */

static bool take_numbered(const struct ct_split_finder *f, struct cursor *c, uint64_t *addr)
{
    uint64_t number;
    return take_uleb(c, &number) && ct_split_numbered(f, number, addr);
}

/* Reads an entry of a list (DWARF 5, 7.25). Returns false at the end, or where it is damaged. An entry that
 * only sets the base address gives an empty range. */
static bool take_range(const struct ct_split_finder *f, struct cursor *c, uint64_t *base, uint64_t *start,
                       uint64_t *end)
{
    uint64_t kind;
    *start = *end = 0;
    if (!take_number(c, 1, &kind))
        return false;
    switch (kind) {
    case DW_RLE_base_addressx:
        return take_numbered(f, c, base);
    case DW_RLE_base_address:
        return take_number(c, f->bytes, base);
    case DW_RLE_startx_endx:
        return take_numbered(f, c, start) && take_numbered(f, c, end);
    case DW_RLE_start_end:
        return take_number(c, f->bytes, start) && take_number(c, f->bytes, end);
    case DW_RLE_startx_length:
    case DW_RLE_start_length:
        if (kind == DW_RLE_startx_length ? !take_numbered(f, c, start) : !take_number(c, f->bytes, start))
            return false;
        if (!take_uleb(c, end))
            return false;
        *end += *start;
        return true;
    case DW_RLE_offset_pair:
        if (!take_uleb(c, start) || !take_uleb(c, end))
            return false;
        *start += *base;
        *end += *base;
        return true;
    default: /* DW_RLE_end_of_list */
        return false;
    }
}

/* Reads an entry of a list before DWARF 5: a pair of addresses. */
static bool take_pair(const struct ct_split_finder *f, struct cursor *c, uint64_t *base, uint64_t *start,
                      uint64_t *end)
{
    const uint64_t mark = f->bytes == 8 ? UINT64_MAX : UINT32_MAX;
    if (!take_number(c, f->bytes, start) || !take_number(c, f->bytes, end) || (!*start && !*end))
        return false;
    if (*start == mark) {
        *base = *end;
        *start = *end;
        return true;
    }
    *start += *base;
    *end += *base;
    return true;
}

/* Finds the start of an attribute's list of ranges. The attribute contains it, or an index into the table
 * after the header of the lists (DWARF 5, 7.28). */
static bool find_list(const struct ct_split_finder *f, const Dwarf_Attribute *value, struct cursor *list)
{
    enum {
        WIDE = 0xffffffff, /* instead of a length: lengths and offsets have eight bytes */
        BEHIND_LENGTH = 8  /* version, sizes, number of entries */
    };
    struct cursor c = bytes_of(f, value);
    uint64_t at, number, length;
    if (!f->ranges.size)
        return false;
    *list = (struct cursor){f->ranges.all, f->ranges.all + f->ranges.size};
    if (value->form != DW_FORM_rnglistx)
        return take_number(&c, 4, &at) && at < f->ranges.size && (list->at += at, true);
    if (!take_uleb(&c, &number) || !take_number(list, 4, &length))
        return false;
    const unsigned width = length == WIDE ? 8 : 4;
    const size_t header = (length == WIDE ? 12 : 4) + BEHIND_LENGTH;
    if (f->ranges.size < header || number >= (f->ranges.size - header) / width)
        return false;
    list->at = f->ranges.all + header + number * width;
    if (!take_number(list, width, &at) || at >= f->ranges.size - header)
        return false;
    list->at = f->ranges.all + header + at;
    return true;
}

static int read_list(const struct ct_split_finder *f, const Dwarf_Attribute *value,
                     int (*take)(void *user, uint64_t start, uint64_t end), void *user)
{
    Dwarf_Half version = 0;
    struct cursor c;
    uint64_t base = f->base, start, end;
    int result = 0;
    if (dwarf_cu_info(value->cu, &version, NULL, NULL, NULL, NULL, NULL, NULL) != 0 ||
        !find_list(f, value, &c))
        return 0;
    while (!result && (version < 5 ? take_pair : take_range)(f, &c, &base, &start, &end))
        result = take(user, start, end);
    return result;
}

int ct_split_ranges(const struct ct_split_finder *f, Dwarf_Die *die,
                    int (*take)(void *user, uint64_t start, uint64_t end), void *user)
{
    Dwarf_Attribute value;
    uint64_t start, end;
    if (dwarf_attr(die, DW_AT_ranges, &value))
        return read_list(f, &value, take, user);
    if (!ct_split_address(f, die, DW_AT_low_pc, &start) || !dwarf_attr(die, DW_AT_high_pc, &value))
        return 0;
    const unsigned form = dwarf_whatform(&value);
    if (form == DW_FORM_addr || is_number(form)) {
        if (!address_of(f, &value, &end))
            return 0;
    } else {
        Dwarf_Word length;
        if (dwarf_formudata(&value, &length) != 0)
            return 0;
        end = start + length;
    }
    return take(user, start, end);
}
