/* SPDX-License-Identifier: Apache-2.0 */
/* What packet lines of all protocols have in common, docs/listing.md. */
#include "format/listing.h"

void ct_list_packet_place(struct ct_text *t, uint8_t id, uint64_t offset, const uint8_t *bytes, size_t size)
{
    ct_text_room(t);
    ct_text_dec(t, offset);
    ct_text_char(t, ' ');
    ct_text_hex_digits(t, id, 2);
    ct_text_char(t, ' ');
    if (size)
        ct_text_hex_bytes(t, bytes, size);
    else
        ct_text_char(t, '-');
    ct_text_char(t, ' ');
}

void ct_list_packet_start(struct ct_text *t, uint8_t id, uint64_t offset, const uint8_t *bytes, size_t size,
                          const char *type)
{
    ct_list_packet_place(t, id, offset, bytes, size);
    ct_text_string(t, type);
}

void ct_list_dec(struct ct_text *t, const char *key, uint64_t value)
{
    ct_text_string(t, key);
    ct_text_dec(t, value);
}

void ct_list_hex(struct ct_text *t, const char *key, uint64_t value)
{
    ct_text_string(t, key);
    ct_text_hex(t, value);
}
