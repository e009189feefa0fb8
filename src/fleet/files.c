/* SPDX-License-Identifier: Apache-2.0 */
/* The files that a job reads besides its captures: files named in its words, programs in folders, and what a
 * folder with the target's files has about its kernel. */
#define _GNU_SOURCE /* asprintf */
#include <fts.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/ctx.h"
#include "base/elf_look.h"
#include "base/files.h"
#include "base/path.h"
#include "base/require.h"
#include "fleet/digest.h"
#include "fleet/job.h"

struct teller {
    const struct ct_fleet_job *job;
    ct_fleet_file_fn *take;
    void *user;
    struct ct_elf_look look;
};

/* Makes a digest of the size and the build id of a program. */
static int make_digest(const struct teller *t, uint64_t size, uint8_t out[CT_FLEET_DIGEST])
{
    struct ct_digest *digest;
    char text[24];
    int rc = ct_digest_new(t->job->ctx, &digest);
    if (rc)
        return rc;
    snprintf(text, sizeof text, "%" PRIu64, size);
    ct_digest_add_text(digest, text);
    ct_digest_add(digest, t->look.id.bytes, t->look.id.size);
    rc = ct_digest_end(digest, out);
    ct_digest_free(digest);
    return rc;
}

/* Reports a file with the digest of its bytes. An unreadable file is skipped, since the job cannot use it
 * either. */
static int tell_bytes(const struct teller *t, const char *path)
{
    uint8_t digest[CT_FLEET_DIGEST];
    const int rc = ct_digest_file(t->job->ctx, path, digest);
    return rc == CT_ERR_IO ? CT_OK : rc ? rc : t->take(t->user, path, digest);
}

/* Reports a file in a folder: a program, or the list of kernel symbols in a cache by build id. A program
 * without a build id counts only in the target's files, where it is found by path. */
static int tell_program(struct teller *t, const char *path, uint64_t size, bool is_target)
{
    uint8_t digest[CT_FLEET_DIGEST];
    if (!strcmp(ct_base_name(path), "kallsyms"))
        return tell_bytes(t, path);
    if (!ct_elf_look(&ct_files_system, path, &t->look) || !t->look.is_elf)
        return CT_OK;
    if (!t->look.id.size)
        return is_target ? tell_bytes(t, path) : CT_OK;
    return make_digest(t, size, digest) ?: t->take(t->user, path, digest);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Returns whether this is a folder of a whole system with many files but no programs. */
static bool is_of_kernel(const FTSENT *entry)
{
    return entry->fts_info == FTS_D && entry->fts_level == 1 &&
           (!strcmp(entry->fts_name, "proc") || !strcmp(entry->fts_name, "sys") ||
            !strcmp(entry->fts_name, "dev"));
}

/* Reports the programs in a folder and its subfolders. Unreadable ones are skipped, since the job cannot use
 * them either. */
static int tell_folder(struct teller *t, const char *folder, bool is_target)
{
    char *const paths[] = {(char *)folder, NULL};
    FTS *walk = fts_open(paths, FTS_LOGICAL | FTS_NOCHDIR, by_name);
    FTSENT *entry;
    int rc = walk ? CT_OK : ct_fail_nomem(t->job->ctx, folder);
    while (!rc && (entry = fts_read(walk)))
        if (is_of_kernel(entry))
            fts_set(walk, entry, FTS_SKIP);
        else if (entry->fts_info == FTS_F && entry->fts_level > 0)
            rc = tell_program(t, entry->fts_accpath, (uint64_t)entry->fts_statp->st_size, is_target);
    if (walk)
        fts_close(walk);
    return rc;
}

/* Reports the files module/NAME/sections in the folder `sys/module`, which have a module's addresses. */
static int tell_sections(struct teller *t, const char *folder)
{
    enum {
        OF_MODULE = 2, /* depth of a module's folders */
    };
    char *const paths[] = {(char *)folder, NULL};
    FTS *walk = fts_open(paths, FTS_LOGICAL | FTS_NOCHDIR, by_name);
    FTSENT *entry;
    int rc = walk ? CT_OK : ct_fail_nomem(t->job->ctx, folder);
    while (!rc && (entry = fts_read(walk)))
        if (entry->fts_info == FTS_D && entry->fts_level == OF_MODULE &&
            strcmp(entry->fts_name, "sections") != 0)
            fts_set(walk, entry, FTS_SKIP);
        else if (entry->fts_info == FTS_F && entry->fts_level > OF_MODULE)
            rc = tell_bytes(t, entry->fts_accpath);
    if (walk)
        fts_close(walk);
    return rc;
}

/* Reports the files about the kernel in the target's files. A list of symbols of size 0 belongs to the
 * running kernel and is not read. */
static int tell_kernel(struct teller *t, const char *target)
{
    struct stat st;
    char *symbols = NULL, *modules = NULL;
    int rc = CT_OK;
    if (asprintf(&symbols, "%s/proc/kallsyms", target) < 0)
        return ct_fail_nomem(t->job->ctx, target);
    if (asprintf(&modules, "%s/sys/module", target) < 0) {
        modules = NULL;
        rc = ct_fail_nomem(t->job->ctx, target);
    }
    if (!rc && !stat(symbols, &st) && S_ISREG(st.st_mode) && st.st_size)
        rc = tell_bytes(t, symbols);
    if (!rc)
        rc = tell_sections(t, modules);
    free(symbols);
    free(modules);
    return rc;
}

int ct_fleet_job_files(const struct ct_fleet_job *job, const char *const *folders, const char *target,
                       ct_fleet_file_fn *take, void *user)
{
    CT_REQUIRE_OF(job, take);
    struct teller *t = malloc(sizeof *t);
    int rc = CT_OK;
    if (!t)
        return ct_fail_nomem(job->ctx, "job");
    *t = (struct teller){.job = job, .take = take, .user = user};
    for (size_t i = 0; i < job->file_count && !rc; i++)
        rc = take(user, job->files[i].path, job->files[i].digest);
    for (size_t i = 0; folders && folders[i] && !rc; i++)
        rc = tell_folder(t, folders[i], false);
    if (target && !rc)
        rc = tell_folder(t, target, true);
    if (target && !rc)
        rc = tell_kernel(t, target);
    free(t);
    return rc;
}
