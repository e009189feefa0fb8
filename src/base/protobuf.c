/* SPDX-License-Identifier: Apache-2.0 */
#include "base/protobuf.h"

#include <string.h>

#include "base/utf8.h"

/* How a field is encoded: the low three bits of its tag. */
enum wire_type {
    VARINT,
    FIXED64,
    SIZED,
};

#define VARINT_MAX 10 /* maximal number of bytes of a 64-bit number */

static void put_tag(struct ct_grown *to, unsigned field, enum wire_type type)
{
    ct_grown_put_varint(to, (uint64_t)field << 3 | type);
}

void ct_protobuf_number(struct ct_grown *to, unsigned field, uint64_t value)
{
    put_tag(to, field, VARINT);
    ct_grown_put_varint(to, value);
}

void ct_protobuf_fixed64(struct ct_grown *to, unsigned field, uint64_t value)
{
    put_tag(to, field, FIXED64);
    ct_grown_put64(to, value);
}

void ct_protobuf_double(struct ct_grown *to, unsigned field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    ct_protobuf_fixed64(to, field, bits);
}

void ct_protobuf_bytes(struct ct_grown *to, unsigned field, const void *bytes, size_t size)
{
    put_tag(to, field, SIZED);
    ct_grown_put_varint(to, size);
    ct_grown_put(to, bytes, size);
}

void ct_protobuf_text(struct ct_grown *to, unsigned field, const char *text)
{
    static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */
    const size_t begin = ct_protobuf_begin(to, field);
    size_t left = strlen(text);
    while (left) {
        const size_t length = ct_utf8_length((const unsigned char *)text, left);
        if (length)
            ct_grown_put(to, text, length);
        else
            ct_grown_put(to, replacement, sizeof replacement - 1);
        text += length ? length : 1;
        left -= length ? length : 1;
    }
    ct_protobuf_end(to, begin);
}

size_t ct_protobuf_begin(struct ct_grown *to, unsigned field)
{
    put_tag(to, field, SIZED);
    return to->size;
}

/* The length is written before the message and known only at its end, so the message is moved to make
 * room. */
void ct_protobuf_end(struct ct_grown *to, size_t begin)
{
    uint8_t length[VARINT_MAX];
    const size_t size = to->size - begin;
    size_t used = 0;
    if (to->failed)
        return;
    for (size_t left = size; left >= 0x80; left >>= 7)
        length[used++] = (uint8_t)(left | 0x80);
    length[used] = (uint8_t)(size >> 7 * used);
    used++;
    if (!ct_grown_add(to, used))
        return;
    memmove(to->bytes + begin + used, to->bytes + begin, size);
    memcpy(to->bytes + begin, length, used);
}
