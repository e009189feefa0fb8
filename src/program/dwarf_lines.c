/* SPDX-License-Identifier: Apache-2.0 */
/* Loads debug information into tables, and looks things up in them. The file may hold anything: libdw checks
 * offsets against sections, and what is read of the rest is bounded by their size. */
#include "program/dwarf_lines.h"
#include "base/bytes.h"
#include "base/ctx.h"
#include "base/options.h"
#include "base/search.h"
#include "program/elf.h"
#include "program/memory.h"
#include "program/symbols.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void ct_lines_free(struct ct_lines *lines)
{
    if (!lines)
        return;
    free(lines->rows);
    free(lines->labels);
    free(lines->scopes);
    free(lines->segments);
    ct_names_free(&lines->files);
    ct_names_free(&lines->names);
    if (lines->sources)
        ct_source_roots_free(lines->sources);
    free(lines->sources);
    free(lines);
}

/* ---- loading ---- */

int ct_dwarf_grow(struct ct_dwarf_reader *reader, void **array, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return CT_OK;
    size_t wider = *room ? *room * 2 : 256;
    void *moved = realloc(*array, wider * size);
    if (!moved)
        return ct_fail_nomem(reader->ctx, reader->name);
    *array = moved;
    *room = wider;
    return CT_OK;
}

int ct_dwarf_status(const struct ct_dwarf_reader *reader, int result)
{
    return ct_unless_nomem(reader->ctx, reader->name, result ? result : reader->result);
}

uint32_t ct_dwarf_file(struct ct_dwarf_reader *reader, const char *path)
{
    if (!path)
        return CT_LINE_NONE;
    size_t length = strlen(path);
    char *plain = malloc(length + 1);
    if (!plain) {
        reader->result = ct_fail_nomem(reader->ctx, reader->name);
        return CT_LINE_NONE;
    }
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        bool begins = n == 0 || plain[n - 1] == '/';
        if (begins && n && path[i] == '/')
            continue;
        if (begins && path[i] == '.' && path[i + 1] == '/') {
            i++;
            continue;
        }
        plain[n++] = path[i];
    }
    plain[n] = '\0';
    uint32_t file = ct_names_add_printable(&reader->lines->files, plain);
    if (file == CT_NAMES_NONE)
        reader->result = ct_fail_nomem(reader->ctx, reader->name);
    free(plain);
    return file;
}

/* Returns the size to which a packed section claims to unpack, by its own header or the "ZLIB" of GNU; 0 when
 * it is not packed. libdw makes room for so much before it unpacks, and takes no more. */
static uint64_t claim_of(Elf_Scn *scn, const GElf_Shdr *header, const char *name)
{
    GElf_Chdr whole;
    if (header->sh_flags & SHF_COMPRESSED)
        return gelf_getchdr(scn, &whole) ? whole.ch_size : 0;
    const Elf_Data *data = name && strstr(name, "zdebug_") ? elf_rawdata(scn, NULL) : NULL;
    /* a section without bytes in the file (SHT_NOBITS) has a size and no buffer */
    if (!data || !data->d_buf || data->d_size < 12 || memcmp(data->d_buf, "ZLIB", 4) != 0)
        return 0;
    return __builtin_bswap64(ct_load64((const uint8_t *)data->d_buf + 4));
}

/* Adds up what all packed sections of the file claim; UINT64_MAX when that overflows. */
static uint64_t claim_of_all(Elf *elf)
{
    uint64_t sum = 0;
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return 0;
    for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn)) {
        GElf_Shdr header;
        if (gelf_getshdr(scn, &header) &&
            __builtin_add_overflow(sum, claim_of(scn, &header, elf_strptr(elf, names, header.sh_name)), &sum))
            return UINT64_MAX;
    }
    return sum;
}

