/* SPDX-License-Identifier: Apache-2.0 */
/* Memory with traced accesses: the variables for ports, channels and comparators. */
#include "coretap/variable.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/elf_look.h"
#include "record/capture.h"
#include "record/feed.h"

/* A file with variables. */
struct file {
    const char *path;
    uint64_t code; /* address of its code in a program, which may be loaded elsewhere; in a machine 0 */
    struct ct_layout *layout;
};

/* The search for the variables of a recording. */
struct search {
    struct ct_ctx *ctx;
    const struct ct_record_options *given;
    struct ct_recording *o;
    struct ct_record_programs files;
};

/* Finds a variable in the symbol table; *found is NULL when there is none with that name. */
static int find_object(struct search *r, const struct file *file, const char *name,
                       const struct ct_area **found)
{
    *found = NULL;
    for (size_t i = 0; i < file->layout->object_count; i++) {
        const struct ct_area *area = &file->layout->objects[i];
        if (strcmp(area->name, name) != 0 || !area->size || (*found && (*found)->addr == area->addr))
            continue;
        if (*found)
            return ct_fail(
                r->ctx, CT_ERR_ARG,
                "'%s': %s has several variables with this name; nothing is recorded; rename the one that you "
                "mean",
                name, file->path);
        *found = area;
    }
    return CT_OK;
}

/* Finds a variable or a part of one in the debug information. It reports a missing variable itself, since the
 * errors of the search would not mention the symbol table. */
static int find_part(struct search *r, const struct file *file, const char *name, struct ct_area *out)
{
    struct ct_variable *variable;
    const int rc = ct_variable_find(r->ctx, file->path, NULL, name, &variable);
    if (rc == CT_ERR_NOT_FOUND)
        return ct_fail(r->ctx, rc,
                       "'%s': this is not a variable of %s with a known size%s; nothing is recorded; name a "
                       "global or static "
                       "variable",
                       name, file->path, file->layout->object_count ? "" : ", which has no symbols");
    if (rc)
        return rc;
    *out = (struct ct_area){.name = name, .addr = variable->addr, .size = variable->size};
    ct_variable_free(variable);
    return CT_OK;
}

static int open_file(struct search *r, const char *path, struct file *file)
{
    struct ct_elf_look elf;
    *file = (struct file){.path = path};
    if (!ct_elf_look(&ct_files_system, path, &elf) || !elf.code_count) {
        ct_fail(r->ctx, CT_ERR_NOT_FOUND, "%s: this is not an ELF file with code; nothing is recorded", path);
        return CT_ERR_NOT_FOUND;
    }
    for (size_t i = 0; i < elf.code_count && !r->o->system; i++)
        file->code = !i || elf.code[i].addr < file->code ? elf.code[i].addr : file->code;
    const struct ct_image image = {.path = path, .is_elf = 1};
    return ct_layout_load(r->ctx, &image, &file->layout);
}

/* Finds the place of a variable by name, in the symbol table or in the debug information of a file. */
static int find_in(struct search *r, const char *path, const char *name, struct ct_area *out)
{
    const struct ct_area *object = NULL;
    struct file file;
    *out = (struct ct_area){0};
    int rc = open_file(r, path, &file);
    if (rc)
        return rc;
    rc = find_object(r, &file, name, &object);
    if (object)
        *out = (struct ct_area){.name = name, .addr = object->addr, .size = object->size};
    else if (!rc)
        rc = find_part(r, &file, name, out);
    if (!rc)
        out->addr -= file.code;
    ct_layout_free(file.layout);
    return rc;
}

/* Finds a variable, which only one of the files may have. */
static int find_area(struct search *r, const char *name, struct ct_area *out)
{
    int rc = CT_ERR_NOT_FOUND;
    for (size_t i = 0; i < r->files.count; i++) {
        struct ct_area also;
        const int here = find_in(r, r->files.all[i].path, name, rc ? out : &also);
        if (here && here != CT_ERR_NOT_FOUND)
            return here;
        if (!here && !rc)
            return ct_fail(r->ctx, CT_ERR_ARG,
                           "'%s': %s and another file that the machine loads have a variable with this name; "
                           "nothing is recorded; rename the one that you mean",
                           name, r->files.all[i].path);
        rc = here ? rc : CT_OK;
    }
    return rc;
}

/* Adds the variable `name`. CT_ERR_LIMIT: too large for its kind; the errors of find_area. */
static int add_watched(struct search *r, const char *name, enum ct_software_kind kind)
{
    static const struct {
        uint64_t most;
        const char *what;
    } limits[] = {
        [CT_SOFTWARE_PORT] = {CT_SOFTWARE_PORTS_SIZE, "an ITM has 256 stimulus ports of 4 bytes"},
        [CT_SOFTWARE_WATCHED] = {UINT64_MAX, ""},
        [CT_SOFTWARE_CHANNEL] = {CT_SOFTWARE_CHANNELS_SIZE, "an STM has 65536 channels of 256 bytes"}};
    struct ct_area object = {0};
    const int rc = name ? find_area(r, name, &object) : CT_OK;
    if (rc || !name)
        return rc;
    if (object.size > limits[kind].most)
        return ct_fail(r->ctx, CT_ERR_LIMIT,
                       "'%s': the variable has %" PRIu64
                       " bytes, but %s; nothing is recorded; make it smaller",
                       name, object.size, limits[kind].what);
    struct ct_recording_watched *watched = &r->o->watched[r->o->watched_count++];
    *watched =
        (struct ct_recording_watched){.start = object.addr, .size = object.size, .kind = (uint8_t)kind};
    return CT_OK;
}

/* Takes the address of a processor's ITM as stimulus ports. Returns whether `ports` is that address. */
static bool take_itm(struct search *r, const char *ports)
{
    char *end;
    if (!ports || !r->o->system || strtoull(ports, &end, 16) != CT_RECORDING_ITM || *end)
        return false;
    r->o->has_itm = true;
    r->o->watched[r->o->watched_count++] = (struct ct_recording_watched){
        .start = CT_RECORDING_ITM, .size = CT_RECORDING_ITM_SIZE, .kind = CT_SOFTWARE_PORT};
    return true;
}

int ct_recording_watch(struct ct_ctx *ctx, const struct ct_record_options *given,
                       struct ct_recording *recording, char *options)
{
    struct search search = {.ctx = ctx, .given = given, .o = recording}, *r = &search;
    size_t used = 0;
    int rc = CT_OK;
    *options = '\0';
    const char *ports = take_itm(r, given->ports) ? NULL : given->ports;
    const char *first = given->watched_count ? given->watched[0] : ports ? ports : given->channels;
    if (first)
        rc = ct_recording_files(ctx, recording, first, &r->files);
    for (size_t i = 0; i < given->watched_count && !rc; i++) {
        rc = add_watched(r, given->watched[i], CT_SOFTWARE_WATCHED);
        if (!rc)
            recording->watched[recording->watched_count - 1].comparator = (uint8_t)i;
    }
    if (!rc)
        rc = add_watched(r, ports, CT_SOFTWARE_PORT);
    if (!rc)
        rc = add_watched(r, given->channels, CT_SOFTWARE_CHANNEL);
    ct_record_programs_free(&r->files);
    if (recording->has_itm)
        used += (size_t)snprintf(options, CT_RECORD_FEED_WATCH, ",itm=1");
    for (unsigned i = 0; i < recording->watched_count && !rc; i++)
        used += (size_t)snprintf(options + used, CT_RECORD_FEED_WATCH - used, ",watch=%" PRIx64 ":%" PRIx64,
                                 recording->watched[i].start, recording->watched[i].size);
    return rc;
}
