/* SPDX-License-Identifier: Apache-2.0 */
/* Writes named events, and prints each of them as a decoder must read it. Compiled as C and as C++, for an
 * ITM or, with -DCHANNELS, for an STM. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#ifdef CHANNELS
volatile uint8_t channels[256 * 8];
#define CORETAP_CHANNELS channels
#else
volatile uint32_t ports[32];
#define CORETAP_PORTS ports
#endif
#include <coretap/itm.h>

#define TEXT(port, ...)                                                                                      \
    do {                                                                                                     \
        CORETAP_TEXT(port, __VA_ARGS__);                                                                     \
        printf("Txt %d ", port);                                                                             \
        printf(__VA_ARGS__);                                                                                 \
        putchar('\n');                                                                                       \
    } while (0)

#define VALUE(port, name, format, x)                                                                         \
    do {                                                                                                     \
        CORETAP_VALUE(port, name, x);                                                                        \
        printf("Val %d %s = " format "\n", port, name, x);                                                   \
    } while (0)

enum mode {
    SLOW,
    FAST
};

/* Writes an event between the words of another one, as an interrupt handler would. */
inline int nested(int x);
inline int nested(int x)
{
    VALUE(1, "nested", "%d", x);
    return x;
}
#ifndef __cplusplus
extern int nested(int x);
#endif

static void spans(void)
{
    CORETAP_BEGIN(2, "outer");
    puts("Begin 2 outer");
    for (int i = 0; i < 3; i++) {
        CORETAP_BEGIN(2, "inner");
        puts("Begin 2 inner");
        nested(i);
        CORETAP_END(2, "inner");
        puts("Finish 2 inner");
    }
    CORETAP_END(2, "outer");
    puts("Finish 2 outer");
}

static void arguments(void)
{
    const uint8_t u8 = 200;
    const int16_t i16 = -300;
    const long long wide = -5000000000;
    const unsigned long ul = 7;
    const bool yes = true;
    const enum mode mode = FAST;
    const float f = 1.5F;
    TEXT(1, "nothing");
    TEXT(1, "%d of %u%%, %s", i16, u8, "slow");
    TEXT(1, "%f %lld %lu %d %d %.2e", (double)f, wide, ul, yes, (int)mode, 2.25e-300);
    TEXT(1, "%x %X %#o %c", (unsigned)i16, 255U, 8U, 'x');
    TEXT(1, "|%8s|%-8s|%.2s|%5d|%-5d|", "ab", "cd", "efgh", 42, 42);
    TEXT(1, "%+d % d %*d %.*f", 1, 2, 6, 4, 2, 2.5);
    TEXT(1, "%05d", -3);
    TEXT(3, "%" PRIu64 " %" PRId32 " %" PRIx16, UINT64_MAX, INT32_MIN, (uint16_t)0xabcd);
    VALUE(3, "float", "%g", f);
    VALUE(3, "double", "%g", 1e100);
    VALUE(3, "bool", "%d", yes);
    VALUE(3, "long", "%lld", wide);
    VALUE(3, "mode", "%d", mode);
}

int main(void)
{
    arguments();
    spans();
    CORETAP_TEXT(4, "%d %d", nested(1), nested(2));
    puts("Txt 4 1 2");
    CORETAP_TEXT(4, "with a newline\n");
    puts("Txt 4 with a newline");
    return 0;
}
