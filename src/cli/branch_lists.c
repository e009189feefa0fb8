/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* asprintf, basename */
#include "cli/branch_lists.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/text_file.h"
#include "coretap/branch_list.h"

bool cli_branch_lists_is_file(const char *path)
{
    char start[32];
    const size_t got = cli_results_begin(path, start, sizeof start);
    return ct_branch_list_is_file(start, got);
}

/* Adds a file to lists. False after a message. */
static bool load(struct ct_ctx *ctx, struct ct_branch_list *list, const char *path)
{
    size_t size;
    char *bytes = cli_read_file(path, SIZE_MAX, &size);
    if (!bytes)
        return false;
    const int rc = ct_branch_list_load(list, path, bytes, size);
    free(bytes);
    if (rc)
        cli_library_error(ctx);
    return rc == CT_OK;
}

/* ---- programs ---- */

/* The lists of one file, and the programs that are known. */
struct reading {
    const struct cli_args *args;
    const char *path;
    struct ct_branch_list *list;
    struct ct_programs *programs;
    struct ct_cover *cover;
    int code;    /* enum cli_exit so far */
    size_t used; /* binaries whose counts were added */
};

/* Compares build ids, of which simpleperf fills short ones up with zeros. */
static bool is_same_id(const struct ct_branch_list_binary *binary, const uint8_t *id, size_t size)
{
    uint8_t mine[20] = {0}, theirs[20] = {0};
    memcpy(mine, binary->build_id, binary->build_id_size);
    memcpy(theirs, id, size < sizeof theirs ? size : sizeof theirs);
    return memcmp(mine, theirs, sizeof mine) == 0;
}

enum match {
    MATCH_NONE,
    MATCH_NAME,  /* of the same name, and one has no build id */
    MATCH_OTHER, /* of the same name, with another build id */
    MATCH_ID,
};

/* Says how far a program is the one that a binary names. */
static enum match compare(const struct ct_branch_list_binary *binary, struct ct_program *program)
{
    const struct ct_symbols *symbols;
    size_t size = 0;
    const uint8_t *id = ct_program_symbols(program, &symbols) ? NULL : ct_symbols_build_id(symbols, &size);
    const bool named = !strcmp(basename(program->path), basename(binary->path)) ||
                       (binary->kind == CT_BRANCH_LIST_KERNEL && strstr(program->path, "vmlinux"));
    if (id && binary->build_id_size)
        return is_same_id(binary, id, size) ? MATCH_ID : named ? MATCH_OTHER : MATCH_NONE;
    return named ? MATCH_NAME : MATCH_NONE;
}

static struct ct_program *add(struct reading *r, const char *path)
{
    struct ct_program *program = NULL;
    if (path && cli_programs_is_there(path) && ct_programs_add(r->programs, path, NULL, NULL, &program))
        r->code = cli_library_error(r->args->ctx);
    return program;
}

/* Adds the file that is where a binary was on the phone: below --symfs, or here. */
static struct ct_program *add_by_path(struct reading *r, const struct ct_branch_list_binary *binary)
{
    const struct cli_value *symfs = &r->args->values[CLI_CAPTURE_SYMFS];
    const struct cli_value *vmlinux = &r->args->values[CLI_CAPTURE_VMLINUX];
    char *path = NULL;
    if (binary->kind == CT_BRANCH_LIST_KERNEL && vmlinux->given)
        return add(r, vmlinux->text);
    if (asprintf(&path, "%s%s", symfs->given ? symfs->text : "", binary->path) < 0) {
        cli_no_memory();
        r->code = CLI_FAILED;
        return NULL;
    }
    struct ct_program *program = add(r, path);
    free(path);
    return program;
}

/* Finds the program that a binary is: among those that --elf names, by build id in the folders of --symdir,
 * or where it was. NULL, after a message, when there is none or it is another version. */
static struct ct_program *find(struct reading *r, const struct ct_branch_list_binary *binary)
{
    struct ct_program *found = NULL, *program;
    enum match best = MATCH_NONE;
    const char *path = NULL;
    for (size_t i = 0; best != MATCH_ID && (program = ct_programs_at(r->programs, i)); i++) {
        const enum match match = compare(binary, program);
        found = match > best ? program : found;
        best = match > best ? match : best;
    }
    if (best == MATCH_NONE && binary->build_id_size && r->args->debug_files)
        (void)ct_debug_files_program(r->args->debug_files, binary->build_id, binary->build_id_size, &path);
    if (best == MATCH_NONE)
        found = path ? add(r, path) : add_by_path(r, binary);
    if (found && best == MATCH_NONE)
        best = compare(binary, found);
    if (!found && !r->args->quiet && r->code != CLI_FAILED)
        cli_say("%s: counts of %s are left out, since it is not there; name it with --elf, or the folder "
                "that has it "
                "with --symfs or --symdir",
                r->path, binary->path);
    if (best == MATCH_OTHER) {
        cli_say("%s: %s is another version of %s: its build id differs; its counts are left out, name the "
                "version "
                "that ran with --elf",
                r->path, found->path, binary->path);
        r->code = r->code > CLI_DAMAGED ? r->code : CLI_DAMAGED;
    }
    return best == MATCH_OTHER ? NULL : found;
}

