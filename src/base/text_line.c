/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text_line.h"

#include <errno.h>
#include <string.h>

#include "base/ctx.h"

int ct_text_line(struct ct_ctx *ctx, FILE *file, const char *path, unsigned number, char *line, size_t room)
{
    size_t size = 0;
    int c;
    while ((c = getc(file)) != EOF && c != '\n') {
        if (!c || size + 1 == room)
            return ct_fail(ctx, CT_ERR_FORMAT,
                           "%s:%u: the line %s, so the file is not read further; check "
                           "that it is a text file",
                           path, number, c ? "is too long" : "contains a zero byte");
        line[size++] = (char)c;
    }
    line[size] = '\0';
    if (ferror(file))
        return ct_fail(ctx, CT_ERR_IO, "%s: cannot be read: %s", path, strerror(errno));
    return size || c == '\n';
}
