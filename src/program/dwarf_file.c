/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the debug information of a file: its own, that of its separate file, and the part that dwz moved to a
 * shared one. The file may contain anything: libdw checks offsets against sections, and this file limits the
 * sizes that compressed sections claim. */
#include "base/bytes.h"
#include "base/ctx.h"
#include "program/dwarf_lines.h"
#include "program/dwarf_package.h"
#include "program/elf.h"
#include "program/memory.h"
#include "program/symbols.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns the uncompressed size that a section claims, in its own header or GNU's "ZLIB" header; 0 when it is
 * not compressed. libdw allocates this size before it uncompresses, and uses no more. */
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

/* Returns the sum of the sizes that all compressed sections of the file claim; UINT64_MAX when it
 * overflows. */
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

/* Subtracts the uncompressed size of the file from the program's budget. CT_ERR_LIMIT: the budget does not
 * suffice. */
static int spend(struct ct_dwarf_reader *reader, const char *name, Elf *elf)
{
    const uint64_t claim = claim_of_all(elf);
    if (claim > reader->unpacked_left)
        return ct_fail(reader->ctx, CT_ERR_LIMIT,
                       "%s: its compressed debug information claims 0x%" PRIx64
                       " bytes, more than the %" PRIu64
                       " MiB that are left of the limit; none of it was read; if you trust the file, raise "
                       "the limit with --debug-limit",
                       name, claim, reader->unpacked_left >> 20);
    reader->unpacked_left -= claim;
    return CT_OK;
}

/* Returns the sum of the uncompressed sizes of all debug sections; *packed says whether some are
 * compressed. */
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

/* The shared file to which dwz moved what several programs have in common, opened for libdw. */
struct shared {
    struct ct_mapped_file *file;
    struct ct_elf elf;
    uint8_t *copy; /* of the file: libdw uncompresses sections in place and changes their headers */
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

/* Returns whether a section is compressed with zstd, which libdw reads from 0.189 on. To older ones the file
 * seems to have no debug information. */
static bool has_zstd(Elf *elf)
{
    static const GElf_Word zstd = 2; /* ELFCOMPRESS_ZSTD, which older <elf.h> lack */
    for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn)) {
        GElf_Shdr header;
        GElf_Chdr whole;
        if (gelf_getshdr(scn, &header) && header.sh_flags & SHF_COMPRESSED && gelf_getchdr(scn, &whole) &&
            whole.ch_type == zstd)
            return true;
    }
    return false;
}

static void tell_unreadable(struct ct_dwarf_reader *reader, Elf *elf, const char *name)
{
    if (has_zstd(elf))
        ct_log(reader->ctx, CT_LOG_WARNING,
               "%s: its debug information is compressed with zstd, which this version of libdw does not "
               "read; its source lines are unknown; use libdw 0.189 or later, or uncompress the sections "
               "with objcopy --decompress-debug-sections",
               name);
    else
        ct_log(reader->ctx, CT_LOG_WARNING,
               "%s: the debug information cannot be read: %s; its source lines are unknown; use an undamaged "
               "copy of the file",
               name, dwarf_errmsg(-1));
}

/* Opens the file with libdw, which uncompresses its sections. NULL when libdw refuses it, when a string in it
 * is not terminated (libdw would read past its end), or when reading its abbreviations for each unit would
 * take too much. */
static Dwarf *begin_dwarf(struct ct_dwarf_reader *reader, Elf *elf, const char *name)
{
    Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
    const char *unended = dwarf ? ct_dwarf_unended_strings(elf) : NULL;
    if (!dwarf && errno != ENOMEM)
        tell_unreadable(reader, elf, name);
    if (!dwarf || (!unended && ct_dwarf_abbrevs_fit(dwarf, elf)))
        return dwarf;
    ct_log(reader->ctx, CT_LOG_WARNING,
           "%s: %s: %s; the debug information was not read, and its source lines are unknown; use an "
           "undamaged copy of the file",
           name, unended ? unended : ".debug_abbrev",
           unended ? "its last string is not terminated"
                   : "its abbreviation tables are too long for the number of units that use them");
    dwarf_end(dwarf);
    return NULL;
}

/* Opens the file named by .gnu_debugaltlink, if there is one. */
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
    /* clang 14 believes that writing to errno changes *shared. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
    if (shared->elf.elf && result == CT_OK)
        shared->dwarf = begin_dwarf(reader, shared->elf.elf, name);
    result = ct_dwarf_status(reader, result);
    if (shared->dwarf)
        dwarf_setalt(reader->dwarf, shared->dwarf);
    else if (result == CT_OK && !shared->elf.elf)
        ct_log(reader->ctx, CT_LOG_WARNING,
               "%s: the file %s, which contains a part of its debug information, was not found; some "
               "functions have no source lines; name the folder that contains it with --symdir",
               reader->name, name);
    return result;
}

struct ct_dwarf_split {
    struct shared file;
};

static bool is_split(const char *section)
{
    const size_t size = strlen(section);
    return size >= 4 && strcmp(section + size - 4, ".dwo") == 0;
}

/* Takes the names of all debug sections away that do not belong to split units, if `hides`. Returns whether
 * there are sections of split units. */
static bool hide_others(Elf *elf, bool hides)
{
    size_t names;
    bool found = false;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn)) {
        GElf_Shdr header;
        const char *name = gelf_getshdr(scn, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (!name || !strstr(name, "debug_"))
            continue;
        found |= is_split(name);
        header.sh_name = 0;
        if (hides && !is_split(name))
            gelf_update_shdr(scn, &header);
    }
    return found;
}

