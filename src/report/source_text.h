/* The text of a source file, line by line. */
#ifndef CT_REPORT_SOURCE_TEXT_H
#define CT_REPORT_SOURCE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* All zero: a file without a line. */
struct ct_source_text {
    char *text;
    size_t size;
    size_t at; /* of the next line */
};

/* One that cannot be read, or is larger than 64 MiB, has no line. */
struct ct_source_text ct_source_text_read(const char *path);
void ct_source_text_free(struct ct_source_text *source);

/* The next line, without its end; false behind the last. */
bool ct_source_text_next(struct ct_source_text *source, const char **text, size_t *size);

#endif
