/* SPDX-License-Identifier: Apache-2.0 */
#include "base/kallsyms.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MOST_HEX 16 /* digits of an address */

bool ct_kallsyms_read(char **text, char *end, struct ct_kallsyms_symbol *out)
{
    char *const line = *text, *rest;
    char *const newline = memchr(line, '\n', (size_t)(end - line));
    *text = newline ? newline + 1 : end;
    end = newline ? newline : end;
    const uint64_t addr = strtoull(line, &rest, 16);
    if (!isxdigit((unsigned char)*line) || rest - line > MOST_HEX || rest[0] != ' ' ||
        !isgraph((unsigned char)rest[1]) || rest[2] != ' ' || !isgraph((unsigned char)rest[3]))
        return false;
    char *const name_end = rest + 3 + strcspn(rest + 3, "\t \n");
    *out = (struct ct_kallsyms_symbol){
        .addr = addr, .type = rest[1], .name = rest + 3, .name_length = (size_t)(name_end - rest - 3)};
    if (name_end == end)
        return true;
    out->module = name_end + 2;
    out->module_length = name_end[1] == '[' ? strcspn(out->module, "]\n") : 0;
    return out->module_length && out->module[out->module_length] == ']' &&
           out->module + out->module_length + 1 == end;
}
