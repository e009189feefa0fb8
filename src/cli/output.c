/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* O_TMPFILE */
#include "cli/output.h"
#include "cli/cli.h"
#include "cli/inputs.h"
#include "coretap/format.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- named temporary files ---- */

/* most temporary files at a time */
#define TEMPORARIES 8

/* room to request for a pipe: the most that an unprivileged process may ask for */
#define PIPE_BYTES (1 << 20)

static char *volatile temporaries[TEMPORARIES];

static const int deadly[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};

void cli_output_remove(void)
{
    for (size_t i = 0; i < TEMPORARIES; i++)
        if (temporaries[i])
            unlink(temporaries[i]);
}

/* Removes the temporary files, then lets the signal take its default action. */
static void remove_temporaries(int number)
{
    cli_output_remove();
    signal(number, SIG_DFL);
    raise(number);
}

/* Handles deadly signals, except those for which the command has a handler. */
static void catch_signals(void)
{
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) {
        struct sigaction now;
        if (!sigaction(deadly[i], NULL, &now) && now.sa_handler == SIG_DFL)
            signal(deadly[i], remove_temporaries);
    }
}

static void remember(char *path)
{
    size_t i = 0;
    while (i < TEMPORARIES - 1 && temporaries[i])
        i++;
    temporaries[i] = path;
    catch_signals();
}

static void forget(const char *path)
{
    for (size_t i = 0; i < TEMPORARIES; i++)
        if (temporaries[i] == path)
            temporaries[i] = NULL;
}

/* Returns the name of a temporary file, to be freed by the caller: "DIR/.NAME.", the number of this process
 * and letters for mkstemp. Returns NULL when out of memory. */
static char *beside(const char *target)
{
    const char *slash = strrchr(target, '/');
    const int dir = slash ? (int)(slash + 1 - target) : 0;
    char *path = NULL;
    return asprintf(&path, "%.*s.%.200s.%d.XXXXXX", dir, target, target + dir, (int)getpid()) < 0 ? NULL
                                                                                                  : path;
}

/* Opens a file without a name, of which nothing remains however this process ends. Returns -1 when the file
 * system does not support that. */