/* Takes what the file claims to unpack to off what the program may still have. CT_ERR_LIMIT: it is more. */
static int spend(struct ct_dwarf_reader *reader, const char *name, Elf *elf)
{
    const uint64_t claim = claim_of_all(elf);
    if (claim > reader->unpacked_left)
        return ct_fail(reader->ctx, CT_ERR_LIMIT,
                       "%s: its packed debug information claims 0x%" PRIx64 " bytes, more than the %" PRIu64
                       " MiB that are left of the limit; nothing of it was read; raise the limit with "
                       "--debug-limit when the file is to be trusted",
                       name, claim, reader->unpacked_left >> 20);
    reader->unpacked_left -= claim;
    return CT_OK;
}

/* Adds up the unpacked sizes of all debug sections; *packed tells whether some are packed. */
static size_t size_of_debug(Elf *elf, bool *packed)
{
    size_t size = 0;
    size_t names;
    *packed = false;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return 0;
    for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn)) {
        GElf_Shdr header;
        GElf_Chdr whole;
        const char *name = gelf_getshdr(scn, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (!name || strcmp(name, ".debug_gdb_scripts") == 0 ||
            (strncmp(name, ".debug_", 7) != 0 && strncmp(name, ".zdebug_", 8) != 0))
            continue;
        bool is_packed = header.sh_flags & SHF_COMPRESSED && gelf_getchdr(scn, &whole);
        size += is_packed ? whole.ch_size : header.sh_size;
        *packed |= is_packed || name[1] == 'z';
    }
    return size;
}

/* more than any program has */
#define MOST_DEBUG (UINT64_C(1) << 32)

/* The file to which dwz moved what several programs have in common, as libdw takes it. */
struct shared {
    struct ct_mapped_file *file;
    struct ct_elf elf;
    uint8_t *copy; /* of the file: libdw unpacks sections in place and changes their headers */
    Dwarf *dwarf;
};

static void close_shared(struct shared *shared)
{
    if (shared->dwarf)
        dwarf_end(shared->dwarf);
    if (shared->elf.elf)
        ct_elf_close(&shared->elf);
    free(shared->copy);
    ct_mapped_file_close(shared->file);
}

static uint8_t *copy_of(const void *bytes, size_t size)
{
    uint8_t *copy = malloc(size);
    if (copy)
        memcpy(copy, bytes, size);
    return copy;
}

/* Gives the file to libdw, which unpacks its sections. NULL when it does not take it, or when a string in it
 * has no end: libdw would read on behind it. */
static Dwarf *begin_dwarf(struct ct_dwarf_reader *reader, Elf *elf, const char *name)
{
    Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
    const char *unended = dwarf ? ct_dwarf_unended_strings(elf) : NULL;
    if (!dwarf && errno != ENOMEM)
        ct_log(reader->ctx, CT_LOG_WARNING,
               "%s: the debug information cannot be read: %s; there are no lines of it", name,
               dwarf_errmsg(-1));
    if (!unended)
        return dwarf;
    ct_log(reader->ctx, CT_LOG_WARNING,
           "%s: %s: its last string has no end; the debug information is not read, there are no lines of it; "
           "take an undamaged copy of the file",
           name, unended);
    dwarf_end(dwarf);
    return NULL;
}

/* Opens the file that .gnu_debugaltlink names, if there is one. */
static int open_shared(struct ct_dwarf_reader *reader, struct shared *shared)
{
    const char *name;
    const void *id;
    ssize_t size = dwelf_dwarf_gnu_debugaltlink(reader->dwarf, &name, &id);
    if (size <= 0)
        return CT_OK;
    int result = reader->path ? ct_debug_file_shared(reader->ctx, reader->files, reader->path, name, id,
                                                     (size_t)size, &shared->file)
                              : CT_OK;
    shared->copy = shared->file ? copy_of(shared->file->bytes, shared->file->size) : NULL;
    if (shared->file && !shared->copy)
        return ct_fail_nomem(reader->ctx, reader->name);
    errno = 0;
    if (shared->copy && ct_elf_open(NULL, name, shared->copy, shared->file->size, &shared->elf) == CT_OK)
        result = spend(reader, name, shared->elf.elf);
    if (shared->elf.elf && result == CT_OK)
        shared->dwarf = begin_dwarf(reader, shared->elf.elf, name);
    result = ct_dwarf_status(reader, result);
    if (shared->dwarf)
        dwarf_setalt(reader->dwarf, shared->dwarf);
    else if (result == CT_OK && !shared->elf.elf)
        ct_log(
            reader->ctx, CT_LOG_WARNING,
            "%s: %s, which has a part of its debug information, is not there: some functions have no lines; "
            "name the folder that has it with --symdir",
            reader->name, name);
    return result;
}

