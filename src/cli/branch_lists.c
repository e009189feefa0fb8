/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* asprintf, basename */
#include "cli/branch_lists.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/perf_options.h"
#include "cli/text_file.h"
#include "coretap/branch_list.h"

bool cli_branch_lists_is_file(const char *path)
{
    char start[104];
    const size_t got = cli_results_begin(path, start, sizeof start);
    return ct_branch_list_is_file(start, got);
}

/* Adds a file to lists. Returns false after a message. */
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

/* The lists of a file, and the known programs. */
struct reading {
    const struct cli_args *args;
    const char *path;
    const char *symfs, *vmlinux; /* values of these options; NULL: not given */
    const char *folders;         /* the options that name folders with programs, for messages */
    struct ct_branch_list *list;
    struct ct_programs *programs;
    struct ct_cover *cover;
    int code;    /* enum cli_exit so far */
    size_t used; /* binaries whose counts were added */
};

/* Compares build ids. simpleperf fills short ones up with zeros. */
static bool is_same_id(const struct ct_branch_list_binary *binary, const uint8_t *id, size_t size)
{
    uint8_t mine[20] = {0}, theirs[20] = {0};
    memcpy(mine, binary->build_id, binary->build_id_size);
    memcpy(theirs, id, size < sizeof theirs ? size : sizeof theirs);
    return memcmp(mine, theirs, sizeof mine) == 0;
}

enum match {
    MATCH_NONE,
    MATCH_NAME,  /* same name, and one has no build id */
    MATCH_OTHER, /* same name, but another build id */
    MATCH_ID,
};

/* Returns how well a program matches the one that a binary names. */
static enum match compare(const struct ct_branch_list_binary *binary, struct ct_program *program)
{
    const struct ct_symbols *symbols;
    size_t size = 0;
    const uint8_t *id = ct_program_headers(program, &symbols) ? NULL : ct_symbols_build_id(symbols, &size);
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

/* Adds the file at the path that the binary had on the phone, below --symfs if given. */
static struct ct_program *add_by_path(struct reading *r, const struct ct_branch_list_binary *binary)
{
    char *path = NULL;
    if (binary->kind == CT_BRANCH_LIST_KERNEL && r->vmlinux)
        return add(r, r->vmlinux);
    if (asprintf(&path, "%s%s", r->symfs ? r->symfs : "", binary->path) < 0) {
        cli_no_memory();
        r->code = CLI_FAILED;
        return NULL;
    }
    struct ct_program *program = add(r, path);
    free(path);
    return program;
}

/* Finds the program of a binary: among those of --elf, by build id in the folders of --symdir, or at its
 * path. Returns NULL, after a message, when there is none or it is another version. */
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
        cli_say("%s: the program %s was not found; its counts are left out; name the program with --elf, or "
                "its folder with %s",
                r->path, binary->path, r->folders);
    if (best == MATCH_OTHER) {
        cli_say("%s: %s is another build of %s, because the build ids differ; its counts are left out; name "
                "the build that ran with --elf",
                r->path, found->path, binary->path);
        r->code = cli_worse(r->code, CLI_DAMAGED);
    }
    return best == MATCH_OTHER ? NULL : found;
}

/* ---- counts ---- */

