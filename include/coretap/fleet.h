/* SPDX-License-Identifier: Apache-2.0 */
/* coretap fleet: results of more captures than one machine decodes. A manifest lists the captures. A separate
 * process decodes each of them, so that a crash in one does not end the others. Its output is a saved result
 * (analysis.h), called a piece, which is kept in a folder under a name made from its contents. Pieces can be
 * merged in any order. This library does not distribute the work: coretap-mpi does that over ranks of MPI,
 * 'coretap map' in one process.
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

/* A capture in a manifest. Borrowed for the call. */
struct ct_fleet_capture {
    const char *path;                /* path to open: a folder or a file */
    uint64_t size;                   /* total bytes of all its files */
    uint8_t digest[CT_FLEET_DIGEST]; /* from ct_fleet_digest */
    const char *machine;             /* where it was recorded; NULL, as in the members below: unknown */
    const char *test;                /* what ran */
    const char *time;                /* when, in ISO 8601 */
    const char *const *build_ids;    /* build ids of the programs that it names, in hexadecimal digits */
    size_t build_id_count;
};

struct ct_manifest;

/* Makes an empty manifest. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_manifest_new(struct ct_ctx *ctx, struct ct_manifest **out);
CT_API void ct_manifest_free(struct ct_manifest *manifest);

/* Reads the lines of a manifest, each a JSON object (docs/fleet.md), and adds their captures. `name` is for
 * messages; a path that does not begin with a slash is relative to the folder of `name`. CT_ERR_FORMAT with
 * the number of the line: the manifest must be freed then. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_manifest_read(struct ct_manifest *manifest, const char *name, const void *data, size_t size);

/* Adds a capture. CT_ERR_FORMAT when one with the same contents is there, which would count twice;
 * CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_manifest_add(struct ct_manifest *manifest, const struct ct_fleet_capture *capture);

struct ct_manifest_options {
    size_t size;                /* sizeof(struct ct_manifest_options) */
    const char *machine, *test; /* of all captures found, or NULL */
    void *user;                 /* passed to the functions below, which may be NULL */
    /* Receives each file that is no capture, or cannot be opened as one, with the reason. */
    void (*skipped)(void *user, const char *path, const char *why);
    /* Receives each capture that was found. */
    void (*found)(void *user, const struct ct_fleet_capture *capture);
    /* 1: a capture named by the path itself is not read. Its digest is computed from names, sizes, inodes and
     * change times of its files, so equal contents of another capture are not detected. */
    uint8_t trust;
    uint8_t pad[7]; /* 0 */
    /* Receives each folder or file that cannot be read, so that a capture may be missing, with the reason.
     * NULL: that is an error. */
    void (*unread)(void *user, const char *path, const char *why);
    /* Receives each file that is a capture and yet not added, because it is a duplicate or has no trace, with
     * the reason. NULL: `skipped` receives it. */
    void (*left_out)(void *user, const char *path, const char *why);
    /* Receives each file that may be a capture or contain one, because it is empty, compressed or an archive.
     * NULL: `skipped` receives it. */
    void (*doubtful)(void *user, const char *path, const char *why);
};

/* Adds the captures at and below a path, in the order of their names. They are perf.data files, snapshots,
 * raw traces with a description, and branch lists; all bytes are read for the digests. A file that begins
 * like a capture and cannot be opened is added too, and fails when it is counted. Links that lead back to a
 * folder are not followed again. CT_ERR_IO for a path that does not exist, and for what cannot be read when
 * `unread` is NULL, CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_manifest_find(struct ct_manifest *manifest, const char *path,
                            const struct ct_manifest_options *options);

/* Returns the number of captures. */
CT_API size_t ct_manifest_count(const struct ct_manifest *manifest);

/* Returns a capture by its number, from 0 in the order of adding; NULL past the last one. It stays valid
 * until the manifest is freed. */
CT_API const struct ct_fleet_capture *ct_manifest_at(const struct ct_manifest *manifest, size_t number);

/* Writes a manifest that ct_manifest_read reads. CT_ERR_FORMAT when everything is written except captures
 * whose paths are not UTF-8; the log names each of them. CT_ERR_ARG also for other texts that are not UTF-8,
 * CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_manifest_write(const struct ct_manifest *manifest, ct_write_fn *write, void *user);

/* Computes the SHA-256 over names, sizes and bytes of the files of a capture, and their total size. The files
 * are those in the folder of a snapshot, a raw trace and its description, else the one file. The name of a
 * description or of the one file does not count, so that a copy with another name is the same capture.
 * CT_ERR_IO, CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_fleet_digest(struct ct_ctx *ctx, const char *path, uint8_t digest[CT_FLEET_DIGEST],
                           uint64_t *size);

/* ---- work ---- */

struct ct_fleet_job_options {
    size_t size;               /* sizeof(struct ct_fleet_job_options) */
    const char *const *words;  /* the command that prints a piece, with its options, terminated by NULL. The
                                  first word is the path of the program; the path of the capture is
                                  appended */
    const char *const *hidden; /* further options that do not change a byte of the result (--threads),
                                  terminated by NULL; may be NULL */
    const char *state;         /* existing folder of pieces */
    uint64_t seconds;          /* time limit of one process; 0: none */
    uint8_t trust;             /* 1: only the size of a capture is compared with the manifest */
    uint8_t pad[7];            /* 0 */
    /* Runs the words in the process of a capture, which is a fork of the caller, and returns the exit code.
     * This is faster than starting the program, which loads its libraries each time. A process whose result
     * was 0 or 1 is reused for the next capture, unless it needed much memory. NULL: the program is
     * started. */
    int (*run)(int argc, char **argv);
};