static int read_debug(struct ct_dwarf_reader *reader, Elf *elf)
{
    struct shared shared = {0};
    errno = 0;
    reader->dwarf = begin_dwarf(reader, elf, reader->name);
    if (!reader->dwarf)
        return ct_dwarf_status(reader, CT_OK);
    int result = ct_dwarf_status(reader, open_shared(reader, &shared));
    errno = 0;
    if (result == CT_OK)
        result = ct_dwarf_read_rows(reader);
    if (result == CT_OK)
        result = ct_dwarf_status(reader, ct_dwarf_read_scopes(reader));
    dwarf_end(reader->dwarf);
    close_shared(&shared);
    return result;
}

/* Reads a file with packed sections from a copy, because libdw unpacks in place and changes headers. */
static int read_packed(struct ct_dwarf_reader *reader, const void *bytes, size_t size)
{
    uint8_t *copy = copy_of(bytes, size);
    if (!copy)
        return ct_fail_nomem(reader->ctx, reader->name);
    struct ct_elf elf = {0};
    int result = ct_elf_open(reader->ctx, reader->name, copy, size, &elf);
    if (result == CT_OK) {
        result = read_debug(reader, elf.elf);
        ct_elf_close(&elf);
    }
    free(copy);
    return result;
}

static int load(struct ct_dwarf_reader *reader, const struct ct_elf *elf, const void *bytes, size_t size)
{
    if (elf->header.e_type == ET_REL)
        return ct_fail(reader->ctx, CT_ERR_UNSUPPORTED,
                       "%s: an object file that was not linked: its lines have no addresses; use the program",
                       reader->name);
    bool packed;
    errno = 0;
    reader->size = size_of_debug(elf->elf, &packed);
    if (reader->size == 0)
        return ct_dwarf_status(reader, CT_OK);
    const int result = ct_dwarf_status(reader, spend(reader, reader->name, elf->elf));
    if (result != CT_OK)
        return result;
    if (reader->size > MOST_DEBUG)
        return ct_fail(reader->ctx, CT_ERR_LIMIT,
                       "%s: 0x%zx bytes of debug information, more than 4 GiB; nothing of it was read",
                       reader->name, reader->size);
    return packed ? read_packed(reader, bytes, size) : read_debug(reader, elf->elf);
}

static struct ct_lines *new_lines(struct ct_ctx *ctx, const char *name, const char *path,
                                  const struct ct_debug_files *files)
{
    struct ct_lines *lines = calloc(1, sizeof *lines);
    if (lines)
        lines->sources = calloc(1, sizeof *lines->sources);
    if (!lines || !lines->sources) {
        ct_lines_free(lines);
        ct_fail_nomem(ctx, name);
        return NULL;
    }
    if (ct_source_roots_make(lines->sources, ctx, path, files) == CT_OK)
        return lines;
    ct_lines_free(lines);
    return NULL;
}

/* Reads the lines of the file, or of its separate file with debug information if it has none itself. `path`,
 * near which that lies, may be NULL. */
