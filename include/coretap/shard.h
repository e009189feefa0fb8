/* SPDX-License-Identifier: Apache-2.0 */
/* coretap shard: decodes one capture in several processes, a part in each. A shard counts the trace from one
 * synchronisation point to another, and records the state of decoding at both. When the state at the end of
 * each shard equals that at the beginning of the next, their sums are those of decoding without a cut; else
 * the capture must be decoded whole.
 *
 *     struct ct_session_options options = {.size = sizeof options, .shard = shard};
 *     ct_shard_new(ctx, 2, 8, &shard);    // in one of eight processes
 *     ct_session_run(session, capture, capture->buffers, capture->buffer_count);
 *     ct_shard_save(shard, ct_cover_analysis(cover), write_to_file, file);
 *
 *     ct_shard_new(ctx, 0, 8, &all);    // where they are added up
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

/* Maximal number of shards of a capture. */
#define CT_SHARD_MAX 65536

struct ct_shard;

/* Makes a shard of a capture: number `number`, from 1, of `count` shards with about the same number of bytes
 * of trace each. It is passed to one session, which runs one capture. Number 0 makes a shard to which others
 * are added. CT_ERR_ARG for impossible numbers, CT_ERR_NOMEM. */
CT_API int ct_shard_new(struct ct_ctx *ctx, uint32_t number, uint32_t count, struct ct_shard **out);
CT_API void ct_shard_free(struct ct_shard *shard);

/* Writes a shard that a session has run, with the results of its analysis. The file can only be read by
 * ct_shard_load: it is no saved result. CT_ERR_ARG, CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_shard_save(struct ct_shard *shard, struct ct_analysis *analysis, ct_write_fn *write,
                         void *user);

/* Adds the next shard, and its results to `analysis`, which must be empty before the first. The file is
 * called `name` in messages. CT_ERR_NOT_FOUND with the reason when it does not match the shard before: both
 * objects are then unusable, and the capture must be decoded whole. CT_ERR_FORMAT for a damaged file;
 * CT_ERR_ARG, CT_ERR_NOMEM, CT_ERR_LIMIT. */
CT_API int ct_shard_load(struct ct_shard *all, struct ct_analysis *analysis, const char *name,
                         const void *data, size_t size);

/* Adds the capture to `analysis` when all of its shards were loaded. CT_ERR_NOT_FOUND with the reason when
 * they are not the whole capture, like ct_shard_load; CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_shard_end(struct ct_shard *all, struct ct_analysis *analysis);

#ifdef __cplusplus
}
#endif
#endif
