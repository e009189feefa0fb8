/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the bounds of functions from unwind information, which stripped files also have: .eh_frame (Linux
 * Standard Base, Core, 10.6) and .ARM.exidx (Exception Handling ABI for the Arm Architecture, IHI 0038). */
#include "base/bytes.h"
#include "base/ctx.h"
#include "program/symbols.h"

#include <string.h>

#define MOST_AUGMENTATION 16 /* characters; only seven have a meaning */

/* DW_EH_PE: encoding of a pointer. */
enum {
    PE_ABSPTR = 0x00,
    PE_ULEB128 = 0x01,
    PE_UDATA2 = 0x02,
    PE_UDATA4 = 0x03,
    PE_UDATA8 = 0x04,
    PE_SLEB128 = 0x09,
    PE_SDATA2 = 0x0a,
    PE_SDATA4 = 0x0b,
    PE_SDATA8 = 0x0c,
    PE_PCREL = 0x10,
    PE_RELATIVE = 0x70, /* mask: what it is relative to */
    PE_OMIT = 0xff,
};

/* Bytes of a section that are read in order. */
struct cursor {
    const uint8_t *at, *end;
    uint64_t addr; /* of `at` in the file's address space, without load bias */
    bool wide;     /* 64-bit file */
    bool bad;      /* the bytes ended too early */
};

static const uint8_t *take(struct cursor *c, size_t size)
{
    const uint8_t *at = c->at;
    if (c->bad || size > (size_t)(c->end - c->at)) {
        c->bad = true;
        return NULL;
    }
    c->at += size;
    c->addr += size;
    return at;
}

static uint64_t take_number(struct cursor *c, size_t size)
{
    const uint8_t *p = take(c, size);
    if (!p)
        return 0;
    return size == 1 ? *p : size == 2 ? ct_load16(p) : size == 4 ? ct_load32(p) : ct_load64(p);
}

static uint64_t take_leb128(struct cursor *c, bool is_signed)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        const uint8_t *p = take(c, 1);
        if (!p)
            return 0;
        if (shift < 64)
            value |= (uint64_t)(*p & 0x7f) << shift;
        if (*p & 0x80)
            continue;
        if (is_signed && *p & 0x40 && shift + 7 < 64)
            value |= UINT64_MAX << (shift + 7);
        return value;
    }
}

/* Reads a pointer, which may be relative to its own address if the encoding says so. Other encodings are
 * refused: linkers do not use them here. */
static uint64_t take_pointer(struct cursor *c, uint8_t encoding)
{
    const uint64_t place = c->addr;
    uint64_t value;
    switch (encoding & 0x0f) {
    case PE_ABSPTR:
        value = take_number(c, c->wide ? 8 : 4);
        break;
    case PE_UDATA2:
        value = take_number(c, 2);
        break;
    case PE_UDATA4:
        value = take_number(c, 4);
        break;
    case PE_UDATA8:
    case PE_SDATA8:
        value = take_number(c, 8);
        break;
    case PE_SDATA2:
        value = (uint64_t)(int16_t)take_number(c, 2);
        break;
    case PE_SDATA4:
        value = (uint64_t)(int32_t)take_number(c, 4);
        break;
    case PE_ULEB128:
    case PE_SLEB128:
        value = take_leb128(c, (encoding & 0x0f) == PE_SLEB128);
        break;
    default:
        c->bad = true;
        return 0;
    }
    if ((encoding & PE_RELATIVE) == PE_PCREL)
        value += place;
    else if (encoding & (PE_RELATIVE | 0x80))
        c->bad = true;
    return c->wide ? value : (uint32_t)value;
}

/* ---- .eh_frame ---- */

/* The common information entry that was read last. */
struct common {
    uint64_t offset;
    uint8_t encoding; /* of pointers to code; PE_OMIT: not understood */
};

/* Returns the encoding of pointers to code in the entries that share this common information entry, whose
 * length has been read. */
