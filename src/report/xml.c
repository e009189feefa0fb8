#include "report/xml.h"
#include "report/utf8.h"

#include <string.h>

void ct_xml_bytes(FILE *out, const char *text, size_t size)
{
    for (size_t i = 0; i < size;) {
        const unsigned char *s = (const unsigned char *)text + i;
        size_t length = ct_utf8_length(s, size - i);
        if (*s == '<')
            fputs("&lt;", out);
        else if (*s == '>')
            fputs("&gt;", out);
        else if (*s == '&')
            fputs("&amp;", out);
        else if (*s == '"')
            fputs("&quot;", out);
        else if (length == 0 || (*s < 0x20 && *s != '\t') || *s == 0x7f)
            fputs("\xef\xbf\xbd", out);
        else
            fwrite(s, 1, length, out);
        i += length ? length : 1;
    }
}

void ct_xml_text(FILE *out, const char *text)
{
    ct_xml_bytes(out, text, strlen(text));
}
