/* SPDX-License-Identifier: Apache-2.0 */
/* Writes results of a live run as lines to growing files: --violations and --outputs. After a write error,
 * reports the file and gives it up; the run goes on. */
#include "cli/live_run.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/output.h"

bool cli_live_lines_on_stdout(const struct cli_live *l)
{
    return cli_is_standard(l->wishes->violations) || cli_is_standard(l->wishes->outputs);
}

/* ---- begin ---- */

static bool open_lines(const struct cli_live *l, struct cli_live_lines *lines, const char *path, bool csv)
{
    const struct ct_verdict_write_options how = {.size = sizeof how, .format = CT_VERDICT_FORMAT_JSONL};
    if (!path)
        return true;
    lines->path = path;
    lines->csv = csv;
    lines->file = cli_is_standard(path) ? stdout : cli_output_grow(&lines->output, path);
    if (!lines->file)
        return false;
    if (csv)
        fputs("time,id,core,spec,output,value,violation,uncertain,instance\n", lines->file);
    else if (ct_verdict_writer_new(l->ctx, &how, cli_output_write, lines->file, &lines->writer) != CT_OK)
        return cli_library_error(l->ctx) == CLI_CLEAN;
    return true;
}

bool cli_live_lines_open(struct cli_live *l)
{
    return open_lines(l, &l->bad_lines, l->wishes->violations, false) &&
           open_lines(l, &l->all_lines, l->wishes->outputs, l->wishes->outputs_csv);
}

/* ---- results ---- */

/* Writes a field of CSV (RFC 4180). */
static void put_field(FILE *file, const char *text, char behind)
{
    const bool plain = !strpbrk(text, ",\"\r\n");
    if (!plain)
        putc('"', file);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', file);
        putc(*text, file);
    }
    if (!plain)
        putc('"', file);
    putc(behind, file);
}

static void csv_line(FILE *file, const struct ct_verdict_origin *origin, const struct ct_verify_result *r)
{
    const struct ct_verdict_source one = {.source = origin->source, .id = origin->id};
    const struct ct_verdict_source *from = !origin->several ? &one
                                           : r->place       ? &origin->sources[r->place->event.source]
                                                            : NULL;
    const struct ct_source *source = from ? from->source : NULL;
    fprintf(file, "%" PRIu64 ",", r->time);
    if (from)
        fprintf(file, "%02x", from->id);
    putc(',', file);
    put_field(file, !source ? "" : source->core ? source->core : source->name ? source->name : "", ',');
    put_field(file, origin->specs[r->spec], ',');
    put_field(file, r->name, ',');
    put_field(file, r->value, ',');
    fprintf(file, "%d,%d,", r->violation, r->uncertain);
    put_field(file, r->core ? r->core : "", '\n');
}

/* Reports once that a file cannot be written any more, and gives it up. */
static void give_up(struct cli_live *l, struct cli_live_lines *lines)
{
    const bool unread = errno == EPIPE;
    cli_say("%s: writing failed after about %" PRIu64 " lines%s; the run continues without this file%s",
            strcmp(lines->path, "-") ? lines->path : "standard output", lines->count,
            unread ? ", because nobody reads them any more" : "",
            unread ? "" : "; free space for it and start again");
    lines->given_up = true;
    l->failed = true;
}

static void put_line(struct cli_live *l, struct cli_live_lines *lines, const struct ct_verdict_origin *origin,
                     const struct ct_verify_result *r)
{
    if (!lines->file || lines->given_up)
        return;
    if (lines->csv)
        csv_line(lines->file, origin, r);
    const bool fine =
        lines->csv ? !ferror(lines->file) : ct_verdict_writer_result(lines->writer, origin, r) == CT_OK;
    if (fine)
        lines->count++;
    else
        give_up(l, lines);
}

void cli_live_lines_put(struct cli_live *l, const struct ct_verdict_origin *origin,
                        const struct ct_verify_result *r)
{
    if (r->violation)
        put_line(l, &l->bad_lines, origin, r);
    put_line(l, &l->all_lines, origin, r);
}

static bool flush_lines(struct cli_live_lines *lines)
{
    const bool given = !lines->writer || ct_verdict_writer_flush(lines->writer) == CT_OK;
    return fflush(lines->file) == 0 && !ferror(lines->file) && given;
}

void cli_live_lines_flush(struct cli_live *l)
{
    struct cli_live_lines *both[] = {&l->bad_lines, &l->all_lines};
    for (size_t i = 0; i < 2; i++)
        if (both[i]->file && !both[i]->given_up && !flush_lines(both[i]))
            give_up(l, both[i]);
}

/* ---- end ---- */

void cli_live_lines_close(struct cli_live *l, bool keep)
{
    struct cli_live_lines *both[] = {&l->bad_lines, &l->all_lines};
    if (keep)
        cli_live_lines_flush(l);
    for (size_t i = 0; i < 2; i++) {
        struct cli_live_lines *lines = both[i];
        const bool whole = keep && !lines->given_up;
        ct_verdict_writer_free(lines->writer);
        lines->writer = NULL;
        if (!lines->output.file) /* standard output, or no file */
            continue;
        if (cli_output_close(&lines->output, whole))
            cli_live_note_file(l, lines->path);
        else
            l->failed |= whole;
        lines->file = NULL;
    }
}
