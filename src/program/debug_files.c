/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the separate file with the debug information of a program: by .gnu_debuglink, by build id, and on
 * servers. */
#include "base/bytes.h"
#include "base/crc32.h"
#include "base/ctx.h"
#include "base/debuginfod.h"
#include "base/require.h"
#include "base/room.h"
#include "base/search.h"
#include "program/part_cache.h"
#include "program/symbols.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_DEPTH 64         /* deepest level of folders searched */
#define MOST_FILES (1u << 20) /* most files with build ids, in all folders */

/* A file with a build id in one of the folders. */
struct entry {
    uint8_t id[CT_BUILD_ID_MOST];
    size_t id_size;
    const char *path;
};

struct ct_debug_files {
    struct ct_ctx *ctx;
    struct ct_arena arena;
    const char **dirs;
    size_t dir_count;
    struct entry *entries; /* sorted by id, once the folders have been read */
    size_t count, room;
    bool is_read;
    const char **source_roots; /* resolved paths */
    size_t source_root_count;
    uint64_t limit; /* limit for the uncompressed sections of each program, in bytes */
    bool keeps;     /* ct_debug_files_keep was called */
    struct ct_kept_part *parts;
    struct ct_part_cache cache; /* its folder is NULL when there is none */
    struct ct_debug_trail trail;
};

int ct_debug_files_new(struct ct_ctx *ctx, struct ct_debug_files **out)
{
    CT_REQUIRE_OUT(ctx, out);
    struct ct_debug_files *files = calloc(1, sizeof *files);
    if (!files)
        return ct_fail_nomem(ctx, "folders of debug files");
    files->ctx = ctx;
    files->limit = CT_DEBUG_LIMIT;
    *out = files;
    return CT_OK;
}

void ct_debug_files_free(struct ct_debug_files *files)
{
    if (!files)
        return;
    ct_kept_parts_free(files->parts);
    free(files->trail.separate);
    ct_arena_free(&files->arena);
    free(files->entries);
    free(files);
}

void ct_debug_files_keep(struct ct_debug_files *files)
{
    if (files)
        files->keeps = true;
}

struct ct_kept_part **ct_debug_kept_parts(struct ct_debug_files *files)
{
    return files && files->keeps ? &files->parts : NULL;
}

int ct_debug_files_cache(struct ct_debug_files *files, const char *folder)
{
    CT_REQUIRE_OF(files, folder);
    const char *copy = ct_arena_strdup(&files->arena, folder);
    if (!copy)
        return ct_fail_nomem(files->ctx, folder);
    files->cache = (struct ct_part_cache){.folder = copy};
    files->keeps = true;
    return CT_OK;
}

struct ct_part_cache *ct_debug_cache(struct ct_debug_files *files)
{
    return files && files->cache.folder ? &files->cache : NULL;
}

struct ct_debug_trail *ct_debug_trail(struct ct_debug_files *files)
{
    return files ? &files->trail : NULL;
}

/* ---- one file ---- */

