/* SPDX-License-Identifier: Apache-2.0 */
/* An event log as a source of watch events. */
#include "cli/fractal_source.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/programs.h"
#include "coretap/fractal.h"
#include "coretap/fractal_watch.h"

#define BATCH 256
#define MAGIC "CTFRACT1"

bool cli_fractal_source_is_log(const char *path)
{
    char magic[sizeof MAGIC - 1];
    struct stat st;
    errno = 0;
    /* a file that can be read only once is left to the capture */
    FILE *file = path && stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "rb") : NULL;
    if (!file && errno == ENOMEM)
        cli_no_memory();
    if (!file)
        return false;
    const bool is_log =
        fread(magic, 1, sizeof magic, file) == sizeof magic && memcmp(magic, MAGIC, sizeof magic) == 0;
    fclose(file);
    return is_log;
}

/* Returns the value of the line KEY=VALUE in a log's text, and its length in *size. NULL when there is
 * none. */
static const char *line_of(const char *text, const char *key, size_t *size)
{
    const size_t length = strlen(key);
    while (text && *text) {
        *size = strcspn(text, "\n");
        if (*size > length && strncmp(text, key, length) == 0) {
            *size -= length;
            return text + length;
        }
        text += *size + (text[*size] == '\n');
    }
    return NULL;
}

/* Copies the rest of a line. Returns false when it does not fit. */
static bool copy_path(const char *from, size_t size, char path[CLI_FRACTAL_PATH])
{
    if (!from || size >= CLI_FRACTAL_PATH)
        return false;
    memcpy(path, from, size);
    path[size] = '\0';
    return true;
}

/* Finds the program of a log, or of a further process, in the log's text. Returns false when the text does
 * not have it. */
static bool program_in(const char *text, unsigned process, char path[CLI_FRACTAL_PATH])
{
    unsigned number = 0;
    int at = 0;
    size_t size = 0;
    const char *line = line_of(text, process ? "process=" : "program=", &size);
    if (!process)
        return copy_path(line, size, path);
    while (line && (sscanf(line, "%u bias=0x%*x %n", &number, &at) != 1 || !at || number != process))
        line = line_of(line + size, "process=", &size);
    return line && copy_path(line + at, size - (size_t)at, path);
}

/* Adds the program named in the text of a log, if its file exists. */
static int add_program(struct ct_programs *programs, const char *text)
{
    char path[CLI_FRACTAL_PATH];
    size_t digits;
    const char *bias = line_of(text, "bias=", &digits);
    const uint64_t moved = bias ? strtoull(bias, NULL, 16) : 0;
    return program_in(text, 0, path) && access(path, R_OK) == 0
               ? ct_programs_add(programs, path, &moved, NULL, NULL)
               : CT_OK;
}

const char *cli_fractal_source_elf(const struct cli_args *args, const char *log, unsigned process,
                                   char path[CLI_FRACTAL_PATH])
{
    struct ct_fractal_event events[BATCH];
    struct ct_fractal_reader *reader;
    struct stat of_log, of_program;
    if (!cli_fractal_source_is_log(log) || ct_fractal_reader_open(args->ctx, log, &reader) != CT_OK)
        return NULL; /* the reader of the log reports the reason */
    /* to the end of the log, which names a process only where the process begins */
    while (process && ct_fractal_reader_next(reader, events, BATCH))
        continue;
    const bool told = program_in(ct_fractal_reader_info(reader)->text, process, path);
    const bool there = told && access(path, R_OK) == 0 && stat(path, &of_program) == 0;
    ct_fractal_reader_free(reader);
    if (args->quiet || (process && !told)) /* without the process there is no report */
        return there ? path : NULL;
    if (!told)
        cli_say("%s: the log does not name its program; functions and objects have no names; name the "
                "program with --elf",
                log);
    else if (!there)
        cli_say("%s: its program %s cannot be read; functions and objects have no names; name the program "
                "with --elf",
                log, path);
    else if (stat(log, &of_log) == 0 && of_log.st_mtime < of_program.st_mtime)
        cli_say("%s: its program %s is newer than the log; names are wrong if it is another build; name the "
                "build that ran with --elf",
                log, path);
    return there ? path : NULL;
}

