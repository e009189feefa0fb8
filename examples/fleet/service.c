/* SPDX-License-Identifier: Apache-2.0 */
/* The program that the fleet runs: it handles requests of several kinds. Since version 2 (-DVERSION=2) its
 * checksum is slower, since version 3 its parser, too.
 *
 * usage: service TEST SIZE, TEST one of config, render, sync, all */
#include <stdlib.h>
#include <string.h>

#define ALONE __attribute__((noinline))

static unsigned char data[4096];
static volatile unsigned result;

ALONE static unsigned checksum(const unsigned char *bytes, int size)
{
    unsigned sum = 1;
    for (int i = 0; i < size; i++) {
        sum = sum * 31 + bytes[i];
#if VERSION >= 2
        for (int bit = 0; bit < 8; bit++)
            sum ^= sum >> 1 & 1u << bit;
#endif
    }
    return sum;
}

ALONE static int read_config(int size)
{
    int keys = 0;
    for (int i = 0; i < size; i++)
        keys += data[i % sizeof data] % 7 == 3;
    return keys;
}

ALONE static int parse(int size)
{
    int depth = 0;
    for (int i = 0; i < size; i++) {
        depth += data[i % sizeof data] & 1 ? 1 : -1;
#if VERSION >= 3
        result ^= (unsigned)i; /* the depth is not changed */
#endif
    }
    return depth < 0 ? -depth : depth;
}

ALONE static void render(int size)
{
    for (int i = 0; i < size; i++)
        data[i % sizeof data] ^= (unsigned char)(i * 7);
}

ALONE static int retry(int times)
{
    int left = times;
    while (left > 0)
        left -= data[left % sizeof data] >= 0;
    return left;
}

ALONE static void repair(void)
{
    memset(data, 1, sizeof data);
}

ALONE static void handle_request(const char *test, int size)
{
    const int all = !strcmp(test, "all");
    if (all || !strcmp(test, "config"))
        result += (unsigned)read_config(size);
    if (all || !strcmp(test, "render"))
        render(parse(size) + size);
    if (all || !strcmp(test, "sync"))
        result += checksum(data, size % 4096) + (unsigned)retry(size > 2000 ? 100 * size : 1);
    if (size < 0)
        repair();
}

int main(int argc, char **argv)
{
    const char *test = argc > 1 ? argv[1] : "all";
    const int size = argc > 2 ? atoi(argv[2]) : 100;
    for (unsigned i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 17 + 5);
    for (int i = 1; i <= 4; i++)
        handle_request(test, size * i / 4);
    return 0;
}
