/* SPDX-License-Identifier: Apache-2.0 */
#include "path.h"

#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

#include "support/rng.h"

#define TEXT_SIZE   (1 << 16)
#define CODE        UINT64_C(0x400000)
#define HISTORY     4096 /* counters of the predictor */
#define CACHE_LINES 512  /* of 64 bytes: 32 KiB */

struct machine {
    struct path_step *steps;
    size_t count;
    size_t cap;
    jmp_buf full;
    unsigned cycles; /* cycles since the last step */
    unsigned missed;
    uint32_t history;
    uint8_t counters[HISTORY];
    uint64_t lines[CACHE_LINES];
    struct rng rng;
    uint8_t text[TEXT_SIZE];
    uint32_t sorted[TEXT_SIZE / 16];
    uint32_t heads[4096];
    uint64_t stack[64];
    unsigned depth;
};

/* Returns the address of a site, which is a line of this file: 24 bytes of code, and a fixed target. */
static uint64_t site_address(unsigned site)
{
    return CODE + site * 24u;
}

static uint64_t site_target(unsigned site, bool taken)
{
    uint32_t spread = site * UINT32_C(2654435761) >> 24;
    return taken ? CODE + ((site * 24u + spread * 8u) & ~3u) : site_address(site) + 4;
}

static bool predict(struct machine *m, unsigned site, bool taken)
{
    uint8_t *counter = &m->counters[(site * 61 ^ m->history) % HISTORY];
    bool right = (*counter >= 2) == taken;
    if (taken && *counter < 3)
        ++*counter;
    if (!taken && *counter > 0)
        --*counter;
    m->history = (m->history << 1 | taken) & 1023;
    return right;
}

/* Counts a read of memory at `address`, which costs cycles when the cache does not have it. */
static void touch(struct machine *m, const void *address)
{
    uint64_t line = (uintptr_t)((const uint8_t *)address - (const uint8_t *)m) / 64;
    uint64_t *at = &m->lines[line % CACHE_LINES];
    if (*at != line + 1) {
        m->cycles += 12;
        m->missed |= 2;
    }
    *at = line + 1;
}

static void step(struct machine *m, enum path_kind kind, bool taken, uint64_t target)
{
    if (m->count == m->cap)
        longjmp(m->full, 1);
    m->steps[m->count++] = (struct path_step){.target = target,
                                              .cycles = (uint16_t)m->cycles,
                                              .kind = (uint8_t)kind,
                                              .taken = taken,
                                              .missed = (uint8_t)m->missed};
    m->cycles = m->missed = 0;
}

static bool branch(struct machine *m, unsigned site, bool taken)
{
    m->cycles += 1 + site % 5;
    if (!predict(m, site, taken)) {
        m->cycles += 9;
        m->missed |= 1;
    }
    step(m, PATH_BRANCH, taken, site_target(site, taken));
    return taken;
}

static void call(struct machine *m, unsigned site)
{
    m->cycles += 2;
    m->stack[m->depth++ % 64] = site_address(site) + 4;
    step(m, PATH_CALL, true, CODE + 0x4000 + site * 512u);
}

static void leave(struct machine *m)
{
    m->cycles += 2;
    step(m, PATH_RETURN, true, m->stack[--m->depth % 64]);
}

static void jump_table(struct machine *m, unsigned site, unsigned entry)
{
    m->cycles += 3;
    step(m, PATH_INDIRECT, true, CODE + 0x2000 + site * 64u + entry * 48u);
}

#define IF(m, condition)    if (branch(m, __LINE__, condition))
#define WHILE(m, condition) while (branch(m, __LINE__, condition))

