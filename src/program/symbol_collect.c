/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the functions of an ELF file from all sources of names and bounds, and the code between them. */
#include "base/ctx.h"
#include "base/padding.h"
#include "base/room.h"
#include "base/search.h"
#include "program/segments.h"
#include "program/symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int ct_collect(struct ct_collector *c, const struct ct_function *function)
{
    if (!CT_MAKE_ROOM(c->functions, c->room, c->count + 1))
        return ct_fail_nomem(c->ctx, c->name);
    c->functions[c->count++] = *function;
    return CT_OK;
}

int ct_collect_label(struct ct_collector *c, const struct ct_function *label)
{
    if (!CT_MAKE_ROOM(c->labels, c->label_room, c->label_count + 1))
        return ct_fail_nomem(c->ctx, c->name);
    c->labels[c->label_count++] = *label;
    return CT_OK;
}

Elf_Scn *ct_elf_section(const struct ct_elf *elf, const char *name, GElf_Shdr *header)
{
    size_t names;
    if (elf_getshdrstrndx(elf->elf, &names) != 0)
        return NULL;
    for (Elf_Scn *scn = elf_nextscn(elf->elf, NULL); scn; scn = elf_nextscn(elf->elf, scn)) {
        const char *text = gelf_getshdr(scn, header) ? elf_strptr(elf->elf, names, header->sh_name) : NULL;
        if (text && strcmp(text, name) == 0)
            return scn;
    }
    return NULL;
}

static int by_begin(const void *a, const void *b)
{
    const struct ct_code_bytes *x = a, *y = b;
    return ct_order(x->addr, y->addr);
}

static void add_code(struct ct_collector *c, uint64_t addr, const Elf_Data *data)
{
    if (!data || !data->d_buf || data->d_size == 0 || addr + c->bias > UINT64_MAX - data->d_size)
        return;
    c->code[c->code_count++] =
        (struct ct_code_bytes){addr + c->bias, addr + c->bias + data->d_size, data->d_buf};
}

/* Finds the sections of code, or without any, and in a copy of memory, the segments. Those that overlap an
 * earlier one are cut or skipped. */
static int find_code(struct ct_collector *c)
{
    const bool is_memory = c->elf->header.e_type == ET_CORE;
    size_t sections = 0;
    size_t n = 0;
    (void)elf_getshdrnum(c->elf->elf, &sections);
    c->code = malloc((sections + c->elf->segments + 1) * sizeof *c->code);
    if (!c->code)
        return ct_fail_nomem(c->ctx, c->name);
    for (Elf_Scn *scn = elf_nextscn(c->elf->elf, NULL); scn; scn = elf_nextscn(c->elf->elf, scn)) {
        GElf_Shdr header;
        if (gelf_getshdr(scn, &header) && header.sh_type == SHT_PROGBITS && header.sh_flags & SHF_EXECINSTR &&
            header.sh_flags & SHF_ALLOC)
            add_code(c, header.sh_addr, elf_rawdata(scn, NULL));
    }
    for (size_t i = 0; (sections <= 1 || is_memory) && i < c->elf->segments; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(c->elf->elf, (int)i, &header) && header.p_type == PT_LOAD && header.p_flags & PF_X)
            add_code(c, header.p_vaddr,
                     elf_getdata_rawchunk(c->elf->elf, (int64_t)header.p_offset, (size_t)header.p_filesz,
                                          ELF_T_BYTE));
    }
    if (c->code_count)
        qsort(c->code, c->code_count, sizeof *c->code, by_begin);
    for (size_t i = 0; i < c->code_count; i++) {
        struct ct_code_bytes code = c->code[i];
        if (n && code.addr < c->code[n - 1].end) {
            if (code.end <= c->code[n - 1].end)
                continue;
            code.bytes += c->code[n - 1].end - code.addr;
            code.addr = c->code[n - 1].end;
        }
        c->code[n++] = code;
    }
    c->code_count = n;
    return CT_OK;
}

uint64_t ct_collect_code_end(const struct ct_collector *c, uint64_t addr)
{
    const size_t low = CT_COUNT_UP_TO(c->code, c->code_count, addr, addr);
    return low && addr < c->code[low - 1].end ? c->code[low - 1].end : 0;
}

bool ct_collect_is_code(const struct ct_collector *c, uint64_t addr, uint64_t size)
{
    const uint64_t end = ct_collect_code_end(c, addr);
    return end && size <= end - addr;
}

/* Reads names for the program's functions from another file. Damage in that file is not an error of the
 * program. */
