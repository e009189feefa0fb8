/* SPDX-License-Identifier: Apache-2.0 */
/* What lies in the folder of a job that goes on: a byte for what it is (the enum below), then the file. What
 * must hold: a piece that was kept is given as it is, and
 * one that is of no use is made again; of what cannot be read nothing is added; and behind the job the folder
 * is empty. */
#define _GNU_SOURCE /* memfd_create */
#include <string.h>
#include <sys/stat.h>

#include "fleet/capture_files.h"
#include "fleet/job.h"
#include "folder.h"
#include "saved.h"

#define MOST_BYTES 16384

enum {
    PART = 1, /* of a capture; else a piece */
    NOTE = 2, /* the note of its capture stands in front */
    SUM = 4,  /* its last line has the right sum */
    MAKE = 8, /* what is of no use is made again: processes take their time */
};

static const char fresh[] = "fresh";

/* What the process of a capture runs. */
static int make_piece(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    fputs(fresh, stdout);
    return 0;
}

struct rig {
    struct ct_ctx *ctx;
    struct folder folder;
    struct ct_manifest *manifest;
    struct ct_fleet_job *job;
    const char *capture;
    bool part;
};

static void begin(struct rig *rig)
{
    static const char *const words[] = {"coretap", "cover", NULL};
    struct ct_fleet_capture capture = {0};
    rig->ctx = ct_ctx_new();
    folder_begin(&rig->folder);
    capture.path = rig->capture = folder_add(&rig->folder, "capture", "bytes", 5);
    require(ct_fleet_digest(rig->ctx, rig->capture, capture.digest, &capture.size) == CT_OK);
    require(ct_manifest_new(rig->ctx, &rig->manifest) == CT_OK);
    require(ct_manifest_add(rig->manifest, &capture) == CT_OK);
    const struct ct_fleet_job_options options = {
        .size = sizeof options, .words = words, .state = rig->folder.path, .run = make_piece};
    require(ct_fleet_job_new(rig->ctx, &options, rig->manifest, &rig->job) == CT_OK);
}

static void end(struct rig *rig)
{
    ct_fleet_job_remove(rig->job);
    require(!ct_fleet_job_has(rig->job, 0));
    ct_fleet_job_free(rig->job);
    ct_manifest_free(rig->manifest);
    ct_ctx_free(rig->ctx);
    folder_end(&rig->folder);
}

/* Returns the note of the capture as it is now. */
static struct written note_of(const struct rig *rig)
{
    struct ct_capture_files files = {0};
    struct written note = {0};
    char bytes[512];
    uint64_t size;
    FILE *file = fmemopen(bytes, sizeof bytes, "w");
    require(file && ct_capture_files_find(rig->ctx, rig->capture, &files) == CT_OK);
    require(ct_capture_files_note(rig->ctx, &files, file, &size) == CT_OK);
    const long length = ftell(file);
    require(length > 0 && (size_t)length < sizeof bytes);
    require(written_append(&note, bytes, (size_t)length) == CT_OK);
    fclose(file);
    ct_capture_files_free(&files);
    return note;
}

/* Puts the bytes into the folder, where the job looks for them. */
static void keep(const struct rig *rig, struct written bytes)
{
    char *path = rig->part ? ct_job_shards_path(rig->job, 0) : ct_job_path(rig->job, 0);
    char part[512];
    require(path && (!rig->part || mkdir(path, 0777) == 0));
    snprintf(part, sizeof part, "%s%s", path, rig->part ? "/1-2" : "");
    FILE *file = fopen(part, "w");
    require(file && fwrite(bytes.bytes, 1, bytes.size, file) == bytes.size && fclose(file) == 0);
    free(path);
}

static struct ct_fleet_piece *get(const struct rig *rig)
{
    struct ct_fleet_piece *piece;
    require((rig->part ? ct_fleet_shard_begin(rig->job, 0, 1, 2, &piece)
                       : ct_fleet_piece_begin(rig->job, 0, &piece)) == CT_OK);
    while (!ct_fleet_piece_wait(piece, 1000))
        ;
    return piece;
}

/* Requires that a piece has these bytes. */
static void has(const struct ct_fleet_piece *piece, const void *bytes, size_t size)
{
    const void *data;
    size_t given;
    require(ct_fleet_piece_result(piece, &data, &given) == CT_OK);
    require(given == size && (!size || memcmp(data, bytes, size) == 0));
}

/* Adds a piece to a sum. Returns false when it cannot be read. */
static bool adds_up(const struct rig *rig, const struct ct_fleet_piece *piece)
{
    struct ct_cover *cover;
    const void *data;
    size_t size;
    require(ct_cover_new(rig->ctx, &cover) == CT_OK);
    require(ct_fleet_piece_result(piece, &data, &size) == CT_OK);
    const int rc = ct_analysis_load(ct_cover_analysis(cover), "piece", data, size);
    require(rc == CT_OK || !ct_cover_programs(cover));
    ct_cover_free(cover);
    return rc == CT_OK;
}

/* Requires that what is of no use is made again. */
static void make_again(const struct rig *rig)
{
    struct ct_fleet_piece *piece = get(rig);
    require(!ct_fleet_piece_was_kept(piece) && (rig->part || ct_fleet_job_has(rig->job, 0)));
    has(piece, fresh, sizeof fresh - 1);
    ct_fleet_piece_free(piece);
}

/* Takes the file as a job does. */
static void go_on(const struct rig *rig, struct written file, bool makes)
{
    const size_t noted = rig->part ? ct_capture_note_holds(file.bytes, file.size) : 0;
    bool fine = !rig->part || noted;
    if (fine) {
        struct ct_fleet_piece *piece = get(rig);
        require(ct_fleet_piece_was_kept(piece));
        has(piece, file.bytes + noted, file.size - noted);
        fine = adds_up(rig, piece);
        ct_fleet_piece_free(piece);
        if (!fine) {
            ct_fleet_job_drop(rig->job, 0);
            ct_fleet_job_drop_shards(rig->job, 0);
        }
    }
    if (!fine && makes)
        make_again(rig);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size || size > MOST_BYTES)
        return 0;
    struct rig rig = {.part = data[0] & PART};
    begin(&rig);
    struct written file = {0}, rest = {0};
    if (data[0] & NOTE)
        file = note_of(&rig);
    if (data[0] & SUM)
        rest = saved_mended(data + 1, size - 1);
    require(written_append(&file, rest.size ? rest.bytes : (const char *)data + 1,
                           rest.size ? rest.size : size - 1) == CT_OK);
    keep(&rig, file);
    go_on(&rig, file, data[0] & MAKE);
    free(rest.bytes);
    free(file.bytes);
    end(&rig);
    return 0;
}
