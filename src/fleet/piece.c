/* SPDX-License-Identifier: Apache-2.0 */
/* One capture: a process decodes it and writes the piece to its standard output. A crash or a timeout is a
 * failure of this capture alone. */
#define _GNU_SOURCE /* asprintf, strsep */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/ctx.h"
#include "base/printable.h"
#include "base/require.h"
#include "base/room.h"
#include "fleet/capture_files.h"
#include "fleet/job.h"
#include "fleet/worker.h"
#include "fleet/state.h"

#define READ_SIZE 65536
#define WORDS     4096 /* last bytes of messages that are kept */

/* Bytes of a failure that are kept, and how many of them are reserved for the path of the capture. */
#define FAILURE      1000
#define FAILURE_NAME 400

#define FOLDER_TRIES 8 /* how often a part is written while its folder is removed */

enum {
    OUT = CT_WORKER_OUT,
    SAID = CT_WORKER_SAID,
    NOTE = CT_WORKER_NOTE,
    TEXTS = CT_WORKER_TEXTS
};

/* A text that the process writes, as far as it has been read. */
struct text {
    char *data;
    size_t size, room;
    size_t most; /* limit of the bytes to keep */
};

struct ct_fleet_piece {
    struct ct_fleet_job *job;
    struct ct_worker_task task;
    struct ct_worker worker; /* does the task */
    char *path;
    char *folder; /* for parts; NULL: the piece is a whole capture */
    struct text texts[TEXTS];
    size_t noted; /* size of the note before a kept part */
    struct timespec begin;
    bool done, late, kept;
    int result;    /* for ct_fleet_piece_result, once it is done */
    char *failure; /* or NULL */
};

static const struct ct_fleet_capture *capture_of(const struct ct_fleet_piece *p)
{
    return ct_manifest_at(p->job->manifest, p->task.number);
}

/* ---- how it ended ---- */

/* Records why there is no piece. Processes print the path of their capture escaped. */
static int fail(struct ct_fleet_piece *p, const char *why)
{
    struct ct_arena arena = {0};
    const char *path = capture_of(p)->path;
    const char *printed = ct_printable(&arena, path);
    const size_t length = printed ? strlen(printed) : 0;
    const bool named = length && !strncmp(why, printed, length) && (why[length] == ':' || why[length] == '/');
    const char *rest = why + (named ? length : 0);
    const int size = (int)strnlen(rest, FAILURE - FAILURE_NAME);
    ct_arena_free(&arena);
    if (asprintf(&p->failure, "%.*s%s%.*s", FAILURE - size, path, named ? "" : ": ", size, rest) < 0) {
        p->failure = NULL;
        return ct_fail_nomem(p->job->ctx, path);
    }
    return CT_ERR_NOT_FOUND;
}

/* Finds the last message of the process, its reason for failing: the last line that begins as messages do,
 * because a message may continue with lines that quote a text; without such a line the last one. */
static const char *last_message(struct ct_fleet_piece *p)
{
    static const char prefix[] = "coretap: ";
    struct text *said = &p->texts[SAID];
    const char *found = "the process that decoded it ended without a result and without a message";
    bool prefixed = false;
    if (said->size)
        said->data[said->size - (said->data[said->size - 1] == '\n')] = 0;
    for (char *rest = said->size ? said->data : NULL, *line; (line = strsep(&rest, "\n"));) {
        const bool begins = !strncmp(line, prefix, sizeof prefix - 1);
        if (begins || !prefixed)
            found = begins ? line + sizeof prefix - 1 : line;
        prefixed |= begins;
    }
    return found;
}

/* Makes the folder for the parts of a capture, unless it exists. */
static int make_folder(const struct ct_fleet_piece *p)
{
    if (!mkdir(p->folder, 0777) || errno == EEXIST)
        return CT_OK;
    return ct_fail(p->job->ctx, CT_ERR_IO,
                   "%s: the folder for the parts of a capture cannot be created: %s; "
                   "the job ends; make the folder above it writable and start the "
                   "job again",
                   p->folder, strerror(errno));
}

/* Returns whether the folder for parts is gone: a process of a killed job may have continued, joined the
 * parts and removed the folder, also while a part is written, which lies in no folder until it is whole. */
static bool has_lost_folder(const struct ct_fleet_piece *p)
{
    return p->folder && access(p->folder, F_OK) && errno == ENOENT;
}

/* Keeps the result, for a part behind its note. Makes the folder for parts again if it is gone. */
static int keep(struct ct_fleet_piece *p)
{
    const struct text *out = &p->texts[OUT], *note = &p->texts[NOTE];
    const struct ct_state_bytes head = {note->data, p->folder ? note->size : 0},
                                data = {out->data, out->size};
    int rc;
    unsigned tries = 0;
    do {
        rc = p->folder ? make_folder(p) : CT_OK;
        rc = rc ? rc : ct_state_write(p->job->ctx, p->path, head, data);
    } while (rc && ++tries < FOLDER_TRIES && has_lost_folder(p));
    return rc;
}

