/* SPDX-License-Identifier: Apache-2.0 */
/* What the recorded traces of `make bench` are of: programs as people have them, small. A
 * compressor, a table of words, sorting through a function pointer, an interpreter. Arguments: how
 * often, and in how many threads. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT   (48 * 1024)
#define WORDS  4096
#define HASHES 8192

static _Thread_local uint8_t text[TEXT], packed[2 * TEXT];
static _Thread_local uint64_t state;

static uint32_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}

static void make_text(void)
{
    static const char *const parts[] = {"trace ", "unit ", "branch", "es ",  "cycle",
                                        "s ",     "of ",   "the ",   "core", ".\n"};
    size_t size = 0;
    while (size + 8 < TEXT) {
        const char *part = parts[next_random() % 10];
        memcpy(text + size, part, strlen(part));
        size += strlen(part);
    }
    memset(text + size, '.', TEXT - size);
}

static size_t match_length(const uint8_t *a, const uint8_t *b, const uint8_t *end)
{
    const uint8_t *begin = b;
    while (b < end && *a == *b) {
        a++;
        b++;
    }
    return (size_t)(b - begin);
}

/* LZ77 with a table of hashes. */
static size_t compress(void)
{
    static _Thread_local uint32_t last[HASHES];
    size_t out = 0;
    memset(last, 0, sizeof last);
    for (size_t at = 1; at + 4 < TEXT;) {
        uint32_t word;
        memcpy(&word, text + at, 4);
        uint32_t hash = word * 2654435761u >> 19;
        size_t from = last[hash];
        last[hash] = (uint32_t)at;
        size_t length = from ? match_length(text + from, text + at, text + TEXT) : 0;
        if (length >= 4) {
            packed[out++] = 0xff;
            packed[out++] = (uint8_t)length;
            packed[out++] = (uint8_t)(at - from);
            at += length;
        } else {
            packed[out++] = text[at++];
        }
    }
    return out;
}

struct word {
    struct word *next;
    uint32_t hash, count;
};

static unsigned count_words(void)
{
    static _Thread_local struct word *table[512];
    static _Thread_local struct word words[WORDS];
    unsigned used = 0;
    uint32_t hash = 0;
    memset(table, 0, sizeof table);
    for (size_t i = 0; i < TEXT; i++) {
        if (text[i] > ' ') {
            hash = hash * 31 + text[i];
            continue;
        }
        struct word *w = table[hash % 512];
        while (w && w->hash != hash)
            w = w->next;
        if (!w && used < WORDS) {
            w = &words[used++];
            *w = (struct word){table[hash % 512], hash, 0};
            table[hash % 512] = w;
        }
        if (w)
            w->count++;
        hash = 0;
    }
    return used;
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static uint32_t sort(void)
{
    static _Thread_local uint32_t numbers[3000];
    for (unsigned i = 0; i < 3000; i++)
        numbers[i] = next_random();
    qsort(numbers, 3000, sizeof *numbers, by_value);
    return numbers[1500];
}

/* A machine with a stack. */
static int64_t interpret(const uint8_t *code, size_t size)
{
    int64_t stack[64] = {0};
    unsigned top = 1;
    for (size_t pc = 0; pc < size; pc++) {
        int64_t *s = &stack[top];
        switch (code[pc] % 9) {
        case 0:
            if (top < 60)
                stack[++top] = code[pc];
            break;
        case 1:
            s[0] += s[-1];
            break;
        case 2:
            s[0] ^= s[-1] << 1;
            break;
        case 3:
            if (top > 1)
                top--;
            break;
        case 4:
            if (s[0] & 1)
                s[0] = -s[0];
            break;
        case 5:
            for (int i = 0; i < (s[0] & 7); i++)
                s[-1] += i;
            break;
        case 6:
            pc += s[0] & 1;
            break;
        case 7:
            if (top < 60) {
                s[1] = s[0];
                top++;
            }
            break;
        default:
            s[0] = (int64_t)((uint64_t)s[0] * 5 + 1);
        }
    }
    return stack[top];
}

static unsigned depth(unsigned n)
{
    return n < 2 ? 1 : depth(n - 1) + depth(n - 2);
}

struct job {
    pthread_t thread;
    unsigned rounds;
    uint64_t seed, sum;
};

static void *run(void *user)
{
    struct job *job = user;
    state = job->seed;
    make_text();
    for (unsigned i = 0; i < job->rounds; i++) {
        size_t size = compress();
        job->sum += size + count_words() + sort() + (uint64_t)interpret(packed, size) + depth(15);
        text[next_random() % TEXT] ^= 1;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct job jobs[8];
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    unsigned threads = argc > 2 ? (unsigned)atoi(argv[2]) % 9 : 0;
    for (unsigned i = 0; i < 8; i++)
        jobs[i] = (struct job){.rounds = rounds, .seed = 88172645463325252u + i};
    for (unsigned i = 0; i < threads; i++)
        if (pthread_create(&jobs[i].thread, NULL, run, &jobs[i]))
            return 1;
    if (!threads)
        run(&jobs[0]);
    for (unsigned i = 0; i < threads; i++)
        pthread_join(jobs[i].thread, NULL);
    printf("%llx\n", (unsigned long long)jobs[0].sum);
    return 0;
}
