/* SPDX-License-Identifier: Apache-2.0 */
/* coretap manifest: lists captures. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "coretap/fleet.h"

enum {
    MACHINE,
    TEST,
    OPTIONS
};

static const struct cli_option options[OPTIONS] = {
    [MACHINE] = CLI_TEXT_OPTION("machine", 0, "NAME", "Machine on which the captures were recorded."),
    [TEST] = CLI_TEXT_OPTION("test", 0, "NAME", "Test that ran."),
};

struct found {
    const struct cli_args *args;
    struct cli_progress progress;
    uint64_t bytes, skipped, doubtful, unread;
};

static void on_found(void *user, const struct ct_fleet_capture *capture)
{
    struct found *f = user;
    f->bytes += capture->size;
    cli_progress_update(&f->progress, f->bytes);
}

static void tell(const char *path, const char *why)
{
    const size_t length = strlen(path);
    /* messages about files begin with the path */
    if (!strncmp(why, path, length) && !strncmp(why + length, ": ", 2))
        why += length + 2;
    cli_say("%s: is not listed: %s", path, why);
}

/* Counts a file that is no capture. Names it with --verbose. */
static void on_skipped(void *user, const char *path, const char *why)
{
    struct found *f = user;
    f->skipped++;
    if (f->args->verbose)
        tell(path, why);
}

/* The same for a file that may be a capture. */
static void on_doubtful(void *user, const char *path, const char *why)
{
    struct found *f = user;
    f->doubtful++;
    on_skipped(user, path, why);
}

/* Counts and names a capture that is not listed. */
static void on_left_out(void *user, const char *path, const char *why)
{
    struct found *f = user;
    f->skipped++;
    tell(path, why);
}

static void on_unread(void *user, const char *path, const char *why)
{
    struct found *f = user;
    f->unread++;
    tell(path, why);
}

/* Finds the captures at a path, which is made absolute. */
static int find(struct ct_manifest *manifest, const char *path, struct found *found)
{
    const struct ct_manifest_options look = {.size = sizeof look,
                                             .machine = found->args->values[MACHINE].text,
                                             .test = found->args->values[TEST].text,
                                             .user = found,
                                             .skipped = on_skipped,
                                             .found = on_found,
                                             .unread = on_unread,
                                             .left_out = on_left_out,
                                             .doubtful = on_doubtful};
    char *whole = realpath(path, NULL);
    const int rc = ct_manifest_find(manifest, whole ? whole : path, &look);
    free(whole);
    return rc;
}

static int list(const struct cli_args *args, struct ct_manifest *manifest)
{
    struct found found = {.args = args};
    int rc = CT_OK;
    cli_progress_start(&found.progress, 0, args->quiet);
    for (int i = 0; i < args->rest_count && !rc; i++)
        rc = find(manifest, args->rest[i], &found);
    cli_progress_clear();
    if (!rc)
        rc = ct_manifest_write(manifest, cli_output_write, stdout);
    const bool nameless = rc == CT_ERR_FORMAT;
    if (rc && !nameless)
        return rc == CT_ERR_IO && ferror(stdout) ? CLI_FAILED : cli_library_error(args->ctx);
    if (nameless)
        cli_library_error(args->ctx);
    if (!args->quiet)
        cli_say("%zu capture%s of %.1f MB, %" PRIu64 " other file%s%s", ct_manifest_count(manifest),
                ct_manifest_count(manifest) == 1 ? "" : "s", (double)found.bytes / 1e6, found.skipped,
                found.skipped == 1 ? "" : "s",
                found.skipped && !args->verbose ? " (--verbose names them)" : "");
    if (found.doubtful && !args->quiet)
        cli_say("%" PRIu64
                " of the other files %s empty or packed, so captures may be missing; unpack them, or "
                "record again",
                found.doubtful, found.doubtful == 1 ? "is" : "are");
    if (found.unread)
        cli_say("%" PRIu64 " folders and files could not be read; captures in them are not listed; make them "
                "readable, or leave them out",
                found.unread);
    if (ct_manifest_count(manifest))
        return nameless || found.unread ? CLI_DAMAGED : CLI_CLEAN;
    cli_say("no capture was found, so the list is empty; name folders with a perf.data file, a snapshot.ini, "
            "a description of a raw trace (.ini) or a branch list");
    return CLI_DAMAGED;
}

static int run(const struct cli_args *args)
{
    struct ct_manifest *manifest;
    if (ct_manifest_new(args->ctx, &manifest))
        return cli_library_error(args->ctx);
    const int code = list(args, manifest);
    ct_manifest_free(manifest);
    return code;
}

const struct cli_command cli_command_manifest = {
    .name = "manifest",
    .summary = "list the captures in folders, for map and coretap-mpi",
    .operand = "DIR...",
    .many = true,
    .about = "Finds captures in folders and their subfolders: perf.data files, snapshots, descriptions of "
             "raw traces, and branch lists of simpleperf. For each it prints a line of JSON: path, size, "
             "SHA-256 of its files, build ids of the programs that it names, machine, time of the last "
             "change, and test. Captures with the same contents are listed once. Since a manifest consists "
             "of lines, 'cat' joins several of them.",
    .exit_text = "0: done. 1: no capture was found, the name of one is not UTF-8, or a file or folder could "
                 "not be read; the others are listed. 2: wrong usage, a DIR does not exist, or the manifest "
                 "could not be written.",
    .examples = "coretap manifest --machine board7 -o captures.jsonl capture\n",
    .options = options,
    .option_count = OPTIONS,
    .run = run,
};
