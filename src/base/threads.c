/* SPDX-License-Identifier: Apache-2.0 */
#include "base/threads.h"

#include <errno.h>
#include <signal.h>

size_t ct_threads_start(pthread_t *ids, size_t count, void *(*run)(void *user), void *user)
{
    sigset_t all, before;
    size_t started = 0;
    int error = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (started < count && (error = pthread_create(&ids[started], NULL, run, user)) == 0)
        started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error ? error : errno;
    return started;
}
