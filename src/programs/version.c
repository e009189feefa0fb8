/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether a file named by the caller can be the one that ran at its address according to a capture:
 * by build id, or by its code. */
#include "programs/programs.h"

#include "base/ctx.h"
#include "base/elf_look.h"
#include "base/module_name.h"
#include "base/path.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A named file, compared with the files of a capture. */
struct version {
    const char *path;
    uint64_t bias;
    struct ct_elf_look elf;
    char id[2 * CT_BUILD_ID_MAX + 1];
    bool is_same;                 /* a file of the capture has this build id */
    bool fits;                    /* a file of the capture has this build id, or none */
    const struct ct_image *image; /* the image of the capture with this build id; NULL: none */
    bool is_there;                /* that image, or another one of its file, is at `bias` */
    const char *other;            /* the first file of the capture with another build id; NULL: none so far */
    char other_id[2 * CT_BUILD_ID_MAX + 1];
    const char *twin;                     /* a file of the capture with this build id and other code */
    const char *looked_at;                /* the file whose headers were read last */
    bool is_code_there;                   /* an image has the code of this file at its address */
    const struct ct_image *contradicting; /* the first image with other code there; NULL: none so far */
    struct ct_same_code code;             /* the differences to that image */
};

/* Compares build ids in hexadecimal digits. Old recordings pad short ones with zeros. */
static bool is_same_id(const char *a, const char *b)
{
    for (; *a && *a == *b; a++, b++)
        ;
    return !a[strspn(a, "0")] && !b[strspn(b, "0")];
}

/* Compares with the build id of a file of the capture; NULL or "": unknown. */
static void compare_id(struct version *v, const char *path, const char *id)
{
    if (!id || !*id || is_same_id(id, v->id)) {
        v->fits = true;
        v->is_same |= id && *id;
    } else if (!v->other) {
        v->other = path;
        snprintf(v->other_id, sizeof v->other_id, "%s", id);
    }
}

/* Returns whether code of the file overlaps the `size` bytes from `addr` on. */
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

/* Returns whether two files have their code at the same addresses, as the files of one build have, stripped
 * or not. Files with debug information only may have none. */
static bool has_same_extent(const struct ct_elf_look *a, const struct ct_elf_look *b)
{
    bool same = true;
    for (size_t i = 0; i < a->code_count && i < b->code_count && same; i++)
        same = a->code[i].addr == b->code[i].addr && a->code[i].memory_size == b->code[i].memory_size;
    return same;
}

static void compare_image(struct version *v, const struct ct_image *image)
{
    const bool named = ct_same_base_name(image->path, v->path);
    struct ct_elf_look elf;
    char id[sizeof v->id];
    if (!image->is_elf || (!named && image->addr != v->bias) ||
        (v->looked_at && strcmp(v->looked_at, image->path) == 0))
        return;
    v->looked_at = image->path;
    if (!ct_elf_look(&ct_files_system, image->path, &elf) || !elf.is_elf ||
        (!named && !overlaps_file(v, &elf)))
        return;
    ct_build_id_text(&elf.id, id);
    if (*id && is_same_id(id, v->id) && !has_same_extent(&v->elf, &elf)) {
        v->twin = image->path;
        return;
    }
    compare_id(v, image->path, id);
    v->image = v->fits && elf.id.size ? image : NULL;
}

static void compare_images(struct version *v, const struct ct_image *images, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!v->fits)
            compare_image(v, &images[i]);
        v->is_there |= v->image && images[i].addr == v->bias && strcmp(images[i].path, v->image->path) == 0;
    }
}

/* Returns whether code of the file overlaps the code of the same file at another address of the capture.
 * There its instructions would count twice, also under the wrong names. */
static bool overlaps_itself(const struct version *v)
{
    bool common = false;
    for (size_t i = 0; v->image && !v->is_there && i < v->elf.code_count && !common; i++)
        common = overlaps(v, v->elf.code[i].addr + v->image->addr, v->elf.code[i].size);
    return common;
}

/* Compares with all ELF files of a capture. */
static void for_programs(struct version *v, const struct ct_capture *capture)
{
    const struct ct_maps *maps = capture->maps;
    for (size_t i = 0; i < capture->buffer_count; i++)
        compare_images(v, capture->buffers[i].images, capture->buffers[i].image_count);
    compare_images(v, capture->programs, capture->program_count);
    for (size_t i = 0; maps && i < maps->process_count; i++)
        for (size_t k = 0; k < maps->processes[i].generation_count; k++)
            compare_images(v, maps->processes[i].generations[k].programs,
                           maps->processes[i].generations[k].program_count);
}

/* Compares with files that ran and do not exist here. */
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

/* ---- code ---- */

/* Returns whether an image can contain the code of the file: a copy of memory, or a file at the same
 * address. */
static bool may_have_code(const struct version *v, const struct ct_image *image)
{
    struct ct_elf_look elf;
    if (!image->is_elf || image->is_elf == CT_IMAGE_OF_NAMES)
        return !image->is_elf;
    return image->addr == v->bias || (ct_elf_look(&ct_files_system, image->path, &elf) && elf.is_core);
}

/* Compares the code of all images in one space with the file's. A memory may consist of many pieces. */
static void compare_space(struct version *v, const struct ct_image *images, size_t count, uint32_t space)
{
    struct ct_same_code code = {0};
    const struct ct_image *contradicting = NULL;
    for (size_t i = 0; i < count; i++) {
        if (images[i].space != space || !may_have_code(v, &images[i]))
            continue;
        const uint64_t others = code.other_pages;
        ct_same_code(v->path, &v->elf, v->bias, &images[i], &code);
        if (code.other_pages > others && !contradicting)
            contradicting = &images[i];
    }
    const bool is_other = ct_same_code_is_other(&code);
    v->is_code_there = code.pages && !is_other;
    if (is_other && !v->contradicting) {
        v->contradicting = contradicting;
        v->code = code;
    }
}