int ct_debug_files_add_source_root(struct ct_debug_files *files, const char *path)
{
    char real[PATH_MAX];
    struct stat st;
    CT_REQUIRE_OF(files, path);
    if (!realpath(path, real) || stat(real, &st) != 0)
        return ct_fail(files->ctx, CT_ERR_IO,
                       "%s: the folder of sources cannot be read: %s; name a folder that exists", path,
                       strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return ct_fail(files->ctx, CT_ERR_IO,
                       "%s: this is not a folder, so no source files can be read from it; name the folder "
                       "that contains the sources",
                       path);
    const char **roots =
        ct_arena_push(&files->arena, files->source_roots, &files->source_root_count, sizeof *roots);
    const char *copy = roots ? ct_arena_strdup(&files->arena, real) : NULL;
    if (!copy)
        return ct_fail_nomem(files->ctx, path);
    roots[files->source_root_count - 1] = copy;
    files->source_roots = roots;
    return CT_OK;
}

void ct_debug_files_limit(struct ct_debug_files *files, uint64_t bytes)
{
    if (files)
        files->limit = bytes;
}

const char *const *ct_debug_source_roots(const struct ct_debug_files *files, size_t *count)
{
    *count = files ? files->source_root_count : 0;
    return files ? files->source_roots : NULL;
}

uint64_t ct_debug_limit(const struct ct_debug_files *files)
{
    return files ? files->limit : CT_DEBUG_LIMIT;
}

static bool has_debug(const struct ct_elf *elf)
{
    GElf_Shdr header;
    for (Elf_Scn *scn = elf_nextscn(elf->elf, NULL); scn; scn = elf_nextscn(elf->elf, scn))
        if (gelf_getshdr(scn, &header) && header.sh_type == SHT_SYMTAB)
            return true;
    return ct_elf_section(elf, ".debug_info", &header) || ct_elf_section(elf, ".zdebug_info", &header);
}

/* The properties of the separate file that is searched. */
struct wanted {
    struct ct_ctx *ctx;
    int *result; /* CT_ERR_NOMEM once a file could not be read for lack of memory */
    uint8_t id[CT_BUILD_ID_MOST];
    size_t id_size;
    unsigned machine; /* 0 for any */
    uint32_t crc;
    const char *link; /* name in .gnu_debuglink, or NULL */
    bool path_alone;  /* the bytes of a file with the build id are not needed */
    char *other;      /* path of the first linked file with another checksum, or NULL */
};

/* Opens a regular file and its ELF headers. Returns the descriptor, -1 on failure. errno is ENOMEM when out
 * of memory. */
static int open_to_look(const char *path, struct ct_elf *elf, size_t *size)
{
    struct stat st;
    errno = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool fine = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    *size = fine ? (size_t)st.st_size : 0;
    if (fine && ct_elf_open_fd(NULL, path, fd, *size, elf) == CT_OK)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Returns a file without bytes, or NULL when out of memory. */
static struct ct_mapped_file *without_bytes(const char *path)
{
    const size_t length = strlen(path) + 1;
    struct ct_mapped_file *file = calloc(1, sizeof *file + length);
    if (file)
        memcpy(file->path, path, length);
    return file;
}

/* Does the work of open_if, and keeps the allocator's errno. */
static struct ct_mapped_file *look_into(struct wanted *wanted, const char *path, bool by_link)
{
    struct ct_mapped_file *file;
    struct ct_elf elf = {0};
    uint8_t id[CT_BUILD_ID_MOST];
    size_t size;
    const int fd = open_to_look(path, &elf, &size);
    if (fd < 0)
        return NULL;
    const size_t id_size = ct_elf_build_id(&elf, size, id);
    const bool same_id = id_size && id_size == wanted->id_size && memcmp(id, wanted->id, id_size) == 0;
    const bool fits = (!wanted->machine || elf.header.e_machine == wanted->machine) && has_debug(&elf) &&
                      (same_id || by_link);
    ct_elf_close(&elf);
    close(fd);
    if (fits && same_id && wanted->path_alone)
        return without_bytes(path);
    if (!fits || ct_mapped_file_open(NULL, path, NULL, &file) != CT_OK)
        return NULL;
    if (same_id || ct_crc32(file->bytes, file->size) == wanted->crc)
        return file;
    ct_mapped_file_close(file);
    wanted->other = wanted->other ?: strdup(path);
    return NULL;
}

/* Opens the file if it has the build id or, with `by_link`, the checksum of the link. */
static struct ct_mapped_file *open_if(struct wanted *wanted, const char *path, bool by_link)
{
    struct ct_mapped_file *file = look_into(wanted, path, by_link);
    if (!file)
        *wanted->result = ct_unless_nomem(wanted->ctx, path, *wanted->result);
    return file;
}

/* ---- folders ---- */

static int compare_ids(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size)
{
    return ct_order(a_size, b_size) ?: memcmp(a, b, a_size);
}

static int by_id(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return compare_ids(x->id, x->id_size, y->id, y->id_size) ?: strcmp(x->path, y->path);
}

/* Returns the size of a file's build id, which is copied to `id`; 0 when it has none. */
static size_t id_of(const char *path, uint8_t id[static CT_BUILD_ID_MOST])
{
    struct ct_elf elf = {0};
    size_t size;
    const int fd = open_to_look(path, &elf, &size);
    if (fd < 0)
        return 0;
    size = ct_elf_build_id(&elf, size, id);
    ct_elf_close(&elf);
    close(fd);
    return size;
}

static int add_file(struct ct_debug_files *files, const char *path)
{
    struct entry entry = {0};
    if (files->count >= MOST_FILES)
        return CT_OK;
    entry.id_size = id_of(path, entry.id);
    if (!entry.id_size)
        return ct_unless_nomem(files->ctx, path, CT_OK);
    if (!CT_MAKE_ROOM(files->entries, files->room, files->count + 1))
        return ct_fail_nomem(files->ctx, path);
    entry.path = ct_arena_strdup(&files->arena, path);
    if (!entry.path)
        return ct_fail_nomem(files->ctx, path);
    files->entries[files->count++] = entry;
    return CT_OK;
}

int ct_debug_files_add_dir(struct ct_debug_files *files, const char *path)
{
    CT_REQUIRE_OF(files, path);
    struct stat st;
    const bool is_file = stat(path, &st) == 0 && S_ISREG(st.st_mode);
    DIR *dir = is_file ? NULL : opendir(path);
    if (!dir && !is_file)
        return ct_fail(
            files->ctx, CT_ERR_IO,
            "%s: the folder cannot be searched for symbols: %s; name a folder or file that can be read", path,
            strerror(errno));
    if (dir)
        closedir(dir);
    uint8_t id[CT_BUILD_ID_MOST];
    errno = 0;
    if (is_file && !id_of(path, id))
        return errno == ENOMEM
                   ? ct_fail_nomem(files->ctx, path)
                   : ct_fail(files->ctx, CT_ERR_FORMAT,
                             "%s: this is not an ELF file with a build ID, so it can be found for "
                             "no program; name the folder or the file with the debug information",
                             path);
    const char **dirs = ct_arena_push(&files->arena, files->dirs, &files->dir_count, sizeof *dirs);
    const char *copy = dirs ? ct_arena_strdup(&files->arena, path) : NULL;
    if (!copy)
        return ct_fail_nomem(files->ctx, path);
    dirs[files->dir_count - 1] = copy;
    files->dirs = dirs;
    files->is_read = false;
    return CT_OK;
}

static int read_dir(struct ct_debug_files *files, const char *path, unsigned depth)
{
    char below[PATH_MAX];
    struct stat st;
    int result = CT_OK;
    errno = 0;
    if (depth == 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode))
        return add_file(files, path);
    DIR *dir = depth < MOST_DEPTH ? opendir(path) : NULL;
    if (!dir)
        return ct_unless_nomem(files->ctx, path, CT_OK);
    for (struct dirent *e = readdir(dir); e && result == CT_OK; e = readdir(dir)) {
        int length = snprintf(below, sizeof below, "%s/%s", path, e->d_name);
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || (size_t)length >= sizeof below ||
            lstat(below, &st) != 0)
            continue;
        if (S_ISDIR(st.st_mode))
            result = read_dir(files, below, depth + 1);
        else if (S_ISREG(st.st_mode) || (S_ISLNK(st.st_mode) && stat(below, &st) == 0 && S_ISREG(st.st_mode)))
            result = add_file(files, below);
    }
    closedir(dir);
    return result;
}