static int read_names(struct ct_collector *c, const char *name, const void *bytes, size_t size,
                      enum ct_symbol_source source, size_t *found)
{
    struct ct_elf elf = {0};
    int result = ct_elf_open(NULL, name, bytes, size, &elf);
    *found = 0;
    if (result == CT_OK && elf.header.e_machine != c->elf->header.e_machine)
        result = CT_ERR_FORMAT;
    if (result == CT_OK)
        result = ct_collect_table(c, &elf, SHT_SYMTAB, source, found);
    if (result == CT_OK && !c->mapping->count) {
        ct_mapping_free(c->mapping);
        result = ct_mapping_read(c->ctx, name, &elf, c->bias, c->mapping);
    }
    if (elf.elf)
        ct_elf_close(&elf);
    if (result == CT_OK || result == CT_ERR_NOMEM)
        return result;
    ct_log(c->ctx, CT_LOG_WARNING,
           "%s: the symbols in %s cannot be read, so they are unknown; use an undamaged copy of the file",
           c->name, name);
    return CT_OK;
}

static int read_mini_debug(struct ct_collector *c, uint64_t limit, size_t *found)
{
    uint8_t *bytes;
    size_t size;
    int result = ct_mini_debug(c, limit, &bytes, &size);
    if (result == CT_OK && bytes)
        result = read_names(c, ".gnu_debugdata", bytes, size, CT_SYMBOL_MINIDEBUG, found);
    free(bytes);
    return result;
}

static int read_debug_file(struct ct_collector *c, const struct ct_symbol_options *options, const char *path,
                           bool online)
{
    struct ct_mapped_file *file;
    size_t found;
    int result = ct_debug_file_find(c->ctx, options->files, path, c->elf, online, &file);
    if (result != CT_OK || !file)
        return result;
    result = read_names(c, file->path, file->bytes, file->size, CT_SYMBOL_DEBUG_FILE, &found);
    ct_mapped_file_close(file);
    return result;
}

int ct_collect_all(struct ct_collector *c, const struct ct_symbol_options *options, const char *path)
{
    size_t symtab = 0;
    size_t dynsym = 0;
    size_t mini = 0;
    int result = find_code(c);
    if (result == CT_OK)
        result = ct_collect_table(c, c->elf, SHT_SYMTAB, CT_SYMBOL_SYMTAB, &symtab);
    if (result == CT_OK)
        result = ct_collect_table(c, c->elf, SHT_DYNSYM, CT_SYMBOL_DYNSYM, &dynsym);
    if (result == CT_OK && !symtab)
        result = read_mini_debug(c, ct_debug_limit(options->files), &mini);
    result = ct_unless_nomem(c->ctx, c->name, result);
    if (result == CT_OK && !symtab && path)
        result = read_debug_file(c, options, path, mini == 0);
    errno = 0;
    if (result == CT_OK && path && c->elf->header.e_type == ET_CORE)
        result = ct_collect_kallsyms(c, path);
    errno = 0;
    if (result == CT_OK && !symtab)
        result = ct_collect_go(c);
    if (result == CT_OK)
        result = ct_collect_plt(c);
    if (result == CT_OK)
        result = ct_collect_unwind(c);
    return ct_unless_nomem(c->ctx, c->name, result);
}

/* ---- sorting ---- */

/* Compares names, those with fewer leading underscores first, so that the order does not depend on their
 * table. */
static int by_name(const char *a, const char *b)
{
    return ct_order(strspn(a, "_"), strspn(b, "_")) ?: strcmp(a, b);
}

int ct_function_order(const void *a, const void *b)
{
    const struct ct_function *f = a, *g = b;
    const struct ct_symbol *x = &f->symbol, *y = &g->symbol;
    return ct_order(x->addr, y->addr)
           ?: ct_order(!x->name, !y->name)
           ?: ct_order(x->size == 0, y->size == 0)
           ?: ct_order(f->rank, g->rank)
           ?: ct_order(y->size, x->size)
           ?: (x->name ? by_name(x->name, y->name) : 0)
           ?: ct_order(x->source, y->source);
}

/* Keeps one function at each address, with bounds from unwind information if it has none, and removes
 * nameless functions that start inside of a named one. */
static size_t unite(struct ct_function *functions, size_t count)
{
    uint64_t named_end = 0;
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        struct ct_symbol *symbol = &functions[i].symbol;
        struct ct_symbol *before = n ? &functions[n - 1].symbol : NULL;
        if (before && before->addr == symbol->addr) {
            if (before->size == 0 && symbol->source == CT_SYMBOL_UNWIND)
                before->size = symbol->size;
            if (before->name && before->addr + before->size > named_end)
                named_end = before->addr + before->size;
            continue;
        }
        if (!symbol->name && symbol->addr < named_end)
            continue;
        if (symbol->name && symbol->size <= UINT64_MAX - symbol->addr &&
            symbol->addr + symbol->size > named_end)
            named_end = symbol->addr + symbol->size;
        functions[n++] = functions[i];
    }
    return n;
}

