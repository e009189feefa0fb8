/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes debug information. One byte that selects the load bias, then an ELF file. What must hold: rows are
 * in order and do not overlap, an address finds its row, files and scopes that are named exist, chains of
 * inlined calls end. */
#include <stdlib.h>
#include <string.h>

#include "coretap/source_lines.h"
#include "fuzz.h"

#define MOST_BYTES 65536

static void check_rows(const struct ct_lines *lines)
{
    size_t count;
    const struct ct_line *rows = ct_lines_all(lines, &count);
    for (size_t i = 0; i < count; i++) {
        require(rows[i].end >= rows[i].addr);
        require(i == 0 || (rows[i - 1].addr <= rows[i].addr && rows[i - 1].end <= rows[i].addr) ||
                rows[i].addr == rows[i].end);
        require(ct_lines_file(lines, rows[i].file) != NULL);
        const struct ct_line *at = ct_lines_at(lines, rows[i].addr);
        require(rows[i].addr == rows[i].end || at == &rows[i]);
        if (i < 64 && rows[i].line) {
            uint64_t addrs[4];
            size_t found;
            (void)ct_lines_find(lines, ct_lines_file(lines, rows[i].file), rows[i].line, addrs, 4, &found,
                                NULL);
        }
    }
}

static void check_scopes(const struct ct_lines *lines)
{
    size_t count;
    const struct ct_line_scope *scopes = ct_lines_scopes(lines, &count);
    for (size_t i = 0; i < count; i++) {
        require(strlen(scopes[i].name) < MOST_BYTES);
        require(scopes[i].parent == CT_LINE_NONE ? scopes[i].depth == 0 : scopes[i].parent < i);
        require(scopes[i].decl_file == CT_LINE_NONE || ct_lines_file(lines, scopes[i].decl_file));
        require(scopes[i].call_file == CT_LINE_NONE || ct_lines_file(lines, scopes[i].call_file));
        uint32_t at = ct_lines_scope_at(lines, scopes[i].entry);
        require(at == CT_LINE_NONE || at < count);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > MOST_BYTES)
        return 0;
    uint64_t bias = (uint64_t)data[0] << 56;
    uint8_t *file = fuzz_file(data + 1, --size);
    struct ct_lines *lines;
    if (ct_lines_load_bytes(NULL, "fuzz", file, size, bias, &lines) == CT_OK) {
        check_rows(lines);
        check_scopes(lines);
        ct_lines_free(lines);
    }
    free(file);
    return 0;
}
