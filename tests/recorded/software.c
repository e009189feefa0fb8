/* SPDX-License-Identifier: Apache-2.0 */
/* Writes to memory that stands for stimulus ports, and loads and stores two variables; says on standard
 * output what the trace of it is to be. With an argument two threads do, each with its own ports. */
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

volatile uint32_t ports[256];
volatile int16_t speed;
static volatile uint64_t level;

static uint32_t next(uint32_t *random)
{
    *random = *random * 1664525 + 1013904223;
    return *random >> 8;
}

/* A write of 1, 2, 4 or 8 bytes. */
static void write_port(unsigned port, unsigned bytes, uint64_t value, char *said)
{
    volatile void *at = &ports[port];
    if (bytes == 1)
        *(volatile uint8_t *)at = (uint8_t)value;
    else if (bytes == 2)
        *(volatile uint16_t *)at = (uint16_t)value;
    else if (bytes == 4)
        *(volatile uint32_t *)at = (uint32_t)value;
    else
        memcpy((void *)&ports[port], &value, sizeof value);
    const uint64_t mask = bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * bytes) - 1;
    sprintf(said + strlen(said), "port %u %u %" PRIx64 "\n", port, bytes, value & mask);
}

static inline void watched(uint32_t value, char *said)
{
    const int16_t speed_before = speed;
    const uint64_t level_before = level;
    speed = (int16_t)value;
    level = level_before + value;
    sprintf(said + strlen(said), "read 0 2 %x\nread 1 8 %" PRIx64 "\nwrite 0 2 %x\nwrite 1 8 %" PRIx64 "\n",
            speed_before & 0xffffu, level_before, value & 0xffffu, level_before + value);
}

#define TIMES 200

struct work {
    unsigned first; /* port */
    unsigned count;
    int watches;
    char said[TIMES * 256];
};

static void *work(void *user)
{
    struct work *w = user;
    uint32_t random = w->first + 1;
    for (int i = 0; i < TIMES; i++) {
        const unsigned bytes = 1u << next(&random) % 4;
        const uint64_t value = (uint64_t)next(&random) << 32 | next(&random);
        write_port(w->first + next(&random) % (w->count - 1), bytes, value, w->said);
        if (w->watches && i % 8 == 0)
            watched(next(&random), w->said);
    }
    return NULL;
}

static struct work all[2] = {{0, 256, 1, ""}, {32, 16, 0, ""}};

int main(int argc, char **argv)
{
    pthread_t threads[2];
    (void)argv;
    if (argc < 2) {
        work(&all[0]);
    } else {
        all[0].count = 16;
        all[0].watches = 0;
        for (int i = 0; i < 2; i++)
            if (pthread_create(&threads[i], NULL, work, &all[i]))
                return 2;
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
    }
    fputs(all[0].said, stdout);
    fputs(all[1].said, stdout);
    return 0;
}