/* Hides the skeletons in a file that has split units, too. Both are in the objects of clang's
 * -gsplit-dwarf=single, of which libdw would read the skeletons. */
static void hide_skeletons(Elf *elf)
{
    if (hide_others(elf, false))
        hide_others(elf, true);
}

/* Opens the `size` bytes copied for a split file with libdw, unless `rc` is an error. Frees the split file on
 * failure. */
static int begin_split(struct ct_dwarf_reader *reader, const char *path, struct ct_dwarf_split *split,
                       size_t size, int rc, struct ct_dwarf_split **out)
{
    struct shared *file = &split->file;
    bool packed;
    errno = 0;
    if (!rc && ct_elf_open(NULL, path, file->copy, size, &file->elf) == CT_OK)
        rc = spend(reader, path, file->elf.elf);
    if (!rc && file->elf.elf)
        hide_skeletons(file->elf.elf);
    if (!rc && file->elf.elf && size_of_debug(file->elf.elf, &packed) < MOST_DEBUG)
        file->dwarf = begin_dwarf(reader, file->elf.elf, path);
    rc = rc == CT_ERR_NOMEM || rc == CT_ERR_LIMIT ? rc : ct_dwarf_status(reader, CT_OK);
    if (rc || !file->dwarf)
        ct_dwarf_split_free(split);
    else
        *out = split;
    return rc;
}

/* Notes that the debug information is in further files. */
static void note_more(const struct ct_dwarf_reader *reader)
{
    struct ct_debug_trail *trail = ct_debug_trail(reader->files);
    if (trail)
        trail->more = true;
}

int ct_dwarf_split_open(struct ct_dwarf_reader *reader, const char *path, struct ct_dwarf_split **out)
{
    *out = NULL;
    note_more(reader);
    if (access(path, R_OK) != 0)
        return CT_OK;
    struct ct_dwarf_split *split = calloc(1, sizeof *split);
    if (!split)
        return ct_fail_nomem(reader->ctx, reader->name);
    struct shared *file = &split->file;
    int rc = ct_mapped_file_open(reader->ctx, path, NULL, &file->file);
    if (!rc)
        file->copy = copy_of(file->file->bytes, file->file->size);
    if (!rc && !file->copy)
        rc = ct_fail_nomem(reader->ctx, reader->name);
    return begin_split(reader, path, split, rc ? 0 : file->file->size, rc, out);
}

int ct_dwarf_split_packed(struct ct_dwarf_reader *reader, const char *path,
                          const struct ct_mapped_file *package, uint64_t id, struct ct_dwarf_split **out)
{
    size_t size = 0;
    *out = NULL;
    note_more(reader);
    struct ct_dwarf_split *split = calloc(1, sizeof *split);
    if (!split)
        return ct_fail_nomem(reader->ctx, reader->name);
    errno = 0;
    int rc = ct_dwarf_package_unit(package->bytes, package->size, id, &split->file.copy, &size);
    if (rc == CT_ERR_NOMEM)
        rc = ct_fail_nomem(reader->ctx, reader->name);
    if (!rc && split->file.copy)
        return begin_split(reader, path, split, size, rc, out);
    ct_dwarf_split_free(split);
    return ct_dwarf_status(reader, rc);
}

Dwarf *ct_dwarf_split_dwarf(const struct ct_dwarf_split *split)
{
    return split->file.dwarf;
}

void ct_dwarf_split_free(struct ct_dwarf_split *split)
{
    if (split)
        close_shared(&split->file);
    free(split);
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
        result = reader->read(reader);
    dwarf_end(reader->dwarf);
    close_shared(&shared);
    return result;
}

/* Reads a file with compressed sections from a copy, because libdw uncompresses in place and changes
 * headers. */
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
                       "%s: this is an unlinked object file, so its source lines have no addresses; use the "
                       "linked program",
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
                       "%s: its debug information has 0x%zx bytes, more than the limit of 4 GiB; none of it "
                       "was read; compile with less debug information (-g1)",
                       reader->name, reader->size);
    return packed ? read_packed(reader, bytes, size) : read_debug(reader, elf->elf);
}

/* Reads the debug information of the file, or of its separate file if it has none itself. */
int ct_dwarf_read_file(struct ct_dwarf_reader *reader, const void *bytes, size_t size,
                       int (*read)(struct ct_dwarf_reader *))
{
    struct ct_elf elf = {0};
    struct ct_mapped_file *debug = NULL;
    bool packed;
    reader->read = read;
    reader->unpacked_left = ct_debug_limit(reader->files);
    int result = ct_elf_open(reader->ctx, reader->name, bytes, size, &elf);
    const bool has_none = result == CT_OK && reader->path && size_of_debug(elf.elf, &packed) == 0;
    if (result == CT_OK)
        result = ct_unless_nomem(reader->ctx, reader->name, CT_OK);
    if (result == CT_OK && has_none)
        result = ct_debug_file_find(reader->ctx, reader->files, reader->path, &elf, true, &debug);
    if (result == CT_OK && debug) {
        ct_elf_close(&elf);
        reader->path = debug->path;
        bytes = debug->bytes;
        size = debug->size;
        result = ct_elf_open(reader->ctx, reader->path, bytes, size, &elf);
    }
    if (result == CT_OK)
        result = load(reader, &elf, bytes, size);
    if (elf.elf)
        ct_elf_close(&elf);
    ct_mapped_file_close(debug);
    return result;
}
