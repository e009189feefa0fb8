#include "report/source_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST (64u << 20)

struct ct_source_text ct_source_text_read(const char *path)
{
    struct ct_source_text source = {0};
    FILE *file = path ? fopen(path, "rb") : NULL;
    if (!file)
        return source;
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (size > 0 && (unsigned long)size <= MOST && fseek(file, 0, SEEK_SET) == 0) {
        source.text = malloc((size_t)size);
        source.size = source.text ? fread(source.text, 1, (size_t)size, file) : 0;
    }
    fclose(file);
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
