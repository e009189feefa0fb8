/* SPDX-License-Identifier: Apache-2.0 */
#include "format/xml.h"
#include "base/printable.h"
#include "base/utf8.h"

#include <string.h>

/* Returns the escape for the character of `size` bytes at `s`, or NULL when it needs none. */
static const char *escape_of(const char *s, size_t size)
{
    switch (*s) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    default:
        return *s == '\t' || ct_printable_length(s, size) ? NULL : "\xef\xbf\xbd";
    }
}

int ct_xml_write(const char *text, size_t size, ct_write_fn *write, void *user)
{
    size_t plain = 0; /* bytes before text + i that need no escape and are not written yet */
    int rc = CT_OK;
    for (size_t i = 0, length; i < size && !rc; i += length) {
        ct_utf8_read(text + i, size - i, &length);
        const char *escape = escape_of(text + i, length);
        if (!escape) {
            plain += length;
            continue;
        }
        if (plain)
            rc = write(user, text + i - plain, plain);
        if (!rc)
            rc = write(user, escape, strlen(escape));
        plain = 0;
    }
    return rc || !plain ? rc : write(user, text + size - plain, plain);
}

void ct_xml_bytes(FILE *out, const char *text, size_t size)
{
    (void)ct_xml_write(text, size, ct_write_file, out);
}

void ct_xml_text(FILE *out, const char *text)
{
    ct_xml_bytes(out, text, strlen(text));
}
