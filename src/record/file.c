/* SPDX-License-Identifier: Apache-2.0 */
#include "record/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"

int ct_record_file_open(struct ct_ctx *ctx, struct ct_record_file *t, const char *path)
{
    *t = (struct ct_record_file){.file = fopen(path, "w")};
    if (!t->file)
        return ct_fail(ctx, CT_ERR_IO, "%s: cannot be created: %s", path, strerror(errno));
    setvbuf(t->file, NULL, _IONBF, 0); /* all of it is held here */
    return CT_OK;
}

int ct_record_file_add(struct ct_record_file *t, const uint8_t *bytes, size_t size)
{
    if (t->room - t->size < size) {
        const size_t room = 2 * (t->size + size);
        uint8_t *wider = realloc(t->bytes, room);
        if (!wider)
            return CT_ERR_NOMEM;
        t->bytes = wider;
        t->room = room;
    }
    memcpy(t->bytes + t->size, bytes, size);
    t->size += size;
    return CT_OK;
}

int ct_record_file_release(struct ct_ctx *ctx, struct ct_record_file *t, const char *dir, const char *name)
{
    if (!t->file || !t->size)
        return CT_OK;
    const int fine = fwrite(t->bytes, 1, t->size, t->file) == t->size;
    t->size = 0;
    return fine ? CT_OK
                : ct_fail(ctx, CT_ERR_IO, "%s%s%s: cannot be written: %s; the capture ends there",
                          dir ? dir : "", dir ? "/" : "", name, strerror(errno));
}

void ct_record_file_close(struct ct_record_file *t)
{
    if (t->file)
        fclose(t->file);
    free(t->bytes);
    *t = (struct ct_record_file){0};
}
