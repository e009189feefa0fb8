/* SPDX-License-Identifier: Apache-2.0 */
/* Writes profiles of counts: chooses the programs, and loads what the formats need. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/module_name.h"
#include "base/options.h"
#include "base/require.h"
#include "format/cover.h"
#include "base/out.h"
#include "format/profile.h"

struct profile {
    struct ct_ctx *ctx;
    struct ct_cover *cover;
    struct ct_programs *programs;
    struct ct_profile_write_options options;
    struct ct_profile_stacks stacks; /* for formats of stacks */
    struct ct_profile_view *views;
    size_t count;
    uint64_t *entries; /* number of entries written */
};

/* Returns whether a format cannot name a program. */
static bool is_of_one(const struct profile *p)
{
    return p->options.format == CT_PROFILE_FORMAT_AUTOFDO || p->options.format == CT_PROFILE_FORMAT_BOLT;
}

/* Returns whether a format is of branches rather than lines. */
static bool is_of_branches(const struct profile *p)
{
    return is_of_one(p) || p->options.format == CT_PROFILE_FORMAT_BRANCH_LIST;
}

/* Returns whether a format is of stacks, and so covers all programs. */
static bool is_of_stacks(const struct profile *p)
{
    return p->options.format == CT_PROFILE_FORMAT_CALLGRIND || p->options.format == CT_PROFILE_FORMAT_PPROF;
}

static bool is_wanted(const struct profile *p, const struct ct_program *program)
{
    const struct ct_program *other;
    bool named = false;
    bool started = false;
    for (size_t i = 0; (other = ct_programs_at(p->programs, i)); i++) {
        named |= other->named;
        started |= other->started;
    }
    if (p->options.program)
        return program == p->options.program;
    return is_of_stacks(p) || p->options.format == CT_PROFILE_FORMAT_BRANCH_LIST ||
           (named ? program->named : !started || program->started);
}

/* Finds the number of a program in the sums of stacks. */
static int number_view(const struct profile *p, struct ct_program *program, struct ct_profile_view *view)
{
    uint32_t counted = 0;
    int rc = ct_cover_number(p->cover, program, &counted);
    for (uint32_t i = 0; i < p->stacks.found.program_count && !rc && view->number == CT_STACK_NONE; i++) {
        const struct ct_program_identity identity = ct_stack_sums_program(p->options.stacks, i);
        uint32_t number = 0;
        rc = ct_cover_program(p->cover, &identity, &number);
        if (!rc && number == counted)
            view->number = i;
    }
    return rc;
}

/* Finds the address of .text in a kernel module. */
static int find_text(struct ct_program *program, uint64_t *text)
{
    const struct ct_layout *layout;
    const int rc = ct_program_layout(program, &layout);
    for (size_t i = 0; !rc && i < layout->section_count; i++)
        if (!strcmp(layout->sections[i].name, ".text"))
            *text = layout->sections[i].addr;
    return rc;
}

/* Returns the path on the target for a file below the target's root folder, and the path itself for other
 * files. */
static const char *target_path(const char *root, const char *path)
{
    size_t length = root ? strlen(root) : 0;
    while (length && root[length - 1] == '/')
        length--;
    return length && !strncmp(root, path, length) && path[length] == '/' ? path + length : path;
}

static int fill_view(const struct profile *p, struct ct_program *program, struct ct_profile_view *view)
{
    const struct ct_cover_choice choice = {.arch = p->options.arch,
                                           .contexts = p->options.contexts,
                                           .context_count =
                                               p->options.contexts ? p->options.context_count : 0,
                                           .all_functions = 1};
    *view = (struct ct_profile_view){.program = program->path,
                                     .target = target_path(p->options.root, program->path),
                                     .number = CT_STACK_NONE};
    int rc = number_view(p, program, view);
    if (!rc && p->options.format == CT_PROFILE_FORMAT_PPROF)
        return ct_cover_source_of(program, &choice, &view->source);
    if (rc || !is_of_branches(p))
        return rc ? rc : ct_cover_report_of(p->cover, program, &choice, &view->source, &view->report);
    rc = ct_cover_source_of(program, &choice, &view->source);
    if (!rc && ct_module_is_named(program->path))
        rc = find_text(program, &view->text);
    return rc ? rc : ct_cover_choose(p->cover, program, &choice, &view->items, &view->item_count);
}

static int fill(struct profile *p)
{
    struct ct_program *program;
    int rc = CT_OK;
    p->views = calloc(ct_programs_count(p->programs) + 1, sizeof *p->views);
    if (!p->views)
        return CT_ERR_NOMEM;
    for (size_t i = 0; (program = ct_programs_at(p->programs, i)) && !rc; i++)
        if (is_wanted(p, program) && ct_cover_is_first(p->cover, p->programs, program))
            rc = fill_view(p, program, &p->views[p->count++]);
    if (!rc && is_of_one(p) && p->count != 1)
        return ct_fail(p->ctx, CT_ERR_ARG,
                       "ct_profile_write: the format describes one program, not %zu; nothing was written; "
                       "choose one program",
                       p->count);
    return rc;
}

