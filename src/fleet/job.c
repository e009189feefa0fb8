/* SPDX-License-Identifier: Apache-2.0 */
/* The work for a manifest: its order, and the name of each piece. */
#define _GNU_SOURCE /* asprintf, qsort_r */
#include "base/search.h"
#include "fleet/job.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"
#include "fleet/digest.h"
#include "fleet/same.h"
#include "fleet/state.h"

/* ---- names of pieces ---- */

/* Finds the file that a word names: the word itself, or the part behind '=', with or without an address
 * ("prog@8000"). *path is NULL when it names none. CT_ERR_NOMEM. */
static int find_named_file(struct ct_arena *arena, const char *word, char **path)
{
    const char *equals = *word == '-' ? strchr(word, '=') : NULL;
    char *name = ct_arena_strdup(arena, equals ? equals + 1 : word);
    struct stat st;
    if (!name)
        return CT_ERR_NOMEM;
    if (stat(name, &st) && strrchr(name, '@'))
        *strrchr(name, '@') = 0;
    *path = stat(name, &st) || !S_ISREG(st.st_mode) ? NULL : name;
    return CT_OK;
}

/* Adds a file to the files of the job. */
static int add_file(struct ct_fleet_job *job, const char *path)
{
    struct ct_job_file *files = ct_arena_push(&job->arena, job->files, &job->file_count, sizeof *files);
    if (!files)
        return ct_fail_nomem(job->ctx, path);
    struct ct_job_file *file = &files[job->file_count - 1];
    job->files = files;
    file->path = path;
    return ct_digest_file(job->ctx, path, file->digest);
}

/* Adds the digest of the file that a word names. */
static int add_named_file(struct ct_fleet_job *job, struct ct_digest *digest, const char *word)
{
    char *path;
    int rc = find_named_file(&job->arena, word, &path);
    if (rc)
        return ct_fail_nomem(job->ctx, word);
    if (path && !(rc = add_file(job, path)))
        ct_digest_add(digest, job->files[job->file_count - 1].digest, CT_FLEET_DIGEST);
    return rc;
}

/* Makes the common part of the names of all pieces. */
static int make_base(struct ct_fleet_job *job)
{
    int rc = ct_digest_new(job->ctx, &job->digest);
    if (rc)
        return rc;
    struct ct_digest *digest = job->digest;
    ct_digest_add_text(digest, "piece");
    ct_digest_add_text(digest, ct_version_exact());
    for (size_t i = 1; i < job->words && !rc; i++) {
        ct_digest_add_text(digest, job->options.words[i]);
        rc = add_named_file(job, digest, job->options.words[i]);
    }
    return rc ? rc : ct_digest_end(digest, job->base);
}

char *ct_job_path(const struct ct_fleet_job *job, size_t number)
{
    uint8_t key[CT_FLEET_DIGEST];
    const struct ct_fleet_capture *capture = ct_manifest_at(job->manifest, number);
    ct_digest_begin(job->digest);
    ct_digest_add(job->digest, job->base, sizeof job->base);
    ct_digest_add(job->digest, capture->digest, sizeof capture->digest);
    ct_digest_add_text(job->digest, capture->path); /* results contain the paths of their captures */
    return ct_digest_end(job->digest, key) ? NULL : ct_state_path(job->options.state, key);
}

char *ct_job_shards_path(const struct ct_fleet_job *job, size_t number)
{
    char *piece = ct_job_path(job, number);
    char *path = NULL;
    if (piece && asprintf(&path, "%s.shards", piece) < 0)
        path = NULL;
    free(piece);
    return path;
}

/* ---- order ---- */

/* Compares by size, largest first, then by digest, so that every rank has the same order. */
static int by_size(const void *a, const void *b, void *user)
{
    const struct ct_fleet_capture *x = ct_manifest_at(user, *(const size_t *)a);
    const struct ct_fleet_capture *y = ct_manifest_at(user, *(const size_t *)b);
    return ct_order(y->size, x->size) ?: memcmp(x->digest, y->digest, sizeof x->digest);
}

static int make_order(struct ct_fleet_job *job)
{
    const size_t count = ct_manifest_count(job->manifest);
    job->order = calloc(count + 1, sizeof *job->order);
    if (!job->order)
        return ct_fail_nomem(job->ctx, "job");
    for (size_t i = 0; i < count; i++)
        job->order[i] = i;
    qsort_r(job->order, count, sizeof *job->order, by_size, (void *)job->manifest);
    return job->options.trust ? ct_job_refuse_same(job) : CT_OK;
}

