/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* fopencookie */
#include "cli/memory_file.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 4096

/* Makes room for more bytes and a NUL. */
static bool grow(struct cli_memory_file *f, size_t more)
{
    size_t room = f->room ? f->room : FIRST_ROOM;
    while (room - f->size <= more)
        room *= 2;
    char *text = room == f->room ? f->text : realloc(f->text, room);
    if (!text)
        return false;
    f->text = text;
    f->room = room;
    return true;
}

/* Appends bytes for stdio, which takes a short count for a write error. */
static ssize_t append(void *user, const char *bytes, size_t count)
{
    struct cli_memory_file *f = user;
    if (!grow(f, count))
        return 0;
    memcpy(f->text + f->size, bytes, count);
    f->size += count;
    f->text[f->size] = '\0';
    return (ssize_t)count;
}

bool cli_memory_open(struct cli_memory_file *f)
{
    *f = (struct cli_memory_file){0};
    if (grow(f, 0))
        f->out = fopencookie(f, "w", (cookie_io_functions_t){.write = append});
    if (!f->out) {
        free(f->text);
        *f = (struct cli_memory_file){0};
        return false;
    }
    f->text[0] = '\0';
    return true;
}

char *cli_memory_close(struct cli_memory_file *f, size_t *size)
{
    const bool whole = fflush(f->out) == 0 && !ferror(f->out);
    const bool closed = fclose(f->out) == 0;
    char *text = f->text;
    *size = f->size;
    *f = (struct cli_memory_file){0};
    if (whole && closed)
        return text;
    free(text);
    return NULL;
}
