/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* asprintf */
#include "cli/fleet_state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/progress.h"

const char *cli_fleet_output(const struct cli_fleet *f)
{
    const char *output = f->own.values[CLI_FLEET_OUTPUT].text;
    return output && strcmp(output, "-") != 0 ? output : NULL;
}

bool cli_fleet_state_find(struct cli_fleet *f)
{
    const char *given = f->own.values[CLI_FLEET_STATE].text;
    const char *output = cli_fleet_output(f);
    f->made_state = !given;
    if (!given && !output) {
        cli_usage_error(
            f->outer,
            "--output and --state are missing, so there is no folder for the pieces; give one of them");
        return false;
    }
    if (asprintf(&f->state, "%s%s", given ? given : output, given ? "" : ".state") >= 0)
        return true;
    f->state = NULL;
    return cli_no_memory(), false;
}

/* Finds whether the folder has pieces. Their names contain the version and sources of the coretap that made
 * them. Returns false, after a message, when some are of another version, because they would be added to
 * those of this version. */
static bool find_pieces(const char *folder, bool *any)
{
    char mine[64];
    DIR *dir = opendir(folder);
    bool fine = true;
    const struct dirent *entry;
    snprintf(mine, sizeof mine, "-%s.piece", ct_version_exact());
    *any = false;
    while (dir && fine && (entry = readdir(dir))) {
        if (!strstr(entry->d_name, ".piece"))
            continue;
        *any = true;
        fine = strstr(entry->d_name, mine) != NULL;
        if (!fine)
            cli_say("%s: the folder has pieces of another version of coretap (%s), but this is version %s; "
                    "their results cannot be combined; continue with that version, or name another folder",
                    folder, entry->d_name, ct_version_exact());
    }
    if (dir)
        closedir(dir);
    return fine;
}

/* Makes the folder unless it exists. Returns false after a message. */
static bool make_folder(const struct cli_fleet *f)
{
    struct stat st;
    if (!mkdir(f->state, 0777))
        return true;
    if (errno == EEXIST && !stat(f->state, &st) && !S_ISDIR(st.st_mode))
        errno = ENOTDIR;
    if (errno == EEXIST)
        return true;
    cli_say(
        "%s: the folder for pieces cannot be created: %s; the job does not begin; name a folder that can be "
        "written with --state",
        f->state, strerror(errno));
    return false;
}

/* Seconds that a job waits for another one with the same output. The ranks of a killed job may need a moment
 * to end. */
#define PATIENCE_S 3

/* Locks an open file. Returns false, after a message, when another job has the lock. On a file system without
 * locks the job continues without one. */
static bool take_lock(const struct cli_fleet *f, int fd)
{
    const struct timespec rest = {.tv_nsec = 20000000};
    const double begin = cli_seconds();
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char who[48] = "";
    while (fcntl(fd, F_SETLK, &lock) && (errno == EAGAIN || errno == EACCES)) {
        if (cli_seconds() - begin < PATIENCE_S) {
            nanosleep(&rest, NULL);
            continue;
        }
        if (!fcntl(fd, F_GETLK, &lock) && lock.l_type != F_UNLCK && lock.l_pid > 0)
            snprintf(who, sizeof who, " (process %ld)", (long)lock.l_pid);
        cli_say("%s: another job is writing this output%s; wait until it has ended, or name another --output",
                f->state, who);
        return false;
    }
    return true;
}

/* Makes and locks the folder, because another job with the same output would remove it at its end and
 * overwrite the result. Processes of captures do not inherit the lock, so it ends with this process, however
 * that ends. Returns false after a message. */
static bool lock_folder(struct cli_fleet *f)
{
    struct stat mine, there;
    f->lock_fd = -1;
    if (asprintf(&f->lock, "%s/lock", f->state) < 0) {
        f->lock = NULL;
        return cli_no_memory(), false;
    }
    while (make_folder(f)) {
        const int fd = open(f->lock, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0 && errno == ENOENT)
            continue; /* a job that just ended removed the folder */
        if (fd < 0) {
            cli_say(
                "%s: the lock file cannot be created: %s; the job does not begin; make its folder writable, "
                "or name another --output",
                f->lock, strerror(errno));
            return false;
        }
        const bool taken = take_lock(f, fd);
        if (taken && !fstat(fd, &mine) && !stat(f->lock, &there) && mine.st_ino == there.st_ino) {
            f->lock_fd = fd;
            return true;
        }
        close(fd);
        if (!taken)
            return false;
    }
    return false;
}

bool cli_fleet_state_open(struct cli_fleet *f)
{
    bool any;
    if (!(f->made_state ? lock_folder(f) : make_folder(f)) || !find_pieces(f->state, &any))
        return false;
    if (f->own.values[CLI_FLEET_RESUME].given || !any)
        return true;
    cli_say("%s: the folder has pieces of an earlier job; continue that job with --resume, or name another "
            "folder",
            f->state);
    return false;
}

void cli_fleet_state_close(struct cli_fleet *f)
{
    if (f->lock && f->lock_fd >= 0) {
        unlink(f->lock);
        rmdir(f->state); /* fails when pieces are in it */
        close(f->lock_fd);
    }
    free(f->lock);
    free(f->state);
}
