/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* pipe2 */
#include "mpi/hello.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the version of another program ---- */

/* Becomes the program, in the child. */
static void become(const char *program, int out)
{
    if (dup2(out, STDOUT_FILENO) >= 0)
        execl(program, program, "--version", (char *)NULL);
    _exit(127);
}

/* Reads what fits, and the rest for nothing, so that the program can end. */
static void read_all(int fd, char *text, size_t room)
{
    char rest[4096];
    size_t size = 0;
    ssize_t got;
    while ((got = read(fd, rest, sizeof rest)) > 0) {
        const size_t fits = (size_t)got < room - 1 - size ? (size_t)got : room - 1 - size;
        memcpy(text + size, rest, fits);
        size += fits;
    }
    text[size] = 0;
}

struct ct_hello_question ct_hello_ask(const char *program)
{
    int out[2];
    if (!program || pipe2(out, O_CLOEXEC))
        return (struct ct_hello_question){.pid = -1, .fd = -1};
    const pid_t pid = fork();
    if (!pid)
        become(program, out[1]);
    close(out[1]);
    return (struct ct_hello_question){.pid = pid, .fd = out[0]};
}

bool ct_hello_answer(struct ct_hello_question question, char *version, size_t room)
{
    static const char name[] = "coretap ";
    char text[128] = "";
    int status = 0;
    if (question.pid > 0)
        read_all(question.fd, text, sizeof text);
    if (question.fd >= 0)
        close(question.fd);
    if (question.pid < 0 || waitpid(question.pid, &status, 0) != question.pid || status ||
        strncmp(text, name, sizeof name - 1) != 0)
        return false;
    snprintf(version, room, "%.*s", (int)strcspn(text + sizeof name - 1, "\n"), text + sizeof name - 1);
    return *version != 0;
}

/* ---- differences ---- */

/* Texts of other ranks may have no end. */
#define TEXT(member) (int)sizeof(member), (member)

bool ct_hello_differs(const struct ct_hello *first, const struct ct_hello *other, int rank, char *why)
{
    const size_t room = CT_HELLO_WHY;
    if (memcmp(first->order, other->order, sizeof first->order) != 0)
        snprintf(
            why, room,
            "rank %d on %.*s has another byte order than rank 0 on %.*s; results are moved between ranks "
            "of one byte order alone",
            rank, TEXT(other->host), TEXT(first->host));
    else if (strncmp(first->version, other->version, sizeof first->version) != 0)
        snprintf(why, room,
                 "rank %d on %.*s has coretap %.*s, rank 0 on %.*s has %.*s; install one version on all "
                 "machines",
                 rank, TEXT(other->host), TEXT(other->version), TEXT(first->host), TEXT(first->version));
    else if (strncmp(other->version, other->decoder, sizeof other->version) != 0)
        snprintf(
            why, room,
            "rank %d on %.*s has coretap-mpi %.*s and beside it coretap %.*s, which decodes; install both "
            "of one version",
            rank, TEXT(other->host), TEXT(other->version), TEXT(other->decoder));
    else if (first->words != other->words)
        snprintf(why, room,
                 "rank %d on %.*s was started with another command line than rank 0; ranks of one job do the "
                 "same",
                 rank, TEXT(other->host));
    else if (first->captures != other->captures)
        snprintf(why, room,
                 "rank %d on %.*s reads another manifest than rank 0 on %.*s; put it where all machines see "
                 "it",
                 rank, TEXT(other->host), TEXT(first->host));
    else
        return false;
    return true;
}