/* ---- counts ---- */

static void tell(struct reading *r, const struct ct_program *program, const struct ct_branch_list_counted *c)
{
    if (ct_branch_list_is_other(c))
        cli_say("%s: %s is another version than the one that ran: %" PRIu64 " of %" PRIu64
                " branch lists contradict it; its counts are left out, name the version that ran with --elf",
                r->path, program->path, c->contradicted, c->lists);
    else if (c->contradicted)
        cli_say("%s: %" PRIu64 " of %" PRIu64 " branch lists contradict %s and are left out", r->path,
                c->contradicted, c->lists, program->path);
    if (c->contradicted)
        r->code = r->code > CLI_DAMAGED ? r->code : CLI_DAMAGED;
    if (c->unfollowed && !ct_branch_list_is_other(c) && !r->args->quiet)
        cli_say("%s: %" PRIu64 " of %" PRIu64
                " branches of %s are left out: no list tells where the indirect branch "
                "before them went",
                r->path, c->unfollowed, c->branches, program->path);
}

static void count_binary(struct reading *r, uint32_t number)
{
    const struct ct_branch_list_binary binary = ct_branch_list_binary_at(r->list, number);
    struct ct_branch_list_counted counted;
    struct ct_program *program = find(r, &binary);
    if (!program || r->code == CLI_FAILED)
        return;
    const int rc = ct_branch_list_count(r->list, number, program, r->cover, &counted);
    if (rc) {
        const int code = cli_library_error(r->args->ctx);
        r->code = rc == CT_ERR_NOMEM ? code : CLI_DAMAGED; /* the other programs still count */
        return;
    }
    tell(r, program, &counted);
    r->used += !ct_branch_list_is_other(&counted);
}

int cli_branch_lists_count(struct cli_counts *c, const char *path)
{
    const struct cli_args *args = c->read.args;
    struct reading r = {.args = args, .path = path, .cover = c->cover};
    bool fine =
        cli_filter_refuse(&c->read.filter, args, NULL, "a branch list has counts of whole recordings") &&
        cli_programs_open(&r.programs, args, c->read.elf, NULL);
    if (fine && ct_branch_list_new(args->ctx, &r.list) != CT_OK) {
        cli_library_error(args->ctx);
        fine = false;
    }
    if (fine && load(args->ctx, r.list, path)) {
        for (uint32_t i = 0; i < ct_branch_list_binaries(r.list) && r.code != CLI_FAILED; i++)
            count_binary(&r, i);
        if (!r.used && r.code != CLI_FAILED) {
            cli_say("%s: has no counts of a program that is there", path);
            r.code = CLI_DAMAGED;
        }
    } else
        r.code = CLI_FAILED;
    ct_branch_list_free(r.list);
    ct_programs_free(r.programs);
    c->read.has_file = true;
    return r.code;
}

/* ---- sums ---- */

static int print_sum(const struct cli_args *args, struct ct_branch_list *list, uint64_t weight)
{
    for (int i = 0; i < args->rest_count; i++) {
        if (!cli_branch_lists_is_file(args->rest[i]))
            return cli_usage_error(
                args->command, "%s: is no branch list, and others are; only branch lists add up with them",
                args->rest[i]);
        if (!load(args->ctx, list, args->rest[i]))
            return CLI_FAILED;
    }
    int rc = ct_branch_list_scale(list, weight);
    if (!rc)
        rc = ct_branch_list_write(list, cli_output_write, stdout);
    /* A file that cannot be written is told of at the end of the command. */
    return rc && rc != CT_ERR_IO ? cli_library_error(args->ctx) : CLI_CLEAN;
}

int cli_branch_lists_merge(const struct cli_args *args, uint64_t weight)
{
    struct ct_branch_list *list = NULL;
    if (ct_branch_list_new(args->ctx, &list) != CT_OK)
        return cli_library_error(args->ctx);
    const int code = print_sum(args, list, weight);
    ct_branch_list_free(list);
    return code;
}