static int open_nameless(const char *target)
{
    char *dir = strdup(target);
    char *slash = dir ? strrchr(dir, '/') : NULL;
    if (slash)
        slash[slash == dir] = 0;
    const bool can_be_named = access("/proc/self/fd", X_OK) == 0;
    const int fd = dir && can_be_named ? open(slash ? dir : ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
    free(dir);
    return fd;
}

static int open_named(struct cli_output *o)
{
    o->temporary = beside(o->target);
    const int fd = o->temporary ? mkostemp(o->temporary, O_CLOEXEC) : -1;
    if (fd >= 0) {
        remember(o->temporary);
    } else {
        free(o->temporary);
        o->temporary = NULL;
    }
    return fd;
}

static int open_part(struct cli_output *o)
{
    if (asprintf(&o->temporary, "%s.part", o->target) < 0)
        o->temporary = NULL;
    return o->temporary ? open(o->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600)
                        : -1;
}

/* ---- one file ---- */

static mode_t mode_of_new(void)
{
    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* Opens a file in the folder of `path`. `about` describes the file at `path`; NULL: there is none. */
static int open_beside(struct cli_output *o, const struct stat *about)
{
    o->target = about ? realpath(o->path, NULL) : strdup(o->path);
    if (!o->target || (about && access(o->target, W_OK)))
        return -1;
    int fd = o->grows ? open_part(o) : open_nameless(o->target);
    if (fd < 0 && !o->grows)
        fd = open_named(o);
    if (fd >= 0 && fchmod(fd, about ? about->st_mode & 07777 : mode_of_new())) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static void drop(struct cli_output *o)
{
    if (o->temporary && !o->grows) {
        unlink(o->temporary);
        forget(o->temporary);
    }
    free(o->temporary);
    free(o->target);
    o->temporary = o->target = NULL;
}

/* Returns advice about an error of opening an output, as the end of a message. */
static const char *remedy(int error)
{
    return error == ENOENT   ? "; create its folder first"
           : error == EISDIR ? "; it is a folder, so name a file in it"
                             : "";
}

static FILE *open_output(struct cli_output *o, const char *path, bool grows)
{
    struct stat about;
    *o = (struct cli_output){.path = path, .grows = grows};
    const bool exists = stat(path, &about) == 0;
    if ((!exists || S_ISREG(about.st_mode)) && !cli_inputs_allow(path, exists ? &about : NULL))
        return NULL;
    const int fd = exists && !S_ISREG(about.st_mode) ? open(path, O_WRONLY | O_CLOEXEC)
                                                     : open_beside(o, exists ? &about : NULL);
    o->file = fd < 0 ? NULL : fdopen(fd, "w");
    if (o->file)
        return o->file;
    cli_say("%s: cannot be written: %s%s", path, strerror(errno), remedy(errno));
    if (fd >= 0)
        close(fd);
    drop(o);
    return NULL;
}

bool cli_output_folder(const char *path)
{
    struct stat about;
    if (mkdir(path, 0777) && errno != EEXIST) {
        cli_say("%s: the folder cannot be created: %s%s", path, strerror(errno), remedy(errno));
        return false;
    }
    if (stat(path, &about) == 0 && !S_ISDIR(about.st_mode)) {
        cli_say("%s: this is not a folder, but the files need one; name a folder", path);
        return false;
    }
    return true;
}

FILE *cli_output_open(struct cli_output *o, const char *path)
{
    return open_output(o, path, false);
}

FILE *cli_output_grow(struct cli_output *o, const char *path)
{
    return open_output(o, path, true);
}

/* Returns the errno of a failed write, which stdio does not keep: writing another byte fails for the same
 * reason. */
static int cause_of(FILE *file)
{
    return write(fileno(file), "", 1) < 0 ? errno : EIO;
}

/* Gives a nameless file a name in the folder of its target, because a rename can replace the target and a
 * link cannot. */
static bool give_name(struct cli_output *o, int fd)
{
    char from[32];
    snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
    const int placeholder = open_named(o);
    if (placeholder < 0)
        return false;
    close(placeholder);
    return unlink(o->temporary) == 0 &&
           linkat(AT_FDCWD, from, AT_FDCWD, o->temporary, AT_SYMLINK_FOLLOW) == 0;
}

static void block_signals(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, before);
}

/* Writes buffered data and, with `keep`, prepares the file to be moved: syncs it to the disk, and gives it a
 * name in the folder of its target. Everything that can fail for lack of room or memory is done here. Returns
 * 0 or the errno. */
static int make_ready(struct cli_output *o, FILE *file, bool keep)
{
    sigset_t before;
    int error = ferror(file) ? cause_of(file) : fflush(file) ? errno : 0;
    if (error || !keep || !o->target)
        return error;
    if (fsync(fileno(file)) && errno != EINVAL && errno != EROFS)
        return errno;
    block_signals(&before); /* so that none comes between its two names */
    if (!o->temporary && !give_name(o, fileno(file)))
        error = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* Moves a prepared file to its target. Returns 0 or the errno. */
static int move_there(struct cli_output *o)
{
    if (!o->target)
        return 0;
    if (rename(o->temporary, o->target))
        return errno;
    forget(o->temporary);
    free(o->temporary);
    o->temporary = NULL;
    return 0;
}

/* ---- empty results ---- */

static bool is_empty; /* cli_output_set_empty was called */

void cli_output_set_empty(void)
{
    is_empty = true;
}

/* Reports that a file is not written because the result is empty. */
static void tell_empty(const struct cli_output *o)
{
    if (!o->target)
        return;
    const bool exists = access(o->target, F_OK) == 0;
    cli_say("%s: the file is not written, because the result is empty%s", o->path,
            exists ? "; the previous file is unchanged" : "");
}

/* Frees an output that ended with `error`. Returns false after a message. */
static bool end(struct cli_output *o, int error)
{
    const char *left = !o->target                     ? "its contents are incomplete"
                       : access(o->target, F_OK) == 0 ? "the previous file is unchanged"
                                                      : "no file of that name was made";
    if (error)
        cli_say("%s: cannot be written: %s; %s", o->path, strerror(error), left);
    drop(o);
    return !error;
}

/* Writes and closes the file and, with `keep`, prepares it to be moved. Returns false after a message; the
 * file is dropped then. */
static bool write_out(struct cli_output *o, bool keep)
{
    int error = make_ready(o, o->file, keep);
    if (fclose(o->file) && !error)
        error = errno;
    o->file = NULL;
    return !error || end(o, error);
}

bool cli_output_close_all(struct cli_output *const *outputs, size_t count, bool keep)
{
    const bool put = keep && !is_empty;
    bool fine = true;
    for (size_t i = 0; i < count; i++) {
        if (outputs[i]->file && keep && is_empty)
            tell_empty(outputs[i]);
        fine = (!outputs[i]->file || write_out(outputs[i], put)) && fine;
    }
    for (size_t i = 0; i < count; i++)
        fine = end(outputs[i], put && fine ? move_there(outputs[i]) : 0) && fine;
    return fine;
}

bool cli_output_close(struct cli_output *o, bool keep)
{
    return cli_output_close_all(&o, 1, keep) && keep;
}

/* ---- standard output ---- */

static struct cli_output redirected;
static bool is_redirected, is_whole;

/* Makes a write beyond the limit of file sizes fail, with a message, instead of ending this process by the
 * signal. */
static void beyond_limit(int number)
{
    (void)number;
}

bool cli_output_init(void)
{
    /* a reader that has seen enough, such as head, ends this process quietly, even if the parent ignored the
     * signal */
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, beyond_limit); /* not SIG_IGN, which started programs would inherit */
    if (fcntl(STDERR_FILENO, F_GETFD) < 0 && open("/dev/null", O_WRONLY) < 0)
        return false;
    if (fcntl(STDOUT_FILENO, F_GETFD) < 0) {
        cli_say("standard output is closed, so nothing can be printed; redirect it to a file or /dev/null");
        return false;
    }
    return true;
}

bool cli_output_redirect(const char *path)
{
    if (strcmp(path, "-") == 0)
        return true;
    if (!cli_output_open(&redirected, path))
        return false;
    if (dup2(fileno(redirected.file), STDOUT_FILENO) < 0) {
        cli_say("%s: cannot be written: %s", path, strerror(errno));
        cli_output_close(&redirected, false);
        return false;
    }
    is_redirected = true;
    return true;
}

int cli_output_mute(void)
{
    fflush(stdout);
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const int kept = nowhere < 0 ? -1 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    if (kept >= 0)
        dup2(nowhere, STDOUT_FILENO);
    if (nowhere >= 0)
        close(nowhere);
    return kept;
}

void cli_output_unmute(int kept)
{
    if (kept < 0)
        return;
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
}

void cli_output_keep(bool whole)
{
    is_whole = whole;
}

int cli_output_write(void *file, const void *data, size_t size)
{
    return fwrite(data, 1, size, file) == size ? CT_OK : CT_ERR_IO;
}

void cli_output_widen(void)
{
    (void)fcntl(STDOUT_FILENO, F_SETPIPE_SZ,
                PIPE_BYTES); /* no effect on what is no pipe, nor on what may not grow */
    (void)setvbuf(stdout, NULL, _IONBF, 0);
}

void cli_put_printable(FILE *file, const char *text)
{
    (void)ct_text_write(text, CT_TEXT_TERMINAL, cli_output_write, file);
}

struct ct_json *cli_json_open(struct ct_ctx *ctx, FILE *file, bool script)
{
    const struct ct_json_options options = {.size = sizeof options, .script = script};
    struct ct_json *json = NULL;
    if (ct_json_new(ctx, &options, cli_output_write, file, &json) != CT_OK)
        cli_library_error(ctx);
    return json;
}

/* Returns whether standard output is a file that received nothing. */
static bool got_nothing(void)
{
    return fflush(stdout) == 0 && lseek(STDOUT_FILENO, 0, SEEK_CUR) == 0;
}

static int finish_redirected(int code)
{
    const bool empty = !is_whole && code == CLI_DAMAGED && (is_empty || got_nothing());
    const bool keep = is_whole || (code != CLI_FAILED && !empty);
    if (empty)
        tell_empty(&redirected);
    int error = make_ready(&redirected, stdout, keep);
    fclose(redirected.file);
    if (!error && keep)
        error = move_there(&redirected);
    is_redirected = is_whole = is_empty = false;
    return end(&redirected, error) ? code : CLI_FAILED;
}

int cli_output_finish(int code)
{
    if (is_redirected)
        return finish_redirected(code);
    is_empty = false;
    const int error = ferror(stdout) ? cause_of(stdout) : fflush(stdout) ? errno : 0;
    if (!error)
        return code;
    cli_say("standard output: writing failed: %s; the output is incomplete", strerror(error));
    return CLI_FAILED;
}
