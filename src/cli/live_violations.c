/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the violations of a live run as they come: to standard output, or to a file for each trace ID. */
#define _GNU_SOURCE /* asprintf */
#include "cli/live_run.h"

#include <stdlib.h>

static int new_writer(const struct cli_live *l, FILE *file, struct ct_verdict_writer **out)
{
    const struct ct_verdict_write_options how = {.size = sizeof how, .format = (uint8_t)l->wishes->format};
    return ct_verdict_writer_new(l->ctx, &how, cli_output_write, file, out);
}

bool cli_live_violations_open(struct cli_live *l)
{
    l->told_id = -1;
    if (new_writer(l, stdout, &l->writer) == CT_OK)
        return true;
    cli_library_error(l->ctx);
    return false;
}

/* Sets the error text that ends the run, if `rc` is an error. */
static int cannot_write(const struct cli_live *l, const struct cli_live_violations *v, int rc)
{
    return rc ? cli_fail(l->ctx, CT_ERR_IO, "%s: writing failed; the run ends",
                         v->path ? v->path : "standard output")
              : CT_OK;
}

static struct cli_live_violations *violations_of(struct cli_live *l, const struct ct_verdict_origin *origin)
{
    return &l->violations[origin->several ? 128 : origin->id];
}

/* Returns the path of a file of violations, to be freed by the caller. Returns NULL when out of memory. */
static char *path_of(const struct cli_live *l, const struct ct_verdict_origin *origin)
{
    char *path = NULL;
    const int size = origin->several ? asprintf(&path, "%s/monitor.txt", l->wishes->output)
                                     : asprintf(&path, "%s/monitor-%02x.txt", l->wishes->output, origin->id);
    return size < 0 ? NULL : path;
}

static int begin(void *user, const struct ct_verdict_origin *origin)
{
    struct cli_live *l = user;
    struct cli_live_violations *v = violations_of(l, origin);
    v->writer = l->writer;
    if (!l->wishes->output)
        return CT_OK;
    v->writer = NULL;
    v->path = path_of(l, origin);
    if (!v->path)
        return cli_fail_nomem(l->ctx, "violations");
    FILE *file = cli_output_grow(&v->output, v->path);
    return file ? new_writer(l, file, &v->writer)
                : cli_fail(l->ctx, CT_ERR_IO, "%s: the file for violations cannot be created; the run ends",
                           v->path);
}

/* Writes a heading with the trace ID, when one text has lines of several IDs with separate runs. */
static int tell_id(struct cli_live *l, const struct cli_live_violations *v,
                   const struct ct_verdict_origin *origin)
{
    const uint8_t id = origin->id;
    int rc = CT_OK;
    if (v->path || origin->several || l->told_id == id || l->wishes->format != CT_VERDICT_FORMAT_TEXT)
        return CT_OK;
    if (l->told_id >= 0 || l->counts.read.capture.buffers[0].source_count > 1)
        rc = ct_verdict_writer_heading(v->writer, NULL, id);
    l->told_id = id;
    return rc;
}

static int result(void *user, const struct ct_verdict_origin *origin, const struct ct_verify_result *r)
{
    struct cli_live *l = user;
    const struct cli_live_violations *v = violations_of(l, origin);
    cli_live_lines_put(l, origin, r);
    if (!r->violation && !l->args->values[CLI_MONITOR_ALL].given)
        return CT_OK;
    if (!v->path && cli_live_lines_on_stdout(l))
        return CT_OK;
    int rc = tell_id(l, v, origin) ?: ct_verdict_writer_result(v->writer, origin, r);
    return cannot_write(l, v, rc);
}

static int stopped(void *user, const struct ct_verdict_origin *origin, uint32_t spec, const char *why)
{
    struct cli_live *l = user;
    const struct cli_live_violations *v = violations_of(l, origin);
    if (!v->path && cli_live_lines_on_stdout(l)) /* messages report it */
        return CT_OK;
    int rc = tell_id(l, v, origin) ?: ct_verdict_writer_stopped(v->writer, origin, spec, why);
    return cannot_write(l, v, rc);
}

/* Writes buffered lines. */
static int pause_writing(void *user)
{
    struct cli_live *l = user;
    static const struct cli_live_violations standard_output;
    int rc = cannot_write(l, &standard_output, ct_verdict_writer_flush(l->writer));
    fflush(stdout);
    cli_live_lines_flush(l);
    for (size_t i = 0; i < sizeof l->violations / sizeof *l->violations; i++) {
        struct cli_live_violations *v = &l->violations[i];
        if (!v->output.file || !v->writer)
            continue;
        const int written = cannot_write(l, v, ct_verdict_writer_flush(v->writer));
        rc = rc ? rc : written;
        fflush(v->output.file);
    }
    return rc;
}

static int end(void *user, const struct ct_verdict_origin *origin)
{
    struct cli_live *l = user;
    struct cli_live_violations *v = violations_of(l, origin);
    const bool printed = ct_verdict_writer_flush(v->writer) == CT_OK;
    const bool whole = v->output.file ? cli_output_close(&v->output, printed) : printed;
    l->failed |= !whole;
    if (v->path && whole)
        cli_live_note_file(l, v->path);
    return CT_OK;
}

struct ct_live_sink cli_live_sink(struct cli_live *l)
{
    return (struct ct_live_sink){
        .user = l, .begin = begin, .end = end, .result = result, .stopped = stopped, .pause = pause_writing};
}

void cli_live_violations_close(struct cli_live *l)
{
    for (size_t i = 0; i < sizeof l->violations / sizeof *l->violations; i++) {
        struct cli_live_violations *v = &l->violations[i];
        if (v->path)
            ct_verdict_writer_free(v->writer);
        if (v->output.file)
            cli_output_close(&v->output, false);
        free(v->path);
    }
    ct_verdict_writer_free(l->writer);
}