/* ---- jobs ---- */

static int copy_words(struct ct_fleet_job *job, const char *const *words, const char *const **out,
                      size_t *count)
{
    size_t size = 0;
    while (words[size])
        size++;
    const char **list = ct_arena_alloc(&job->arena, (size + 1) * sizeof *list);
    for (size_t i = 0; i < size && list; i++)
        if (!(list[i] = ct_arena_strdup(&job->arena, words[i])))
            list = NULL;
    *out = list;
    *count = size;
    return list ? CT_OK : ct_fail_nomem(job->ctx, "job");
}

static int make(struct ct_fleet_job *job)
{
    static const char *const none[] = {NULL};
    struct ct_fleet_job_options *o = &job->options;
    int rc = copy_words(job, o->words, &o->words, &job->words);
    if (!rc)
        rc = copy_words(job, o->hidden ? o->hidden : none, &o->hidden, &job->hidden);
    if (!rc && !(o->state = ct_arena_strdup(&job->arena, o->state)))
        rc = ct_fail_nomem(job->ctx, "job");
    if (!rc)
        rc = make_base(job);
    return rc ? rc : make_order(job);
}

int ct_fleet_job_new(struct ct_ctx *ctx, const struct ct_fleet_job_options *options,
                     const struct ct_manifest *manifest, struct ct_fleet_job **out)
{
    struct ct_fleet_job_options o;
    CT_REQUIRE_OUT(ctx, out, manifest);
    int rc = ct_options_read(ctx, "ct_fleet_job_new", options, &o, sizeof o);
    if (rc)
        return rc;
    if (!o.words || !o.words[0] || !o.state)
        return ct_fail(ctx, CT_ERR_ARG,
                       "ct_fleet_job_new: options.words or options.state is not set; set "
                       "both");
    struct ct_fleet_job *job = calloc(1, sizeof *job);
    if (!job)
        return ct_fail_nomem(ctx, "job");
    *job = (struct ct_fleet_job){.ctx = ctx, .options = o, .manifest = manifest};
    rc = make(job);
    if (rc)
        ct_fleet_job_free(job);
    else
        *out = job;
    return rc;
}

void ct_fleet_job_free(struct ct_fleet_job *job)
{
    if (!job)
        return;
    ct_worker_drop(&job->left);
    ct_digest_free(job->digest);
    ct_arena_free(&job->arena);
    free(job->order);
    free(job);
}

size_t ct_fleet_job_order(const struct ct_fleet_job *job, size_t turn)
{
    return job && turn < ct_manifest_count(job->manifest) ? job->order[turn] : SIZE_MAX;
}

int ct_fleet_job_has(const struct ct_fleet_job *job, size_t number)
{
    if (!job || number >= ct_manifest_count(job->manifest))
        return 0;
    char *path = ct_job_path(job, number);
    const int has = path && access(path, F_OK) == 0;
    free(path);
    return has;
}

void ct_fleet_job_drop(const struct ct_fleet_job *job, size_t number)
{
    char *path = job && number < ct_manifest_count(job->manifest) ? ct_job_path(job, number) : NULL;
    if (path)
        unlink(path);
    free(path);
}

void ct_fleet_job_drop_shards(const struct ct_fleet_job *job, size_t number)
{
    const bool is_there = job && number < ct_manifest_count(job->manifest);
    char *path = is_there ? ct_job_shards_path(job, number) : NULL;
    DIR *folder = path ? opendir(path) : NULL;
    const struct dirent *entry;
    while (folder && (entry = readdir(folder)))
        unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder) {
        closedir(folder);
        rmdir(path);
    }
    free(path);
}

void ct_fleet_job_remove(const struct ct_fleet_job *job)
{
    for (size_t i = 0; job && i < ct_manifest_count(job->manifest); i++) {
        ct_fleet_job_drop(job, i);
        ct_fleet_job_drop_shards(job, i);
    }
}

int ct_fleet_job_keep(const struct ct_fleet_job *job, size_t number, const void *data, size_t size)
{
    CT_REQUIRE_OF(job, data, number < ct_manifest_count(job->manifest));
    char *path = ct_job_path(job, number);
    const struct ct_state_bytes none = {NULL, 0}, all = {data, size};
    const int rc = path ? ct_state_write(job->ctx, path, none, all) : ct_fail_nomem(job->ctx, "job");
    free(path);
    return rc;
}
