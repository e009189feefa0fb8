/* SPDX-License-Identifier: Apache-2.0 */
#include "format/dot.h"
#include "base/printable.h"
#include "base/utf8.h"

#include <string.h>

void ct_dot_text(FILE *out, const char *text)
{
    for (size_t left = strlen(text), size; left; text += size, left -= size) {
        ct_utf8_read(text, left, &size);
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if (ct_printable_length(text, size))
            fwrite(text, 1, size, out);
        else
            fputc(' ', out);
    }
}
