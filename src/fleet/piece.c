/* SPDX-License-Identifier: Apache-2.0 */
/* One capture: a process decodes it, whose standard output is the piece. Its crash, or what it takes too long
 * for, is a failure of this capture alone. */
#define _GNU_SOURCE /* asprintf, memrchr, pipe2 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/ctx.h"
#include "fleet/capture_files.h"
#include "fleet/job.h"
#include "fleet/state.h"

#define READ_SIZE 65536
#define WORDS     4096 /* bytes of messages that are kept, the last ones */
#define CANNOT    2    /* exit code of a process that could not read its capture */

/* What a process wrote. */
struct text {
    char *data;
    size_t size, room;
    size_t most; /* bytes that are kept */
    int fd;      /* -1: ended */
};

struct ct_fleet_piece {
    struct ct_fleet_job *job;
    size_t number;
    uint32_t shard;    /* number of a part of the capture; 0: all of it */
    bool checks;       /* its process compares the contents with the manifest, and not the size alone … */
    bool checks_alone; /* … and does nothing else */
    char part[24];     /* what --shard says */
    char *path;
    char *folder; /* for parts; NULL: the piece is of a whole capture */
    struct text out, said;
    pid_t pid; /* 0: no process runs */
    struct timespec begin;
    bool done, late, kept;
    int result;    /* of ct_fleet_piece_result, when it is done */
    char *failure; /* or NULL */
};

static const struct ct_fleet_capture *capture_of(const struct ct_fleet_piece *p)
{
    return ct_manifest_at(p->job->manifest, p->number);
}

/* ---- how it ended ---- */

static int fail(struct ct_fleet_piece *p, const char *why)
{
    const char *path = capture_of(p)->path;
    const size_t length = strlen(path);
    const bool named = !strncmp(why, path, length) && (why[length] == ':' || why[length] == '/');
    if (asprintf(&p->failure, "%s%s%s", named ? "" : path, named ? "" : ": ", why) < 0) {
        p->failure = NULL;
        return ct_fail_nomem(p->job->ctx, path);
    }
    if (strlen(p->failure) > 1000) /* more is not kept beside a result */
        p->failure[1000] = 0;
    return CT_ERR_NOT_FOUND;
}

/* Finds the last line that the process said, which is why it failed. */
static const char *last_line(struct ct_fleet_piece *p)
{
    static const char prefix[] = "coretap: ";
    struct text *said = &p->said;
    while (said->size && said->data[said->size - 1] == '\n')
        said->size--;
    if (!said->size)
        return "the process said nothing of why";
    said->data[said->size] = 0;
    char *line = memrchr(said->data, '\n', said->size);
    line = line ? line + 1 : said->data;
    return strncmp(line, prefix, sizeof prefix - 1) ? line : line + sizeof prefix - 1;
}

/* Makes the folder for the parts of a capture, unless it is there. */
static int make_folder(const struct ct_fleet_piece *p)
{
    if (!mkdir(p->folder, 0777) || errno == EEXIST)
        return CT_OK;
    return ct_fail(p->job->ctx, CT_ERR_IO, "%s: the folder for parts of a capture cannot be made: %s",
                   p->folder, strerror(errno));
}

/* Keeps the result. The folder for parts may be gone again: of a job that was killed some process may have
 * gone on, put the parts together, and removed it. */
static int keep(const struct ct_fleet_piece *p)
{
    const int rc = p->folder ? make_folder(p) : CT_OK;
    return rc ? rc : ct_state_write(p->job->ctx, p->path, p->out.data, p->out.size);
}

