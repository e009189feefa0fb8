/* The functions of an ELF file by address, and its build id.
 *
 * Nothing in the file is believed: libelf checks the tables against the file, names point into one copy
 * of the string table, and time and memory grow with the size of the file only. */
#include "base/ctx.h"
#include "program/elf.h"
#include "program/mapping_symbols.h"
#include "program/memory.h"
#include "program/segments.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define STT_ARM_TFUNC_ 13 /* T32 function of the old Arm ABI */
#define MOST_BUILD_ID  64 /* bytes; SHA-1 has 20 */

struct function {
    struct ct_symbol symbol;
    uint64_t section_end; /* 0: not known */
    uint32_t order;       /* in the file */
    uint8_t rank;         /* 0 global, 1 weak, 2 local */
};

struct ct_symbols {
    struct ct_symbol *functions;
    size_t count;
    struct ct_segment *segments;
    size_t segment_count;
    struct ct_mapping mapping;
    char *names;
    uint64_t base;
    struct ct_code_range *code;
    size_t code_count;
    uint8_t build_id[MOST_BUILD_ID];
    size_t build_id_size;
};

/* One symbol table of the file while it is read. */
struct table {
    Elf *elf;
    Elf_Data *symbols;
    size_t name_size;
    uint64_t bias;
    unsigned machine;
};

void ct_symbols_free(struct ct_symbols *symbols)
{
    if (!symbols)
        return;
    free(symbols->functions);
    free(symbols->segments);
    ct_mapping_free(&symbols->mapping);
    free(symbols->names);
    free(symbols->code);
    free(symbols);
}

/* ---- reading ---- */

static uint64_t section_end(const struct table *table, size_t section)
{
    GElf_Shdr header;
    Elf_Scn *scn = section < SHN_LORESERVE ? elf_getscn(table->elf, section) : NULL;
    return scn && gelf_getshdr(scn, &header) ? header.sh_addr + header.sh_size : 0;
}

static bool is_function(const GElf_Sym *sym)
{
    unsigned type = GELF_ST_TYPE(sym->st_info);
    return (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_ARM_TFUNC_) &&
           sym->st_shndx != SHN_UNDEF;
}

static struct function make_function(const struct table *table, const GElf_Sym *sym, uint32_t order,
                                     const char *names)
{
    unsigned bind = GELF_ST_BIND(sym->st_info);
    bool t32 =
        table->machine == EM_ARM && ((sym->st_value & 1) || GELF_ST_TYPE(sym->st_info) == STT_ARM_TFUNC_);
    uint64_t value = table->machine == EM_ARM ? sym->st_value & ~UINT64_C(1) : sym->st_value;
    uint64_t end = section_end(table, sym->st_shndx);
    enum ct_isa isa = t32 ? CT_ISA_T32 : table->machine == EM_ARM ? CT_ISA_A32 : CT_ISA_A64;
    return (struct function){
        .symbol = {.name = names + sym->st_name,
                   .addr = value + table->bias,
                   .size = sym->st_size,
                   .isa = (uint8_t)isa},
        .section_end = end > value ? end + table->bias : 0,
        .order = order,
        .rank = bind == STB_LOCAL  ? 2
                : bind == STB_WEAK ? 1
                                   : 0,
    };
}

/* *out has *count functions; it is not set when there are none. */
static int read_functions(struct ct_ctx *ctx, const char *name, const struct table *table, const char *names,
                          struct function **out, size_t *count)
{
    size_t entry = gelf_fsize(table->elf, ELF_T_SYM, 1, EV_CURRENT);
    size_t total = table->symbols->d_size / entry;
    if (total > INT32_MAX)
        return ct_fail(ctx, CT_ERR_LIMIT, "%s: the symbol table has %zu entries, more than 2^31", name,
                       total);
    size_t n = 0;
    GElf_Sym sym;
    for (size_t i = 0; i < total; i++)
        n += gelf_getsym(table->symbols, (int)i, &sym) && is_function(&sym) && sym.st_name < table->name_size;
    *count = 0;
    if (n == 0)
        return CT_OK;
    struct function *functions = malloc(n * sizeof *functions);
    if (!functions)
        return ct_fail_nomem(ctx, name);
    for (size_t i = 0; i < total; i++)
        if (gelf_getsym(table->symbols, (int)i, &sym) && is_function(&sym) && sym.st_name < table->name_size)
            functions[(*count)++] = make_function(table, &sym, (uint32_t)i, names);
    *out = functions;
    return CT_OK;
}