static int write_llvm(struct profile *p, FILE *out)
{
    int rc = CT_OK;
    for (size_t i = 0; i < p->count && !rc; i++)
        rc = ct_profile_llvm(out, &p->views[i], p->entries);
    return rc;
}

static int put_bytes(void *out, const void *bytes, size_t size)
{
    /* a write error stays in the stream and is reported when it is closed */
    fwrite(bytes, 1, size, out);
    return CT_OK;
}

static int write_branch_list(struct profile *p, FILE *out)
{
    struct ct_branch_list *list = NULL;
    uint64_t left_out = 0;
    int rc = ct_branch_list_new(p->ctx, &list);
    for (size_t i = 0; i < p->count && !rc; i++)
        rc = ct_profile_branch_list(list, &p->views[i], p->entries, &left_out);
    if (!rc && (*p->entries || !p->options.skip_empty))
        rc = ct_branch_list_write(list, put_bytes, out);
    ct_branch_list_free(list);
    if (p->options.left_out)
        *p->options.left_out = left_out;
    return rc;
}

static int write_as(struct profile *p, FILE *out)
{
    switch (p->options.format) {
    case CT_PROFILE_FORMAT_AUTOFDO:
        return p->options.skip_empty && !p->views->item_count ? CT_OK
                                                              : ct_profile_autofdo(out, p->views, p->entries);
    case CT_PROFILE_FORMAT_BOLT:
        return ct_profile_bolt(out, p->views, p->entries);
    case CT_PROFILE_FORMAT_CALLGRIND:
        return ct_profile_callgrind(out, &p->stacks, p->views, p->count, p->entries);
    case CT_PROFILE_FORMAT_BRANCH_LIST:
        return write_branch_list(p, out);
    case CT_PROFILE_FORMAT_PPROF:
        return ct_profile_pprof(p->ctx, out, &p->stacks, p->views, p->count, p->entries);
    default:
        return write_llvm(p, out);
    }
}

/* Checks the format, and finds the stacks that it needs. CT_ERR_ARG, CT_ERR_NOMEM. */
static int find_stacks(struct profile *p)
{
    if (p->options.format > CT_PROFILE_FORMAT_BRANCH_LIST)
        return ct_fail(p->ctx, CT_ERR_ARG, "ct_profile_write: format %u does not exist; nothing was written",
                       p->options.format);
    if (!is_of_stacks(p))
        return CT_OK;
    if (!p->options.stacks)
        return ct_fail(
            p->ctx, CT_ERR_ARG,
            "ct_profile_write: the format needs call stacks, but there are none; nothing was written");
    p->stacks.sums = p->options.stacks;
    p->stacks.cycles = p->options.cycles;
    const int rc = ct_stack_sums_find(p->options.stacks, &p->stacks.found);
    if (!rc && p->options.format == CT_PROFILE_FORMAT_CALLGRIND && p->stacks.found.lacks_calls)
        return ct_fail(p->ctx, CT_ERR_ARG,
                       "ct_profile_write: the file of stacks has version 1, which does not contain calls; "
                       "nothing was written; write it again from its captures");
    return rc;
}

static int write_profile(struct profile *p, ct_write_fn *write, void *user)
{
    struct ct_out out;
    return ct_tell_nomem(p->ctx, "profile", fill(p))
           ?: ct_out_open(&out, p->ctx, write, user)
           ?: ct_out_close(&out, ct_tell_nomem(p->ctx, "profile", write_as(p, out.file)));
}

int ct_profile_write(struct ct_cover *cover, struct ct_programs *programs,
                     const struct ct_profile_write_options *options, ct_write_fn *write, void *user,
                     struct ct_profile_written *written)
{
    uint64_t entries = 0;
    struct profile p = {.cover = cover, .programs = programs, .entries = &entries};
    CT_REQUIRE(cover ? ct_cover_analysis(cover)->ctx : NULL, cover, programs, write);
    p.ctx = ct_cover_analysis(cover)->ctx;
    int rc = ct_options_read(p.ctx, __func__, options, &p.options, sizeof p.options)
             ?: find_stacks(&p)
             ?: write_profile(&p, write, user);
    if (written)
        *written = (struct ct_profile_written){
            .program_count = p.count, .program = p.count ? p.views->program : NULL, .entries = entries};
    for (size_t i = 0; i < p.count; i++) {
        ct_cover_report_free(p.views[i].report);
        free(p.views[i].items);
    }
    free(p.views);
    return rc;
}