static void tell(struct reading *r, const struct ct_program *program, const struct ct_branch_list_counted *c)
{
    if (ct_branch_list_is_other(c))
        cli_say("%s: %s is not the build that ran, because %" PRIu64 " of %" PRIu64
                " branch lists contradict it; its counts are left out; name the build that ran with --elf",
                r->path, program->path, c->contradicted, c->lists);
    else if (c->contradicted)
        cli_say("%s: %" PRIu64 " of %" PRIu64
                " branch lists contradict %s; they are left out; check that the file is the build that ran",
                r->path, c->contradicted, c->lists, program->path);
    if (c->contradicted)
        r->code = cli_worse(r->code, CLI_DAMAGED);
    if (c->unfollowed && !ct_branch_list_is_other(c) && !r->args->quiet)
        cli_say("%s: %" PRIu64 " of %" PRIu64 " branches of %s are left out, because the file does not "
                "record the target of the indirect branch before them",
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

/* Counts the file among the captures of the sums. Returns false after a message. */
static bool count_file(const struct reading *r)
{
    struct ct_analysis *all = ct_cover_analysis(r->cover);
    const struct ct_analysis_captures one = {.known = 1, .damaged = r->code != CLI_CLEAN};
    if (ct_analysis_add_captures(all, &one) == CT_OK && ct_analysis_add_run(all, r->path) == CT_OK)
        return true;
    cli_library_error(r->args->ctx);
    return false;
}

/* Reads the file, finds its programs and counts. Returns an enum cli_exit. */
static int count(struct reading *r, size_t elf)
{
    bool fine = cli_programs_open(&r->programs, r->args, elf, NULL);
    if (fine && ct_branch_list_new(r->args->ctx, &r->list) != CT_OK) {
        cli_library_error(r->args->ctx);
        fine = false;
    }
    if (fine && load(r->args->ctx, r->list, r->path)) {
        for (uint32_t i = 0; i < ct_branch_list_binaries(r->list) && r->code != CLI_FAILED; i++)
            count_binary(r, i);
        if (!r->used && r->code != CLI_FAILED) {
            cli_say("%s: none of its programs could be used; the result has no counts of this file; name the "
                    "programs that ran with --elf",
                    r->path);
            r->code = CLI_DAMAGED;
        }
        if (r->code != CLI_FAILED && !count_file(r))
            r->code = CLI_FAILED;
    } else
        r->code = CLI_FAILED;
    ct_branch_list_free(r->list);
    ct_programs_free(r->programs);
    return r->code;
}

int cli_branch_lists_count(struct cli_counts *c, const char *path)
{
    const struct cli_args *args = c->read.args;
    struct reading r = {.args = args,
                        .path = path,
                        .symfs = args->values[CLI_CAPTURE_SYMFS].text,
                        .vmlinux = args->values[CLI_CAPTURE_VMLINUX].text,
                        .folders = "--symfs or --symdir",
                        .cover = c->cover};
    c->read.has_file = true;
    return cli_perf_options_check(args, path) &&
                   cli_filter_refuse(&c->read.filter, args, NULL,
                                     "a branch list has only the sums of whole recordings")
               ? count(&r, c->read.elf)
               : CLI_FAILED;
}

int cli_branch_lists_cover(const struct cli_args *args, size_t elf, const char *path, struct ct_cover *cover)
{
    struct reading r = {.args = args, .path = path, .folders = "--symdir", .cover = cover};
    return count(&r, elf);
}

/* ---- the content of a file ---- */

bool cli_branch_lists_refuse(const struct cli_args *args, const char *path)
{
    struct ct_branch_list *list = NULL;
    struct ct_ctx *quiet = cli_branch_lists_is_file(path) ? ct_ctx_new() : NULL;
    size_t size;
    char *bytes = quiet ? cli_read_file(path, SIZE_MAX, &size) : NULL;
    const bool is_list = bytes && ct_branch_list_new(quiet, &list) == CT_OK &&
                         ct_branch_list_load(list, path, bytes, size) == CT_OK;
    free(bytes);
    ct_branch_list_free(list);
    ct_ctx_free(quiet);
    if (is_list)
        cli_say("%s: this file is a branch list of simpleperf, which counts branches without times, order, "
                "threads and losses; 'coretap %s' needs the trace itself; name the capture, or use 'coretap "
                "profile', 'cover', 'report', 'info' or 'merge', which read branch lists",
                path, args->command->name);
    return is_list;
}

static const char *kind_name(uint32_t kind)
{
    return kind == CT_BRANCH_LIST_KERNEL   ? "kernel"
           : kind == CT_BRANCH_LIST_MODULE ? "kernel module"
                                           : "program";
}

static void id_text(const struct ct_branch_list_binary *binary, char text[41])
{
    text[0] = 0;
    for (size_t i = 0; i < binary->build_id_size && i < 20; i++)
        snprintf(text + 2 * i, 3, "%02x", binary->build_id[i]);
}

static void print_binary(struct ct_json *json, const struct ct_branch_list_binary *binary,
                         const struct ct_branch_list_counted *c)
{
    char id[41];
    id_text(binary, id);
    if (!json) {
        printf("  %s, %s%s%s: %" PRIu64 " lists, %" PRIu64 " branches\n", binary->path,
               kind_name(binary->kind), *id ? ", build id " : ", no build id", id, c->lists, c->branches);
        return;
    }
    ct_json_object(json, NULL);
    ct_json_text(json, "path", binary->path);
    ct_json_text(json, "kind", kind_name(binary->kind));
    if (*id)
        ct_json_text(json, "build_id", id);
    if (binary->kernel_start)
        ct_json_number(json, "kernel_start", binary->kernel_start);
    ct_json_number(json, "lists", c->lists);
    ct_json_number(json, "branches", c->branches);
    ct_json_object_end(json);
}

static void print_list(const struct cli_args *args, struct ct_json *json, const struct ct_branch_list *list)
{
    static const char without[] = "no times, order, threads and losses; no targets of indirect branches";
    if (json) {
        ct_json_object(json, NULL);
        ct_json_text(json, "capture", args->operand);
        ct_json_text(json, "kind", "branch list");
        ct_json_text(json, "without", without);
        ct_json_array(json, "programs");
    } else {
        printf("%s: branch list of simpleperf, %zu program%s; %s\n", args->operand,
               ct_branch_list_binaries(list), ct_branch_list_binaries(list) == 1 ? "" : "s", without);
    }
    for (uint32_t i = 0; i < ct_branch_list_binaries(list); i++) {
        const struct ct_branch_list_binary binary = ct_branch_list_binary_at(list, i);
        const struct ct_branch_list_counted c = ct_branch_list_totals(list, i);
        print_binary(json, &binary, &c);
    }
    if (json) {
        ct_json_array_end(json);
        ct_json_object_end(json);
    }
}

int cli_branch_lists_info(const struct cli_args *args, struct ct_json *json)
{
    struct ct_branch_list *list = NULL;
    if (ct_branch_list_new(args->ctx, &list) != CT_OK)
        return cli_library_error(args->ctx);
    const bool fine = load(args->ctx, list, args->operand);
    if (fine)
        print_list(args, json, list);
    ct_branch_list_free(list);
    return fine ? CLI_CLEAN : CLI_FAILED;
}

/* ---- sums ---- */

static int print_sum(const struct cli_args *args, struct ct_branch_list *list, uint64_t weight)
{
    for (int i = 0; i < args->rest_count; i++) {
        if (!cli_branch_lists_is_file(args->rest[i]))
            return cli_usage_error(args->command,
                                   "%s: this file is not a branch list, but other operands are; branch lists "
                                   "can be added up only with each other; leave this file out",
                                   args->rest[i]);
        if (!load(args->ctx, list, args->rest[i]))
            return CLI_FAILED;
    }
    int rc = ct_branch_list_scale(list, weight) ?: ct_branch_list_write(list, cli_output_write, stdout);
    /* A write error is reported at the end of the command. */
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