static uint8_t read_encoding(struct cursor c)
{
    char text[MOST_AUGMENTATION] = "";
    (void)take_number(&c, 4);
    uint64_t version = take_number(&c, 1);
    bool ended = false;
    for (size_t n = 0; n < sizeof text && !ended && !c.bad; n++) {
        text[n] = (char)take_number(&c, 1);
        ended = !text[n];
    }
    if (c.bad || !ended || (version != 1 && version != 3))
        return PE_OMIT;
    if (strcmp(text, "eh") == 0)
        (void)take(&c, c.wide ? 8 : 4);
    (void)take_leb128(&c, false);
    (void)take_leb128(&c, true);
    if (version == 1)
        (void)take_number(&c, 1);
    else
        (void)take_leb128(&c, false);
    if (text[0] != 'z')
        return PE_ABSPTR;
    (void)take_leb128(&c, false);
    for (size_t i = 1; text[i] && !c.bad; i++) {
        if (text[i] == 'R') {
            uint8_t encoding = (uint8_t)take_number(&c, 1);
            return c.bad ? PE_OMIT : encoding;
        }
        if (text[i] == 'L')
            (void)take_number(&c, 1);
        if (text[i] == 'P') {
            uint8_t personality = (uint8_t)take_number(&c, 1);
            (void)take_pointer(&c, personality & 0x0f);
        }
    }
    return c.bad ? PE_OMIT : PE_ABSPTR;
}

static int add_bounds(struct ct_collector *c, uint64_t addr, uint64_t size, enum ct_isa isa)
{
    const struct ct_function function = {
        .symbol = {.addr = addr + c->bias, .size = size, .isa = (uint8_t)isa, .source = CT_SYMBOL_UNWIND}};
    return size && ct_collect_is_code(c, function.symbol.addr, size) ? ct_collect(c, &function) : CT_OK;
}

/* Returns the instruction set of code when nothing else gives it: that of the entry point. */
static enum ct_isa default_isa(const struct ct_elf *elf)
{
    if (elf->header.e_machine != EM_ARM)
        return CT_ISA_A64;
    return elf->header.e_entry & 1 ? CT_ISA_T32 : CT_ISA_A32;
}

static int read_eh_frame(struct ct_collector *c, struct cursor section)
{
    const struct cursor begin = section;
    struct common common = {.offset = UINT64_MAX};
    for (;;) {
        struct cursor entry = section;
        uint64_t length = take_number(&entry, 4);
        const bool is_long = length == UINT32_MAX;
        if (is_long)
            length = take_number(&entry, 8);
        if (entry.bad || length < 4 || length > (size_t)(entry.end - entry.at))
            return CT_OK;
        const uint64_t id_at = (uint64_t)(entry.at - begin.at);
        section = entry;
        (void)take(&section, (size_t)length);
        entry.end = entry.at + length;
        struct cursor fields = entry;
        uint64_t id = take_number(&fields, 4);
        if (id == 0 || id > id_at) /* a common information entry, or damage */
            continue;
        if (common.offset != id_at - id) {
            struct cursor shared = begin;
            common.offset = id_at - id;
            (void)take(&shared, (size_t)common.offset);
            if (take_number(&shared, 4) == UINT32_MAX)
                (void)take(&shared, 8);
            common.encoding = shared.bad ? PE_OMIT : read_encoding(shared);
        }
        if (common.encoding == PE_OMIT)
            continue;
        uint64_t addr = take_pointer(&fields, common.encoding);
        uint64_t size = take_pointer(&fields, common.encoding & 0x0f);
        int result = fields.bad ? CT_OK : add_bounds(c, addr, size, default_isa(c->elf));
        if (result != CT_OK)
            return result;
    }
}

/* ---- location ---- */

/* Returns the bytes from an address on, in a loaded segment. */
static struct cursor cursor_at(const struct ct_elf *elf, uint64_t addr)
{
    struct cursor c = {.wide = elf->header.e_ident[EI_CLASS] == ELFCLASS64, .addr = addr};
    for (size_t i = 0; i < elf->segments; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf->elf, (int)i, &header) || header.p_type != PT_LOAD || addr < header.p_vaddr ||
            addr - header.p_vaddr >= header.p_filesz)
            continue;
        Elf_Data *data =
            elf_getdata_rawchunk(elf->elf, (int64_t)header.p_offset, (size_t)header.p_filesz, ELF_T_BYTE);
        if (!data || !data->d_buf)
            break;
        c.at = (const uint8_t *)data->d_buf + (addr - header.p_vaddr);
        c.end = (const uint8_t *)data->d_buf + data->d_size;
        return c;
    }
    return c;
}

