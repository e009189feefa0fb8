/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* pipe2 */
#include "fleet/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/ctx.h"
#include "base/printable.h"
#include "coretap/input.h"
#include "fleet/capture_files.h"
#include "fleet/digest.h"
#include "fleet/job.h"

#define CANNOT 2            /* exit code of a process that could not read its capture */
#define LITTLE (128L << 20) /* bytes that a process may always hold and still get another task */
#define MUCH   (1L << 30)   /* and the most that a large machine lets it hold */
#define ROOM   65536        /* bytes written at once: each write wakes up the reader */

/* The pipes and the socket of a process, while it is made. */
struct ends {
    int texts[CT_WORKER_TEXTS][2];
    int control[2];
};

/* ---- in the process ---- */

static const struct ct_fleet_capture *capture_of(const struct ct_fleet_job *job,
                                                 const struct ct_worker_task *task)
{
    return ct_manifest_at(job->manifest, task->number);
}

/* Compares the contents of the files with the manifest. */
static int check(const struct ct_fleet_job *job, const struct ct_worker_task *task,
                 const struct ct_capture_files *files)
{
    uint8_t digest[CT_FLEET_DIGEST];
    uint64_t size;
    const int rc = ct_digest_files(job->ctx, files, digest, &size);
    if (rc || !memcmp(digest, capture_of(job, task)->digest, sizeof digest))
        return rc;
    return ct_fail(job->ctx, CT_ERR_FORMAT,
                   "its contents differ from those in the manifest (sha256), so it is not counted; write the "
                   "manifest again");
}

/* Compares the size, without reading: a capture of another size has other contents. If one of its files is
 * missing, the error names that file. */
static int check_size(const struct ct_fleet_job *job, const struct ct_worker_task *task, uint64_t size)
{
    const uint64_t wanted = capture_of(job, task)->size;
    struct ct_capture *capture;
    if (size == wanted)
        return CT_OK;
    const int rc = ct_capture_open(job->ctx, capture_of(job, task)->path, &capture);
    if (!rc)
        ct_capture_free(capture);
    if (rc == CT_ERR_IO || rc == CT_ERR_NOMEM)
        return rc;
    return ct_fail(job->ctx, CT_ERR_FORMAT,
                   "it has %" PRIu64 " bytes, but the manifest says %" PRIu64 "%s, so its files have changed "
                   "since and it is not counted; restore them, or write the manifest again",
                   size, wanted, rc ? ", and its format is no longer recognised" : "");
}

/* Writes the note about the files of the capture, and compares them with the manifest. Returns false after a
 * message when they differ. */
static bool look(const struct ct_fleet_job *job, const struct ct_worker_task *task, FILE *note)
{
    struct ct_capture_files files = {0};
    uint64_t size;
    int rc = ct_capture_files_find(job->ctx, capture_of(job, task)->path, &files)
             ?: ct_capture_files_note(job->ctx, &files, note, &size)
             ?: check_size(job, task, size);
    if (!rc && task->checks)
        rc = check(job, task, &files);
    ct_capture_files_free(&files);
    if (!rc)
        return true;
    ct_put_printable(stderr, ct_ctx_error(job->ctx)); /* a line break in a name would end the message */
    fputc('\n', stderr);
    return false;
}

/* Fills in the words of the command line, with a NULL behind them. `words` must have room. `part` is room for
 * the value of --shard. Returns their number. */
static int make_words(const struct ct_fleet_job *job, const struct ct_worker_task *task, const char **words,
                      char part[24])
{
    int count = 0;
    for (size_t i = 0; i < job->words; i++)
        words[count++] = job->options.words[i];
    for (size_t i = 0; i < job->hidden; i++)
        words[count++] = job->options.hidden[i];
    if (task->shard) {
        snprintf(part, 24, "%" PRIu32 "/%" PRIu32, task->shard, task->shards);
        words[count++] = "--shard";
        words[count++] = part;
    }
    words[count++] = "--";
    words[count++] = capture_of(job, task)->path;
    words[count] = NULL;
    return count;
}

/* Runs the command on a capture, by a call or by exec. Returns the exit code. */
static int run(const struct ct_fleet_job *job, const struct ct_worker_task *task)
{
    char part[24];
    const char **words = calloc(job->words + job->hidden + 5, sizeof *words);
    if (!words) {
        dprintf(STDERR_FILENO, "out of memory\n");
        return CANNOT;
    }
    const int count = make_words(job, task, words, part);
    if (!job->options.run) {
        execv(words[0], (char **)words);
        dprintf(STDERR_FILENO, "%s: cannot be run: %s\n", words[0], strerror(errno));
        _exit(127);
    }
    const int code = job->options.run(count, (char **)words);
    free(words);
    return fflush(stdout) ? CANNOT : code;
}

static int do_task(const struct ct_fleet_job *job, const struct ct_worker_task *task, FILE *note)
{
    if (!look(job, task, note))
        return CANNOT;
    return !task->checks_alone ? run(job, task) : dprintf(STDOUT_FILENO, "checked\n") < 0 ? CANNOT : 0;
}

/* Returns the bytes of memory that the process holds, without those that it shares with others or that are in
 * files; LONG_MAX when unknown. */
