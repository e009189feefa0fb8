/* SPDX-License-Identifier: Apache-2.0 */
/* Memory with traced accesses: the variables for ports, channels and comparators. */
#include "coretap/variable.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/ctx.h"
#include "base/elf_look.h"
#include "record/capture.h"
#include "record/feed.h"

/* The search for the variables of a recording. */
struct search {
    struct ct_ctx *ctx;
    const struct ct_record_options *given;
    struct ct_recording *o;
};

/* Finds a variable in the symbol table; *found is NULL when there is none with that name. */
static int find_object(struct search *r, const struct ct_layout *layout, const char *name,
                       const struct ct_area **found)
{
    *found = NULL;
    for (size_t i = 0; i < layout->object_count; i++) {
        const struct ct_area *area = &layout->objects[i];
        if (strcmp(area->name, name) != 0 || !area->size || (*found && (*found)->addr == area->addr))
            continue;
        if (*found)
            return ct_fail(
                r->ctx, CT_ERR_ARG,
                "'%s': %s has several variables with this name; nothing is recorded; rename the one that you "
                "mean",
                name, r->o->program);
        *found = area;
    }
    return CT_OK;
}

/* Finds a variable or a part of one in the debug information. It reports a missing variable itself, since the
 * errors of the search would not mention the symbol table. */
static int find_part(struct search *r, const struct ct_layout *layout, const char *name, struct ct_area *out)
{
    struct ct_variable *variable;
    const int rc = ct_variable_find(r->ctx, r->o->program, NULL, name, &variable);
    if (rc == CT_ERR_NOT_FOUND)
        return ct_fail(r->ctx, rc,
                       "'%s': this is not a variable of %s with a known size%s; nothing is recorded; name a "
                       "global or static "
                       "variable",
                       name, r->o->program, layout->object_count ? "" : ", which has no symbols");
    if (rc)
        return rc;
    *out = (struct ct_area){.name = name, .addr = variable->addr, .size = variable->size};
    ct_variable_free(variable);
    return CT_OK;
}

/* Finds the place of a variable by name, in the symbol table or in the debug information. */
static int find_area(struct search *r, const struct ct_layout *layout, const char *name, struct ct_area *out)
{
    const struct ct_area *object;
    const int rc = find_object(r, layout, name, &object);
    if (rc)
        return rc;
    if (!object)
        return find_part(r, layout, name, out);
    *out = *object;
    return CT_OK;
}

/* Adds the variable `name`. CT_ERR_LIMIT: too large for its kind; the errors of find_area. */
static int add_watched(struct search *r, const struct ct_layout *layout, uint64_t code, const char *name,
                       enum ct_software_kind kind)
{
    static const struct {
        uint64_t most;
        const char *what;
    } limits[] = {
        [CT_SOFTWARE_PORT] = {CT_SOFTWARE_PORTS_SIZE, "an ITM has 256 stimulus ports of 4 bytes"},
        [CT_SOFTWARE_WATCHED] = {UINT64_MAX, ""},
        [CT_SOFTWARE_CHANNEL] = {CT_SOFTWARE_CHANNELS_SIZE, "an STM has 65536 channels of 256 bytes"}};
    struct ct_area object = {0};
    const int rc = name ? find_area(r, layout, name, &object) : CT_OK;
    if (rc || !name)
        return rc;
    if (object.size > limits[kind].most)
        return ct_fail(r->ctx, CT_ERR_LIMIT,
                       "'%s': the variable has %" PRIu64
                       " bytes, but %s; nothing is recorded; make it smaller",
                       name, object.size, limits[kind].what);
    struct ct_recording_watched *watched = &r->o->watched[r->o->watched_count++];
    *watched = (struct ct_recording_watched){
        .start = object.addr - code, .size = object.size, .kind = (uint8_t)kind};
    return CT_OK;
}

int ct_recording_watch(struct ct_ctx *ctx, const struct ct_record_options *given,
                       struct ct_recording *recording, char *options)
{
    struct search search = {ctx, given, recording}, *r = &search;
    struct ct_elf_look elf;
    struct ct_layout *layout;
    size_t used = 0;
    *options = '\0';
    if (!r->given->ports && !r->given->channels && !r->given->watched_count)
        return CT_OK;
    if (!ct_elf_look(&ct_files_system, r->o->program, &elf) || !elf.code_count)
        return ct_fail(r->ctx, CT_ERR_NOT_FOUND, "%s: this is not an ELF file with code; nothing is recorded",
                       r->o->program);
    uint64_t code = elf.code[0].addr;
    for (size_t i = 1; i < elf.code_count; i++)
        code = elf.code[i].addr < code ? elf.code[i].addr : code;
    const struct ct_image image = {.path = r->o->program, .is_elf = 1};
    int rc = ct_layout_load(r->ctx, &image, &layout);
    if (rc)
        return rc;
    for (size_t i = 0; i < r->given->watched_count && !rc; i++) {
        rc = add_watched(r, layout, code, r->given->watched[i], CT_SOFTWARE_WATCHED);
        r->o->watched[i].comparator = (uint8_t)i;
    }
    if (!rc)
        rc = add_watched(r, layout, code, r->given->ports, CT_SOFTWARE_PORT);
    if (!rc)
        rc = add_watched(r, layout, code, r->given->channels, CT_SOFTWARE_CHANNEL);
    ct_layout_free(layout);
    for (unsigned i = 0; i < r->o->watched_count && !rc; i++)
        used += (size_t)snprintf(options + used, CT_RECORD_FEED_WATCH - used, ",watch=%" PRIx64 ":%" PRIx64,
                                 r->o->watched[i].start, r->o->watched[i].size);
    return rc;
}
