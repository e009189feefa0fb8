/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's code: from kcore, a copy of memory, or from vmlinux, moved to where it ran. */
#include "input/perf.h"
#include "base/elf_strings.h"
#include "base/module_name.h"

#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

#define KERNEL_NAME "[kernel.kallsyms]"

struct kernel {
    struct ct_perf *perf;
    struct ct_perf_objects *objects;
    struct ct_image **images;
    size_t *count;
};

static int add_image(struct kernel *k, const struct ct_image *image)
{
    struct ct_image *images = ct_arena_push(k->perf->opening->arena, *k->images, k->count, sizeof *images);
    if (!images)
        return ct_fail_nomem(k->perf->opening->ctx, k->perf->file.path);
    images[*k->count - 1] = *image;
    *k->images = images;
    return CT_OK;
}

static bool find_symbol(Elf *elf, const char *name, uint64_t *value)
{
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section; section = elf_nextscn(elf, section)) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB || !header.sh_entsize)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        for (uint64_t i = 0; data && i < header.sh_size / header.sh_entsize && i <= INT32_MAX; i++) {
            GElf_Sym symbol;
            if (!gelf_getsym(data, (int)i, &symbol))
                break;
            const char *is = elf_strptr(elf, header.sh_link, symbol.st_name);
            if (is && strcmp(is, name) == 0) {
                *value = symbol.st_value;
                return true;
            }
        }
    }
    return false;
}

static bool symbol_of_file(const char *path, const char *name, uint64_t *value)
{
    /* read, not mapped, so that a file that is truncated meanwhile is an error and not a signal */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    Elf *elf = elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_begin(fd, ELF_C_READ, NULL);
    bool found = elf && !ct_elf_has_packed_strings(elf) && find_symbol(elf, name, value);
    elf_end(elf);
    close(fd);
    return found;
}

static const char *in_root(const struct ct_perf *p, const char *name)
{
    return ct_arena_printf(p->opening->arena, "%s/%s", p->options->symfs ? p->options->symfs : "", name);
}

static const char *find_vmlinux(const struct ct_perf *p, const struct ct_build_id *id, const char **reason)
{
    static const char *const cached[] = {"elf", "vmlinux", "", NULL};
    static const char *const places[] = {"boot/vmlinux-", "usr/lib/debug/boot/vmlinux-", NULL};
    if (p->options->vmlinux)
        return ct_perf_check_file(p, p->options->vmlinux, id, reason);
    const char *path = ct_perf_cached(p, id, cached);
    for (size_t i = 0; !path && p->release && places[i]; i++) {
        const char *name = ct_arena_printf(p->opening->arena, "%s%s", places[i], p->release);
        path = name ? ct_perf_check_file(p, in_root(p, name), id, reason) : NULL;
    }
    if (!path && id && p->opening->files == &ct_files_system)
        path = ct_perf_check_file(p, ct_perf_debuginfod(p, id), id, reason);
    return path;
}

/* Returns the use of an ELF file of the kernel: for its code, or for names beside kcore. */
static uint8_t elf_kind_of(const struct ct_perf *p)
{
    return p->kcore ? CT_IMAGE_OF_NAMES : 1;
}

