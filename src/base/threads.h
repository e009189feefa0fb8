/* SPDX-License-Identifier: Apache-2.0 */
/* Threads for the work of the library's objects. */
#pragma once

#include <pthread.h>
#include <stddef.h>

/* Starts up to `count` threads with all signals blocked, so that handlers run in the caller's threads. Stores
 * their ids in `ids`. Returns the number of threads started; errno says why there are no more. */
size_t ct_threads_start(pthread_t *ids, size_t count, void *(*run)(void *user), void *user);