static long held(void)
{
    long all, shared;
    FILE *file = fopen("/proc/self/statm", "re");
    const bool known = file && fscanf(file, "%*d %ld %ld", &all, &shared) == 2;
    if (file)
        fclose(file);
    return known ? (all - shared) * sysconf(_SC_PAGESIZE) : LONG_MAX;
}

/* Returns how many bytes a process may hold between tasks. What it holds are loaded programs, and loading
 * those with much debug information again takes seconds. All processors together hold a quarter of the
 * memory. */
static long most_held(void)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const long pages = sysconf(_SC_PHYS_PAGES) / (4 * (processors > 0 ? processors : 1));
    const long most = pages < MUCH / sysconf(_SC_PAGESIZE) ? pages * sysconf(_SC_PAGESIZE) : MUCH;
    return most > LITTLE ? most : LITTLE;
}

/* Returns whether the process may do another task after this exit code. Gives freed memory back before it
 * decides that it holds too much. */
static bool goes_on(int code)
{
    if (code != 0 && code != 1)
        return false;
    if (held() <= LITTLE)
        return true;
#ifdef M_TRIM_THRESHOLD
    malloc_trim(0);
#endif
    return held() <= most_held();
}

/* Does the first task and the following ones. The process ends with the exit code of the last one. */
static _Noreturn void work(const struct ct_fleet_job *job, const struct ct_worker_task *first,
                           const struct ends *ends)
{
    struct ct_worker_task task = *first;
    const int nothing = open("/dev/null", O_RDONLY);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* without the parent, nobody reads the result */
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 ||
        dup2(ends->texts[CT_WORKER_OUT][1], STDOUT_FILENO) < 0 ||
        dup2(ends->texts[CT_WORKER_SAID][1], STDERR_FILENO) < 0)
        _exit(127);
    for (int i = 0; i < CT_WORKER_TEXTS; i++)
        close(ends->texts[i][0]);
    close(ends->control[0]);
    FILE *note = fdopen(ends->texts[CT_WORKER_NOTE][1], "w");
    if (!note || setvbuf(note, NULL, _IOFBF, ROOM) || setvbuf(stdout, NULL, _IOFBF, ROOM)) {
        dprintf(STDERR_FILENO, "out of memory\n");
        _exit(CANNOT);
    }
    for (;;) {
        const int code = do_task(job, &task, note);
        if (!goes_on(code) || send(ends->control[1], &code, sizeof code, MSG_NOSIGNAL) != sizeof code ||
            recv(ends->control[1], &task, sizeof task, 0) != sizeof task)
            _exit(code);
    }
}

/* ---- in the parent ---- */

void ct_worker_close(int *text)
{
    if (*text >= 0)
        close(*text);
    *text = -1;
}

int ct_worker_reap(struct ct_worker *worker)
{
    int status = 0;
    for (int i = 0; i < CT_WORKER_TEXTS; i++)
        ct_worker_close(&worker->texts[i]);
    ct_worker_close(&worker->control);
    while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
        ;
    worker->pid = 0;
    return status;
}

void ct_worker_drop(struct ct_worker *worker)
{
    if (worker->pid) {
        kill(worker->pid, SIGKILL);
        ct_worker_reap(worker);
    }
}

/* Makes the pipes, the socket and the process. Returns false with errno set. */
static bool make(struct ct_worker *worker, struct ends *ends)
{
    for (int i = 0; i < CT_WORKER_TEXTS; i++)
        if (pipe2(ends->texts[i], O_CLOEXEC))
            return false;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends->control))
        return false;
    fflush(stdout); /* otherwise the child would write it too */
    worker->pid = fork();
    return worker->pid >= 0;
}

/* Makes a process for a task. */
static int start(struct ct_fleet_job *job, const struct ct_worker_task *task, struct ct_worker *worker)
{
    struct ends ends = {.texts = {{-1, -1}, {-1, -1}, {-1, -1}}, .control = {-1, -1}};
    const bool made = make(worker, &ends);
    const int error = errno;
    if (made && !worker->pid)
        work(job, task, &ends);
    for (int i = 0; i < CT_WORKER_TEXTS; i++) {
        worker->texts[i] = ends.texts[i][0];
        ct_worker_close(&ends.texts[i][1]);
    }
    worker->control = ends.control[0];
    ct_worker_close(&ends.control[1]);
    if (made)
        return CT_OK;
    worker->pid = 0;
    for (int i = 0; i < CT_WORKER_TEXTS; i++)
        ct_worker_close(&worker->texts[i]);
    ct_worker_close(&worker->control);
    return ct_fail(job->ctx, CT_ERR_IO,
                   "a process that decodes a capture cannot be started: %s; the job "
                   "ends",
                   strerror(error));
}

int ct_worker_begin(struct ct_fleet_job *job, const struct ct_worker_task *task, struct ct_worker *out)
{
    *out = job->left;
    job->left.pid = 0;
    if (out->pid && send(out->control, task, sizeof *task, MSG_NOSIGNAL) == sizeof *task)
        return CT_OK;
    ct_worker_drop(out); /* it has ended meanwhile */
    return start(job, task, out);
}

void ct_worker_answer(struct ct_worker *worker, int *code)
{
    if (recv(worker->control, code, sizeof *code, 0) != sizeof *code)
        ct_worker_close(&worker->control);
}

void ct_worker_leave(struct ct_fleet_job *job, struct ct_worker *worker)
{
    ct_worker_drop(&job->left);
    job->left = *worker;
    worker->pid = 0;
}
