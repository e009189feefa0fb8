/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* asprintf */
#include "fleet/same.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/ctx.h"
#include "base/fnv.h"
#include "base/path.h"
#include "base/search.h"
#include "fleet/capture_files.h"
#include "fleet/job.h"

/* A capture and where it is. */
struct place {
    const struct ct_fleet_capture *capture;
    dev_t device;
    ino_t number;
    uint64_t files; /* sum over the places of all its files; 0 while that is not needed */
};

/* Examines the path of a capture, of a snapshot its folder. Returns false when there is nothing. */
static bool look(struct place *place, int *rc)
{
    const char *path = place->capture->path, *name = ct_base_name(path);
    struct stat st;
    char *folder = NULL;
    if (!strcmp(name, "snapshot.ini") && asprintf(&folder, "%.*s.", (int)(name - path), path) < 0) {
        folder = NULL;
        *rc = CT_ERR_NOMEM;
    }
    const bool found = !*rc && !stat(folder ? folder : path, &st);
    free(folder);
    if (found) {
        place->device = st.st_dev;
        place->number = st.st_ino;
    }
    return found;
}

/* Compares sizes, then places, then the places of all files. */
static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return ct_order(x->capture->size, y->capture->size)
           ?: ct_order(x->device, y->device)
           ?: ct_order(x->number, y->number)
           ?: ct_order(x->files, y->files);
}

/* Adds up the places of all files of a capture. */
static int add_files(struct ct_ctx *ctx, struct place *place)
{
    struct ct_capture_files files = {0};
    const int rc = ct_capture_files_find(ctx, place->capture->path, &files);
    place->files = CT_FNV_BEGIN;
    for (size_t i = 0; i < files.count; i++) {
        struct stat st;
        if (stat(files.list[i].path, &st))
            continue; /* the process of the capture reports it */
        place->files = ct_fnv(place->files, &st.st_dev, sizeof st.st_dev);
        place->files = ct_fnv(place->files, &st.st_ino, sizeof st.st_ino);
    }
    ct_capture_files_free(&files);
    return rc == CT_ERR_NOMEM ? rc : CT_OK;
}

static int refuse(struct ct_ctx *ctx, const char *a, const char *b)
{
    const bool has_two_names = strcmp(a, b) != 0;
    return ct_fail(ctx, CT_ERR_FORMAT,
                   "%s: is in the manifest twice%s%s, with different contents, so it would count twice; "
                   "write the manifest again with 'coretap manifest'",
                   a, has_two_names ? ", also as " : "", has_two_names ? b : "");
}

/* Compares sorted places. Those that are equal are compared by all their files: the description of a raw
 * trace may be one file with several names, each beside another trace. */
static int compare(struct ct_ctx *ctx, struct place *places, size_t count)
{
    int rc = CT_OK;
    bool was_same = false;
    for (size_t i = 0; i < count && !rc; i++) {
        const bool is_same = i + 1 < count && !by_place(&places[i], &places[i + 1]);
        if (is_same || was_same)
            rc = add_files(ctx, &places[i]);
        was_same = is_same;
    }
    qsort(places, count, sizeof *places, by_place);
    for (size_t i = 1; i < count && !rc; i++)
        if (!by_place(&places[i - 1], &places[i]))
            rc = refuse(ctx, places[i - 1].capture->path, places[i].capture->path);
    return rc;
}

/* Returns the capture with a number in the order by size; NULL behind the last one. */
static const struct ct_fleet_capture *in_order(const struct ct_fleet_job *job, size_t turn)
{
    return ct_manifest_at(job->manifest, ct_fleet_job_order(job, turn));
}

int ct_job_refuse_same(const struct ct_fleet_job *job)
{
    struct place *places = calloc(ct_manifest_count(job->manifest) + 1, sizeof *places);
    const struct ct_fleet_capture *before = NULL, *at, *next = in_order(job, 0);
    size_t count = 0;
    int rc = CT_OK;
    if (!places)
        return ct_fail_nomem(job->ctx, "job");
    for (size_t turn = 1; !rc && (at = next); turn++, before = at) {
        next = in_order(job, turn);
        places[count].capture = at;
        if ((before && before->size == at->size) || (next && next->size == at->size))
            count += look(&places[count], &rc);
    }
    if (!rc) {
        qsort(places, count, sizeof *places, by_place);
        rc = compare(job->ctx, places, count);
    }
    free(places);
    return rc == CT_ERR_NOMEM ? ct_fail_nomem(job->ctx, "job") : rc;
}