/* Evaluates the status of the process. Exit code 1: the decodable part was printed. */
static int judge(struct ct_fleet_piece *p, int status)
{
    char why[160];
    const struct text *note = &p->texts[NOTE];
    if (p->late)
        snprintf(why, sizeof why, "decoding took longer than %" PRIu64 " seconds and was stopped",
                 p->job->options.seconds);
    else if (WIFSIGNALED(status))
        snprintf(why, sizeof why, "the process that decoded it was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) > 1 || !p->texts[OUT].size)
        return fail(p, last_message(p));
    else if (ct_capture_note_holds(note->data, note->size))
        return keep(p);
    else
        snprintf(why, sizeof why,
                 "one of its files changed while it was read; start the job again when the "
                 "file is complete");
    return fail(p, why);
}

/* ---- what the process writes ---- */

/* Reads from the process. CT_ERR_NOMEM. */
static int take(struct ct_fleet_piece *p, enum ct_worker_text which)
{
    struct text *text = &p->texts[which];
    if (!CT_MAKE_ROOM(text->data, text->room, text->size + READ_SIZE + 1))
        return ct_fail_nomem(p->job->ctx, capture_of(p)->path);
    const ssize_t got = read(p->worker.texts[which], text->data + text->size, READ_SIZE);
    if (got <= 0 && !(got < 0 && errno == EINTR))
        ct_worker_close(&p->worker.texts[which]);
    if (got > 0)
        text->size += (size_t)got;
    if (text->size > text->most) { /* the reason for a failure is at the end */
        memmove(text->data, text->data + (text->size - text->most), text->most);
        text->size = text->most;
    }
    text->data[text->size] = '\0';
    return CT_OK;
}

static bool is_late(const struct ct_fleet_piece *p)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return p->job->options.seconds && (uint64_t)(now.tv_sec - p->begin.tv_sec) >= p->job->options.seconds;
}

/* Returns whether the process has closed all its texts. */
static bool has_ended(const struct ct_worker *worker)
{
    return worker->texts[OUT] < 0 && worker->texts[SAID] < 0 && worker->texts[NOTE] < 0;
}

static void finish(struct ct_fleet_piece *p, int result)
{
    p->result = result;
    p->done = true;
}

/* Waits for output of the process, and reads it. *code becomes its answer, if there is one. Returns whether
 * there was any output. */
static bool look(struct ct_fleet_piece *p, int milliseconds, int *code, int *rc)
{
    struct pollfd fds[TEXTS + 1];
    for (int i = 0; i < TEXTS; i++)
        fds[i] = (struct pollfd){.fd = p->worker.texts[i], .events = POLLIN};
    fds[TEXTS] = (struct pollfd){.fd = p->worker.control, .events = POLLIN};
    const bool any = poll(fds, TEXTS + 1, milliseconds) > 0;
    for (int i = 0; i < TEXTS && any && !*rc; i++)
        if (fds[i].revents)
            *rc = take(p, (enum ct_worker_text)i);
    if (any && fds[TEXTS].revents)
        ct_worker_answer(&p->worker, code);
    return any;
}

int ct_fleet_piece_wait(struct ct_fleet_piece *p, int milliseconds)
{
    if (!p || p->done)
        return 1;
    int rc = CT_OK, code = -1;
    look(p, milliseconds, &code, &rc);
    while (code >= 0 && !rc && look(p, 0, &code, &rc))
        ; /* read everything that it wrote before it answered */
    p->late = !rc && is_late(p);
    if (rc || p->late)
        ct_worker_drop(&p->worker);
    if (rc) {
        finish(p, rc);
    } else if (p->late) {
        finish(p, judge(p, 0));
    } else if (code >= 0) {
        ct_worker_leave(p->job, &p->worker);
        finish(p, judge(p, W_EXITCODE(code, 0)));
    } else if (has_ended(&p->worker)) {
        finish(p, judge(p, ct_worker_reap(&p->worker)));
    }
    return p->done;
}

/* ---- pieces ---- */

/* Sets the path of a file in the folder for the parts of a capture. */
static int make_path(struct ct_fleet_piece *p, const char *name)
{
    p->folder = ct_job_shards_path(p->job, p->task.number);
    int rc = p->folder ? make_folder(p) : ct_fail_nomem(p->job->ctx, "job");
    if (!rc && asprintf(&p->path, "%s/%s", p->folder, name) < 0) {
        p->path = NULL;
        rc = ct_fail_nomem(p->job->ctx, "job");
    }
    return rc;
}

