/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as digits, for writers of many numbers: printf takes several times as long. */
#pragma once

#include <string.h>

#include "base/bytes.h"

/* Returns the value of a hexadecimal digit in lower case; -1 for other characters. */
static inline int ct_hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns the value of a hexadecimal digit in upper or lower case; -1 for other characters. */
static inline int ct_hex_digit_any_case(int c)
{
    const int lower = c | 0x20;
    return c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* bytes after a number that writing it may overwrite */
#define CT_DIGITS_SLACK 16

/* maximal number of decimal digits of a 64-bit number */
#define CT_DIGITS_MOST 20

#define CT_DIGITS_ASCII_ZEROS UINT64_C(0x3030303030303030)

/* Returns the eight decimal digits of value < 10^8, one in each byte, the lowest digit in the lowest byte.
 * Splits off halves, quarters and eighths in parallel, by multiplications that divide exactly for such small
 * numbers. */
static inline uint64_t ct_digits_eight(uint32_t value)
{
    const uint64_t fours = value / 10000 | (uint64_t)(value % 10000) << 32;
    const uint64_t hundreds = fours * 10486 >> 20 & UINT64_C(0x0000007f0000007f);
    const uint64_t twos = hundreds | (fours - 100 * hundreds) << 16;
    const uint64_t tens = twos * 103 >> 10 & UINT64_C(0x000f000f000f000f);
    return tens | (twos - 10 * tens) << 8;
}

/* Returns the characters of eight hexadecimal digits, the highest digit in the lowest byte. */
static inline uint64_t ct_digits_eight_hex(uint32_t value)
{
    uint64_t x = __builtin_bswap32(value);
    x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
    x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x >> 4 | x << 8) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    const uint64_t letters = (x + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
    return x + CT_DIGITS_ASCII_ZEROS + letters * ('a' - '0' - 10);
}

/* Returns the number of eight decimal digits, the highest one in the lowest byte. Other characters give any
 * number. */
static inline uint32_t ct_digits_from_dec(uint64_t characters)
{
    uint64_t x = characters & UINT64_C(0x0f0f0f0f0f0f0f0f);
    x = (10 * x + (x >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
    x = (100 * x + (x >> 16)) & UINT64_C(0x0000ffff0000ffff);
    return (uint32_t)(10000 * x + (x >> 32));
}

/* Returns how many of eight characters, from the lowest byte on, come before the first that is less than a
 * digit: a space or a line break. */
static inline unsigned ct_digits_count(uint64_t characters)
{
    const uint64_t less = ~(characters | characters >> 2) & UINT64_C(0x1010101010101010);
    return less ? (unsigned)__builtin_ctzll(less) / 8 : 8;
}

/* Moves the first `count` of eight characters, 1 to 8, to the end and puts zeros in front of them. */
static inline uint64_t ct_digits_align(uint64_t characters, unsigned count)
{
    return count == 8 ? characters : characters << (64 - 8 * count) | CT_DIGITS_ASCII_ZEROS >> 8 * count;
}

/* Writes eight characters, that of the lowest byte first. */
static inline void ct_digits_put_eight(char *to, uint64_t characters)
{
    characters = ct_le64(characters);
    memcpy(to, &characters, sizeof characters);
}

/* Writes a number below 10^8 in decimal. Returns the position after its last digit. */
static inline char *ct_digits_dec_short(char *to, uint32_t value)
{
    if (value < 10) {
        *to = (char)('0' + value);
        return to + 1;
    }
    if (value < 100) {
        const unsigned tens = value / 10;
        to[0] = (char)('0' + tens);
        to[1] = (char)('0' + value - 10 * tens);
        return to + 2;
    }
    const uint64_t all = ct_digits_eight(value);
    const unsigned zeros = (unsigned)__builtin_ctzll(all) / 8;
    ct_digits_put_eight(to, (all | CT_DIGITS_ASCII_ZEROS) >> 8 * zeros);
    return to + 8 - zeros;
}

/* Writes a number in decimal. Returns the position after its last digit. */
static inline char *ct_digits_dec(char *to, uint64_t value)
{
    const uint32_t eight = 100000000;
    if (value < eight)
        return ct_digits_dec_short(to, (uint32_t)value);
    const uint64_t high = value / eight;
    to = high < eight ? ct_digits_dec_short(to, (uint32_t)high) : ct_digits_dec(to, high);
    ct_digits_put_eight(to, ct_digits_eight((uint32_t)(value % eight)) | CT_DIGITS_ASCII_ZEROS);
    return to + 8;
}

/* Writes a number in hexadecimal, in lower case without leading zeros. Returns the position after its last
 * digit. */
static inline char *ct_digits_hex(char *to, uint64_t value)
{
    const unsigned count = (67 - (unsigned)__builtin_clzll(value | 1)) / 4;
    const uint64_t high_first = value << (64 - 4 * count);
    ct_digits_put_eight(to, ct_digits_eight_hex((uint32_t)(high_first >> 32)));
    ct_digits_put_eight(to + 8, ct_digits_eight_hex((uint32_t)high_first));
    return to + count;
}
