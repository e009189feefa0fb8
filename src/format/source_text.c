/* SPDX-License-Identifier: Apache-2.0 */
#include "format/source_text.h"

#include <stdlib.h>
#include <string.h>

struct ct_source_text ct_source_text_read(const struct ct_lines *lines, uint32_t file)
{
    struct ct_source_text source = {0};
    if (!lines || ct_lines_source(lines, file, &source.text, &source.size) != CT_OK)
        source = (struct ct_source_text){0};
    return source;
}

void ct_source_text_free(struct ct_source_text *source)
{
    free(source->text);
    *source = (struct ct_source_text){0};
}

bool ct_source_text_next(struct ct_source_text *source, const char **text, size_t *size)
{
    if (source->at >= source->size)
        return false;
    *text = source->text + source->at;
    const char *newline = memchr(*text, '\n', source->size - source->at);
    *size = newline ? (size_t)(newline - *text) : source->size - source->at;
    source->at += *size + 1;
    if (*size && (*text)[*size - 1] == '\r')
        --*size;
    return true;
}
