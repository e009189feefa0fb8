/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the functions of an ELF file by address, from everything that tells where they are, and finds its
 * build id. */
#include "program/symbols.h"
#include "base/ctx.h"
#include "base/options.h"
#include "base/printable.h"
#include "base/room.h"
#include "base/search.h"
#include "program/demangle.h"
#include "program/segments.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct ct_symbols {
    struct ct_ctx *ctx;
    struct ct_symbol *all; /* functions, and behind them pieces of code */
    size_t functions, count;
    struct ct_segment *segments; /* segments whose owners are functions */
    size_t segment_count;
    struct ct_segment *pieces; /* segments whose owners are pieces of code */
    size_t piece_count;
    struct ct_mapping_symbols mapping;
    struct ct_arena arena; /* names */
    char **labels;         /* demangled names that somebody asked for, by number; the name itself: it is
                              not mangled */
    const char *module;
    uint64_t bias, base, entry;
    uint8_t build_id[CT_BUILD_ID_MOST];
    size_t build_id_size;
    struct ct_code_range *code;
    size_t code_count;
    bool raw_names;
};

void ct_symbols_free(struct ct_symbols *symbols)
{
    if (!symbols)
        return;
    for (size_t i = 0; symbols->labels && i < symbols->count; i++) {
        char *label = symbols->labels[i];
        if (label != symbols->all[i].name)
            free(label);
    }
    free(symbols->labels);
    free(symbols->all);
    free(symbols->segments);
    free(symbols->pieces);
    free(symbols->code);
    ct_mapping_free(&symbols->mapping);
    ct_arena_free(&symbols->arena);
    free(symbols);
}

/* ---- collecting ---- */