/* Says what became of the process. Exit code 1: what could be decoded was printed. */
static int judge(struct ct_fleet_piece *p, int status)
{
    char why[160];
    if (p->late)
        snprintf(why, sizeof why, "took longer than %" PRIu64 " seconds", p->job->options.seconds);
    else if (WIFSIGNALED(status))
        snprintf(why, sizeof why, "the process that decoded it was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) > 1)
        return fail(p, last_line(p));
    else if (!p->out.size)
        snprintf(why, sizeof why, "the process that decoded it gave no result");
    else
        return keep(p);
    return fail(p, why);
}

/* ---- the process ---- */

static void close_text(struct text *text)
{
    if (text->fd >= 0)
        close(text->fd);
    text->fd = -1;
}

/* Compares the capture with what the manifest says, in the child, which ends when it is another one. */
static void check(const struct ct_fleet_piece *p)
{
    const struct ct_fleet_capture *capture = capture_of(p);
    uint8_t digest[CT_FLEET_DIGEST];
    uint64_t size;
    const int rc = ct_fleet_digest(p->job->ctx, capture->path, digest, &size);
    if (!rc && !memcmp(digest, capture->digest, sizeof digest))
        return;
    dprintf(STDERR_FILENO, "%s\n",
            rc ? ct_ctx_error(p->job->ctx)
               : "its contents are not those that the manifest names (sha256 differs); write the manifest "
                 "anew");
    _exit(CANNOT);
}

/* Compares the size alone, which reads nothing: a capture that became shorter is another one, too. */
static void check_size(const struct ct_fleet_piece *p)
{
    const struct ct_fleet_capture *capture = capture_of(p);
    uint64_t size;
    const int rc = ct_capture_files_size(p->job->ctx, capture->path, &size);
    if (!rc && size == capture->size)
        return;
    if (rc)
        dprintf(STDERR_FILENO, "%s\n", ct_ctx_error(p->job->ctx));
    else
        dprintf(STDERR_FILENO,
                "it has %" PRIu64 " bytes and not the %" PRIu64
                " that the manifest says, so it is another one; write the manifest anew\n",
                size, capture->size);
    _exit(CANNOT);
}

/* Becomes the command, in the child. */
static void become(const struct ct_fleet_piece *p, char **words, int out, int said)
{
    const int nothing = open("/dev/null", O_RDONLY);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody takes the result any more */
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(said, STDERR_FILENO) < 0)
        _exit(127);
    if (p->checks)
        check(p);
    else
        check_size(p);
    if (p->checks_alone)
        _exit(dprintf(STDOUT_FILENO, "checked\n") < 0 ? CANNOT : 0);
    execv(words[0], words);
    dprintf(STDERR_FILENO, "%s: cannot be run: %s\n", p->job->options.words[0], strerror(errno));
    _exit(127);
}

/* Returns the words of the command line, of which only the list is to be freed. */
static char **make_words(const struct ct_fleet_piece *p)
{
    const struct ct_fleet_job *job = p->job;
    const char **words = calloc(job->words + job->hidden + 5, sizeof *words);
    size_t count = 0;
    if (!words)
        return NULL;
    for (size_t i = 0; i < job->words; i++)
        words[count++] = job->options.words[i];
    for (size_t i = 0; i < job->hidden; i++)
        words[count++] = job->options.hidden[i];
    if (p->shard) {
        words[count++] = "--shard";
        words[count++] = p->part;
    }
    words[count++] = "--";
    words[count] = capture_of(p)->path;
    return (char **)words;
}

static int start(struct ct_fleet_piece *p)
{
    int out[2] = {-1, -1}, said[2] = {-1, -1};
    char **words = make_words(p);
    if (!words)
        return ct_fail_nomem(p->job->ctx, "job");
    if (pipe2(out, O_CLOEXEC) || pipe2(said, O_CLOEXEC) || (p->pid = fork()) < 0) {
        const int error = errno;
        for (int i = 0; i < 2; i++) {
            if (out[i] >= 0)
                close(out[i]);
            if (said[i] >= 0)
                close(said[i]);
        }
        p->pid = 0;
        free(words);
        return ct_fail(p->job->ctx, CT_ERR_IO, "a process cannot be started: %s", strerror(error));
    }
    if (!p->pid)
        become(p, words, out[1], said[1]);
    free(words);
    close(out[1]);
    close(said[1]);
    p->out.fd = out[0];
    p->said.fd = said[0];
    clock_gettime(CLOCK_MONOTONIC, &p->begin);
    return CT_OK;
}

/* Makes room for what is read next. */
static bool make_room(struct text *text)
{
    if (text->room - text->size > READ_SIZE)
        return true;
    char *data = realloc(text->data, 2 * text->room + 2 * READ_SIZE);
    if (!data)
        return false;
    text->data = data;
    text->room = 2 * text->room + 2 * READ_SIZE;
    return true;
}

/* Takes what the process wrote. CT_ERR_NOMEM. */
static int take(struct ct_fleet_piece *p, struct text *text)
{
    if (!make_room(text))
        return ct_fail_nomem(p->job->ctx, capture_of(p)->path);
    const ssize_t got = read(text->fd, text->data + text->size, READ_SIZE);
    if (got <= 0 && !(got < 0 && errno == EINTR))
        close_text(text);
    if (got > 0)
        text->size += (size_t)got;
    if (text->size > text->most) { /* the end says why it failed */
        memmove(text->data, text->data + (text->size - text->most), text->most);
        text->size = text->most;
    }
    return CT_OK;
}

static bool is_late(const struct ct_fleet_piece *p)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return p->job->options.seconds && (uint64_t)(now.tv_sec - p->begin.tv_sec) >= p->job->options.seconds;
}

static void finish(struct ct_fleet_piece *p, int result)
{
    p->result = result;
    p->done = true;
}

/* Ends a process that is not wanted any more, or is over. */
static int reap(struct ct_fleet_piece *p)
{
    int status = 0;
    close_text(&p->out);
    close_text(&p->said);
    while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
        ;
    p->pid = 0;
    return status;
}

static void drop(struct ct_fleet_piece *p)
{
    if (p->pid) {
        kill(p->pid, SIGKILL);
        reap(p);
    }
}