/* Compares the code of images with the file's. Several may be at one address, in different processes or
 * cores: one match is enough. */
static void compare_code(struct version *v, const struct ct_image *images, size_t count)
{
    for (size_t i = 0; i < count && !v->is_code_there; i++) {
        bool is_new = true;
        for (size_t k = 0; k < i && is_new; k++)
            is_new = images[k].space != images[i].space;
        if (is_new)
            compare_space(v, images, count, images[i].space);
    }
}

/* Returns whether a file that does not exist here was at the address of this one. */
static bool is_gone_there(const struct version *v, const struct ct_capture *capture)
{
    for (size_t i = 0; i < capture->gone_count; i++) {
        const struct ct_image *gone = &capture->gone[i];
        if (ct_same_base_name(gone->path, v->path) ||
            (gone->is_elf ? gone->addr == v->bias : overlaps(v, gone->addr, gone->size)))
            return true;
    }
    return false;
}

/* Returns whether the file's code differs from that of the capture. Maps of processes are skipped when a
 * missing file was at this address, because this file may stand for it. */
static bool is_other_code(struct version *v, const struct ct_capture *capture)
{
    const struct ct_maps *maps = is_gone_there(v, capture) ? NULL : capture->maps;
    for (size_t i = 0; i < capture->buffer_count; i++)
        compare_code(v, capture->buffers[i].images, capture->buffers[i].image_count);
    for (size_t i = 0; maps && i < maps->process_count; i++)
        for (size_t k = 0; k < maps->processes[i].generation_count; k++)
            compare_code(v, maps->processes[i].generations[k].images,
                         maps->processes[i].generations[k].image_count);
    return !v->is_code_there && v->contradicting;
}

static int check_code(struct ct_ctx *ctx, struct version *v, const struct ct_capture *capture)
{
    if (!is_other_code(v, capture))
        return CT_OK;
    return ct_fail(
        ctx, CT_ERR_CONFIG,
        "%.300s: its code differs from that of %.300s, which %.300s contains at these addresses: %" PRIu64
        " of %" PRIu64 " pages of code differ, the first at 0x%" PRIx64 "; functions and lines would be "
        "wrong; give the build that ran, with its load address (FILE@ADDRESS), or omit this file",
        v->path, v->contradicting->path, capture->path ? capture->path : "the capture", v->code.other_pages,
        v->code.pages, v->code.first_other);
}

bool ct_program_was_replaced(struct ct_ctx *ctx, const struct ct_image *ran, const struct ct_capture *capture)
{
    struct version v = {.path = ran->path, .bias = ran->addr};
    if (!ct_elf_look(&ct_files_system, ran->path, &v.elf) || v.elf.id.size || ct_module_is_named(ran->path) ||
        !is_other_code(&v, capture))
        return false;
    ct_log(ctx, CT_LOG_WARNING,
           "%s: its code differs from that of %s, which %s contains at these addresses, so the file was "
           "replaced after it ran; its functions and lines are unknown; give the file that ran with --elf "
           "FILE@%" PRIx64,
           v.path, v.contradicting->path, capture->path ? capture->path : "the capture", v.bias);
    return true;
}

int ct_program_names_memory(struct ct_ctx *ctx, const struct ct_image *names,
                            const struct ct_capture *capture)
{
    struct version v = {.path = names->path, .bias = names->addr};
    if (names->is_elf != CT_IMAGE_OF_NAMES || ct_module_is_named(names->path) ||
        !ct_elf_look(&ct_files_system, names->path, &v.elf))
        return CT_OK;
    return check_code(ctx, &v, capture);
}

int ct_program_version(struct ct_ctx *ctx, const char *path, uint64_t bias, const struct ct_capture *capture,
                       const struct ct_image **image)
{
    struct version v = {.path = path, .bias = bias};
    if (!ct_elf_look(&ct_files_system, path, &v.elf) || !v.elf.is_elf)
        return CT_OK;
    if (v.elf.id.size) {
        ct_build_id_text(&v.elf.id, v.id);
        for_programs(&v, capture);
        compare_gone(&v, capture);
    }
    if (!*image)
        *image = v.image;
    if (overlaps_itself(&v))
        return ct_fail(
            ctx, CT_ERR_CONFIG,
            "%.300s: was loaded at 0x%" PRIx64 " by what %.300s says; loaded at 0x%" PRIx64
            " it would overlap itself, and code that ran there would count twice; leave the address out",
            path, v.image->addr, capture->path ? capture->path : "the capture", bias);
    if (v.is_same)
        return CT_OK;
    if (v.twin)
        return ct_fail(
            ctx, CT_ERR_CONFIG,
            "%.300s: is another program than %.300s, which ran at these addresses according to %.300s: both "
            "have build id %s, but their code differs in size; functions and lines would be wrong; give the "
            "program that ran, and link each program with its own build id",
            path, v.twin, capture->path ? capture->path : "the capture", v.id);
    if (v.fits || !v.other)
        return check_code(ctx, &v, capture);
    return ct_fail(
        ctx, CT_ERR_CONFIG,
        "%.300s: has build id %s, but %.300s, which ran at these addresses according to %.300s, has build id "
        "%s; functions and lines would be wrong; give the build that ran, or omit this file",
        path, v.id, v.other, capture->path ? capture->path : "the capture", v.other_id);
}