static int read_dirs(struct ct_debug_files *files)
{
    int result = CT_OK;
    files->count = 0;
    files->is_read = true;
    for (size_t i = 0; i < files->dir_count && result == CT_OK; i++)
        result = read_dir(files, files->dirs[i], 0);
    if (files->count)
        qsort(files->entries, files->count, sizeof *files->entries, by_id);
    return result;
}

/* Returns the index of the first file in the folders whose build id is not lower. */
static size_t first_of(const struct ct_debug_files *files, const uint8_t *id, size_t size)
{
    return CT_COUNT_WHILE(files->count, i,
                          compare_ids(files->entries[i].id, files->entries[i].id_size, id, size) < 0);
}

/* Returns whether the file of an entry contains the bytes of its code. Files with only debug information have
 * just the headers of code sections. The file may have been replaced since the folders were read: one with
 * another build id is not that of the entry. errno is ENOMEM when out of memory. */
static bool has_code(const struct entry *entry)
{
    const char *path = entry->path;
    uint8_t id[CT_BUILD_ID_MOST];
    struct ct_mapped_file *file;
    struct ct_elf elf = {0};
    GElf_Shdr header;
    size_t sections = 0;
    bool code = false;
    errno = 0;
    if (ct_mapped_file_open(NULL, path, NULL, &file) != CT_OK)
        return false;
    if (ct_elf_open(NULL, path, file->bytes, file->size, &elf) == CT_OK) {
        (void)elf_getshdrnum(elf.elf, &sections);
        code = sections <= 1 && elf.segments;
        for (Elf_Scn *scn = elf_nextscn(elf.elf, NULL); scn && !code; scn = elf_nextscn(elf.elf, scn))
            code = gelf_getshdr(scn, &header) && header.sh_type == SHT_PROGBITS &&
                   header.sh_flags & SHF_EXECINSTR && header.sh_flags & SHF_ALLOC;
        const size_t id_size = ct_elf_build_id(&elf, file->size, id);
        code = code && compare_ids(id, id_size, entry->id, entry->id_size) == 0;
        ct_elf_close(&elf);
    }
    ct_mapped_file_close(file);
    return code;
}

