/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes debug information that the compiler put into a separate file: a byte, whose lowest bit says whether
 * that is a package, two bytes with the size of the program, the program, the file. What must hold: lines are
 * in order, and scopes come after those that contain them. */
#include <string.h>

#include "base/bytes.h"
#include "coretap/source_lines.h"
#include "folder.h"

#define MOST_BYTES 49152

static void check_lines(const struct ct_lines *lines)
{
    size_t count;
    const struct ct_line *rows = ct_lines_all(lines, &count);
    for (size_t i = 0; i < count; i++)
        require(rows[i].end >= rows[i].addr && ct_lines_file(lines, rows[i].file));
    const struct ct_line_scope *scopes = ct_lines_scopes(lines, &count);
    for (size_t i = 0; i < count; i++) {
        require(strlen(scopes[i].name) < MOST_BYTES);
        require(scopes[i].parent == CT_LINE_NONE ? scopes[i].depth == 0 : scopes[i].parent < i);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ct_lines *lines;
    struct folder folder;
    if (size < 3 || size > MOST_BYTES)
        return 0;
    const size_t room = size - 3, wanted = ct_load16(data + 1), program = wanted < room ? wanted : room;
    folder_begin(&folder);
    const char *path = folder_add(&folder, "program", data + 3, program);
    folder_add(&folder, data[0] & 1 ? "program.dwp" : "unit.dwo", data + 3 + program, room - program);
    if (ct_lines_load(NULL, path, 0, &lines) == CT_OK) {
        check_lines(lines);
        ct_lines_free(lines);
    }
    folder_end(&folder);
    return 0;
}
