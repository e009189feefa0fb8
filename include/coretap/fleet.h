/* SPDX-License-Identifier: Apache-2.0 */
/* coretap fleet: results of more captures than one machine decodes. A manifest names the captures. Each is
 * decoded by another process, so that nothing that one capture does ends the others; what it gives is a
 * saved result (analysis.h), a piece, which is kept in a folder under a name that is made of its contents.
 * Pieces add up in any order. Who hands out the work is not known here: coretap-mpi does that over ranks of
 * MPI, 'coretap map' in one process.
 *
 *     ct_manifest_read(manifest, "week.jsonl", text, size);
 *     ct_fleet_job_new(ctx, &options, manifest, &job);
 *     for (size_t i = 0; i < ct_manifest_count(manifest); i++) {
 *         ct_fleet_piece_begin(job, ct_fleet_job_order(job, i), &piece);
 *         while (!ct_fleet_piece_wait(piece, 1000))
 *             ;
 *         if (ct_fleet_piece_result(piece, &data, &bytes) == CT_OK)
 *             ct_analysis_load(sum, "piece", data, bytes);
 *         ct_fleet_piece_free(piece);
 *     } */
#ifndef CORETAP_FLEET_H
#define CORETAP_FLEET_H

#include "coretap/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- manifests ---- */

/* Bytes of a SHA-256 (FIPS 180-4). */
#define CT_FLEET_DIGEST 32

/* A capture, as a manifest tells of it. Borrowed while it is passed. */
struct ct_fleet_capture {
    const char *path;                /* that is opened: a folder or a file */
    uint64_t size;                   /* bytes of all its files together */
    uint8_t digest[CT_FLEET_DIGEST]; /* as ct_fleet_digest gives it */
    const char *machine;             /* where it was recorded; NULL: not known, here and in what follows */
    const char *test;                /* what ran */
    const char *time;                /* when, as ISO 8601 has it */
    const char *const *build_ids;    /* of the programs that it names, in hexadecimal digits */
    size_t build_id_count;
};

struct ct_manifest;

/* Makes an empty manifest. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_manifest_new(struct ct_ctx *ctx, struct ct_manifest **out);
CT_API void ct_manifest_free(struct ct_manifest *manifest);

/* Reads the lines of a manifest, each a JSON object (docs/fleet.md), and adds what they name. `name` is for
 * messages; a path that does not begin with a slash is in the folder of `name`. CT_ERR_FORMAT with the number
 * of the line: then the manifest is to be freed. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_manifest_read(struct ct_manifest *manifest, const char *name, const void *data, size_t size);

/* Adds a capture. CT_ERR_FORMAT for one whose contents are there already, which would count twice;
 * CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_manifest_add(struct ct_manifest *manifest, const struct ct_fleet_capture *capture);

struct ct_manifest_options {
    size_t size;                /* sizeof(struct ct_manifest_options) */
    const char *machine, *test; /* of all captures that are found, or NULL */
    void *user;                 /* of the following, which may be NULL */
    /* Told of a file that is no capture, or could not be opened as one, or is there twice, with the reason.
     */
    void (*skipped)(void *user, const char *path, const char *why);
    /* Told of each capture that was found. */
    void (*found)(void *user, const struct ct_fleet_capture *capture);
    /* 1: a capture that the path itself names is not read: its digest is one over names, sizes, inodes and
     * times of change of its files. That it has the contents of another one is not seen then. */
    uint8_t trust;
    uint8_t pad[7]; /* 0 */
    /* Told of a folder or a file that cannot be read, so that a capture may be missing, with the reason.
     * NULL: that is an error. */
    void (*unread)(void *user, const char *path, const char *why);
};

/* Adds the captures at and below a path, in the order of their names. They are perf.data files, snapshots,
 * raw traces with a description, and branch lists, all of whose bytes are read for their digests. What begins
 * like one of them and cannot be opened is added too: what is wrong with it is said where it counts. A folder
 * is not looked into again where a link leads back to it. CT_ERR_IO for a path that is not there, and for
 * what cannot be read where there is no `unread`, CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_manifest_find(struct ct_manifest *manifest, const char *path,
                            const struct ct_manifest_options *options);

/* Returns how many captures there are. */
CT_API size_t ct_manifest_count(const struct ct_manifest *manifest);

/* Returns a capture by its number, from 0 on in the order of adding; NULL behind the last. It is there until
 * the manifest is freed. */
CT_API const struct ct_fleet_capture *ct_manifest_at(const struct ct_manifest *manifest, size_t number);

/* Writes a manifest that ct_manifest_read reads. CT_ERR_FORMAT when all is written but captures whose paths
 * are no UTF-8, each of which is named in the log. CT_ERR_ARG also for another text that is none,
 * CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_manifest_write(const struct ct_manifest *manifest, ct_write_fn *write, void *user);

/* Gives the SHA-256 over names, sizes and bytes of the files of a capture, and their size: of a snapshot all
 * files in its folder, of a raw trace its description and the trace, else of the file. CT_ERR_IO, CT_ERR_ARG,
 * CT_ERR_NOMEM. */
CT_API int ct_fleet_digest(struct ct_ctx *ctx, const char *path, uint8_t digest[CT_FLEET_DIGEST],
                           uint64_t *size);

/* ---- work ---- */

