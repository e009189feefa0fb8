/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* unshare */
#include "keep.h"
#include "send_files.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* The files of one call at a time. The caller holds a lock. */
static struct {
    pthread_t thread;
    sem_t ready, back;
    int files[KEEP_FILES];
    bool apart; /* the thread has its own file table */
    struct sockaddr_un to;
    socklen_t to_size; /* 0: there is no socket that takes the files back */
} keeper;

union rights {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(KEEP_FILES * sizeof(int))];
};

/* Sends the open files, with a bit mask of their positions. */
static void send_back(void)
{
    int have[KEEP_FILES] = {-1, -1};
    uint8_t which = 0;
    size_t count = 0;
    for (int i = 0; i < KEEP_FILES; i++)
        if (keeper.files[i] >= 0) {
            which |= (uint8_t)(1 << i);
            have[count++] = keeper.files[i];
        }
    send_files(&keeper.to, keeper.to_size, have, count, which, 0);
}

static void *hold(void *unused)
{
    keeper.apart = unshare(CLONE_FILES) == 0;
    sem_post(&keeper.ready);
    while (sem_wait(&keeper.back)) {
    }
    if (keeper.to_size)
        send_back();
    return unused;
}

bool keep_begin(const int files[KEEP_FILES])
{
    sigset_t all, before;
    memcpy(keeper.files, files, sizeof keeper.files);
    keeper.to_size = 0;
    sem_init(&keeper.ready, 0, 0);
    sem_init(&keeper.back, 0, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the new thread must not take signals of the program */
    const int rc = pthread_create(&keeper.thread, NULL, hold, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc)
        return false;
    while (sem_wait(&keeper.ready)) {
    }
    return true;
}

/* Receives the files from the thread; files[i] is -1 for those that did not come. */
static void receive(int s, int files[KEEP_FILES])
{
    union rights control;
    uint8_t which = 0;
    struct iovec data = {&which, 1};
    struct msghdr m = {.msg_iov = &data,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof control.bytes};
    const ssize_t n = recvmsg(s, &m, MSG_CMSG_CLOEXEC);
    const struct cmsghdr *c = n == 1 ? CMSG_FIRSTHDR(&m) : NULL;
    const unsigned char *at = c ? CMSG_DATA(c) : NULL;
    for (int i = 0; i < KEEP_FILES; i++) {
        files[i] = -1;
        if (at && which & 1 << i) {
            memcpy(&files[i], at, sizeof(int));
            at += sizeof(int);
        }
    }
}

void keep_end(int files[KEEP_FILES])
{
    bool closed = false;
    for (int i = 0; i < KEEP_FILES; i++)
        closed |= files[i] >= 0 && fcntl(files[i], F_GETFD) < 0;
    int s = -1;
    if (closed && keeper.apart) {
        s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        keeper.to = (struct sockaddr_un){.sun_family = AF_UNIX};
        keeper.to_size = sizeof keeper.to;
        if (s < 0 || bind(s, (struct sockaddr *)&keeper.to, offsetof(struct sockaddr_un, sun_path)) ||
            getsockname(s, (struct sockaddr *)&keeper.to, &keeper.to_size))
            keeper.to_size = 0;
    }
    const bool wanted = keeper.to_size != 0;
    sem_post(&keeper.back);
    pthread_join(keeper.thread, NULL);
    if (closed && !wanted)
        memset(files, 0xff, KEEP_FILES * sizeof *files);
    if (wanted)
        receive(s, files);
    if (s >= 0)
        close(s);
}