int ct_debug_files_program(struct ct_debug_files *files, const uint8_t *build_id, size_t size,
                           const char **path)
{
    CT_REQUIRE_OF(files, build_id, path);
    *path = NULL;
    int result = files->is_read ? CT_OK : read_dirs(files);
    for (size_t i = first_of(files, build_id, size); result == CT_OK && !*path && i < files->count; i++) {
        const struct entry *e = &files->entries[i];
        if (compare_ids(e->id, e->id_size, build_id, size) != 0)
            break;
        if (has_code(e))
            *path = e->path;
        else
            result = ct_unless_nomem(files->ctx, e->path, CT_OK);
    }
    return result;
}

/* Finds the first file in the folders with the wanted build id and with names. */
static int find_in_dirs(struct ct_debug_files *files, struct wanted *wanted, struct ct_mapped_file **out)
{
    int result = files->is_read ? CT_OK : read_dirs(files);
    size_t low = first_of(files, wanted->id, wanted->id_size);
    for (; result == CT_OK && !*out && low < files->count; low++) {
        const struct entry *e = &files->entries[low];
        if (compare_ids(e->id, e->id_size, wanted->id, wanted->id_size) != 0)
            break;
        *out = open_if(wanted, e->path, false);
    }
    return result ? result : *wanted->result;
}

/* ---- standard places ---- */

/* Opens the file in .build-id below `root`. */
static struct ct_mapped_file *find_by_id(struct wanted *wanted, const char *root)
{
    char path[PATH_MAX];
    int used = snprintf(path, sizeof path, "%s/usr/lib/debug/.build-id/%02x/", root, wanted->id[0]);
    for (size_t i = 1; i < wanted->id_size && (size_t)used < sizeof path; i++)
        used += snprintf(path + used, sizeof path - (size_t)used, "%02x", wanted->id[i]);
    if ((size_t)used + sizeof ".debug" > sizeof path)
        return NULL;
    memcpy(path + used, ".debug", sizeof ".debug");
    return open_if(wanted, path, false);
}

/* Opens the linked file in "FOLDER/MIDDLE". */
static struct ct_mapped_file *find_by_link(struct wanted *wanted, const char *folder, const char *middle)
{
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof path, "%s%s/%s", folder, middle, wanted->link) >= sizeof path)
        return NULL;
    return open_if(wanted, path, true);
}

/* Looks in usr/lib/debug below each folder of `folder`, the innermost first, the root folder last. */
static struct ct_mapped_file *find_in_roots(struct wanted *wanted, const char *folder)
{
    char root[PATH_MAX];
    char middle[PATH_MAX];
    struct ct_mapped_file *file = NULL;
    for (size_t length = strlen(folder); !file; length--) {
        if (length && folder[length] != '/' && folder[length] != '\0')
            continue;
        memcpy(root, folder, length);
        root[length] = '\0';
        if (wanted->id_size)
            file = find_by_id(wanted, root);
        if (!file && wanted->link &&
            (size_t)snprintf(middle, sizeof middle, "/usr/lib/debug%s", folder + length) < sizeof middle)
            file = find_by_link(wanted, root, middle);
        if (length == 0)
            break;
    }
    return file;
}

static struct ct_mapped_file *find_near(struct wanted *wanted, const char *path)
{
    char folder[PATH_MAX];
    if (!realpath(path, folder))
        return NULL;
    *strrchr(folder, '/') = '\0';
    struct ct_mapped_file *file = wanted->link ? find_by_link(wanted, folder, "") : NULL;
    if (!file && wanted->link)
        file = find_by_link(wanted, folder, "/.debug");
    return file ? file : find_in_roots(wanted, folder);
}

/* ---- all places ---- */