/* Finds the first section of this type with its string table, which is copied into *names. */
static int find_table(struct ct_ctx *ctx, const char *name, const struct ct_elf *elf, uint32_t type,
                      struct table *table, char **names)
{
    for (Elf_Scn *scn = elf_nextscn(elf->elf, NULL); scn; scn = elf_nextscn(elf->elf, scn)) {
        GElf_Shdr header;
        if (!gelf_getshdr(scn, &header) || header.sh_type != type)
            continue;
        Elf_Scn *strings = elf_getscn(elf->elf, header.sh_link);
        Elf_Data *text = strings ? elf_getdata(strings, NULL) : NULL;
        table->symbols = elf_getdata(scn, NULL);
        if (!table->symbols || !text || (text->d_size && !text->d_buf))
            return ct_fail(ctx, CT_ERR_FORMAT,
                           "%s: the symbol table or its names cannot be read: the file is cut or damaged",
                           name);
        char *copy = malloc(text->d_size + 1);
        if (!copy)
            return ct_fail_nomem(ctx, name);
        if (text->d_size)
            memcpy(copy, text->d_buf, text->d_size);
        copy[text->d_size] = '\0';
        table->name_size = text->d_size;
        *names = copy;
        return CT_OK;
    }
    return CT_ERR_NOT_FOUND;
}

static int read_table(struct ct_ctx *ctx, const char *name, const struct ct_elf *elf, uint64_t bias,
                      struct ct_symbols *symbols, struct function **functions, size_t *count)
{
    static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};
    *count = 0;
    for (size_t i = 0; i < 2 && *count == 0; i++) {
        struct table table = {.elf = elf->elf, .bias = bias, .machine = elf->header.e_machine};
        free(symbols->names);
        symbols->names = NULL;
        int result = find_table(ctx, name, elf, types[i], &table, &symbols->names);
        if (result == CT_ERR_NOT_FOUND)
            continue;
        if (result == CT_OK)
            result = read_functions(ctx, name, &table, symbols->names, functions, count);
        if (result != CT_OK)
            return result;
    }
    return CT_OK;
}

/* ---- putting in order ---- */

static int by_address(const void *a, const void *b)
{
    const struct function *x = a;
    const struct function *y = b;
    if (x->symbol.addr != y->symbol.addr)
        return x->symbol.addr < y->symbol.addr ? -1 : 1;
    if ((x->symbol.size == 0) != (y->symbol.size == 0))
        return x->symbol.size == 0 ? 1 : -1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->symbol.size != y->symbol.size)
        return x->symbol.size > y->symbol.size ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Sorts, leaves one function at each address, and gives all of them a size that stays in the address space. */
static size_t arrange(struct function *functions, size_t count)
{
    qsort(functions, count, sizeof *functions, by_address);
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (n == 0 || functions[n - 1].symbol.addr != functions[i].symbol.addr)
            functions[n++] = functions[i];
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

static int make_segments(struct ct_symbols *symbols)
{
    struct ct_extent *extents = malloc(symbols->count * sizeof *extents);
    if (!extents)
        return CT_ERR_NOMEM;
    for (size_t i = 0; i < symbols->count; i++) {
        const struct ct_symbol *symbol = &symbols->functions[i];
        extents[i] = (struct ct_extent){
            .addr = symbol->addr, .end = symbol->addr + symbol->size, .owner = (uint32_t)i};
    }
    int result = ct_segments_make(extents, symbols->count, &symbols->segments, &symbols->segment_count);
    free(extents);
    return result;
}

/* ---- build id ---- */

static void find_note(Elf_Data *data, struct ct_symbols *symbols)
{
    size_t at = 0;
    size_t name;
    size_t desc;
    GElf_Nhdr note;
    while (symbols->build_id_size == 0 && (at = gelf_getnote(data, at, &note, &name, &desc)) > 0) {
        const char *bytes = data->d_buf;
        if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof ELF_NOTE_GNU ||
            memcmp(bytes + name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) != 0)
            continue;
        if (note.n_descsz == 0 || note.n_descsz > MOST_BUILD_ID)
            continue;
        memcpy(symbols->build_id, bytes + desc, note.n_descsz);
        symbols->build_id_size = note.n_descsz;
    }
}

/* Where the first segment that is loaded begins; 0 without one. */
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
static void add_code(const struct ct_elf *elf, uint64_t bias, uint32_t flags, struct ct_symbols *symbols)
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

static int find_code(struct ct_ctx *ctx, const char *name, const struct ct_elf *elf, uint64_t bias,
                     struct ct_symbols *symbols)
{
    symbols->code = malloc((elf->segments + 1) * sizeof *symbols->code);
    if (!symbols->code)
        return ct_fail_nomem(ctx, name);
    add_code(elf, bias, PF_X, symbols);
    if (!symbols->code_count)
        add_code(elf, bias, 0, symbols);
    qsort(symbols->code, symbols->code_count, sizeof *symbols->code, code_order);
    return CT_OK;
}

/* Sections first, then segments, which stripped files have too. No file needs to have its bytes read
 * more than once: notes that overlap come from a hostile one, and the rest of them is left out. */
