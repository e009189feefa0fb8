#include "base/printable.h"

#include <stdint.h>
#include <string.h>

/* Bytes of the control character at `s`: U+0000 to U+001F, U+007F, U+0080 to U+009F. 0: it is none. */
static size_t control_at(const uint8_t *s)
{
    if (*s == 0xc2 && s[1] >= 0x80 && s[1] <= 0x9f)
        return 2;
    return *s < 0x20 || *s == 0x7f;
}

bool ct_has_controls(const char *text)
{
    for (const uint8_t *s = (const uint8_t *)text; *s; s++)
        if (control_at(s))
            return true;
    return false;
}

void ct_escape_controls(const char *text, char *out)
{
    static const char digits[] = "0123456789abcdef";
    size_t bytes = 0; /* of the control character that are yet to be written */
    for (const uint8_t *s = (const uint8_t *)text; *s; s++) {
        if (!bytes)
            bytes = control_at(s);
        if (!bytes) {
            *out++ = (char)*s;
            continue;
        }
        *out++ = '\\';
        *out++ = 'x';
        *out++ = digits[*s >> 4];
        *out++ = digits[*s & 15];
        bytes--;
    }
    *out = '\0';
}

const char *ct_printable(struct ct_arena *arena, const char *text)
{
    if (!ct_has_controls(text))
        return text;
    char *copy = ct_arena_alloc(arena, CT_PRINTABLE_ROOM(strlen(text) + 1));
    if (copy)
        ct_escape_controls(text, copy);
    return copy;
}