/* Writes a text of words from a small vocabulary, whose first words are the most frequent. */
static void write_text(struct machine *m)
{
    size_t at = 0;
    while (at < TEXT_SIZE - 16) {
        uint32_t word = (uint32_t)rng_wide(&m->rng, 9);
        unsigned length = 2 + word % 7;
        for (unsigned i = 0; i < length; i++)
            m->text[at++] = (uint8_t)('a' + (word * 7 + i * 13) % 26);
        m->text[at++] = ' ';
    }
    memset(m->text + at, ' ', TEXT_SIZE - at);
}

static unsigned match_length(struct machine *m, uint32_t a, uint32_t b)
{
    unsigned length = 0;
    WHILE(m, length < 32 && b + length < TEXT_SIZE && m->text[a + length] == m->text[b + length])
    {
        touch(m, &m->text[a + length]);
        length++;
    }
    return length;
}

/* Compresses the text as LZ77 does, with a hash of three bytes, and returns the number of tokens. */
static unsigned compress(struct machine *m)
{
    unsigned tokens = 0;
    memset(m->heads, 0, sizeof m->heads);
    uint32_t at = 0;
    WHILE(m, at + 3 < TEXT_SIZE)
    {
        touch(m, &m->text[at]);
        uint32_t hash = (m->text[at] * 961u + m->text[at + 1] * 31u + m->text[at + 2]) % 4096;
        uint32_t before = m->heads[hash];
        touch(m, &m->heads[hash]);
        m->heads[hash] = at;
        unsigned length = 0;
        IF(m, before != 0)
        {
            call(m, __LINE__);
            length = match_length(m, before, at);
            leave(m);
        }
        IF(m, length > 3)
        {
            at += length;
        }
        else
        {
            at++;
        }
        tokens++;
    }
    return tokens;
}

static void sort(struct machine *m, uint32_t *values, unsigned count)
{
    WHILE(m, count > 1)
    {
        uint32_t pivot = values[count / 2];
        unsigned low = 0;
        unsigned high = count - 1;
        for (;;) {
            WHILE(m, values[low] < pivot)
            touch(m, &values[low++]);
            WHILE(m, values[high] > pivot)
            touch(m, &values[high--]);
            IF(m, low >= high)
            break;
            uint32_t keep = values[low];
            values[low++] = values[high];
            values[high--] = keep;
        }
        unsigned left = high + 1;
        IF(m, left < count)
        {
            call(m, __LINE__);
            sort(m, values + left, count - left);
            leave(m);
        }
        else
        {
            left--;
        }
        count = left;
    }
}

/* Interprets the text as a program in which each letter is an instruction. */
static uint32_t interpret(struct machine *m)
{
    uint32_t sum = 0;
    uint32_t at = 0;
    WHILE(m, at < TEXT_SIZE / 4)
    {
        uint8_t op = m->text[at];
        touch(m, &m->text[at]);
        jump_table(m, __LINE__, op % 12);
        switch (op % 12) {
        case 0:
        case 1:
            sum += op;
            break;
        case 2:
            IF(m, sum & 1)
            at++;
            break;
        case 3:
            call(m, __LINE__);
            for (unsigned i = 0; branch(m, __LINE__, i < (sum & 7)); i++)
                sum = sum * 31 + i;
            leave(m);
            break;
        default:
            IF(m, op > 'm')
            sum ^= op;
            break;
        }
        at++;
    }
    return sum;
}

void path_run(uint64_t seed, struct path_step *steps, size_t count)
{
    static struct machine m;
    m = (struct machine){.steps = steps, .cap = count, .rng = {seed}};
    if (setjmp(m.full))
        return;
    for (;;) {
        write_text(&m);
        call(&m, __LINE__);
        unsigned tokens = compress(&m);
        leave(&m);
        for (unsigned i = 0; i < TEXT_SIZE / 16; i++)
            m.sorted[i] = (uint32_t)rng_next(&m.rng) % (tokens + 1);
        call(&m, __LINE__);
        sort(&m, m.sorted, TEXT_SIZE / 16);
        leave(&m);
        call(&m, __LINE__);
        m.history ^= interpret(&m) & 1;
        leave(&m);
    }
}
