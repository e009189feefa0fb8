/* SPDX-License-Identifier: Apache-2.0 */
#include "format/xml.h"
#include "base/printable.h"
#include "base/utf8.h"

#include <string.h>

void ct_xml_bytes(FILE *out, const char *text, size_t size)
{
    for (size_t i = 0; i < size;) {
        const char *s = text + i;
        size_t length;
        ct_utf8_read(s, size - i, &length);
        if (*s == '<')
            fputs("&lt;", out);
        else if (*s == '>')
            fputs("&gt;", out);
        else if (*s == '&')
            fputs("&amp;", out);
        else if (*s == '"')
            fputs("&quot;", out);
        else if (*s != '\t' && !ct_printable_length(s, length))
            fputs("\xef\xbf\xbd", out);
        else
            fwrite(s, 1, length, out);
        i += length;
    }
}

void ct_xml_text(FILE *out, const char *text)
{
    ct_xml_bytes(out, text, strlen(text));
}
