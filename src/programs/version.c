/* SPDX-License-Identifier: Apache-2.0 */
/* Tells whether a file that the caller names can be the one that a capture says ran where it is put: by build
 * id. */
#include "programs/programs.h"

#include "base/ctx.h"
#include "base/elf_look.h"
#include "base/path.h"

#include <string.h>

/* A file that was named, held against the files of a capture. */
struct version {
    const char *path;
    uint64_t bias;
    struct ct_elf_look elf;
    char id[2 * CT_BUILD_ID_MAX + 1];
    bool fits;                    /* a file of the capture has this build id, or tells none */
    const struct ct_image *image; /* … which is here, and has it; NULL: none */
    const char *other;            /* the first file of the capture with another build id; NULL: none so far */
    char other_id[2 * CT_BUILD_ID_MAX + 1];
    const char *looked_at; /* the file whose headers were read last */
};

/* Compares build ids in hexadecimal digits. Old recordings fill short ones up with zeros. */
static bool is_same_id(const char *a, const char *b)
{
    for (; *a && *a == *b; a++, b++)
        ;
    return !a[strspn(a, "0")] && !b[strspn(b, "0")];
}

/* Takes the build id of a file of the capture; NULL or "": it is not known. */
static void compare_id(struct version *v, const char *path, const char *id)
{
    if (!id || !*id || is_same_id(id, v->id)) {
        v->fits = true;
    } else if (!v->other) {
        v->other = path;
        strncpy(v->other_id, id, sizeof v->other_id - 1);
    }
}

/* Tells whether code of the file lies in `size` bytes from `addr` on. */
static bool overlaps(const struct version *v, uint64_t addr, uint64_t size)
{
    bool common = false;
    for (size_t i = 0; i < v->elf.code_count && !common; i++) {
        const uint64_t low = v->elf.code[i].addr + v->bias;
        common = low < addr ? addr - low < v->elf.code[i].size : low - addr < size;
    }
    return common;
}

static bool overlaps_file(const struct version *v, const struct ct_elf_look *other)
{
    bool common = false;
    for (size_t i = 0; i < other->code_count && !common; i++)
        common = overlaps(v, other->code[i].addr + v->bias, other->code[i].size);
    return common;
}

static void compare_images(struct version *v, const struct ct_image *images, size_t count)
{
    for (size_t i = 0; i < count && !v->fits; i++) {
        const struct ct_image *image = &images[i];
        const bool named = ct_same_base_name(image->path, v->path);
        struct ct_elf_look elf;
        char id[sizeof v->id];
        if (!image->is_elf || (!named && image->addr != v->bias) ||
            (v->looked_at && strcmp(v->looked_at, image->path) == 0))
            continue;
        v->looked_at = image->path;
        if (!ct_elf_look(&ct_files_system, image->path, &elf) || !elf.is_elf ||
            (!named && !overlaps_file(v, &elf)))
            continue;
        ct_build_id_text(&elf.id, id);
        compare_id(v, image->path, id);
        v->image = v->fits && elf.id.size ? image : NULL;
    }
}

/* Compares files that ran and are not there any more. */
static void compare_gone(struct version *v, const struct ct_capture *capture)
{
    for (size_t i = 0; i < capture->gone_count && !v->fits; i++) {
        const struct ct_image *gone = &capture->gone[i];
        const bool here =
            gone->is_elf ? gone->addr && gone->addr == v->bias : overlaps(v, gone->addr, gone->size);
        if (here || ct_same_base_name(gone->path, v->path))
            compare_id(v, gone->path, capture->gone_build_ids[i]);
    }
}

static void compare_all(struct version *v, const struct ct_capture *capture)
{
    const struct ct_maps *maps = capture->maps;
    for (size_t i = 0; i < capture->buffer_count; i++)
        compare_images(v, capture->buffers[i].images, capture->buffers[i].image_count);
    compare_images(v, capture->programs, capture->program_count);
    for (size_t i = 0; maps && i < maps->process_count; i++)
        for (size_t k = 0; k < maps->processes[i].generation_count; k++)
            compare_images(v, maps->processes[i].generations[k].programs,
                           maps->processes[i].generations[k].program_count);
    compare_gone(v, capture);
}

int ct_program_version(struct ct_ctx *ctx, const char *path, uint64_t bias, const struct ct_capture *capture,
                       const struct ct_image **image)
{
    struct version v = {.path = path, .bias = bias};
    if (!ct_elf_look(&ct_files_system, path, &v.elf) || !v.elf.id.size)
        return CT_OK;
    ct_build_id_text(&v.elf.id, v.id);
    compare_all(&v, capture);
    if (!*image)
        *image = v.image;
    if (v.fits || !v.other)
        return CT_OK;
    return ct_fail(
        ctx, CT_ERR_CONFIG,
        "%.300s: has build id %s, but %.300s, which ran there by what %.300s says, has build id %s; "
        "what ran would be told of wrong functions and lines; name the build that ran, or leave "
        "this file out",
        path, v.id, v.other, capture->path ? capture->path : "the capture", v.other_id);
}