/* Reads a kept piece. A part is discarded and made again when its capture has changed since. */
static int read_kept(struct ct_fleet_piece *p)
{
    const int rc = ct_state_read(p->job->ctx, p->path, &p->texts[OUT].data, &p->texts[OUT].size);
    if (rc || !p->folder || (p->noted = ct_capture_note_holds(p->texts[OUT].data, p->texts[OUT].size)))
        return rc;
    free(p->texts[OUT].data);
    p->texts[OUT].data = NULL;
    p->texts[OUT].size = 0;
    unlink(p->path);
    return CT_ERR_NOT_FOUND;
}

/* Takes a kept piece, or starts the process that makes it. */
static int begin(struct ct_fleet_piece *p)
{
    int rc = read_kept(p);
    p->kept = !rc;
    if (rc == CT_ERR_NOT_FOUND) {
        clock_gettime(CLOCK_MONOTONIC, &p->begin);
        return ct_worker_begin(p->job, &p->task, &p->worker);
    }
    if (!rc)
        finish(p, rc);
    return rc;
}

static struct ct_fleet_piece *new_piece(struct ct_fleet_job *job, size_t number)
{
    struct ct_fleet_piece *p = calloc(1, sizeof *p);
    if (p)
        *p = (struct ct_fleet_piece){
            .job = job,
            .task.number = number,
            .texts = {[OUT] = {.most = SIZE_MAX}, [SAID] = {.most = WORDS}, [NOTE] = {.most = SIZE_MAX}}};
    else
        ct_fail_nomem(job->ctx, "job");
    return p;
}

/* Begins a piece, unless finding its path failed with `rc`. */
static int begin_found(struct ct_fleet_piece *p, int rc, struct ct_fleet_piece **out)
{
    if (!rc)
        rc = begin(p);
    if (rc)
        ct_fleet_piece_free(p);
    else
        *out = p;
    return rc;
}

int ct_fleet_piece_begin(struct ct_fleet_job *job, size_t number, struct ct_fleet_piece **out)
{
    CT_REQUIRE_OUT(job ? job->ctx : NULL, out, job, number < ct_manifest_count(job->manifest));
    struct ct_fleet_piece *p = new_piece(job, number);
    if (!p)
        return CT_ERR_NOMEM;
    p->task.checks = !job->options.trust;
    p->path = ct_job_path(job, number);
    return begin_found(p, p->path ? CT_OK : ct_fail_nomem(job->ctx, "job"), out);
}

int ct_fleet_shard_begin(struct ct_fleet_job *job, size_t number, uint32_t shard, uint32_t shards,
                         struct ct_fleet_piece **out)
{
    char name[24];
    CT_REQUIRE_OUT(job ? job->ctx : NULL, out, job, number < ct_manifest_count(job->manifest));
    if (!shard || shard > shards || shards > CT_FLEET_SHARDS)
        return ct_fail(job->ctx, CT_ERR_ARG,
                       "ct_fleet_shard_begin: part %" PRIu32 " of %" PRIu32 " does not exist; the number "
                       "must be from 1 to the count, and the count at most %d",
                       shard, shards, CT_FLEET_SHARDS);
    struct ct_fleet_piece *p = new_piece(job, number);
    if (!p)
        return CT_ERR_NOMEM;
    p->task.shard = shard;
    p->task.shards = shards;
    snprintf(name, sizeof name, "%" PRIu32 "-%" PRIu32, shard, shards);
    return begin_found(p, make_path(p, name), out);
}

int ct_fleet_check_begin(struct ct_fleet_job *job, size_t number, struct ct_fleet_piece **out)
{
    CT_REQUIRE_OUT(job ? job->ctx : NULL, out, job, number < ct_manifest_count(job->manifest));
    struct ct_fleet_piece *p = new_piece(job, number);
    if (!p)
        return CT_ERR_NOMEM;
    p->task.checks = p->task.checks_alone = true;
    return begin_found(p, make_path(p, "checked"), out);
}

void ct_fleet_piece_free(struct ct_fleet_piece *p)
{
    if (!p)
        return;
    ct_worker_drop(&p->worker);
    for (int i = 0; i < TEXTS; i++)
        free(p->texts[i].data);
    free(p->failure);
    free(p->path);
    free(p->folder);
    free(p);
}

int ct_fleet_piece_result(const struct ct_fleet_piece *p, const void **data, size_t *size)
{
    CT_REQUIRE(p ? p->job->ctx : NULL, p, data, size, p->done);
    *data = p->result ? NULL : p->texts[OUT].data + p->noted;
    *size = p->result ? 0 : p->texts[OUT].size - p->noted;
    return p->result;
}

const char *ct_fleet_piece_failure(const struct ct_fleet_piece *p)
{
    return p ? p->failure : NULL;
}

int ct_fleet_piece_was_kept(const struct ct_fleet_piece *p)
{
    return p && p->kept;
}

const char *ct_fleet_piece_said(const struct ct_fleet_piece *p)
{
    return p && p->texts[SAID].size ? p->texts[SAID].data : "";
}
