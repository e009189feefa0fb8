/* SPDX-License-Identifier: Apache-2.0 */
#include "slots.h"

uint16_t slots_table[SLOTS_INDEXES];
static bool taken[TRACE_THREADS];

unsigned slots_take(unsigned index)
{
    unsigned slot = 0;
    pthread_mutex_lock(&rec.lock);
    while (slot < TRACE_THREADS && taken[slot])
        slot++;
    if (slot < TRACE_THREADS && index < SLOTS_INDEXES) {
        taken[slot] = true;
        slots_table[index] = (uint16_t)(slot + 1);
        rec.writers[slot].index = index;
    }
    pthread_mutex_unlock(&rec.lock);
    return slots_of(index);
}

void slots_give_back(unsigned index)
{
    const unsigned slot = slots_of(index);
    if (slot >= TRACE_THREADS)
        return;
    pthread_mutex_lock(&rec.lock);
    taken[slot] = false;
    slots_table[index] = 0;
    pthread_mutex_unlock(&rec.lock);
}
