/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* asprintf, basename */
#include "cli/profile_each.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"

/* The file of a program. */
struct file {
    struct ct_program *program;
    struct cli_output output;
    char *path;
    uint64_t entries; /* 0: nothing of the program ran, and there is no file */
};

struct each {
    const struct cli_counts *counts;
    const char *folder, *suffix;
    struct file *files;
    size_t count;
};

/* ---- names ---- */

/* Returns whether another program has the same file name. */
static bool is_ambiguous(const struct each *e, const struct ct_program *program)
{
    const struct ct_program *other;
    for (size_t i = 0; (other = ct_programs_at(e->counts->read.programs, i)); i++)
        if (other != program && !strcmp(basename(other->path), basename(program->path)))
            return true;
    return false;
}

/* Writes a suffix that distinguishes a program: the first digits of its build id or, without one, its
 * number. */
static void tell_apart(struct ct_program *program, size_t number, char text[16])
{
    const struct ct_symbols *symbols;
    size_t size = 0;
    const uint8_t *id = ct_program_headers(program, &symbols) ? NULL : ct_symbols_build_id(symbols, &size);
    if (size >= 4)
        snprintf(text, 16, "-%02x%02x%02x%02x", id[0], id[1], id[2], id[3]);
    else
        snprintf(text, 16, "-%zu", number + 1);
}

/* Opens the file of a program. Returns false after a message. */
static bool open_file(struct each *e, struct ct_program *program, size_t number)
{
    struct file *f = &e->files[e->count];
    char apart[16] = "";
    if (is_ambiguous(e, program))
        tell_apart(program, number, apart);
    if (asprintf(&f->path, "%s/%s%s.%s", e->folder, basename(program->path), apart, e->suffix) < 0) {
        f->path = NULL;
        return cli_no_memory(), false;
    }
    f->program = program;
    e->count++;
    return cli_output_open(&f->output, f->path);
}

/* ---- files ---- */

/* Returns whether an earlier program, loaded elsewhere, has the same counts. */
static bool is_repeated(const struct each *e, struct ct_program *program)
{
    uint32_t mine = 0, other = 0;
    struct ct_program *earlier;
    if (ct_cover_number(e->counts->cover, program, &mine) != CT_OK)
        return false;
    for (size_t i = 0; (earlier = ct_programs_at(e->counts->read.programs, i)) && earlier != program; i++)
        if (ct_cover_number(e->counts->cover, earlier, &other) == CT_OK && other == mine)
            return true;
    return false;
}

static int write_file(struct each *e, struct ct_program *program, size_t number,
                      const struct ct_profile_write_options *how)
{
    const struct cli_args *args = e->counts->read.args;
    struct ct_profile_write_options mine = *how;
    struct ct_profile_written written;
    if (is_repeated(e, program))
        return CLI_CLEAN;
    if (!open_file(e, program, number))
        return CLI_FAILED;
    struct file *f = &e->files[e->count - 1];
    mine.program = program;
    mine.skip_empty = 1;
    const int rc = ct_profile_write(e->counts->cover, e->counts->read.programs, &mine, cli_output_write,
                                    f->output.file, &written);
    f->entries = written.entries;
    /* A write error is reported when the file is closed. */
    return !rc                                         ? CLI_CLEAN
           : rc == CT_ERR_IO && ferror(f->output.file) ? CLI_FAILED
                                                       : cli_library_error(args->ctx);
}

/* Moves the files of the programs that ran to their targets, or drops all. Returns an enum cli_exit. */
static int close_files(struct each *e, bool keep, size_t *kept)
{
    struct cli_output **outputs = calloc(e->count + 1, sizeof *outputs);
    if (!outputs)
        cli_no_memory();
    *kept = 0;
    for (size_t i = 0; i < e->count; i++) {
        struct file *f = &e->files[i];
        if (outputs && keep && f->entries)
            outputs[(*kept)++] = &f->output;
        else if (f->output.file)
            cli_output_close(&f->output, false);
    }
    const bool fine = outputs && cli_output_close_all(outputs, *kept, keep);
    free(outputs);
    return fine && keep ? CLI_CLEAN : CLI_FAILED;
}

/* Returns whether anything of a program ran. */
static bool has_counts(const struct each *e, struct ct_program *program)
{
    struct ct_cover_item *items = NULL;
    size_t count = 0;
    uint32_t number;
    if (ct_cover_number(e->counts->cover, program, &number) == CT_OK)
        (void)ct_cover_items(e->counts->cover, number, CT_EDGES_ALL, &items, &count);
    free(items);
    return count;
}

static void tell(const struct each *e)
{
    for (size_t i = 0; i < e->count && !e->counts->read.args->quiet; i++) {
        const struct file *f = &e->files[i];
        if (f->entries)
            cli_say("%s: %" PRIu64 " entr%s of %s", f->path, f->entries, f->entries == 1 ? "y" : "ies",
                    f->program->path);
        else if (has_counts(e, f->program))
            cli_say("%s: no file is written for this program, because no source lines are known of the code "
                    "that ran in it; name the program that has debug information with --elf",
                    f->program->path);
    }
}

int cli_profile_each(const struct cli_counts *counts, const char *folder, const char *suffix,
                     const struct ct_profile_write_options *how, size_t *count)
{
    struct each e = {.counts = counts, .folder = folder, .suffix = suffix};
    struct ct_program *program;
    *count = 0;
    if (!cli_output_folder(folder))
        return CLI_FAILED;
    e.files = calloc(ct_programs_count(counts->read.programs) + 1, sizeof *e.files);
    if (!e.files)
        return cli_no_memory(), CLI_FAILED;
    int code = CLI_CLEAN;
    for (size_t i = 0; code != CLI_FAILED && (program = ct_programs_at(counts->read.programs, i)); i++)
        code = write_file(&e, program, i, how);
    code = close_files(&e, code == CLI_CLEAN && !cli_lacked_memory(counts->read.args->ctx), count);
    if (code == CLI_CLEAN)
        tell(&e);
    for (size_t i = 0; i < e.count; i++)
        free(e.files[i].path);
    free(e.files);
    return code;
}
