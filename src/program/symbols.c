/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of an ELF file, sorted by address, and look-ups in them. */
#include "base/search.h"
#include "program/symbols.h"
#include "base/archive.h"
#include "base/bytes.h"
#include "base/array_of.h"
#include "base/ctx.h"
#include "base/options.h"
#include "base/path.h"
#include "base/printable.h"
#include "base/require.h"
#include "program/demangle.h"
#include "program/part_file.h"
#include "program/segments.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    if (symbols->file) {
        ct_part_file_close(symbols->file);
    } else {
        free(symbols->all);
        free(symbols->segments);
        free(symbols->pieces);
        free(symbols->code);
        ct_mapping_free(&symbols->mapping);
    }
    ct_arena_free(&symbols->arena);
    free(symbols);
}

/* ---- loading ---- */

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

/* Returns the address of the first loaded segment; 0 without one. */
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
    const struct ct_code_range *x = a, *y = b;
    return ct_order(x->low, y->low);
}

/* Adds the segments with one of these flags, 0: all. */
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

const char *ct_symbols_module_name(struct ct_symbols *s, const char *path)
{
    const char *copy = ct_arena_strdup(&s->arena, ct_base_name(path));
    return copy ? ct_printable(&s->arena, copy) : NULL;
}

/* Takes functions [from, end) from the collector as those with number symbols->count and following, and names
 * those without a name. */
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
    ct_collect_arrange(c);
    if (ct_collect_labels(c) != CT_OK)
        return CT_ERR_NOMEM;
    const size_t functions = c->count;
    if (take(s, c, 0, functions) != CT_OK ||
        make_segments(s->all, 0, functions, &s->segments, &s->segment_count) != CT_OK ||
        ct_collect_pieces(c, s->segments, s->segment_count) != CT_OK || c->count > INT32_MAX ||
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
            "%s: this is an unlinked object file, so its functions have no addresses; use the linked program",
            name);
    errno = 0;
    int result =
        options->headers_alone ? CT_OK : ct_mapping_read(ctx, name, elf, options->bias, &symbols->mapping);
    if (result == CT_OK && !options->headers_alone)
        result = ct_collect_all(&c, options, path);
    if (result == CT_OK && !options->headers_alone)
        result = build(symbols, &c);
    if (result == CT_OK)
        result = find_ranges(ctx, name, elf, options->bias, symbols);
    free(c.functions);
    free(c.labels);
    free(c.code);
    return result;
}

/* Loads the functions of a file of `size` bytes. */
static int make(struct ct_ctx *ctx, const char *name, const char *path, const struct ct_elf *elf, size_t size,
                const struct ct_symbol_options *options, struct ct_symbols **out)
{
    struct ct_symbols *symbols = calloc(1, sizeof *symbols);
    if (symbols)
        symbols->module = ct_symbols_module_name(symbols, options->module ? options->module : name);
    if (!symbols || !symbols->module) {
        ct_symbols_free(symbols);
        return ct_fail_nomem(ctx, name);
    }
    symbols->ctx = ctx;
    symbols->bias = options->bias;
    symbols->raw_names = options->raw_names;
    int result = load(ctx, name, path, elf, options, symbols);
    if (result == CT_OK) {
        symbols->build_id_size = ct_elf_build_id(elf, size, symbols->build_id);
        const uint64_t entry =
            elf->header.e_machine == EM_ARM ? elf->header.e_entry & ~UINT64_C(1) : elf->header.e_entry;
        symbols->entry = entry ? entry + options->bias : 0;
        symbols->base = first_load(elf) + options->bias;
        result = ct_unless_nomem(ctx, name, CT_OK);
    }
    if (result == CT_OK)
        *out = symbols;
    else
        ct_symbols_free(symbols);
    return result;
}

int ct_symbols_make(struct ct_ctx *ctx, const char *name, const char *path, const void *bytes, size_t size,
                    const struct ct_symbol_options *options, struct ct_symbols **out)
{
    struct ct_elf elf = {0};
    int result = ct_elf_open(ctx, name, bytes, size, &elf);
    if (result != CT_OK)
        return result;
    result = make(ctx, name, path, &elf, size, options, out);
    ct_elf_close(&elf);
    return result;
}

/* Opens a file whose headers libelf can read separately: a linked ELF file that is not in an archive. Returns
 * -1 for others, which must be read whole. */
static int open_linked(const char *path, size_t *size)
{
    struct ct_archived where;
    struct stat st;
    uint8_t head[EI_NIDENT + sizeof(Elf64_Half)];
    const int fd = ct_archive_open(path, &where);
    if (fd < 0)
        return -1;
    if (!where.inside && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head && memcmp(head, ELFMAG, SELFMAG) == 0 &&
        head[EI_DATA] == ELFDATA2LSB && ct_load16(head + EI_NIDENT) != ET_REL) {
        *size = (size_t)st.st_size;
        return fd;
    }
    close(fd);
    return -1;
}

