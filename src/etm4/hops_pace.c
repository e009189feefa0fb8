/* SPDX-License-Identifier: Apache-2.0 */
#include "etm4/hops_pace.h"

#include <time.h>

/* most bytes that one batch of elements is decoded from */
#define STRIDE (UINT64_C(1) << 20)

/* Returns the processor time of this thread in ns; 0 when the system does not provide it. */
static uint64_t thread_time(void)
{
    struct timespec t;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t))
        return 0;
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

void ct_hops_pace_begin(struct ct_hops_pace *p, uint64_t position)
{
    p->at = p->seen = position;
    p->time = thread_time();
    p->thread = pthread_self();
    p->begun = p->time != 0;
}

void ct_hops_pace_see(struct ct_hops_pace *p, uint64_t position)
{
    if (position - p->seen > STRIDE) /* also when `position` lies before p->seen */
        p->begun = false;
    p->seen = position;
}

double ct_hops_pace_end(struct ct_hops_pace *p, uint64_t position)
{
    const bool begun = p->begun && pthread_equal(p->thread, pthread_self());
    const uint64_t bytes = position - p->at;
    p->begun = false;
    if (!begun || !bytes)
        return 0;
    const uint64_t now = thread_time();
    return now > p->time ? (double)(now - p->time) / (double)bytes : 0;
}