/* Adds the kernel's ELF file. `event` maps the kernel; its name ends with the symbol at its `file_offset`. */
static int add_vmlinux(struct kernel *k, const struct ct_perf_event *event)
{
    struct ct_perf *p = k->perf;
    const char *symbol = event->name + strlen(KERNEL_NAME);
    const struct ct_build_id *id = event->id ? event->id : ct_perf_listed_id(p, KERNEL_NAME);
    const char *reason = NULL;
    const char *path = find_vmlinux(p, id, &reason);
    char hex[2 * CT_BUILD_ID_MAX + 1] = "";
    uint64_t value;
    if (id)
        ct_build_id_text(id, hex);
    if (!path && p->kcore && !p->options->vmlinux)
        return CT_OK;
    const char *lost = p->kcore ? "what ran in the kernel is attributed to kcore"
                                : "instructions in the kernel are not listed";
    if (!path)
        return ct_perf_missing(p, "%s%s%s: no vmlinux is used: %s; %s; give its file with --vmlinux%s",
                               KERNEL_NAME, *hex ? ", build id " : "", hex,
                               reason ? reason : "none was found", lost,
                               p->kcore ? "" : ", or better --kcore with the kcore of 'perf record --kcore'");
    if (!symbol_of_file(path, *symbol ? symbol : "_text", &value))
        return ct_perf_missing(p,
                               "%s: %s has no symbol %s, so its load address is unknown; %s; give the "
                               "vmlinux that is not stripped",
                               KERNEL_NAME, path, *symbol ? symbol : "_text", lost);
    uint64_t ran_at = event->file_offset ? event->file_offset : event->addr;
    return add_image(
        k, &(struct ct_image){
               .path = path, .addr = ran_at - value, .space = CT_SPACE_ANY, .is_elf = elf_kind_of(p)});
}

static int add_map(struct kernel *k, const struct ct_perf_event *event)
{
    if (strncmp(event->name, KERNEL_NAME, strlen(KERNEL_NAME)) == 0)
        return add_vmlinux(k, event);
    const struct ct_perf_object *object;
    int rc = ct_perf_objects_find(k->objects, event->name, event->id, false, &object);
    const bool fits = !k->perf->kcore && event->size && event->addr <= UINT64_MAX - (event->size - 1);
    if (!rc && !object->path && fits)
        rc = ct_perf_add_gone(k->perf, object, event->addr, event->size);
    if (rc || !object->path)
        return rc;
    struct ct_image image = {.path = object->path, .addr = event->addr, .space = CT_SPACE_ANY};
    if (*event->name == '[' || ct_module_is_named(event->name)) {
        image.is_elf = elf_kind_of(k->perf);
        return ct_perf_place_module(k->perf, object->path, event, &image.placed) ?: add_image(k, &image);
    }
    if (k->perf->kcore || event->file_offset >= object->size)
        return CT_OK;
    uint64_t left = object->size - event->file_offset;
    image.offset = event->file_offset;
    image.size = event->size < left ? event->size : left;
    return add_image(k, &image);
}

/* Returns whether the recording has trace of the kernel. */
static bool is_traced(const struct ct_perf *p)
{
    for (size_t i = 0; i < p->attr_count; i++)
        if (p->attrs[i].type == p->pmu)
            return !(p->attrs[i].flags & CT_PERF_ATTR_EXCLUDE_KERNEL);
    return true;
}

static const char *find_kcore(const struct ct_perf *p, const char **reason)
{
    if (p->options->kcore)
        return ct_perf_check_file(p, p->options->kcore, NULL, reason);
    if (!p->folder)
        return NULL;
    return ct_perf_check_file(p, ct_path_join(p->opening->arena, p->folder, "kcore_dir/kcore"), NULL, reason);
}

int ct_perf_kernel_images(struct ct_perf *p, struct ct_perf_objects *objects, struct ct_image **images,
                          size_t *count)
{
    struct kernel k = {.perf = p, .objects = objects, .images = images, .count = count};
    const char *reason = NULL;
    *images = NULL;
    *count = 0;
    p->kcore = find_kcore(p, &reason);
    if (!p->kcore && p->options->kcore)
        return ct_fail(p->opening->ctx, CT_ERR_IO,
                       "%s: the kernel memory given with --kcore cannot be used: "
                       "%s",
                       p->options->kcore, reason);
    if (!is_traced(p))
        return CT_OK;
    int rc = CT_OK;
    for (size_t i = 0; !rc && i < p->event_count; i++)
        if (p->events[i].kind == CT_PERF_EVENT_MAP && p->events[i].kernel)
            rc = add_map(&k, &p->events[i]);
    if (!rc && p->kcore)
        rc = add_image(&k, &(struct ct_image){.path = p->kcore, .space = CT_SPACE_ANY, .is_elf = 1});
    return rc;
}
