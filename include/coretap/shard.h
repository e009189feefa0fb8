/* SPDX-License-Identifier: Apache-2.0 */
/* coretap shard: one capture that several processes decode, each a part of it. A shard counts the trace from
 * one synchronisation point to another, and says in which state decoding was at both. Where that is the same
 * at the end of one and at the beginning of the next, their sums are those of decoding without a cut; where
 * it is not, the capture has to be decoded whole.
 *
 *     struct ct_session_options options = {.size = sizeof options, .shard = shard};
 *     ct_shard_new(ctx, 2, 8, &shard);                    in one of eight processes
 *     ct_session_run(session, capture, capture->buffers, capture->buffer_count);
 *     ct_shard_save(shard, ct_cover_analysis(cover), write_to_file, file);
 *
 *     ct_shard_new(ctx, 0, 8, &all);                      where they are added up
 *     for (int i = 0; i < 8; i++)
 *         ct_shard_load(all, ct_cover_analysis(sum), name[i], text[i], size[i]);
 *     ct_shard_end(all, ct_cover_analysis(sum)); */
#ifndef CORETAP_SHARD_H
#define CORETAP_SHARD_H

#include "coretap/analysis.h"
#include "coretap/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Shards of a capture at most. */
#define CT_SHARD_MAX 65536

struct ct_shard;

/* Makes a shard of a capture: number `number`, from 1 on, of `count` that have about as many bytes of trace
 * each. It is given to one session, which runs one capture. Number 0 makes one to which others are added.
 * CT_ERR_ARG for numbers that cannot be, CT_ERR_NOMEM. */
CT_API int ct_shard_new(struct ct_ctx *ctx, uint32_t number, uint32_t count, struct ct_shard **out);
CT_API void ct_shard_free(struct ct_shard *shard);

/* Writes a shard that a session has run, with what an analysis of it found. The file is for ct_shard_load
 * alone: it is no result. CT_ERR_ARG, CT_ERR_NOMEM, what `write`
 * returned. */
CT_API int ct_shard_save(struct ct_shard *shard, struct ct_analysis *analysis, ct_write_fn *write,
                         void *user);

/* Adds the next shard, and what it found to `analysis`, which was empty before the first one. The file is
 * called `name` in messages. CT_ERR_NOT_FOUND with the reason when it does not fit to the one before:
 * neither object is of use then, and the capture has to be decoded whole. CT_ERR_FORMAT for a damaged file;
 * CT_ERR_ARG, CT_ERR_NOMEM, CT_ERR_LIMIT. */
CT_API int ct_shard_load(struct ct_shard *all, struct ct_analysis *analysis, const char *name,
                         const void *data, size_t size);

/* Adds the capture to `analysis` when all of its shards were loaded. CT_ERR_NOT_FOUND with the reason when
 * they are not the whole of it, as ct_shard_load; CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_shard_end(struct ct_shard *all, struct ct_analysis *analysis);

#ifdef __cplusplus
}
#endif
#endif