int ct_collect(struct ct_collector *c, const struct ct_function *function)
{
    if (!CT_MAKE_ROOM(c->functions, c->room, c->count + 1))
        return ct_fail_nomem(c->ctx, c->name);
    c->functions[c->count++] = *function;
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
    const struct ct_code_bytes *x = a;
    const struct ct_code_bytes *y = b;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void add_code(struct ct_collector *c, uint64_t addr, const Elf_Data *data)
{
    if (!data || !data->d_buf || data->d_size == 0 || addr + c->bias > UINT64_MAX - data->d_size)
        return;
    c->code[c->code_count++] =
        (struct ct_code_bytes){addr + c->bias, addr + c->bias + data->d_size, data->d_buf};
}

/* Sections of code, or without any, and in a copy of memory, the segments. Those that overlap an earlier one
 * are cut or left out. */
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

/* Names from another file with those of the program. What is wrong with it is no fault of the program. */
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
    ct_log(c->ctx, CT_LOG_WARNING, "%s: the symbols in %s cannot be read, so its names are not known",
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

/* Collects functions from all sections that tell any. Those of a stripped file are read only if .symtab is
 * missing. `path` may be NULL. */
static int collect(struct ct_collector *c, const struct ct_symbol_options *options, const char *path)
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

/* ---- putting in order ---- */

/* Names with fewer underscores at the begin first: the same order whatever table they come from. */
static int by_name(const char *a, const char *b)
{
    size_t x = strspn(a, "_");
    size_t y = strspn(b, "_");
    return x != y ? x < y ? -1 : 1 : strcmp(a, b);
}

int ct_function_order(const void *a, const void *b)
{
    const struct ct_function *f = a;
    const struct ct_function *g = b;
    const struct ct_symbol *x = &f->symbol;
    const struct ct_symbol *y = &g->symbol;
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    if (!x->name != !y->name)
        return x->name ? -1 : 1;
    if ((x->size == 0) != (y->size == 0))
        return x->size == 0 ? 1 : -1;
    if (f->rank != g->rank)
        return f->rank < g->rank ? -1 : 1;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    int order = x->name ? by_name(x->name, y->name) : 0;
    return order ? order : (int)x->source - (int)y->source;
}

/* Leaves one function at each address, which takes bounds that it has none of from unwind information, and no
 * nameless one that begins inside of a function with a name. */
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

/* Sorts the functions, keeps one at each address, and gives each a size that does not leave the address
 * space. */
static size_t arrange(struct ct_function *functions, size_t count)
{
    if (!count)
        return 0;
    qsort(functions, count, sizeof *functions, ct_function_order);
    const size_t n = unite(functions, count);
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
    return n;
}

static int make_segments(const struct ct_symbol *all, size_t first, size_t end, struct ct_segment **out,
                         size_t *count)
{
    struct ct_extent *extents = malloc((end - first + 1) * sizeof *extents);
    if (!extents)
        return CT_ERR_NOMEM;
    for (size_t i = first; i < end; i++)
        extents[i - first] =
            (struct ct_extent){.addr = all[i].addr, .end = all[i].addr + all[i].size, .owner = (uint32_t)i};
    int result = ct_segments_make(extents, end - first, out, count);
    free(extents);
    return result;
}

/* ---- code between functions ---- */

/* Bytes of padding at `bytes`: zeros or an instruction that does nothing; 0 when it is something else. */
static size_t padding(const uint8_t *bytes, size_t size, bool wide)
{
    static const uint8_t words[][4] = {{0, 0, 0, 0},
                                       {0x1f, 0x20, 0x03, 0xd5},
                                       {0, 0, 0xa0, 0xe1},
                                       {0, 0xf0, 0x20, 0xe3},
                                       {0xaf, 0xf3, 0, 0x80}};
    const size_t count = wide ? 2 : sizeof words / sizeof *words;
    for (size_t i = 0; size >= 4 && i < count; i++)
        if (memcmp(bytes, words[i], 4) == 0)
            return 4;
    if (size >= 2 && !wide && ((bytes[0] == 0 && bytes[1] == 0xbf) || (bytes[0] == 0xc0 && bytes[1] == 0x46)))
        return 2;
    if (size >= 2 && !wide && bytes[0] == 0 && bytes[1] == 0)
        return 2;
    return size < (wide ? 4 : 2) && bytes[0] == 0 ? 1 : 0; /* a zero byte may begin an instruction */
}

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

/* Adds [addr, end), and padding behind a function as a piece of its own: what is behind
 * that has the name of its begin. */
static int add_pieces(struct ct_collector *c, const struct ct_code_bytes *code, uint64_t addr, uint64_t end)
{
    const bool wide = c->elf->header.e_machine == EM_AARCH64;
    uint64_t begin = addr;
    while (addr > code->addr && begin < end) {
        size_t skip = padding(code->bytes + (begin - code->addr), (size_t)(end - begin), wide);
        if (skip == 0)
            break;
        begin += skip;
    }
    int result = add_piece(c, addr, begin);
    return result == CT_OK ? add_piece(c, begin, end) : result;
}

/* Finds the code that is in none of the functions, to which `segments` belong. */
static int find_pieces(struct ct_collector *c, const struct ct_segment *segments, size_t count)
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

/* ---- the whole ---- */

/* Returns where the first segment that is loaded begins; 0 without one. */
static uint64_t first_load(const struct ct_elf *elf)
{
    GElf_Phdr header;
    for (size_t i = 0; i < elf->segments; i++)
        if (gelf_getphdr(elf->elf, (int)i, &header) && header.p_type == PT_LOAD)
            return header.p_vaddr;
    return 0;
}

static int code_order(const void *a, const void *b)
{
    const struct ct_code_range *x = a;
    const struct ct_code_range *y = b;
    return x->low < y->low ? -1 : x->low > y->low;
}

/* Notes the segments with one of these flags, 0: all. */
static void add_range(const struct ct_elf *elf, uint64_t bias, uint32_t flags, struct ct_symbols *symbols)
{
    GElf_Phdr header;
    for (size_t i = 0; i < elf->segments; i++) {
        if (!gelf_getphdr(elf->elf, (int)i, &header) || header.p_type != PT_LOAD || !header.p_memsz ||
            (header.p_flags & flags) != flags)
            continue;
        const uint64_t low = header.p_vaddr + bias;
        const uint64_t size = header.p_memsz < UINT64_MAX - low ? header.p_memsz : UINT64_MAX - low;
        symbols->code[symbols->code_count++] = (struct ct_code_range){low, low + size};
    }
}

static int find_ranges(struct ct_ctx *ctx, const char *name, const struct ct_elf *elf, uint64_t bias,
                       struct ct_symbols *symbols)
{
    symbols->code = malloc((elf->segments + 1) * sizeof *symbols->code);
    if (!symbols->code)
        return ct_fail_nomem(ctx, name);
    add_range(elf, bias, PF_X, symbols);
    if (!symbols->code_count)
        add_range(elf, bias, 0, symbols);
    qsort(symbols->code, symbols->code_count, sizeof *symbols->code, code_order);
    return CT_OK;
}

/* Returns the name of the file as a module: the last part of its path, printable and owned by the symbols.
 * NULL without memory. */
static const char *module_name(struct ct_symbols *s, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *copy = ct_arena_strdup(&s->arena, slash ? slash + 1 : path);
    return copy ? ct_printable(&s->arena, copy) : NULL;
}

/* Takes functions number symbols->count and following from the collector, and names those that have none. */
static int take(struct ct_symbols *s, const struct ct_collector *c, size_t from, size_t end)
{
    struct ct_symbol *all = realloc(s->all, (s->count + (end - from) + 1) * sizeof *all);
    if (!all)
        return CT_ERR_NOMEM;
    s->all = all;
    for (size_t i = from; i < end; i++) {
        struct ct_symbol *symbol = &all[s->count++];
        *symbol = c->functions[i].symbol;
        const struct ct_map_point *point = symbol->name ? NULL : ct_mapping_at(&s->mapping, symbol->addr);
        if (point && point->isa != CT_ISA_UNKNOWN)
            symbol->isa = (uint8_t)point->isa;
        if (!symbol->name)
            symbol->name = ct_arena_printf(&s->arena, "%s+0x%" PRIx64, s->module, symbol->addr - s->bias);
        if (symbol->name)
            symbol->name = ct_printable(&s->arena, symbol->name);
        if (!symbol->name)
            return CT_ERR_NOMEM;
    }
    return CT_OK;
}

static int build(struct ct_symbols *s, struct ct_collector *c)
{
    size_t functions = arrange(c->functions, c->count);
    c->count = functions;
    if (take(s, c, 0, functions) != CT_OK ||
        make_segments(s->all, 0, functions, &s->segments, &s->segment_count) != CT_OK ||
        find_pieces(c, s->segments, s->segment_count) != CT_OK || c->count > INT32_MAX ||
        take(s, c, functions, c->count) != CT_OK ||
        make_segments(s->all, functions, s->count, &s->pieces, &s->piece_count) != CT_OK)
        return ct_fail_nomem(c->ctx, c->name);
    s->functions = functions;
    s->labels = calloc(s->count + 1, sizeof *s->labels);
    return s->labels ? CT_OK : ct_fail_nomem(c->ctx, c->name);
}

static int load(struct ct_ctx *ctx, const char *name, const char *path, const struct ct_elf *elf,
                const struct ct_symbol_options *options, struct ct_symbols *symbols)
{
    struct ct_collector c = {.ctx = ctx,
                             .name = name,
                             .elf = elf,
                             .bias = options->bias,
                             .arena = &symbols->arena,
                             .mapping = &symbols->mapping};
    if (elf->header.e_type == ET_REL)
        return ct_fail(
            ctx, CT_ERR_UNSUPPORTED,
            "%s: an object file that was not linked: its functions have no addresses; use the program", name);
    errno = 0;
    int result = ct_mapping_read(ctx, name, elf, options->bias, &symbols->mapping);
    if (result == CT_OK)
        result = collect(&c, options, path);
    if (result == CT_OK)
        result = build(symbols, &c);
    if (result == CT_OK)
        result = find_ranges(ctx, name, elf, options->bias, symbols);
    free(c.functions);
    free(c.code);
    return result;
}

int ct_symbols_make(struct ct_ctx *ctx, const char *name, const char *path, const void *bytes, size_t size,
                    const struct ct_symbol_options *options, struct ct_symbols **out)
{
    struct ct_elf elf = {0};
    int result = ct_elf_open(ctx, name, bytes, size, &elf);
    if (result != CT_OK)
        return result;
    struct ct_symbols *symbols = calloc(1, sizeof *symbols);
    if (symbols)
        symbols->module = module_name(symbols, options->module ? options->module : name);
    if (!symbols || !symbols->module) {
        ct_symbols_free(symbols);
        ct_elf_close(&elf);
        return ct_fail_nomem(ctx, name);
    }
    symbols->ctx = ctx;
    symbols->bias = options->bias;
    symbols->raw_names = options->raw_names;
    result = load(ctx, name, path, &elf, options, symbols);
    if (result == CT_OK) {
        symbols->build_id_size = ct_elf_build_id(&elf, size, symbols->build_id);
        const uint64_t entry =
            elf.header.e_machine == EM_ARM ? elf.header.e_entry & ~UINT64_C(1) : elf.header.e_entry;
        symbols->entry = entry ? entry + options->bias : 0;
        symbols->base = first_load(&elf) + options->bias;
        result = ct_unless_nomem(ctx, name, CT_OK);
    }
    if (result == CT_OK)
        *out = symbols;
    else
        ct_symbols_free(symbols);
    ct_elf_close(&elf);
    return result;
}

int ct_symbols_load_bytes(struct ct_ctx *ctx, const char *name, const void *bytes, size_t size, uint64_t bias,
                          struct ct_symbols **out)
{
    const struct ct_symbol_options options = {.size = sizeof options, .bias = bias};
    if (!name || !bytes || !out)
        return ct_fail_null(ctx, "ct_symbols_load_bytes");
    return ct_symbols_make(ctx, name, NULL, bytes, size, &options, out);
}

int ct_symbols_load_with(struct ct_ctx *ctx, const char *path, const struct ct_symbol_options *options,
                         struct ct_symbols **out)
{
    struct ct_symbol_options o;
    struct ct_mapped_file *file;
    if (!path || !out)
        return ct_fail_null(ctx, "ct_symbols_load_with");
    int result = ct_options_read(ctx, "ct_symbols_load_with", options, &o, sizeof o);
    if (result == CT_OK)
        result = ct_mapped_file_open(ctx, path, o.placed, &file);
    if (result != CT_OK)
        return result;
    result = ct_symbols_make(ctx, path, path, file->bytes, file->size, &o, out);
    ct_mapped_file_close(file);
    return result;
}

int ct_symbols_load(struct ct_ctx *ctx, const char *path, uint64_t bias, struct ct_symbols **out)
{
    const struct ct_symbol_options options = {.size = sizeof options, .bias = bias};
    return ct_symbols_load_with(ctx, path, &options, out);
}

static int make_image(struct ct_ctx *ctx, struct ct_symbols *s, const struct ct_image *image, uint64_t size)
{
    struct ct_function piece = {.symbol = {.addr = image->addr, .size = size, .source = CT_SYMBOL_CODE}};
    const struct ct_collector c = {.ctx = ctx, .name = image->path, .functions = &piece, .count = 1};
    s->bias = image->addr - image->offset;
    s->base = image->addr;
    s->module = module_name(s, image->path);
    s->code = malloc(sizeof *s->code);
    s->labels = calloc(2, sizeof *s->labels);
    if (!s->module || !s->code || !s->labels || take(s, &c, 0, 1) != CT_OK ||
        make_segments(s->all, 0, 1, &s->pieces, &s->piece_count) != CT_OK)
        return ct_fail_nomem(ctx, image->path);
    s->code[s->code_count++] = (struct ct_code_range){image->addr, image->addr + size};
    return CT_OK;
}

int ct_symbols_of_image(struct ct_ctx *ctx, const struct ct_image *image, struct ct_symbols **out)
{
    struct stat st;
    if (!image || !image->path || image->is_elf || !out)
        return ct_fail(ctx, CT_ERR_ARG, "ct_symbols_of_image: a null pointer, or an ELF file");
    if (!image->size && stat(image->path, &st) != 0)
        return ct_fail(ctx, CT_ERR_IO, "%s: cannot be examined: %s", image->path, strerror(errno));
    uint64_t size = image->size ? image->size : (uint64_t)st.st_size - image->offset;
    if (!image->size && (uint64_t)st.st_size < image->offset)
        size = 0;
    if (size > UINT64_MAX - image->addr)
        size = UINT64_MAX - image->addr;
    struct ct_symbols *symbols = calloc(1, sizeof *symbols);
    int result = symbols ? make_image(ctx, symbols, image, size) : ct_fail_nomem(ctx, image->path);
    if (result == CT_OK)
        *out = symbols;
    else
        ct_symbols_free(symbols);
    return result;
}

/* ---- looking up ---- */

const struct ct_symbol *ct_symbols_all(const struct ct_symbols *symbols, size_t *count)
{
    if (ct_no_array(symbols, count))
        return NULL;
    *count = symbols->functions;
    return symbols->all;
}

const struct ct_symbol *ct_symbols_all_code(const struct ct_symbols *symbols, size_t *count)
{
    if (ct_no_array(symbols, count))
        return NULL;
    *count = symbols->count;
    return symbols->all;
}

static const struct ct_symbol *find(const struct ct_symbols *symbols, const struct ct_segment *segments,
                                    size_t count, uint64_t addr, uint64_t *offset)
{
    uint32_t number = ct_segments_at(segments, count, addr);
    if (number == CT_SEGMENT_NONE)
        return NULL;
    if (offset)
        *offset = addr - symbols->all[number].addr;
    return &symbols->all[number];
}

const struct ct_symbol *ct_symbols_at(const struct ct_symbols *symbols, uint64_t addr, uint64_t *offset)
{
    if (!symbols)
        return NULL;
    return find(symbols, symbols->segments, symbols->segment_count, addr, offset);
}

const struct ct_symbol *ct_symbols_code_at(const struct ct_symbols *symbols, uint64_t addr, uint64_t *offset)
{
    if (!symbols)
        return NULL;
    const struct ct_symbol *symbol = ct_symbols_at(symbols, addr, offset);
    return symbol ? symbol : find(symbols, symbols->pieces, symbols->piece_count, addr, offset);
}

const char *ct_symbols_label(const struct ct_symbols *symbols, const struct ct_symbol *symbol)
{
    if (!symbols)
        return NULL;
    char **slot = &symbols->labels[symbol - symbols->all];
    if (symbols->raw_names || !ct_demangle_may(symbol->name))
        return symbol->name;
    char *label = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (label)
        return label;
    errno = 0;
    char *made = ct_demangle(symbol->name);
    if (!made && errno == ENOMEM)
        ct_note_nomem(symbols->ctx);
    if (!made)
        made = (char *)(uintptr_t)symbol->name;
    if (__atomic_compare_exchange_n(slot, &label, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    if (made != symbol->name) /* another thread was faster */
        free(made);
    return label;
}

const char *ct_symbols_describe(const struct ct_symbols *symbols, uint64_t addr, char *text, size_t size)
{
    if (!symbols)
        return NULL;
    uint64_t offset;
    const struct ct_symbol *symbol = ct_symbols_at(symbols, addr, &offset);
    if (symbol && symbol->source == CT_SYMBOL_UNWIND)
        symbol = NULL;
    if (symbol && offset)
        snprintf(text, size, "%s+0x%" PRIx64, ct_symbols_label(symbols, symbol), offset);
    else if (symbol)
        snprintf(text, size, "%s", ct_symbols_label(symbols, symbol));
    else
        snprintf(text, size, "%s+0x%" PRIx64, symbols->module, addr - symbols->bias);
    return text;
}

int ct_symbols_is_named(const struct ct_symbols *symbols, const struct ct_symbol *symbol, const char *name)
{
    if (!symbols || !symbol || !name)
        return 0;
    if (strcmp(symbol->name, name) == 0)
        return 1;
    return ct_demangle_may(symbol->name) && strcmp(ct_symbols_label(symbols, symbol), name) == 0;
}

uint64_t ct_symbols_bias(const struct ct_symbols *symbols)
{
    if (!symbols)
        return 0;
    return symbols->bias;
}

const char *ct_symbols_module(const struct ct_symbols *symbols)
{
    if (!symbols)
        return NULL;
    return symbols->module;
}

enum ct_isa ct_symbols_isa_at(const struct ct_symbols *symbols, uint64_t addr)
{
    if (!symbols)
        return CT_ISA_UNKNOWN;
    const struct ct_map_point *point = ct_mapping_at(&symbols->mapping, addr);
    if (point)
        return (enum ct_isa)point->isa;
    const struct ct_symbol *symbol = ct_symbols_code_at(symbols, addr, NULL);
    if (!symbol && symbols->count)
        symbol = symbols->all;
    return symbol ? (enum ct_isa)symbol->isa : CT_ISA_A64;
}

void ct_symbols_around(const struct ct_symbols *symbols, uint64_t addr, struct ct_symbol_span *span)
{
    if (!span)
        return;
    *span = (struct ct_symbol_span){.end = UINT64_MAX, .isa = CT_ISA_UNKNOWN};
    if (!symbols)
        return;
    const uint32_t function =
        ct_segments_around(symbols->segments, symbols->segment_count, addr, &span->from, &span->end);
    const uint32_t piece =
        ct_segments_around(symbols->pieces, symbols->piece_count, addr, &span->from, &span->end);
    span->function = function == CT_SEGMENT_NONE ? NULL : &symbols->all[function];
    span->code = span->function || piece == CT_SEGMENT_NONE ? span->function : &symbols->all[piece];
    ct_mapping_around(&symbols->mapping, addr, &span->from, &span->end);
    span->isa = ct_symbols_isa_at(symbols, addr);
}

uint64_t ct_symbols_base(const struct ct_symbols *symbols)
{
    if (!symbols)
        return 0;
    return symbols->base;
}

uint64_t ct_symbols_entry(const struct ct_symbols *symbols)
{
    if (!symbols)
        return 0;
    return symbols->entry;
}

const struct ct_code_range *ct_symbols_code(const struct ct_symbols *symbols, size_t *count)
{
    if (ct_no_array(symbols, count))
        return NULL;
    *count = symbols->code_count;
    return symbols->code;
}

const uint8_t *ct_symbols_build_id(const struct ct_symbols *symbols, size_t *size)
{
    if (!symbols)
        return NULL;
    *size = symbols->build_id_size;
    return symbols->build_id_size ? symbols->build_id : NULL;
}
