/* SPDX-License-Identifier: Apache-2.0 */
#include "format/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *ct_number_count(char text[CT_NUMBER_SIZE], uint64_t value)
{
    char digits[24];
    const size_t size = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, value);
    size_t at = 0;
    for (size_t i = 0; i < size; i++) {
        if (i && (size - i) % 3 == 0)
            text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = '\0';
    return text;
}

const char *ct_number_mean(char text[CT_NUMBER_SIZE], double value)
{
    char rounded[CT_NUMBER_SIZE];
    snprintf(rounded, sizeof rounded, "%.1f", value);
    ct_number_count(text, strtoull(rounded, NULL, 10));
    strcat(text, strchr(rounded, '.'));
    return text;
}

const char *ct_number_short(char text[CT_NUMBER_SIZE], uint64_t value)
{
    static const char units[] = "kMGTPE";
    if (value < 10000)
        return ct_number_count(text, value);
    unsigned unit = 0;
    double scaled = (double)value / 1000;
    for (; scaled >= 999.95 && units[unit + 1]; unit++)
        scaled /= 1000;
    snprintf(text, CT_NUMBER_SIZE, "%.*f %c", scaled < 99.995 ? 2 : 1, scaled, units[unit]);
    return text;
}

const char *ct_number_percent(char text[CT_NUMBER_SIZE], uint64_t part, uint64_t all)
{
    if (all == 0)
        return "-";
    const uint64_t tenths = (uint64_t)((unsigned __int128)part * 1000 / all);
    if (part && !tenths)
        return "<0.1 %";
    snprintf(text, CT_NUMBER_SIZE, "%" PRIu64 ".%" PRIu64 " %%", tenths / 10, tenths % 10);
    return text;
}
