/* SPDX-License-Identifier: Apache-2.0 */
/* Captures that are decoded in parts, each by a process of its own. */
#include <stdlib.h>

#include "cli/cover_print.h"
#include "cli/fleet.h"
#include "cli/memory_file.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "coretap/shard.h"

static int begin(const struct cli_fleet *f, size_t number, uint32_t shard, uint32_t shards,
                 struct ct_fleet_piece **piece)
{
    return shard ? ct_fleet_shard_begin(f->job, number, shard, shards, piece)
                 : ct_fleet_check_begin(f->job, number, piece);
}

int cli_fleet_do_shard(struct cli_fleet *f, size_t number, uint32_t shard, uint32_t shards,
                       bool (*wait)(void *user), void *user)
{
    struct ct_fleet_piece *piece;
    const void *data;
    size_t size;
    if (begin(f, number, shard, shards, &piece))
        return cli_library_error(f->ctx);
    int code = cli_fleet_wait(piece, wait, user);
    const int rc = code == CLI_CLEAN ? ct_fleet_piece_result(piece, &data, &size) : CT_OK;
    if (rc && rc != CT_ERR_NOT_FOUND)
        code = cli_library_error(f->ctx);
    cli_fleet_tell_cache(f, piece);
    ct_fleet_piece_free(piece);
    return code;
}

/* ---- joining ---- */

/* A capture whose parts are being joined. */
struct join {
    struct cli_fleet *fleet;
    size_t number;
    uint32_t shards;
    struct ct_shard *all;
    struct ct_analysis *sum;
    const char *why; /* why they do not add up; NULL: the context has the reason */
};

/* Adds a part from the folder. CT_ERR_NOT_FOUND: it is missing, or does not add up. */
static int add_shard(struct join *j, uint32_t shard)
{
    struct ct_fleet_piece *piece;
    const void *data = NULL;
    size_t size = 0;
    int rc = begin(j->fleet, j->number, shard, j->shards, &piece);
    if (rc)
        return rc;
    if (!ct_fleet_piece_was_kept(piece)) {
        j->why = "one of its parts could not be read";
        rc = CT_ERR_NOT_FOUND;
    } else if (!(rc = ct_fleet_piece_result(piece, &data, &size)) && shard) {
        rc = ct_shard_load(j->all, j->sum, "a part", data, size);
    }
    ct_fleet_piece_free(piece);
    return rc;
}

/* Adds all parts. Coverage without counts is an error of the capture, which decoding it as a whole
 * reports. */
static int add_all(struct join *j)
{
    int rc = ct_shard_new(j->fleet->ctx, 0, j->shards, &j->all);
    if (!rc)
        rc = j->fleet->kind->make(j->fleet->ctx, &j->sum);
    for (uint32_t i = cli_fleet_trusts(j->fleet); i <= j->shards && !rc; i++)
        rc = add_shard(j, i);
    if (!rc)
        rc = ct_shard_end(j->all, j->sum);
    if (rc || j->sum->kind != ct_cover_kind() ||
        cli_cover_has_counts((struct ct_cover *)j->sum)) /* the analysis is its first member */
        return rc;
    j->why = "no code that ran belongs to a known program";
    return CT_ERR_NOT_FOUND;
}

/* Saves the sum as the piece of its capture. */
static int keep(const struct join *j)
{
    struct cli_memory_file file;
    size_t size;
    if (!cli_memory_open(&file))
        return CT_ERR_NOMEM;
    int rc = ct_analysis_save(j->sum, cli_output_write, file.out);
    char *text = cli_memory_close(&file, &size);
    if (!text)
        rc = CT_ERR_NOMEM;
    if (!rc)
        rc = ct_fleet_job_keep(j->fleet->job, j->number, text, size);
    free(text);
    return rc;
}

/* Returns whether the sum of a capture's parts is kept as a piece. It is not when it is the next result to be
 * written and nobody asked for pieces: a killed job then resumes from the parts. */
static bool keeps_piece(const struct cli_fleet *f)
{
    return f->own.values[CLI_FLEET_STATE].given || ct_manifest_count(f->manifest) > 1;
}

/* Adds the sum of a capture's parts to that of the job. The first one becomes the job's sum. */
static int take_sum(struct cli_fleet *f, struct ct_analysis **sum)
{
    const struct ct_analysis_captures *all = &f->sum->captures;
    if (all->known || all->unknown || all->failed)
        return ct_analysis_merge(f->sum, *sum);
    ct_analysis_free(f->sum);
    f->sum = *sum;
    *sum = NULL;
    return CT_OK;
}

int cli_fleet_join(struct cli_fleet *f, size_t number, uint32_t shards, bool *joined)
{
    struct join j = {.fleet = f, .number = number, .shards = shards};
    const double begin = cli_seconds();
    *joined = false;
    if (ct_fleet_job_has(f->job, number))
        return CLI_CLEAN;
    int rc = add_all(&j);
    const bool whole = rc == CT_ERR_NOT_FOUND || rc == CT_ERR_FORMAT;
    if (whole && !f->own.quiet)
        cli_say("%s: its parts cannot be joined: %s; the capture is decoded again as a whole",
                ct_manifest_at(f->manifest, number)->path, j.why ? j.why : ct_ctx_error(f->ctx));
    if (!rc && keeps_piece(f))
        rc = keep(&j);
    if (!rc)
        rc = take_sum(f, &j.sum);
    *joined = !rc;
    ct_analysis_free(j.sum);
    ct_shard_free(j.all);
    f->joined += !rc;
    if (whole || (!rc && keeps_piece(f)))
        ct_fleet_job_drop_shards(f->job, number);
    f->merging += cli_seconds() - begin;
    return rc && !whole ? cli_library_error(f->ctx) : CLI_CLEAN;
}