/* Returns whether two paths lead to one file: a program can carry the name that it links to. */
static bool is_path_of(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Searches in all places. `path_alone`: *out may have no bytes. */
static int find_file(struct ct_ctx *ctx, struct ct_debug_files *files, const char *path,
                     const struct ct_elf *elf, bool online, bool path_alone, struct ct_mapped_file **out)
{
    int result = CT_OK;
    struct wanted wanted = {
        .ctx = ctx, .result = &result, .machine = elf->header.e_machine, .path_alone = path_alone};
    struct stat st = {0};
    size_t size;
    *out = NULL;
    errno = 0;
    if (!path_alone)
        (void)elf_rawfile(elf->elf, &size);
    else /* elf_rawfile would read the file */
        size = stat(path, &st) == 0 ? (size_t)st.st_size : 0;
    wanted.id_size = ct_elf_build_id(elf, size, wanted.id);
    wanted.link = ct_elf_debug_link(elf, &wanted.crc);
    result = ct_unless_nomem(ctx, path, CT_OK);
    if (result == CT_OK)
        *out = find_near(&wanted, path);
    if (result == CT_OK && !*out && files && wanted.id_size)
        result = find_in_dirs(files, &wanted, out);
    if (result == CT_OK && !*out && files && wanted.id_size && online) {
        errno = 0;
        char *found = ct_debuginfod(ctx, wanted.id, wanted.id_size, CT_DEBUGINFOD_DEBUGINFO);
        if (found)
            *out = open_if(&wanted, found, false);
        else
            result = ct_unless_nomem(ctx, path, CT_OK);
        if (found && !*out && result == CT_OK)
            ct_log(
                ctx, CT_LOG_WARNING,
                "%s: this file of a debuginfod server is damaged, of another build than %s, or has no "
                "names; it is not used, and functions of the program may lack names; delete it, so that it "
                "is fetched again",
                found, path);
        free(found);
    }
    if (result == CT_OK && !*out && wanted.other && !is_path_of(wanted.other, path))
        ct_log(ctx, CT_LOG_WARNING,
               "%s: this file has another checksum than .gnu_debuglink of %s, so it is of another build and "
               "not used, and the program lacks its names and lines; put the file of this build there",
               wanted.other, path);
    free(wanted.other);
    return result;
}

/* Returns whether the path of a file that was read is still that of the same file. */
static bool is_still(const struct ct_mapped_file *file)
{
    struct stat st;
    return stat(file->path, &st) == 0 && st.st_dev == file->dev && st.st_ino == file->ino &&
           (size_t)st.st_size == file->size;
}

int ct_debug_file_find(struct ct_ctx *ctx, struct ct_debug_files *files, const char *path,
                       const struct ct_elf *elf, bool online, struct ct_mapped_file **out)
{
    const int result = find_file(ctx, files, path, elf, online, false, out);
    struct ct_debug_trail *trail = ct_debug_trail(files);
    if (*out)
        ct_log(ctx, CT_LOG_DEBUG, "%s: the names of functions are read from %s", path, (*out)->path);
    if (!trail)
        return result;
    trail->more |= trail->searched;
    trail->searched = true;
    trail->online = online;
    free(trail->separate);
    trail->separate = *out ? strdup((*out)->path) : NULL;
    trail->more |= *out && !(trail->separate && is_still(*out));
    return result;
}

int ct_debug_file_look(struct ct_ctx *ctx, struct ct_debug_files *files, const char *path,
                       const struct ct_elf *elf, bool online, char **out)
{
    struct ct_mapped_file *file;
    int result = find_file(ctx, files, path, elf, online, true, &file);
    *out = file ? strdup(file->path) : NULL;
    if (file && !*out)
        result = ct_fail_nomem(ctx, path);
    ct_mapped_file_close(file);
    return result;
}

int ct_debug_file_shared(struct ct_ctx *ctx, struct ct_debug_files *files, const char *path, const char *name,
                         const uint8_t *id, size_t id_size, struct ct_mapped_file **out)
{
    char folder[PATH_MAX];
    char at[PATH_MAX];
    int result = CT_OK;
    struct wanted wanted = {.ctx = ctx, .result = &result, .id_size = id_size};
    *out = NULL;
    if (files)
        files->trail.more = true;
    if (id_size > sizeof wanted.id)
        return CT_OK;
    memcpy(wanted.id, id, id_size);
    if (realpath(path, folder)) {
        *strrchr(folder, '/') = '\0';
        if (*name == '/')
            *out = open_if(&wanted, name, false);
        else if ((size_t)snprintf(at, sizeof at, "%s/%s", folder, name) < sizeof at)
            *out = open_if(&wanted, at, false);
        if (!*out)
            *out = find_in_roots(&wanted, folder);
    }
    if (result == CT_OK && !*out && files)
        result = find_in_dirs(files, &wanted, out);
    if (*out)
        ct_log(ctx, CT_LOG_DEBUG, "%s: the shared debug information is read from %s", path, (*out)->path);
    return result;
}
