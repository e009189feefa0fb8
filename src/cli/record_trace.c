/* SPDX-License-Identifier: Apache-2.0 */
/* A file of trace that is being recorded: it grows only when what describes its trace is written. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/record.h"

bool cli_record_trace_open(struct cli_record_trace *t, const char *path)
{
    *t = (struct cli_record_trace){.file = fopen(path, "w")};
    if (!t->file)
        cli_say("%s: cannot be created: %s", path, strerror(errno));
    else
        setvbuf(t->file, NULL, _IONBF, 0); /* all of it is held here */
    return t->file;
}

int cli_record_trace_add(struct cli_record_trace *t, const uint8_t *bytes, size_t size)
{
    if (t->room - t->size < size) {
        const size_t room = 2 * (t->size + size);
        uint8_t *wider = realloc(t->bytes, room);
        if (!wider)
            return -1;
        t->bytes = wider;
        t->room = room;
    }
    memcpy(t->bytes + t->size, bytes, size);
    t->size += size;
    return 0;
}

bool cli_record_trace_release(struct cli_record_trace *t, const char *dir, const char *name)
{
    if (!t->file || !t->size)
        return true;
    const bool fine = fwrite(t->bytes, 1, t->size, t->file) == t->size;
    if (!fine)
        cli_say("%s%s%s: cannot be written: %s; the capture ends there", dir ? dir : "", dir ? "/" : "", name,
                strerror(errno));
    t->size = 0;
    return fine;
}

void cli_record_trace_close(struct cli_record_trace *t)
{
    if (t->file)
        fclose(t->file);
    free(t->bytes);
    *t = (struct cli_record_trace){0};
}
