/* SPDX-License-Identifier: Apache-2.0 */
#include "export/perf.h"

bool ct_perf_threads_has(const struct ct_perf_threads *threads, uint32_t tid)
{
    const uint8_t seen = threads->seen[tid % sizeof threads->seen];
    if (!(seen >> (tid / sizeof threads->seen % 8) & 1))
        return false;
    for (size_t i = 0; i < threads->count; i++)
        if (threads->all[i] == tid)
            return true;
    return false;
}

bool ct_perf_threads_add(struct ct_perf_threads *threads, uint32_t tid)
{
    if (threads->count == CT_PERF_THREADS_MAX || ct_perf_threads_has(threads, tid))
        return false;
    threads->seen[tid % sizeof threads->seen] |= (uint8_t)(1u << (tid / sizeof threads->seen % 8));
    threads->all[threads->count++] = tid;
    return true;
}
