/* SPDX-License-Identifier: Apache-2.0 */
#include "live/turns.h"

#include <pthread.h>
#include <stdlib.h>

#define INSIDE_MOST 2 /* threads: one that works, and one that waits */

struct ct_live_turns {
    pthread_mutex_t lock;
    pthread_cond_t given;
    unsigned inside;
    bool busy;
};

struct ct_live_turns *ct_live_turns_new(void)
{
    struct ct_live_turns *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->given, NULL);
    return t;
}

void ct_live_turns_free(struct ct_live_turns *t)
{
    if (!t)
        return;
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->given);
    free(t);
}

bool ct_live_turns_take(struct ct_live_turns *t)
{
    pthread_mutex_lock(&t->lock);
    const bool taken = t->inside < INSIDE_MOST;
    t->inside += taken;
    while (taken && t->busy)
        pthread_cond_wait(&t->given, &t->lock);
    t->busy |= taken;
    pthread_mutex_unlock(&t->lock);
    return taken;
}

void ct_live_turns_give(struct ct_live_turns *t)
{
    pthread_mutex_lock(&t->lock);
    t->inside--;
    t->busy = false;
    pthread_cond_signal(&t->given);
    pthread_mutex_unlock(&t->lock);
}