static void find_build_id(const struct ct_elf *elf, size_t file_size, struct ct_symbols *symbols)
{
    uint64_t budget = file_size;
    for (Elf_Scn *scn = elf_nextscn(elf->elf, NULL); scn; scn = elf_nextscn(elf->elf, scn)) {
        GElf_Shdr header;
        if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_NOTE || header.sh_size > budget)
            continue;
        budget -= header.sh_size;
        Elf_Data *data = elf_getdata(scn, NULL);
        if (data && data->d_buf)
            find_note(data, symbols);
        if (symbols->build_id_size)
            return;
    }
    budget = file_size;
    for (size_t i = 0; i < elf->segments && symbols->build_id_size == 0; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf->elf, (int)i, &header) || header.p_type != PT_NOTE || header.p_filesz > budget)
            continue;
        budget -= header.p_filesz;
        Elf_Data *data = elf_getdata_rawchunk(elf->elf, (int64_t)header.p_offset, (size_t)header.p_filesz,
                                              header.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
        if (data && data->d_buf)
            find_note(data, symbols);
    }
}

/* ---- the whole ---- */

static int load(struct ct_ctx *ctx, const char *name, const struct ct_elf *elf, uint64_t bias,
                struct ct_symbols *symbols)
{
    if (elf->header.e_type == ET_REL)
        return ct_fail(
            ctx, CT_ERR_UNSUPPORTED,
            "%s: an object file that was not linked: its functions have no addresses; use the program", name);
    struct function *functions = NULL;
    size_t count = 0;
    int result = ct_mapping_read(ctx, name, elf, bias, &symbols->mapping);
    if (result == CT_OK)
        result = read_table(ctx, name, elf, bias, symbols, &functions, &count);
    if (result != CT_OK || count == 0) {
        free(functions);
        return result;
    }
    symbols->count = arrange(functions, count);
    symbols->functions = malloc(symbols->count * sizeof *symbols->functions);
    for (size_t i = 0; symbols->functions && i < symbols->count; i++)
        symbols->functions[i] = functions[i].symbol;
    free(functions);
    if (!symbols->functions || make_segments(symbols) != CT_OK)
        return ct_fail_nomem(ctx, name);
    return CT_OK;
}

int ct_symbols_load_bytes(struct ct_ctx *ctx, const char *name, const void *bytes, size_t size, uint64_t bias,
                          struct ct_symbols **out)
{
    if (!name || !bytes || !out)
        return ct_fail(ctx, CT_ERR_ARG, "ct_symbols_load_bytes: a null pointer");
    struct ct_elf elf = {0};
    int result = ct_elf_open(ctx, name, bytes, size, &elf);
    if (result != CT_OK)
        return result;
    struct ct_symbols *symbols = calloc(1, sizeof *symbols);
    if (!symbols) {
        ct_elf_close(&elf);
        return ct_fail_nomem(ctx, name);
    }
    result = load(ctx, name, &elf, bias, symbols);
    if (result == CT_OK)
        result = find_code(ctx, name, &elf, bias, symbols);
    if (result == CT_OK) {
        find_build_id(&elf, size, symbols);
        symbols->base = first_load(&elf) + bias;
        *out = symbols;
    } else {
        ct_symbols_free(symbols);
    }
    ct_elf_close(&elf);
    return result;
}

int ct_symbols_load(struct ct_ctx *ctx, const char *path, uint64_t bias, struct ct_symbols **out)
{
    if (!path || !out)
        return ct_fail(ctx, CT_ERR_ARG, "ct_symbols_load: a null pointer");
    struct ct_mapped_file *file;
    int result = ct_mapped_file_open(ctx, path, &file);
    if (result != CT_OK)
        return result;
    result = ct_symbols_load_bytes(ctx, path, file->bytes, file->size, bias, out);
    ct_mapped_file_close(file);
    return result;
}

const struct ct_symbol *ct_symbols_all(const struct ct_symbols *symbols, size_t *count)
{
    *count = symbols->count;
    return symbols->functions;
}

const struct ct_symbol *ct_symbols_at(const struct ct_symbols *symbols, uint64_t addr, uint64_t *offset)
{
    uint32_t function = ct_segments_at(symbols->segments, symbols->segment_count, addr);
    if (function == CT_SEGMENT_NONE)
        return NULL;
    const struct ct_symbol *symbol = &symbols->functions[function];
    if (offset)
        *offset = addr - symbol->addr;
    return symbol;
}

enum ct_isa ct_symbols_isa_at(const struct ct_symbols *symbols, uint64_t addr)
{
    const struct ct_map_point *point = ct_mapping_at(&symbols->mapping, addr);
    if (point)
        return (enum ct_isa)point->isa;
    const struct ct_symbol *symbol = ct_symbols_at(symbols, addr, NULL);
    if (!symbol)
        symbol = symbols->functions;
    return symbol ? (enum ct_isa)symbol->isa : CT_ISA_A64;
}

uint64_t ct_symbols_base(const struct ct_symbols *symbols)
{
    return symbols->base;
}

const struct ct_code_range *ct_symbols_code(const struct ct_symbols *symbols, size_t *count)
{
    *count = symbols->code_count;
    return symbols->code;
}

const uint8_t *ct_symbols_build_id(const struct ct_symbols *symbols, size_t *size)
{
    *size = symbols->build_id_size;
    return symbols->build_id_size ? symbols->build_id : NULL;
}