static int make(struct ct_ctx *ctx, const char *name, const char *path, const void *bytes, size_t size,
                const struct ct_line_options *options, struct ct_lines **out)
{
    struct ct_elf elf = {0};
    struct ct_mapped_file *debug = NULL;
    const char *program = path;
    bool packed;
    int result = ct_elf_open(ctx, name, bytes, size, &elf);
    const bool has_none = result == CT_OK && path && size_of_debug(elf.elf, &packed) == 0;
    if (result == CT_OK)
        result = ct_unless_nomem(ctx, name, CT_OK);
    if (result == CT_OK && has_none)
        result = ct_debug_file_find(ctx, options->files, path, &elf, true, &debug);
    if (result == CT_OK && debug) {
        ct_elf_close(&elf);
        path = debug->path;
        bytes = debug->bytes;
        size = debug->size;
        result = ct_elf_open(ctx, path, bytes, size, &elf);
    }
    if (result != CT_OK) {
        if (elf.elf)
            ct_elf_close(&elf);
        ct_mapped_file_close(debug);
        return result;
    }
    struct ct_dwarf_reader reader = {.ctx = ctx,
                                     .name = name,
                                     .path = path,
                                     .files = options->files,
                                     .bias = options->bias,
                                     .unpacked_left = ct_debug_limit(options->files)};
    reader.lines = new_lines(ctx, name, program, options->files);
    result = reader.lines ? load(&reader, &elf, bytes, size) : CT_ERR_NOMEM;
    ct_elf_close(&elf);
    ct_mapped_file_close(debug);
    if (result != CT_OK) {
        ct_lines_free(reader.lines);
        return result;
    }
    *out = reader.lines;
    return CT_OK;
}

int ct_lines_load_bytes(struct ct_ctx *ctx, const char *name, const void *bytes, size_t size, uint64_t bias,
                        struct ct_lines **out)
{
    const struct ct_line_options options = {.size = sizeof options, .bias = bias};
    if (!name || !bytes || !out)
        return ct_fail_null(ctx, "ct_lines_load_bytes");
    return make(ctx, name, NULL, bytes, size, &options, out);
}

int ct_lines_load_with(struct ct_ctx *ctx, const char *path, const struct ct_line_options *options,
                       struct ct_lines **out)
{
    struct ct_line_options o;
    struct ct_mapped_file *file;
    if (!path || !out)
        return ct_fail_null(ctx, "ct_lines_load_with");
    int result = ct_options_read(ctx, "ct_lines_load_with", options, &o, sizeof o);
    if (result == CT_OK)
        result = ct_mapped_file_open(ctx, path, &file);
    if (result != CT_OK)
        return result;
    result = make(ctx, path, path, file->bytes, file->size, &o, out);
    ct_mapped_file_close(file);
    return result;
}

int ct_lines_load(struct ct_ctx *ctx, const char *path, uint64_t bias, struct ct_lines **out)
{
    const struct ct_line_options options = {.size = sizeof options, .bias = bias};
    return ct_lines_load_with(ctx, path, &options, out);
}

/* ---- looking up ---- */

const struct ct_line *ct_lines_all(const struct ct_lines *lines, size_t *count)
{
    if (ct_no_array(lines, count))
        return NULL;
    *count = lines->row_count;
    return lines->rows;
}

const struct ct_line *ct_lines_at(const struct ct_lines *lines, uint64_t addr)
{
    if (!lines)
        return NULL;
    const size_t low = CT_COUNT_UP_TO(lines->rows, lines->row_count, addr, addr);
    return low && addr < lines->rows[low - 1].end ? &lines->rows[low - 1] : NULL;
}

const char *ct_lines_file(const struct ct_lines *lines, uint32_t file)
{
    if (!lines)
        return NULL;
    return file < lines->files.count ? lines->files.names[file] : NULL;
}

int ct_lines_source(const struct ct_lines *lines, uint32_t file, char **text, size_t *size)
{
    if (!lines || !text)
        return CT_ERR_ARG;
    return ct_source_read(lines->sources, ct_lines_file(lines, file), text, size);
}