struct ct_fleet_job_options {
    size_t size;               /* sizeof(struct ct_fleet_job_options) */
    const char *const *words;  /* the command that prints a piece, its options, and NULL; the capture is put
                                  behind them. The first is the path of the program */
    const char *const *hidden; /* more options of it, and NULL, on which no byte of the result depends
                                  (--threads); may be NULL */
    const char *state;         /* folder of pieces, which is there */
    uint64_t seconds;          /* that one process may take; 0: as many as it wants */
    uint8_t trust;             /* 1: of captures the size alone is compared with the manifest */
    uint8_t pad[7];            /* 0 */
    /* Runs the words in the process of a capture, which is a copy of the caller's, and returns the exit code.
     * That is sooner than to start the program, which loads its libraries each time. A process in which it
     * returned 0 or 1 runs it for the next capture, too, unless it needed much memory. NULL: the program is
     * started. */
    int (*run)(int argc, char **argv);
};

struct ct_fleet_job;

/* Makes the work of one command over all captures of a manifest, which stay the caller's. Files that the
 * words name are read: a piece is known by them, the words, the version of the library and the capture.
 * CT_ERR_FORMAT with `trust`, when a path is there twice; CT_ERR_IO, CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_fleet_job_new(struct ct_ctx *ctx, const struct ct_fleet_job_options *options,
                            const struct ct_manifest *manifest, struct ct_fleet_job **out);
CT_API void ct_fleet_job_free(struct ct_fleet_job *job);

/* Takes a file that a job reads. Returns CT_OK, or what the function that calls it is to return. */
typedef int ct_fleet_file_fn(void *user, const char *path, const uint8_t digest[CT_FLEET_DIGEST]);

/* Tells of the files that a job reads besides its captures: jobs that find other ones give other results.
 * First come those that its words name, with the SHA-256 of their bytes, then the programs in `folders`
 * (which end with NULL, or are NULL), in the order of their names, with a SHA-256 over size and build id. At
 * last come those in `target`, a folder with the files of a target, or NULL: also programs without a build
 * id, proc/kallsyms and sys/module/NAME/sections, with the SHA-256 of their bytes. CT_ERR_ARG, CT_ERR_NOMEM,
 * what `take` returned. */
CT_API int ct_fleet_job_files(const struct ct_fleet_job *job, const char *const *folders, const char *target,
                              ct_fleet_file_fn *take, void *user);

/* Returns the number in the manifest of what is to be done as number `turn`: the largest first, so that none
 * is left for the end. SIZE_MAX behind the last. */
CT_API size_t ct_fleet_job_order(const struct ct_fleet_job *job, size_t turn);

/* Returns 1 when the piece of this capture is in the folder, else 0. */
CT_API int ct_fleet_job_has(const struct ct_fleet_job *job, size_t number);

/* Removes the piece of a capture from the folder, so that it is made again. */
CT_API void ct_fleet_job_drop(const struct ct_fleet_job *job, size_t number);

/* Removes all pieces of this job from the folder, and parts of them. What others have there stays. */
CT_API void ct_fleet_job_remove(const struct ct_fleet_job *job);

struct ct_fleet_piece;

/* Begins with a capture: its piece is read, or a process makes it. CT_ERR_ARG, CT_ERR_NOMEM,
 * CT_ERR_IO. */
CT_API int ct_fleet_piece_begin(struct ct_fleet_job *job, size_t number, struct ct_fleet_piece **out);

/* Shards of a capture at most. */
#define CT_FLEET_SHARDS 65536

/* Begins with a part of a capture, number `shard` of `shards`, from 1 on: the words of the job get --shard
 * behind them. What it gives is kept in the folder, and is no piece: the parts of a capture are to be joined
 * (shard.h) and kept as one with ct_fleet_job_keep. No part compares the contents with the manifest. Errors:
 * as ct_fleet_piece_begin. */
CT_API int ct_fleet_shard_begin(struct ct_fleet_job *job, size_t number, uint32_t shard, uint32_t shards,
                                struct ct_fleet_piece **out);

/* Begins to compare the contents of a capture that is decoded in parts with the manifest. That they are the
 * same is kept in the folder like a part; that they are not is the failure of this one. Errors: as
 * ct_fleet_piece_begin. */
CT_API int ct_fleet_check_begin(struct ct_fleet_job *job, size_t number, struct ct_fleet_piece **out);

/* Keeps the piece of a capture that was joined. CT_ERR_IO, CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_fleet_job_keep(const struct ct_fleet_job *job, size_t number, const void *data, size_t size);

/* Removes the parts of a capture from the folder, whatever their number. */
CT_API void ct_fleet_job_drop_shards(const struct ct_fleet_job *job, size_t number);

/* Ends a process that still runs. */
CT_API void ct_fleet_piece_free(struct ct_fleet_piece *piece);

/* Waits until the piece is there, but for no more than so many milliseconds. Returns 1 when it is done. */
CT_API int ct_fleet_piece_wait(struct ct_fleet_piece *piece, int milliseconds);

/* Gives the bytes of a piece that is done, which are there until it is freed. CT_ERR_NOT_FOUND: there is
 * none, and ct_fleet_piece_failure says why. CT_ERR_IO: it could not be kept in the folder, so that the job
 * must end. CT_ERR_ARG. */
CT_API int ct_fleet_piece_result(const struct ct_fleet_piece *piece, const void **data, size_t *size);

/* Returns why there is no piece: the capture, a colon and the reason. NULL when there is one. */
CT_API const char *ct_fleet_piece_failure(const struct ct_fleet_piece *piece);

/* Returns 1 when the piece was in the folder before, else 0. */
CT_API int ct_fleet_piece_was_kept(const struct ct_fleet_piece *piece);

#ifdef __cplusplus
}
#endif
#endif
