/* SPDX-License-Identifier: Apache-2.0 */
/* Workloads whose trace volume is compared (paper 1, figure 1). A loop that does nothing and one with costly
 * rounds are the bounds; between them is what programs do. usage: workloads NAME [ROUNDS] */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile uint32_t sink;

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* Has a branch every few instructions. */
static void simple_loop(uint32_t rounds)
{
    for (volatile uint32_t i = 0; i < rounds * 1000; i++)
        ;
}

/* Has hundreds of instructions without a branch: divisions, which also take long. */
static void complex_loop(uint32_t rounds)
{
    uint64_t a = 0x123456789abcdef;
    for (uint32_t i = 1; i <= rounds * 10; i++) {
#define STEP  a = a * 6364136223846793005u + 1442695040888963407u, a ^= a / (i | 1) + a % 1000003
#define STEPS STEP, STEP, STEP, STEP, STEP, STEP, STEP, STEP
        STEPS, STEPS, STEPS, STEPS;
    }
    sink = (uint32_t)a;
}

/* Handles state machines, lists and checks of small integers. */
static void integers(uint32_t rounds)
{
    uint32_t seed = 1, state = 0, sum = 0;
    uint8_t list[256];
    for (unsigned i = 0; i < sizeof list; i++)
        list[i] = (uint8_t)(i + 1);
    for (uint32_t i = 0; i < rounds * 200; i++) {
        const uint32_t c = next(&seed) % 12;
        switch (state) {
        case 0:
            state = c < 4 ? 1 : c < 8 ? 2 : 0;
            break;
        case 1:
            state = c & 1 ? 3 : 1;
            break;
        case 2:
            state = c == 7 ? 0 : 3;
            break;
        default:
            sum += state;
            state = c % 3;
        }
        for (unsigned at = c * 20; at < 250 && at; at = list[at])
            sum = sum << 1 ^ (sum & 0x8000 ? 0x1021 : at);
    }
    sink = sum;
}

/* Copies records and compares strings. */
static void strings(uint32_t rounds)
{
    struct record {
        char name[32];
        int number;
        struct record *next;
    } all[16];
    for (unsigned i = 0; i < 16; i++) {
        snprintf(all[i].name, sizeof all[i].name, "DHRYSTONE PROGRAM, %u'ND STRING", i);
        all[i].number = (int)i;
        all[i].next = &all[(i * 7 + 3) % 16];
    }
    struct record *at = all;
    for (uint32_t i = 0; i < rounds * 100; i++) {
        struct record copy = *at;
        if (strcmp(copy.name, all[i % 16].name) > 0)
            copy.number += 5;
        sink += (uint32_t)strlen(copy.name) + (uint32_t)copy.number;
        at = copy.next;
    }
}

static void matrix(uint32_t rounds)
{
    static float a[24][24], b[24][24], c[24][24];
    for (unsigned i = 0; i < 24 * 24; i++)
        (&a[0][0])[i] = (float)(i % 17), (&b[0][0])[i] = (float)(i % 13);
    for (uint32_t round = 0; round < rounds; round++)
        for (unsigned i = 0; i < 24; i++)
            for (unsigned k = 0; k < 24; k++) {
                float sum = 0;
                for (unsigned n = 0; n < 24; n++)
                    sum += a[i][n] * b[n][k];
                c[i][k] = sum;
            }
    sink = (uint32_t)c[3][5];
}

static int by_value(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void sort(uint32_t rounds)
{
    static uint32_t all[500];
    uint32_t seed = 7;
    for (uint32_t round = 0; round < rounds; round++) {
        for (unsigned i = 0; i < 500; i++)
            all[i] = next(&seed);
        qsort(all, 500, sizeof *all, by_value);
    }
    sink = all[0];
}

/* Finds repeats with a hash table, as LZ77 does. */
static void compress(uint32_t rounds)
{
    static const char text[] =
        "the quick brown fox jumps over the lazy dog; the lazy dog sleeps over the fox. ";
    static uint8_t in[8192];
    static uint16_t heads[1024];
    uint32_t seed = 3, out = 0;
    for (unsigned i = 0; i < sizeof in; i++)
        in[i] = (uint8_t)(next(&seed) % 40 ? text[i % (sizeof text - 1)] : next(&seed));
    for (uint32_t round = 0; round < rounds; round++) {
        memset(heads, 0, sizeof heads);
        for (unsigned i = 0; i + 3 < sizeof in;) {
            const unsigned hash = (in[i] * 33u * 33u + in[i + 1] * 33u + in[i + 2]) % 1024;
            const unsigned from = heads[hash];
            unsigned length = 0;
            while (from && from < i && i + length < sizeof in && length < 255 &&
                   in[from + length] == in[i + length])
                length++;
            heads[hash] = (uint16_t)i;
            i += length > 3 ? length : 1;
            out++;
        }
    }
    sink = out;
}

static const struct workload {
    const char *name;
    void (*run)(uint32_t rounds);
} workloads[] = {{"simple-loop", simple_loop}, {"complex-loop", complex_loop},
                 {"integers", integers},       {"strings", strings},
                 {"matrix", matrix},           {"sort", sort},
                 {"compress", compress}};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++)
        if (argc > 1 && strcmp(argv[1], workloads[i].name) == 0) {
            workloads[i].run(argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 10);
            return 0;
        }
    fprintf(stderr,
            "usage: workloads simple-loop|complex-loop|integers|strings|matrix|sort|compress [ROUNDS]\n");
    return 2;
}