/* Returns whether an option selects accesses of a further process: access:1:PLACE. */
static bool wants_processes(const struct cli_args *args)
{
    for (size_t i = 0; i < args->list_count; i++) {
        const char *at = strstr(args->list[i].text, "access:");
        if (at && isdigit((unsigned char)at[7]) && at[7 + strspn(at + 7, "0123456789")] == ':')
            return true;
    }
    return false;
}

/* Adds the programs of further processes, and reports which process runs which program. */
static int add_processes(const struct cli_args *args, struct ct_programs *programs,
                         struct ct_fractal_reader *reader, const char *path)
{
    struct ct_fractal_event events[BATCH];
    char file[4096];
    while (ct_fractal_reader_next(reader, events, BATCH)) /* the log names a process where it begins */
        continue;
    int rc = CT_OK;
    const char *text = ct_fractal_reader_info(reader)->text;
    for (size_t size; !rc && (text = line_of(text, "process=", &size)); text += size) {
        unsigned long long bias;
        int at = 0;
        if (sscanf(text, "%*u bias=0x%llx %n", &bias, &at) != 1 || !at || size - (size_t)at >= sizeof file)
            continue;
        snprintf(file, sizeof file, "%.*s", (int)size - at, text + at);
        const uint64_t moved = bias;
        if (access(file, R_OK) == 0)
            rc = ct_programs_add(programs, file, &moved, NULL, NULL);
    }
    return rc ? rc : ct_fractal_watch_names(args->ctx, path, programs);
}

bool cli_fractal_source_programs(struct ct_programs **programs, const struct cli_args *args, size_t elf,
                                 const char *path)
{
    struct ct_fractal_reader *reader;
    if (!cli_programs_describe(programs, args, elf, NULL))
        return false;
    if (ct_programs_count(*programs))
        return true;
    int rc = ct_fractal_reader_open(args->ctx, path, &reader);
    if (rc)
        return cli_library_error(args->ctx) == CLI_CLEAN;
    rc = add_program(*programs, ct_fractal_reader_info(reader)->text);
    if (!rc && wants_processes(args))
        rc = add_processes(args, *programs, reader, path);
    ct_fractal_reader_free(reader);
    return rc == CT_OK || cli_library_error(args->ctx) == CLI_CLEAN;
}

/* Passes on all events. Returns an enum ct_error, or the result of `feed`. */
static int read_all(struct ct_fractal_watch *watch, fractal_source_fn *feed, void *user)
{
    struct ct_watch_event events[BATCH];
    size_t count;
    int rc;
    do {
        rc = ct_fractal_watch_next(watch, events, BATCH, &count);
        if (!rc && count)
            rc = feed(user, events, count);
    } while (!rc && count);
    return rc;
}

int cli_fractal_source_run(const struct cli_args *args, const char *path, const struct ct_watches *watches,
                           uint32_t marks, fractal_source_fn *feed, void *user, struct ct_losses *losses)
{
    struct ct_fractal_watch *watch;
    if (ct_fractal_watch_open(args->ctx, path, watches, marks, &watch) != CT_OK)
        return cli_library_error(args->ctx);
    const int rc = read_all(watch, feed, user);
    const struct ct_losses lost = ct_fractal_watch_losses(watch);
    int code = rc ? cli_library_error(args->ctx) : CLI_CLEAN;
    if (!rc && (lost.overflows || lost.lost_bytes)) {
        cli_say("%s: the tracer dropped %llu events, and %llu bytes of the log are damaged; results after "
                "them are uncertain",
                path, (unsigned long long)lost.overflows, (unsigned long long)lost.lost_bytes);
        code = CLI_DAMAGED;
    }
    if (losses)
        *losses = lost;
    ct_fractal_watch_free(watch);
    return code;
}