void ct_collect_arrange(struct ct_collector *c)
{
    struct ct_function *functions = c->functions;
    if (!c->count)
        return;
    qsort(functions, c->count, sizeof *functions, ct_function_order);
    const size_t n = c->count = unite(functions, c->count);
    for (size_t i = 0; i < n; i++) {
        struct ct_symbol *symbol = &functions[i].symbol;
        if (symbol->size == 0) {
            uint64_t end = functions[i].section_end > symbol->addr ? functions[i].section_end : symbol->addr;
            if (i + 1 < n && (end == symbol->addr || functions[i + 1].symbol.addr < end))
                end = functions[i + 1].symbol.addr;
            symbol->size = end - symbol->addr;
        }
        if (symbol->size > UINT64_MAX - symbol->addr)
            symbol->size = UINT64_MAX - symbol->addr;
    }
}

/* Returns the end of the code of label `i`: the next label, the function `next` or the end of its section. */
static uint64_t label_end(const struct ct_collector *c, size_t i, const struct ct_function *next)
{
    const uint64_t addr = c->labels[i].symbol.addr;
    uint64_t end = ct_collect_code_end(c, addr);
    while (i + 1 < c->label_count && c->labels[i + 1].symbol.addr == addr)
        i++;
    if (i + 1 < c->label_count && c->labels[i + 1].symbol.addr < end)
        end = c->labels[i + 1].symbol.addr;
    return next && next->symbol.addr < end ? next->symbol.addr : end;
}

int ct_collect_labels(struct ct_collector *c)
{
    const size_t count = c->count;
    size_t f = 0;
    uint64_t end = 0; /* end of the functions before a label */
    if (c->label_count)
        qsort(c->labels, c->label_count, sizeof *c->labels, ct_function_order);
    for (size_t i = 0; i < c->label_count; i++) {
        struct ct_symbol *label = &c->labels[i].symbol;
        for (; f < count && c->functions[f].symbol.addr <= label->addr; f++)
            if (c->functions[f].symbol.addr + c->functions[f].symbol.size > end)
                end = c->functions[f].symbol.addr + c->functions[f].symbol.size;
        struct ct_symbol *before = f ? &c->functions[f - 1].symbol : NULL;
        const bool is_there = before && before->addr == label->addr;
        if (is_there && !before->name)
            before->name = label->name;
        if (label->addr < end || is_there) /* a function may have no size */
            continue;
        const struct ct_map_point *point = ct_mapping_at(c->mapping, label->addr);
        if (point && point->isa != CT_ISA_UNKNOWN)
            label->isa = (uint8_t)point->isa;
        end = label_end(c, i, f < count ? &c->functions[f] : NULL);
        label->size = end - label->addr;
        if (ct_collect(c, &c->labels[i]) != CT_OK)
            return CT_ERR_NOMEM;
    }
    if (c->count > count)
        qsort(c->functions, c->count, sizeof *c->functions, ct_function_order);
    return CT_OK;
}

/* ---- code between functions ---- */

static int add_piece(struct ct_collector *c, uint64_t addr, uint64_t end)
{
    const unsigned machine = c->elf->header.e_machine;
    const uint8_t isa = machine == EM_AARCH64        ? CT_ISA_A64
                        : c->elf->header.e_entry & 1 ? CT_ISA_T32
                                                     : CT_ISA_A32;
    const struct ct_function piece = {
        .symbol = {.addr = addr, .size = end - addr, .isa = isa, .source = CT_SYMBOL_CODE}};
    return addr < end ? ct_collect(c, &piece) : CT_OK;
}

/* Adds [addr, end), with padding after a function as a separate piece: the code after the padding is named by
 * its own start. */
static int add_pieces(struct ct_collector *c, const struct ct_code_bytes *code, uint64_t addr, uint64_t end)
{
    const bool wide = c->elf->header.e_machine == EM_AARCH64;
    uint64_t begin = addr;
    while (addr > code->addr && begin < end) {
        size_t skip = ct_padding(code->bytes + (begin - code->addr), (size_t)(end - begin), wide);
        if (skip == 0)
            break;
        begin += skip;
    }
    int result = add_piece(c, addr, begin);
    return result == CT_OK ? add_piece(c, begin, end) : result;
}

int ct_collect_pieces(struct ct_collector *c, const struct ct_segment *segments, size_t count)
{
    size_t s = 0;
    int result = CT_OK;
    for (size_t i = 0; i < c->code_count && result == CT_OK; i++) {
        const struct ct_code_bytes *code = &c->code[i];
        uint64_t addr = code->addr;
        while (s < count && segments[s].start <= addr)
            s++;
        bool is_free = s == 0 || segments[s - 1].owner == CT_SEGMENT_NONE;
        for (; result == CT_OK && s < count && segments[s].start < code->end; s++) {
            if (is_free)
                result = add_pieces(c, code, addr, segments[s].start);
            is_free = segments[s].owner == CT_SEGMENT_NONE;
            addr = segments[s].start;
        }
        if (is_free && result == CT_OK)
            result = add_pieces(c, code, addr, code->end);
    }
    return result;
}