int ct_fleet_piece_wait(struct ct_fleet_piece *p, int milliseconds)
{
    if (!p || p->done)
        return 1;
    struct pollfd fds[] = {{.fd = p->out.fd, .events = POLLIN}, {.fd = p->said.fd, .events = POLLIN}};
    int rc = CT_OK;
    if (poll(fds, 2, milliseconds) > 0) {
        if (fds[0].revents)
            rc = take(p, &p->out);
        if (!rc && fds[1].revents)
            rc = take(p, &p->said);
    }
    if (!rc && is_late(p)) {
        p->late = true;
        kill(p->pid, SIGKILL);
    }
    if (rc) {
        drop(p);
        finish(p, rc);
    } else if ((p->out.fd < 0 && p->said.fd < 0) || p->late) {
        finish(p, judge(p, reap(p)));
    }
    return p->done;
}

/* ---- pieces ---- */

/* Gives the path of a file in the folder for the parts of a capture. */
static int make_path(struct ct_fleet_piece *p, const char *name)
{
    p->folder = ct_job_shards_path(p->job, p->number);
    int rc = p->folder ? make_folder(p) : ct_fail_nomem(p->job->ctx, "job");
    if (!rc && asprintf(&p->path, "%s/%s", p->folder, name) < 0) {
        p->path = NULL;
        rc = ct_fail_nomem(p->job->ctx, "job");
    }
    return rc;
}

/* Takes a piece that is kept, or starts the process that makes it. */
static int begin(struct ct_fleet_piece *p)
{
    int rc = ct_state_read(p->job->ctx, p->path, &p->out.data, &p->out.size);
    p->kept = !rc;
    if (rc == CT_ERR_NOT_FOUND)
        return start(p);
    if (!rc)
        finish(p, rc);
    return rc;
}

static struct ct_fleet_piece *new_piece(struct ct_fleet_job *job, size_t number)
{
    struct ct_fleet_piece *p = calloc(1, sizeof *p);
    if (p)
        *p = (struct ct_fleet_piece){.job = job,
                                     .number = number,
                                     .out = {.fd = -1, .most = SIZE_MAX},
                                     .said = {.fd = -1, .most = WORDS}};
    else
        ct_fail_nomem(job->ctx, "job");
    return p;
}

/* Begins with a piece whose path was looked for with result `rc`. */
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
    if (!job || !out || number >= ct_manifest_count(job->manifest))
        return ct_fail_null(job ? job->ctx : NULL, "ct_fleet_piece_begin");
    struct ct_fleet_piece *p = new_piece(job, number);
    if (!p)
        return CT_ERR_NOMEM;
    p->checks = !job->options.trust;
    p->path = ct_job_path(job, number);
    return begin_found(p, p->path ? CT_OK : ct_fail_nomem(job->ctx, "job"), out);
}

int ct_fleet_shard_begin(struct ct_fleet_job *job, size_t number, uint32_t shard, uint32_t shards,
                         struct ct_fleet_piece **out)
{
    char name[24];
    if (!job || !out || number >= ct_manifest_count(job->manifest))
        return ct_fail_null(job ? job->ctx : NULL, "ct_fleet_shard_begin");
    if (!shard || shard > shards || shards > CT_FLEET_SHARDS)
        return ct_fail(job->ctx, CT_ERR_ARG,
                       "ct_fleet_shard_begin: part %" PRIu32 " of %" PRIu32
                       "; numbers go from 1 to the second one, which is at most %d",
                       shard, shards, CT_FLEET_SHARDS);
    struct ct_fleet_piece *p = new_piece(job, number);
    if (!p)
        return CT_ERR_NOMEM;
    p->shard = shard;
    snprintf(p->part, sizeof p->part, "%" PRIu32 "/%" PRIu32, shard, shards);
    snprintf(name, sizeof name, "%" PRIu32 "-%" PRIu32, shard, shards);
    return begin_found(p, make_path(p, name), out);
}

int ct_fleet_check_begin(struct ct_fleet_job *job, size_t number, struct ct_fleet_piece **out)
{
    if (!job || !out || number >= ct_manifest_count(job->manifest))
        return ct_fail_null(job ? job->ctx : NULL, "ct_fleet_check_begin");
    struct ct_fleet_piece *p = new_piece(job, number);
    if (!p)
        return CT_ERR_NOMEM;
    p->checks = p->checks_alone = true;
    return begin_found(p, make_path(p, "checked"), out);
}

void ct_fleet_piece_free(struct ct_fleet_piece *p)
{
    if (!p)
        return;
    drop(p);
    free(p->out.data);
    free(p->said.data);
    free(p->failure);
    free(p->path);
    free(p->folder);
    free(p);
}

int ct_fleet_piece_result(const struct ct_fleet_piece *p, const void **data, size_t *size)
{
    if (!p || !data || !size || !p->done)
        return ct_fail_null(p ? p->job->ctx : NULL, "ct_fleet_piece_result");
    *data = p->result ? NULL : p->out.data;
    *size = p->result ? 0 : p->out.size;
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