struct ct_fleet_job;

/* Makes a job: one command over all captures of a manifest, which stays the caller's. Files that the words
 * name are read: the key of a piece consists of them, the words, the version of the library and the capture.
 * CT_ERR_FORMAT with `trust`, when a capture occurs twice, also under two names; CT_ERR_IO, CT_ERR_ARG,
 * CT_ERR_NOMEM. */
CT_API int ct_fleet_job_new(struct ct_ctx *ctx, const struct ct_fleet_job_options *options,
                            const struct ct_manifest *manifest, struct ct_fleet_job **out);
CT_API void ct_fleet_job_free(struct ct_fleet_job *job);

/* Receives a file that a job reads. A result other than CT_OK ends the calling function and becomes its
 * result. */
typedef int ct_fleet_file_fn(void *user, const char *path, const uint8_t digest[CT_FLEET_DIGEST]);

/* Lists the files that a job reads besides its captures. Jobs with different files give different results.
 * First come those that its words name, with the SHA-256 of their bytes; then the programs in `folders`
 * (terminated by NULL, or NULL), in the order of their names, with a SHA-256 over size and build id; then
 * those in `target`, a folder with the files of a target, or NULL: also programs without a build id,
 * proc/kallsyms and sys/module/NAME/sections, with the SHA-256 of their bytes. CT_ERR_ARG, CT_ERR_NOMEM, what
 * `take` returned. */
CT_API int ct_fleet_job_files(const struct ct_fleet_job *job, const char *const *folders, const char *target,
                              ct_fleet_file_fn *take, void *user);

/* Returns which capture of the manifest to process as number `turn`. The largest come first, so that none of
 * them is left for the end. SIZE_MAX past the last one. */
CT_API size_t ct_fleet_job_order(const struct ct_fleet_job *job, size_t turn);

/* Returns 1 when the folder has the piece of this capture, else 0. */
CT_API int ct_fleet_job_has(const struct ct_fleet_job *job, size_t number);

/* Removes the piece of a capture from the folder, so that it is made again. */
CT_API void ct_fleet_job_drop(const struct ct_fleet_job *job, size_t number);

/* Removes all pieces of this job from the folder, and parts of pieces. Those of other jobs stay. */
CT_API void ct_fleet_job_remove(const struct ct_fleet_job *job);

struct ct_fleet_piece;

/* Begins the piece of a capture: reads it, or starts a process that makes it. CT_ERR_ARG, CT_ERR_NOMEM,
 * CT_ERR_IO. */
CT_API int ct_fleet_piece_begin(struct ct_fleet_job *job, size_t number, struct ct_fleet_piece **out);

/* Maximal number of shards of a capture. */
#define CT_FLEET_SHARDS 65536

/* Begins one part of a capture, number `shard` of `shards`, from 1. The words of the job are followed by
 * --shard. Its output is kept in the folder, but is not a piece: the parts of a capture must be joined
 * (shard.h) and kept as one with ct_fleet_job_keep. Parts do not compare the contents with the manifest.
 * Errors: as ct_fleet_piece_begin. */
CT_API int ct_fleet_shard_begin(struct ct_fleet_job *job, size_t number, uint32_t shard, uint32_t shards,
                                struct ct_fleet_piece **out);

/* Begins to compare the contents of a capture that is decoded in parts with the manifest. If they are equal,
 * this is kept in the folder like a part; if not, this piece fails. Errors: as ct_fleet_piece_begin. */
CT_API int ct_fleet_check_begin(struct ct_fleet_job *job, size_t number, struct ct_fleet_piece **out);

/* Keeps the joined piece of a capture. CT_ERR_IO, CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_fleet_job_keep(const struct ct_fleet_job *job, size_t number, const void *data, size_t size);

/* Removes all parts of a capture from the folder. */
CT_API void ct_fleet_job_drop_shards(const struct ct_fleet_job *job, size_t number);

/* Ends its process if it still runs, and frees the piece. */
CT_API void ct_fleet_piece_free(struct ct_fleet_piece *piece);

/* Waits until the piece is done, at most so many milliseconds. Returns 1 when it is done. */
CT_API int ct_fleet_piece_wait(struct ct_fleet_piece *piece, int milliseconds);

/* Returns the bytes of a finished piece, which stay valid until it is freed. CT_ERR_NOT_FOUND: there is none,
 * and ct_fleet_piece_failure says why. CT_ERR_IO: it could not be kept in the folder, so that the job must
 * end. CT_ERR_ARG. */
CT_API int ct_fleet_piece_result(const struct ct_fleet_piece *piece, const void **data, size_t *size);

/* Returns why the piece failed: the capture, a colon and the reason. NULL when it did not fail. */
CT_API const char *ct_fleet_piece_failure(const struct ct_fleet_piece *piece);

/* Returns the last messages of the process that made a finished piece, as lines; "" when it gave none. Valid
 * until the piece is freed. Of a piece that failed use ct_fleet_piece_failure. */
CT_API const char *ct_fleet_piece_said(const struct ct_fleet_piece *piece);

/* Returns 1 when the folder had the piece already, else 0. */
CT_API int ct_fleet_piece_was_kept(const struct ct_fleet_piece *piece);

#ifdef __cplusplus
}
#endif
#endif
