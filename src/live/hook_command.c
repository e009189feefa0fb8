/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a command for each violation, without a shell. */
#define _GNU_SOURCE /* memfd_create, posix_spawn_file_actions_addclosefrom_np */
#include "live/hooks.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/ctx.h"
#include "live/live.h"

#define LOOK_NS 5000000 /* nanoseconds between two checks whether the command has ended */

/* ---- words ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

/* Copies the next word to `to`, without its quotes. Returns the end of the word, or NULL for an unclosed
 * quote. */
static const char *read_word(const char *at, char *to)
{
    char quote = 0;
    for (; *at && (quote || !is_blank(*at)); at++) {
        if (quote ? *at == quote : *at == '\'' || *at == '"')
            quote = quote ? 0 : *at;
        else if (*at == '\\' && at[1] && quote != '\'')
            *to++ = *++at;
        else
            *to++ = *at;
    }
    *to = '\0';
    return quote ? NULL : at;
}

/* Splits `text` into words, stored one after the other in `room`. Returns their number, or SIZE_MAX for an
 * unclosed quote. */
static size_t part_words(const char *text, char *room, char **words)
{
    size_t count = 0;
    for (text += strspn(text, " \t\n"); *text; text += strspn(text, " \t\n")) {
        words[count++] = room;
        text = read_word(text, room);
        if (!text)
            return SIZE_MAX;
        room += strlen(room) + 1;
    }
    words[count] = NULL;
    return count;
}

static bool tell(const struct ct_live_teller *teller, const struct ct_live_notice *notice, char *why,
                 size_t size);

int ct_live_command_hook_init(struct ct_live_command_hook *h, struct ct_ctx *ctx, const char *text)
{
    /* one allocation: the list of words, then the words */
    const size_t most = strlen(text) / 2 + 2;
    h->teller.tell = tell;
    h->words = malloc(most * sizeof *h->words + strlen(text) + 1);
    if (!h->words)
        return ct_fail_nomem(ctx, "command");
    const size_t count = part_words(text, (char *)(h->words + most), h->words);
    if (count == SIZE_MAX)
        return ct_fail(ctx, CT_ERR_FORMAT,
                       "'%s': a quotation mark is not closed, so the command cannot be run; close it", text);
    return count ? CT_OK
                 : ct_fail(ctx, CT_ERR_FORMAT,
                           "'%s': the command is empty, so nothing can be run; name a "
                           "program",
                           text);
}

void ct_live_command_hook_free(struct ct_live_command_hook *h)
{
    free(h->words);
}

/* ---- running ---- */

/* Returns an anonymous file with the JSON line, at its beginning; -1 with errno. */
static int make_input(const struct ct_live_notice *notice)
{
    const int fd = memfd_create("violation", MFD_CLOEXEC);
    if (fd < 0)
        return -1;
    if (write(fd, notice->json, notice->json_size) == (ssize_t)notice->json_size &&
        lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    close(fd);
    return -1;
}

/* Returns the environment of this process plus the facts. NULL: out of memory. */
static char **make_environment(const struct ct_live_notice *notice)
{
    size_t count = 0, facts = 0;
    while (environ[count])
        count++;
    char **all = calloc(count + sizeof notice->facts / sizeof *notice->facts + 1, sizeof *all);
    if (!all)
        return NULL;
    for (; notice->facts[facts]; facts++)
        all[facts] = notice->facts[facts]; /* facts come first, so that they override existing variables */
    for (size_t i = 0, to = facts; i < count; i++)
        if (strncmp(environ[i], "CORETAP_TOKEN=", 14) != 0) /* the token is secret */
            all[to++] = environ[i];
    return all;
}

/* Starts the command with `fd` as its standard input. Returns 0 or an errno value. */
static int start(char **words, char **environment, int fd, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, pipe;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (error) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    sigemptyset(&none);
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    error = posix_spawn_file_actions_adddup2(&actions, fd, STDIN_FILENO);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    if (!error)
        error = posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &pipe);
    if (!error)
        error = posix_spawnp(pid, words[0], &actions, &attributes, words, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Waits for the command. If it is late, kills it with all processes that it started, and returns false. */
static bool wait_for(const struct ct_live_teller *teller, pid_t pid, int *status)
{
    const double begin = ct_live_now();
    while (waitpid(pid, status, WNOHANG) == 0) {
        if (ct_live_teller_is_late(teller, begin)) {
            kill(-pid, SIGKILL);
            waitpid(pid, status, 0);
            return false;
        }
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    }
    return true;
}

static bool tell(const struct ct_live_teller *teller, const struct ct_live_notice *notice, char *why,
                 size_t size)
{
    const struct ct_live_command_hook *h = (const struct ct_live_command_hook *)teller;
    pid_t pid = 0;
    int status = 0;
    const int fd = make_input(notice);
    char **environment = fd < 0 ? NULL : make_environment(notice);
    const int error = fd < 0 ? errno : !environment ? ENOMEM : start(h->words, environment, fd, &pid);
    if (fd >= 0)
        close(fd);
    free(environment);
    if (error)
        snprintf(why, size, "cannot be run: %s", strerror(error));
    else if (!wait_for(teller, pid, &status))
        snprintf(why, size, "was stopped: it took too long");
    else if (WIFSIGNALED(status))
        snprintf(why, size, "ended by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status))
        snprintf(why, size, "ended with exit code %d", WEXITSTATUS(status));
    else
        return true;
    errno = error;
    return false;
}