static struct cursor section_cursor(const struct ct_elf *elf, const char *name)
{
    GElf_Shdr header;
    struct cursor c = {.wide = elf->header.e_ident[EI_CLASS] == ELFCLASS64};
    Elf_Scn *scn = ct_elf_section(elf, name, &header);
    Elf_Data *data = scn && header.sh_type != SHT_NOBITS ? elf_rawdata(scn, NULL) : NULL;
    if (!data || !data->d_buf)
        return c;
    c.at = data->d_buf;
    c.end = c.at + data->d_size;
    c.addr = header.sh_addr;
    return c;
}

/* Finds a segment of a type. */
static bool find_segment(const struct ct_elf *elf, uint32_t type, GElf_Phdr *out)
{
    for (size_t i = 0; i < elf->segments; i++)
        if (gelf_getphdr(elf->elf, (int)i, out) && out->p_type == type)
            return true;
    return false;
}

/* Finds .eh_frame by its section or, in files without sections, by .eh_frame_hdr, which has a segment. */
static struct cursor find_eh_frame(const struct ct_elf *elf)
{
    GElf_Phdr header;
    struct cursor c = section_cursor(elf, ".eh_frame");
    if (c.at || !find_segment(elf, PT_GNU_EH_FRAME, &header))
        return c;
    c = cursor_at(elf, header.p_vaddr);
    uint64_t version = take_number(&c, 1);
    uint8_t encoding = (uint8_t)take_number(&c, 1);
    (void)take(&c, 2);
    uint64_t addr = take_pointer(&c, encoding);
    if (c.bad || version != 1)
        return (struct cursor){0};
    return cursor_at(elf, addr);
}

/* ---- .ARM.exidx ---- */

/* Reads .ARM.exidx: entries of two words, sorted by address; the first word is the distance to the function
 * in 31 bits. A function ends where the next one starts, the last one at the end of its section. */
static int read_exidx(struct ct_collector *c, struct cursor table)
{
    uint64_t before = 0;
    bool is_open = false;
    for (;;) {
        const uint64_t place = table.addr;
        uint64_t word = take_number(&table, 4);
        (void)take(&table, 4);
        if (table.bad)
            break;
        uint64_t addr = (uint32_t)(place + (uint64_t)((int64_t)(word << 33) >> 33));
        addr &= ~UINT64_C(1);
        int result =
            is_open && addr > before ? add_bounds(c, before, addr - before, default_isa(c->elf)) : CT_OK;
        if (result != CT_OK)
            return result;
        before = addr;
        is_open = true;
    }
    for (size_t i = 0; is_open && i < c->code_count; i++)
        if (before + c->bias >= c->code[i].addr && before + c->bias < c->code[i].end)
            return add_bounds(c, before, c->code[i].end - c->bias - before, default_isa(c->elf));
    return CT_OK;
}

int ct_collect_unwind(struct ct_collector *c)
{
    GElf_Phdr header;
    int result = CT_OK;
    if (c->elf->header.e_ident[EI_DATA] != ELFDATA2LSB)
        return CT_OK; /* the cursors read little-endian numbers */
    struct cursor frames = find_eh_frame(c->elf);
    if (frames.at)
        result = read_eh_frame(c, frames);
    if (result != CT_OK || c->elf->header.e_machine != EM_ARM)
        return result;
    struct cursor index = section_cursor(c->elf, ".ARM.exidx");
    if (!index.at && find_segment(c->elf, PT_ARM_EXIDX, &header)) {
        index = cursor_at(c->elf, header.p_vaddr);
        if (index.at && (size_t)(index.end - index.at) > header.p_filesz)
            index.end = index.at + header.p_filesz;
    }
    return index.at ? read_exidx(c, index) : CT_OK;
}