/* Loads the contents of a file's headers. *done stays false for a file that must be read whole. */
static int load_headers(struct ct_ctx *ctx, const char *path, const struct ct_symbol_options *options,
                        bool *done, struct ct_symbols **out)
{
    struct ct_elf elf;
    size_t size;
    const int fd = open_linked(path, &size);
    if (fd < 0)
        return CT_OK;
    int result = ct_elf_open_fd(ctx, path, fd, size, &elf);
    if (result == CT_OK) {
        result = make(ctx, path, path, &elf, size, options, out);
        ct_elf_close(&elf);
    }
    close(fd);
    *done = true;
    return result;
}

int ct_symbols_load_bytes(struct ct_ctx *ctx, const char *name, const void *bytes, size_t size, uint64_t bias,
                          struct ct_symbols **out)
{
    const struct ct_symbol_options options = {.size = sizeof options, .bias = bias};
    CT_REQUIRE_OUT(ctx, out, name, bytes);
    return ct_symbols_make(ctx, name, NULL, bytes, size, &options, out);
}

int ct_symbols_load_with(struct ct_ctx *ctx, const char *path, const struct ct_symbol_options *options,
                         struct ct_symbols **out)
{
    struct ct_symbol_options o;
    struct ct_mapped_file *file;
    bool done = false;
    CT_REQUIRE_OUT(ctx, out, path);
    int result = ct_options_read(ctx, "ct_symbols_load_with", options, &o, sizeof o);
    if (result == CT_OK && o.headers_alone)
        result = load_headers(ctx, path, &o, &done, out);
    if (result == CT_OK && !done)
        result = ct_mapped_file_open(ctx, path, o.placed, &file);
    if (result != CT_OK || done)
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

/* Returns the name of code that an emulator maps for the program, or NULL. QEMU 7.2 puts the instructions by
 * which handlers of signals return on a page that belongs to no file; Linux has them in its vDSO, under this
 * name. */
static const char *name_of_image(const struct ct_image *image)
{
    uint8_t words[8] = {0};
    struct ct_archived where;
    const int fd = ct_archive_open(image->path, &where);
    const off_t offset = (off_t)(image->offset + (where.inside ? where.offset : 0));
    const bool read = fd >= 0 && pread(fd, words, sizeof words, offset) == (ssize_t)sizeof words;
    if (fd >= 0)
        close(fd);
    return read && ct_load32(words) == 0xd2801168 /* mov x8, #139 */ &&
                   ct_load32(words + 4) == 0xd4000001 /* svc #0 */
               ? "__kernel_rt_sigreturn"
               : NULL;
}

static int make_image(struct ct_ctx *ctx, struct ct_symbols *s, const struct ct_image *image, uint64_t size)
{
    struct ct_function piece = {
        .symbol = {
            .name = name_of_image(image), .addr = image->addr, .size = size, .source = CT_SYMBOL_CODE}};
    const struct ct_collector c = {.ctx = ctx, .name = image->path, .functions = &piece, .count = 1};
    s->bias = image->addr - image->offset;
    s->base = image->addr;
    s->module = ct_symbols_module_name(s, image->path);
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
    CT_REQUIRE_OUT(ctx, out, image, image->path, !image->is_elf);
    if (!image->size && stat(image->path, &st) != 0)
        return ct_fail(ctx, CT_ERR_IO, "%s: the file cannot be examined: %s; name a file that can be read",
                       image->path, strerror(errno));
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

/* Makes the names of the functions printable, and remembers labels of them. */
static int prepare_list(struct ct_symbols *s, const char *path)
{
    bool fine = s->all && s->segments;
    for (size_t i = 0; i < s->count && fine; i++)
        fine = (s->all[i].name = ct_printable(&s->arena, s->all[i].name)) != NULL;
    s->module = fine ? ct_symbols_module_name(s, path) : NULL;
    s->labels = s->module ? calloc(s->count + 1, sizeof *s->labels) : NULL;
    return s->labels ? CT_OK : ct_fail_nomem(s->ctx, path);
}

int ct_symbols_of_list(struct ct_ctx *ctx, const char *path, const struct ct_symbol_list *list, int rc,
                       struct ct_symbols **out)
{
    struct ct_symbols whole = {.ctx = ctx,
                               .all = list->all,
                               .functions = list->count,
                               .count = list->count,
                               .segments = list->segments,
                               .segment_count = list->segment_count,
                               .arena = list->names};
    struct ct_symbols *symbols = malloc(sizeof *symbols);
    if (!symbols) {
        free(whole.all);
        free(whole.segments);
        ct_arena_free(&whole.arena);
        return ct_fail_nomem(ctx, path);
    }
    *symbols = whole;
    rc = rc ? rc : prepare_list(symbols, path);
    if (rc == CT_OK)
        *out = symbols;
    else
        ct_symbols_free(symbols);
    return rc;
}

/* ---- looking up ---- */

const struct ct_symbol *ct_symbols_all(const struct ct_symbols *symbols, size_t *count)
{
    return CT_ARRAY_OF(symbols, all, functions, count);
}

const struct ct_symbol *ct_symbols_all_code(const struct ct_symbols *symbols, size_t *count)
{
    return CT_ARRAY_OF(symbols, all, count, count);
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
    return CT_ARRAY_OF(symbols, code, code_count, count);
}

const uint8_t *ct_symbols_build_id(const struct ct_symbols *symbols, size_t *size)
{
    if (!symbols)
        return NULL;
    *size = symbols->build_id_size;
    return symbols->build_id_size ? symbols->build_id : NULL;
}
