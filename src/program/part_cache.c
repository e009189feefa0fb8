/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* asprintf */
#include "program/part_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/ctx.h"
#include "base/fnv.h"
#include "program/part_file.h"
#include "program/symbols.h"

#define LOOK_MS 5     /* between looks at a file that another process writes */
#define MOST_MS 60000 /* after which a process loads the part itself */

static const char *const kinds[] = {[CT_PART_SYMBOLS] = "symbols", [CT_PART_LINES] = "lines"};

/* ---- what a part was made of ---- */

/* Describes a file; any write changes the text. Returns NULL when out of memory. */
static char *describe(const char *path)
{
    struct stat st = {0};
    char *text;
    (void)stat(path, &st);
    return asprintf(&text, "%ju:%ju %jd %jd.%09ld %jd.%09ld %s", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino,
                    (intmax_t)st.st_size, (intmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
                    (intmax_t)st.st_ctim.tv_sec, st.st_ctim.tv_nsec, path) < 0
               ? NULL
               : text;
}

/* Returns the text that must be equal for a part to be used again, or NULL when out of memory. */
static char *origin_of(const struct ct_part_slot *slot, uint32_t search, const char *separate)
{
    char *program = describe(slot->key->path), *other = separate ? describe(separate) : NULL, *text;
    const bool fine =
        program && (other || !separate) &&
        asprintf(&text, "%s %zu\n%s\n%" PRIu64 " %" PRIu32 "\n%s", ct_version_exact(), sizeof(void *),
                 program, ct_debug_limit(slot->files), search, other ? other : "none") >= 0;
    free(program);
    free(other);
    return fine ? text : NULL;
}

/* Returns whether the files of which a part was made are the same now, the separate one also where a search
 * finds another one. */
static bool is_of_same(const struct ct_part_slot *slot, const struct ct_elf *elf, struct ct_part_file *file)
{
    char *separate = NULL;
    const struct ct_part_section *origin = &file->sections[CT_PART_ORIGIN];
    if (file->search &&
        ct_debug_file_look(slot->ctx, slot->files, slot->key->path, elf, file->search == 2, &separate))
        return false;
    char *now = origin_of(slot, file->search, separate);
    const bool same = now && origin->size == strlen(now) + 1 && memcmp(origin->bytes, now, origin->size) == 0;
    free(now);
    free(separate);
    return same;
}

/* ---- reading ---- */

static void *unpack(const struct ct_part_slot *slot, struct ct_part_file *file)
{
    const char *path = slot->key->path;
    return slot->key->kind == CT_PART_SYMBOLS
               ? (void *)ct_symbols_unpack(slot->ctx, path, slot->key->raw_names, file)
               : ct_lines_unpack(slot->ctx, path, slot->files, file);
}

static void *read_part(const struct ct_part_slot *slot, const struct ct_elf *elf)
{
    struct ct_part_file *file = ct_part_file_open(slot->ctx, slot->path, slot->key->kind);
    void *part = file && is_of_same(slot, elf, file) ? unpack(slot, file) : NULL;
    if (!part)
        ct_part_file_close(file);
    return part;
}

/* ---- one writer ---- */

static void tell(struct ct_part_slot *slot, int error)
{
    struct ct_part_cache *cache = ct_debug_cache(slot->files);
    if (!cache->cannot_write)
        ct_log(slot->ctx, CT_LOG_WARNING,
               "%s: loaded symbols and lines cannot be stored in this cache: %s; each process loads them "
               "again, which takes time; %s, or name another folder",
               cache->folder, strerror(error),
               error == ENOSPC || error == EDQUOT ? "make room in it" : "make the folder writable");
    cache->cannot_write = true;
}

/* Opens and locks the file that becomes that of the part. Returns -1 with errno EWOULDBLOCK when another
 * process has the lock, or had it and has just ended. */
static int lock_fresh(const struct ct_part_slot *slot)
{
    struct stat st, named;
    const int fd = open(slot->fresh, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        return -1;
    int error = flock(fd, LOCK_EX | LOCK_NB) ? errno : 0;
    if (!error && (fstat(fd, &st) || stat(slot->fresh, &named) || st.st_ino != named.st_ino))
        error = EWOULDBLOCK; /* it has got its final name meanwhile, or was removed */
    if (!error)
        return fd;
    close(fd);
    errno = error;
    return -1;
}

/* Returns the part that another process has written meanwhile, or NULL once this process is to load it. */
static void *await(struct ct_part_slot *slot, const struct ct_elf *elf)
{
    const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
    for (unsigned waited = 0; waited <= MOST_MS; waited += LOOK_MS) {
        slot->fd = lock_fresh(slot);
        const int error = slot->fd < 0 ? errno : 0;
        if (error && error != EWOULDBLOCK) {
            tell(slot, error);
            return NULL;
        }
        void *part = read_part(slot, elf);
        if (part || !error)
            return part;
        nanosleep(&pause, NULL);
    }
    return NULL;
}

/* ---- a part ---- */

/* Sets the paths of the files. Returns false when out of memory. */
static bool name(struct ct_part_slot *slot, const uint8_t *id, size_t size)
{
    char digits[2 * CT_BUILD_ID_MOST + 1];
    for (size_t i = 0; i < size; i++)
        snprintf(digits + 2 * i, 3, "%02x", id[i]);
    if (asprintf(&slot->path, "%s/%s-%s-%016" PRIx64 ".coretap", ct_debug_cache(slot->files)->folder, digits,
                 kinds[slot->key->kind], ct_fnv_text(CT_FNV_BEGIN, slot->key->path)) < 0)
        slot->path = NULL;
    if (!slot->path || asprintf(&slot->fresh, "%s.new", slot->path) < 0)
        slot->fresh = NULL;
    return slot->fresh;
}

static void *look_up(struct ct_part_slot *slot, const struct ct_elf *elf, size_t size)
{
    uint8_t id[CT_BUILD_ID_MOST];
    const size_t id_size = ct_elf_build_id(elf, size, id);
    const bool is_linked = elf->header.e_type == ET_EXEC || elf->header.e_type == ET_DYN;
    if (!is_linked || !id_size || !name(slot, id, id_size))
        return NULL;
    void *part = read_part(slot, elf);
    return part || ct_debug_cache(slot->files)->cannot_write ? part : await(slot, elf);
}

void *ct_part_slot_begin(struct ct_ctx *ctx, struct ct_debug_files *files, const struct ct_part_key *key,
                         struct ct_part_slot *slot)
{
    struct ct_elf elf;
    struct stat st;
    void *part = NULL;
    *slot = (struct ct_part_slot){.ctx = ctx, .files = files, .key = key, .fd = -1};
    if (!ct_debug_cache(files) || key->bias)
        return NULL;
    const int fd = open(key->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        ct_elf_open_fd(NULL, key->path, fd, (size_t)st.st_size, &elf) == CT_OK) {
        part = look_up(slot, &elf, (size_t)st.st_size);
        ct_elf_close(&elf);
    }
    if (fd >= 0)
        close(fd);
    if (part && slot->fd >= 0)
        ct_part_slot_end(slot, NULL);
    struct ct_debug_trail *trail = ct_debug_trail(files);
    free(trail->separate);
    *trail = (struct ct_debug_trail){0};
    slot->warned = ct_ctx_warned(ctx);
    return part;
}

/* Fills in the origin and the sections of a pack. Returns false when the part is not to be written. */
static bool pack_part(const struct ct_part_slot *slot, const void *part, struct ct_part_pack *pack)
{
    const struct ct_debug_trail *trail = ct_debug_trail(slot->files);
    struct ct_part_key now;
    if (trail->more || ct_ctx_warned(slot->ctx) != slot->warned ||
        !ct_part_describe(slot->key->path, slot->key->kind, 0, slot->key->raw_names, &now) ||
        !ct_part_is_same(&now, slot->key))
        return false;
    pack->search = trail->searched ? trail->online ? 2 : 1 : 0;
    char *origin = origin_of(slot, pack->search, trail->separate);
    pack->sections[CT_PART_ORIGIN] = (struct ct_part_section){origin, origin ? strlen(origin) + 1 : 0};
    return origin &&
           (slot->key->kind == CT_PART_SYMBOLS ? ct_symbols_pack(part, pack) : ct_lines_pack(part, pack));
}

static void write_part(struct ct_part_slot *slot, const void *part)
{
    struct ct_part_pack pack = {0};
    if (part && pack_part(slot, part, &pack)) {
        int error = ftruncate(slot->fd, 0) ? errno : ct_part_file_write(slot->fd, slot->key->kind, &pack);
        if (!error && rename(slot->fresh, slot->path))
            error = errno;
        if (error)
            tell(slot, error);
    }
    free(pack.sections[CT_PART_ORIGIN].bytes);
    ct_part_pack_free(&pack);
}

void ct_part_slot_end(struct ct_part_slot *slot, const void *part)
{
    if (slot->fd >= 0) {
        write_part(slot, part);
        unlink(slot->fresh); /* unless it has its final name */
        close(slot->fd);     /* ends the lock */
    }
    slot->fd = -1;
    free(slot->path);
    free(slot->fresh);
    slot->path = slot->fresh = NULL;
}
