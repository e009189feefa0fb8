/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the line information that the library reads from an ELF file.
 *
 * usage: dump_lines FILE [BIAS]                 each instruction: address, then file:line and function of
 *                                               each frame, the innermost first
 *        dump_lines FILE BIAS NAME LINE         where NAME:LINE begins: line taken, addresses */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "coretap/source_lines.h"

static void frame(const struct ct_lines *lines, uint32_t file, uint32_t line, const char *function)
{
    const char *path = ct_lines_file(lines, file);
    printf(" %s:%" PRIu32 " %s", path ? path : "??", line, function);
}

static void instruction(const struct ct_lines *lines, const struct ct_line *row, uint64_t addr)
{
    size_t count;
    const struct ct_line_scope *scopes = ct_lines_scopes(lines, &count);
    uint32_t scope = ct_lines_scope_at(lines, addr);
    printf("%" PRIx64, addr);
    uint32_t file = row->file;
    uint32_t line = row->line;
    if (scope == CT_LINE_NONE)
        frame(lines, file, line, "??");
    for (; scope != CT_LINE_NONE; scope = scopes[scope].parent) {
        frame(lines, file, line, scopes[scope].name);
        file = scopes[scope].call_file;
        line = scopes[scope].call_line;
    }
    printf("\n");
}

static int find(const struct ct_lines *lines, const char *name, const char *line)
{
    uint64_t addrs[64];
    size_t count;
    uint32_t found;
    int result = ct_lines_find(lines, name, (uint32_t)strtoul(line, NULL, 10), addrs, 64, &count, &found);
    if (result != CT_OK) {
        printf("%s\n", ct_error_name(result));
        return 0;
    }
    printf("%" PRIu32, found);
    for (size_t i = 0; i < count && i < 64; i++)
        printf(" %" PRIx64, addrs[i]);
    printf("\n");
    return 0;
}

static void say(void *user, enum ct_log_level level, const char *text)
{
    (void)user;
    (void)level;
    fprintf(stderr, "%s\n", text);
}

int main(int argc, char **argv)
{
    struct ct_ctx *ctx = ct_ctx_new();
    ct_ctx_set_log(ctx, say, NULL, CT_LOG_WARNING);
    struct ct_lines *lines;
    uint64_t bias = argc > 2 ? strtoull(argv[2], NULL, 16) : 0;
    if (argc < 2 || !ctx || ct_lines_load(ctx, argv[1], bias, &lines) != CT_OK) {
        fprintf(stderr, "dump_lines: %s\n", ctx ? ct_ctx_error(ctx) : "no memory");
        return 2;
    }
    int result = 0;
    if (argc > 4) {
        result = find(lines, argv[3], argv[4]);
    } else {
        size_t count;
        const struct ct_line *rows = ct_lines_all(lines, &count);
        for (size_t i = 0; i < count; i++)
            for (uint64_t addr = rows[i].addr; addr < rows[i].end; addr += 4)
                instruction(lines, &rows[i], addr);
    }
    ct_lines_free(lines);
    ct_ctx_free(ctx);
    return result;
}
