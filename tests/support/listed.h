/* SPDX-License-Identifier: Apache-2.0 */
/* Compares bytes, written as hexadecimal text, with the listing that they must give. */
#pragma once

#include <stdio.h>
#include <string.h>

#include "support/list_bytes.h"
#include "support/unit.h"

/* Converts hexadecimal digits to bytes and returns how many. Blanks between them are ignored. */
static inline size_t listed_bytes(const char *hex, uint8_t *bytes)
{
    size_t size = 0;
    unsigned value;
    for (; *hex; hex += 2) {
        while (*hex == ' ')
            hex++;
        if (!*hex || sscanf(hex, "%2x", &value) != 1)
            break;
        bytes[size++] = (uint8_t)value;
    }
    return size;
}

/* Checks that the listing of `hex` ends with the lines `wanted`. */
static inline void check_listed(const struct ct_source *source, const struct list_region *region,
                                const char *hex, enum ct_level level, const char *wanted)
{
    uint8_t bytes[512];
    size_t size = listed_bytes(hex, bytes);
    char *text = list_bytes(source, region, region != NULL, bytes, size, level, NULL);
    size_t length = text ? strlen(text) : 0;
    size_t wanted_length = strlen(wanted);
    if (length < wanted_length || strcmp(text + length - wanted_length, wanted) != 0)
        fail_msg("%s\nlists as\n%sin place of\n%s", hex, text ? text : "a source that is not accepted\n",
                 wanted);
    free(text);
}
