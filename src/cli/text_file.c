/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/text_file.h"
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TEXT  (64u << 20)
#define FIRST_ROOM 65536u

/* Closes a file unless it is standard input. */
static void close_file(FILE *file)
{
    if (file && file != stdin)
        fclose(file);
}

/* Reads the rest of an open file, and closes it. NULL stands for a file that cannot be opened. */
static char *read_rest(FILE *file, const char *path, size_t most, size_t *size)
{
    char *text = NULL;
    size_t room = 0;
    size_t got = 1;
    for (*size = 0; file && got; *size += got) {
        if (*size == room) {
            room = room ? 2 * room : FIRST_ROOM;
            char *more = *size < most ? realloc(text, room + 1) : NULL;
            if (!more) {
                if (*size < most)
                    cli_no_memory();
                else
                    cli_say("%s: the file is longer than %zu MiB, so it cannot be the right one; name "
                            "another file",
                            path, most >> 20);
                free(text);
                close_file(file);
                return NULL;
            }
            text = more;
        }
        got = fread(text + *size, 1, room - *size, file);
        text[*size + got] = '\0';
    }
    if (!file || ferror(file)) {
        cli_say("%s: cannot be read: %s", path, strerror(errno));
        free(text);
        text = NULL;
    }
    close_file(file);
    return text;
}

char *cli_read_file(const char *path, size_t most, size_t *size)
{
    return read_rest(fopen(path, "rb"), path, most, size);
}

char *cli_read_text(const char *path)
{
    size_t size;
    return cli_read_file(path, MOST_TEXT, &size);
}

char *cli_read_text_or_standard(const char *path, size_t *size)
{
    return read_rest(strcmp(path, "-") == 0 ? stdin : fopen(path, "rb"), path, MOST_TEXT, size);
}

bool cli_text_is_blank(const char *text)
{
    static const char blanks[] = " \t\r\n";
    for (text += strspn(text, blanks); *text == '#'; text += strspn(text, blanks))
        text += strcspn(text, "\n");
    return !*text;
}
