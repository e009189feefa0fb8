#include "cli/text_file.h"
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TEXT (64u << 20)

char *cli_read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t size = 0;
    size_t got = 1;
    while (file && got) {
        char *more = size < MOST_TEXT ? realloc(text, size + 65536 + 1) : NULL;
        if (!more) {
            cli_say("%s: too long, or no memory for it", path);
            free(text);
            fclose(file);
            return NULL;
        }
        text = more;
        got = fread(text + size, 1, 65536, file);
        size += got;
        text[size] = '\0';
    }
    if (!file || ferror(file)) {
        cli_say("%s: cannot be read: %s", path, strerror(errno));
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}
