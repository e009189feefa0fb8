#include "report/text.h"

static const char digits[16] = "0123456789abcdef";

void ct_text_init(struct ct_text *text, FILE *out)
{
    text->out = out;
    text->failed = false;
    text->used = 0;
}

bool ct_text_flush(struct ct_text *text)
{
    if (!text->failed && text->used && fwrite(text->data, 1, text->used, text->out) != text->used)
        text->failed = true;
    text->used = 0;
    return !text->failed;
}

void ct_text_dec(struct ct_text *text, uint64_t value)
{
    char buffer[20];
    unsigned at = sizeof buffer;
    do {
        buffer[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    ct_text_bytes(text, buffer + at, sizeof buffer - at);
}

void ct_text_hex(struct ct_text *text, uint64_t value)
{
    unsigned count = 1;
    for (uint64_t rest = value >> 4; rest; rest >>= 4)
        count++;
    ct_text_hex_digits(text, value, count);
}

void ct_text_hex_digits(struct ct_text *text, uint64_t value, unsigned count)
{
    char *p = text->data + text->used;
    text->used += count;
    while (count--) {
        p[count] = digits[value & 15];
        value >>= 4;
    }
}

void ct_text_hex_bytes(struct ct_text *text, const uint8_t *bytes, size_t size)
{
    char *p = text->data + text->used;
    for (size_t i = 0; i < size; i++) {
        *p++ = digits[bytes[i] >> 4];
        *p++ = digits[bytes[i] & 15];
    }
    text->used += 2 * size;
}

void ct_text_json(struct ct_text *text, const char *s)
{
    for (unsigned n = 0; *s && n < 200; s++, n++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\') {
            ct_text_char(text, '\\');
            ct_text_char(text, (char)c);
        } else if (c < 0x20) {
            ct_text_lit(text, "\\u00");
            ct_text_hex_digits(text, c, 2);
        } else {
            ct_text_char(text, (char)c);
        }
    }
}
