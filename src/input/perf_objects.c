/* SPDX-License-Identifier: Apache-2.0 */
/* Finds files that were mapped on the target on this machine: by their path, below --symfs if given, then by
 * build id in perf's cache, then by build id from debuginfod. */
#include "base/archive.h"
#include "base/debuginfod.h"
#include "base/fnv.h"
#include "base/path.h"
#include "input/perf.h"

#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 4096u

struct ct_perf_objects {
    struct ct_perf *perf;
    struct ct_perf_object *buckets[BUCKETS];
};

int ct_perf_missing(struct ct_perf *p, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return ct_add_missing(p->opening, text);
}

const struct ct_build_id *ct_perf_listed_id(const struct ct_perf *p, const char *name)
{
    for (size_t i = 0; i < p->build_id_count; i++)
        if (strcmp(p->build_ids[i].name, name) == 0)
            return &p->build_ids[i].id;
    return NULL;
}

/* Compares build ids as if both had full length: older recordings do not contain the length, and pad with
 * zeros. */
static bool same_id(const struct ct_build_id *a, const struct ct_build_id *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

/* Returns why the file at `path` cannot be the one that ran; NULL: it can. */
static const char *unfit(const struct ct_perf *p, const char *path, const struct ct_build_id *id)
{
    const struct ct_files *files = p->opening->files;
    struct ct_elf_look elf;
    uint64_t size;
    enum ct_file_kind kind = files->look(files->user, path, &size);
    if (kind == CT_FILE_NONE && errno == ENOTSUP && ct_archive_entry(path))
        return "it is compressed in the archive there";
    if (kind == CT_FILE_NONE)
        return strerror(errno);
    if (kind != CT_FILE_REGULAR)
        return "it is not a regular file";
    if (!ct_elf_look(files, path, &elf))
        return "it cannot be read";
    if (elf.is_elf && elf.machine != EM_AARCH64 && elf.machine != EM_ARM)
        return "the file here is for another machine";
    const bool is_list = !strcmp(ct_base_name(path), "kallsyms"); /* found by the build id of its kernel */
    if (id && !is_list && (!elf.id.size || !same_id(&elf.id, id)))
        return "the file here has another build id";
    return NULL;
}

const char *ct_perf_check_file(const struct ct_perf *p, const char *path, const struct ct_build_id *id,
                               const char **reason)
{
    const char *why = path ? unfit(p, path, id) : NULL;
    if (!why)
        return path;
    /* that a file differs is a better reason than that one is missing */
    if (!*reason || strcmp(*reason, strerror(ENOENT)) == 0)
        *reason = why;
    return NULL;
}

static const char *cache_folder(const struct ct_perf *p)
{
    if (p->options->buildid_dir)
        return p->options->buildid_dir;
    const char *folder = p->opening->files == &ct_files_system ? getenv("PERF_BUILDID_DIR") : NULL;
    const char *home = p->opening->files == &ct_files_system ? getenv("HOME") : NULL;
    if (folder || !home)
        return folder;
    return ct_arena_printf(p->opening->arena, "%s/.debug", home);
}

const char *ct_perf_cached(const struct ct_perf *p, const struct ct_build_id *id, const char *const *names)
{
    const char *folder = cache_folder(p);
    char hex[2 * CT_BUILD_ID_MAX + 1];
    const char *reason = NULL;
    if (!id || !id->size || !folder)
        return NULL;
    ct_build_id_text(id, hex);
    for (; *names; names++) {
        const char *path = ct_arena_printf(p->opening->arena, "%s/.build-id/%.2s/%s%s%s", folder, hex,
                                           hex + 2, **names ? "/" : "", *names);
        path = ct_perf_check_file(p, path, id, &reason);
        if (path)
            return path;
    }
    return NULL;
}

const char *ct_perf_debuginfod(const struct ct_perf *p, const struct ct_build_id *id)
{
    char *path = ct_debuginfod(p->opening->ctx, id->bytes, id->size, CT_DEBUGINFOD_EXECUTABLE);
    const char *copy = path ? ct_arena_strdup(p->opening->arena, path) : NULL;
    free(path);
    return copy;
}

/* Returns whether a mapping's name stands for memory without a file. */
static bool is_anonymous(const char *name)
{
    static const char *const beginnings[] = {"//anon",  "[heap]",    "[stack",      "[anon", "anon_inode:",
                                             "/memfd:", "/dev/zero", "/dev/ashmem", "/SYSV", ""};
    for (size_t i = 0; *beginnings[i]; i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return !*name;
}

static const char *without_slash(const char *name)
{
    return *name == '/' ? name + 1 : name;
}

/* Searches all places for the file. NULL: it was not found, for the reason given. */
static const char *look_for(const struct ct_perf *p, const struct ct_perf_object *object, const char **reason)
{
    static const char *const names[] = {"elf", "vdso", "", NULL};
    struct ct_arena *arena = p->opening->arena;
    const char *symfs = p->options->symfs;
    const char *path = NULL;
    if (*object->name == '/' && symfs) {
        path = ct_perf_check_file(p, ct_path_join(arena, symfs, without_slash(object->name)), object->id,
                                  reason);
        if (!path)
            path = ct_perf_check_file(p, ct_path_join(arena, symfs, strrchr(object->name, '/') + 1),
                                      object->id, reason);
    } else if (*object->name == '[' && symfs) {
        path = ct_perf_check_file(p,
                                  ct_arena_printf(arena, "%s/%.*s.ko", symfs,
                                                  (int)strcspn(object->name + 1, "]"), object->name + 1),
                                  object->id, reason);
    } else if (*object->name == '/' && !object->container) {
        path = ct_perf_check_file(p, ct_arena_strdup(arena, object->name), object->id, reason);
    }
    if (!path)
        path = ct_perf_cached(p, object->id, names);
    if (!path && object->id && object->id->size && p->options->find_file)
        path = ct_perf_check_file(
            p, p->options->find_file(p->options->user, object->id->bytes, object->id->size), object->id,
            reason);
    if (!path && object->id && object->id->size && p->opening->files == &ct_files_system)
        path = ct_perf_check_file(p, ct_perf_debuginfod(p, object->id), object->id, reason);
    return path;
}

static int tell_missing(struct ct_perf *p, const struct ct_perf_object *object, const char *reason)
{
    char id[2 * CT_BUILD_ID_MAX + 1] = "";
    if (object->id)
        ct_build_id_text(object->id, id);
    const char *with = *id ? ", build id " : "";
    if (p->kcore)
        return CT_OK;
    if (is_anonymous(object->name))
        return ct_perf_missing(
            p,
            "%s: this code was generated while a program ran and has no file; its instructions are not "
            "listed; if the program wrote a jitdump, 'perf inject --jit' makes files from it",
            *object->name ? object->name : "(no name)");
    if (*object->name == '[')
        return ct_perf_missing(
            p,
            "%s%s%s: the file is not in the build-id cache; its instructions are not listed; give the folder "
            "~/.debug "
            "of the target (or 'perf archive' of the recording) with --buildid-dir, or a kernel module as "
            "DIR/NAME.ko with --symfs DIR",
            object->name, with, id);
    return ct_perf_missing(
        p,
        "%s%s%s%s: %s; its instructions are not listed; put the target's file at DIR/%s and give --symfs "
        "DIR%s",
        object->name, with, id, object->container ? " (of a container)" : "",
        reason ? reason
               : "the file "
                 "was not "
                 "found",
        without_slash(object->name), *id ? ", or its build-id cache with --buildid-dir" : "");
}

int ct_perf_objects_new(struct ct_perf *p, struct ct_perf_objects **out)
{
    struct ct_perf_objects *objects = ct_arena_alloc(&p->arena, sizeof *objects);
    if (!objects)
        return ct_fail_nomem(p->opening->ctx, p->file.path);
    objects->perf = p;
    *out = objects;
    return CT_OK;
}

static bool is_same(const struct ct_perf_object *o, const char *name, const struct ct_build_id *id,
                    bool container)
{
    if (o->container != container || strcmp(o->name, name) != 0)
        return false;
    return o->id == id || (o->id && id && same_id(o->id, id));
}

/* Returns whether all code that the headers of a file promise is in the file. */
static bool is_whole(const struct ct_elf_look *elf, uint64_t size)
{
    for (size_t i = 0; i < elf->code_count; i++)
        if (elf->code[i].offset > size || elf->code[i].size > size - elf->code[i].offset)
            return false;
    return true;
}

/* Finds the code of a file that is a program. A copy of memory may begin with the headers of a program and
 * end before its code: it only gives the bytes of its mappings. */
static int find_code(struct ct_perf *p, struct ct_perf_object *object)
{
    struct ct_elf_look elf;
    if (!ct_elf_look(p->opening->files, object->path, &elf) || !elf.code_count ||
        !is_whole(&elf, object->size))
        return CT_OK;
    struct ct_elf_code *code = ct_arena_alloc(&p->arena, elf.code_count * sizeof *code);
    if (!code)
        return ct_fail_nomem(p->opening->ctx, p->file.path);
    memcpy(code, elf.code, elf.code_count * sizeof *code);
    object->code = code;
    object->code_count = elf.code_count;
    return CT_OK;
}

int ct_perf_objects_find(struct ct_perf_objects *objects, const char *name, const struct ct_build_id *id,
                         bool container, const struct ct_perf_object **out)
{
    struct ct_perf *p = objects->perf;
    struct ct_perf_object **bucket = &objects->buckets[ct_fnv_text(CT_FNV_BEGIN, name) % BUCKETS];
    if (!id)
        id = ct_perf_listed_id(p, name);
    for (struct ct_perf_object *o = *bucket; o; o = o->next)
        if (is_same(o, name, id, container)) {
            *out = o;
            return CT_OK;
        }
    struct ct_perf_object *object = ct_arena_alloc(&p->arena, sizeof *object);
    if (!object)
        return ct_fail_nomem(p->opening->ctx, p->file.path);
    *object = (struct ct_perf_object){.next = *bucket, .name = name, .id = id, .container = container};
    *bucket = object;
    *out = object;
    const char *reason = NULL;
    object->path = look_for(p, object, &reason);
    if (!object->path)
        return tell_missing(p, object, reason);
    p->opening->files->look(p->opening->files->user, object->path, &object->size);
    return find_code(p, object);
}