uint32_t ct_lines_file_count(const struct ct_lines *lines)
{
    if (!lines)
        return 0;
    return lines->files.count;
}

int ct_lines_file_is(const struct ct_lines *lines, uint32_t file, const char *name)
{
    if (!lines || !name)
        return 0;
    const char *path = ct_lines_file(lines, file);
    size_t length = strlen(name);
    size_t whole = path ? strlen(path) : 0;
    if (length == 0 || whole < length || strcmp(path + whole - length, name) != 0)
        return 0;
    return whole == length || path[whole - length - 1] == '/';
}

/* Returns the first line from `line` on that has code in one of the wanted files; 0 when there is none. */
static uint32_t nearest_line(const struct ct_lines *lines, const bool *wanted, uint32_t line)
{
    uint32_t best = 0;
    for (size_t i = 0; i < lines->row_count; i++) {
        const struct ct_line *row = &lines->rows[i];
        if (wanted[row->file] && row->flags & CT_LINE_STMT && row->line >= line &&
            (!best || row->line < best))
            best = row->line;
    }
    return best;
}

static bool same_line(const struct ct_line *a, const struct ct_line *b)
{
    return a->file == b->file && a->line == b->line;
}

/* Returns true when row i only continues the line of the row before it, or is at the same address as another
 * row of the line. */
static bool continues(const struct ct_lines *lines, size_t i)
{
    const struct ct_line *row = &lines->rows[i];
    for (size_t k = i; k > 0 && lines->rows[k - 1].end == row->addr; k--) {
        const struct ct_line *before = &lines->rows[k - 1];
        if (same_line(before, row) && before->flags & CT_LINE_STMT)
            return true;
        if (before->addr != before->end)
            return same_line(before, row);
    }
    return false;
}

static int find(const struct ct_lines *lines, const bool *wanted, uint32_t line, uint64_t *addrs, size_t most,
                size_t *count)
{
    for (size_t i = 0; i < lines->row_count; i++) {
        const struct ct_line *row = &lines->rows[i];
        if (!wanted[row->file] || row->line != line || !(row->flags & CT_LINE_STMT) || continues(lines, i))
            continue;
        if (*count < most)
            addrs[*count] = row->addr;
        ++*count;
    }
    return CT_OK;
}

int ct_lines_find(const struct ct_lines *lines, const char *name, uint32_t line, uint64_t *addrs, size_t most,
                  size_t *count, uint32_t *found)
{
    if (!lines || !name || (!addrs && most) || !count)
        return CT_ERR_ARG;
    *count = 0;
    if (lines->files.count == 0)
        return CT_ERR_NOT_FOUND;
    bool *wanted = calloc(lines->files.count, sizeof *wanted);
    if (!wanted)
        return CT_ERR_NOMEM;
    for (uint32_t i = 0; i < lines->files.count; i++)
        wanted[i] = ct_lines_file_is(lines, i, name);
    uint32_t taken = nearest_line(lines, wanted, line ? line : 1);
    if (found)
        *found = taken;
    int result = taken ? find(lines, wanted, taken, addrs, most, count) : CT_ERR_NOT_FOUND;
    free(wanted);
    return result;
}

const struct ct_line *ct_lines_labels(const struct ct_lines *lines, size_t *count)
{
    if (ct_no_array(lines, count))
        return NULL;
    *count = lines->label_count;
    return lines->labels;
}

const struct ct_line_scope *ct_lines_scopes(const struct ct_lines *lines, size_t *count)
{
    if (ct_no_array(lines, count))
        return NULL;
    *count = lines->scope_count;
    return lines->scopes;
}

uint32_t ct_lines_scope_at(const struct ct_lines *lines, uint64_t addr)
{
    if (!lines)
        return CT_LINE_NONE;
    return ct_segments_at(lines->segments, lines->segment_count, addr);
}
