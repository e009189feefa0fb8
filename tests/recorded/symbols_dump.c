/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the functions of ELF files as coretap reads them: "address size source name | label" per line, with
 * a line "file" before each further file. usage: symbols_dump [--raw] [--lines] [--symdir DIR]... FILE...
 *        symbols_dump --demangle      lines of standard input as readable names */
#include "coretap/program.h"
#include "coretap/source_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say(void *user, enum ct_log_level level, const char *text)
{
    (void)user;
    (void)level;
    fprintf(stderr, "%s\n", text);
}

static int dump(struct ct_ctx *ctx, const char *path, const struct ct_symbol_options *options)
{
    static const char *const sources[] = {"symtab", "dynsym", "minidebug", "debugfile",
                                          "plt",    "unwind", "code",      "go"};
    struct ct_symbols *symbols;
    size_t count;
    if (ct_symbols_load_with(ctx, path, options, &symbols) != CT_OK) {
        fprintf(stderr, "%s\n", ct_ctx_error(ctx));
        return 1;
    }
    printf("file %s\n", ct_symbols_module(symbols));
    const struct ct_symbol *all = ct_symbols_all_code(symbols, &count);
    for (size_t i = 0; i < count; i++)
        printf("%" PRIx64 " %" PRIu64 " %s %u %s | %s\n", all[i].addr, all[i].size, sources[all[i].source],
               all[i].isa, all[i].name, ct_symbols_label(symbols, &all[i]));
    ct_symbols_free(symbols);
    return 0;
}

/* Prints rows and functions of the debug information. */
static int dump_lines(struct ct_ctx *ctx, const char *path, struct ct_debug_files *files)
{
    const struct ct_line_options options = {.size = sizeof options, .files = files};
    struct ct_lines *lines;
    size_t count;
    if (ct_lines_load_with(ctx, path, &options, &lines) != CT_OK) {
        fprintf(stderr, "%s\n", ct_ctx_error(ctx));
        return 1;
    }
    const struct ct_line *rows = ct_lines_all(lines, &count);
    for (size_t i = 0; i < count; i++)
        printf("row %" PRIx64 " %" PRIx64 " %s:%" PRIu32 "\n", rows[i].addr, rows[i].end,
               ct_lines_file(lines, rows[i].file), rows[i].line);
    const struct ct_line_scope *scopes = ct_lines_scopes(lines, &count);
    for (size_t i = 0; i < count; i++)
        printf("scope %" PRIx64 " %s %" PRIu32 "\n", scopes[i].entry, scopes[i].name, scopes[i].depth);
    ct_lines_free(lines);
    return 0;
}

static int demangle(void)
{
    static char line[1 << 17];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        char *name = ct_demangle(line);
        puts(name ? name : line);
        free(name);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--demangle") == 0)
        return demangle();
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_symbol_options options = {.size = sizeof options};
    int failed = 0;
    int lines = 0;
    if (!ctx || ct_debug_files_new(ctx, &options.files) != CT_OK)
        return 2;
    ct_ctx_set_log(ctx, say, NULL, CT_LOG_NOTE);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--raw") == 0)
            options.raw_names = 1;
        else if (strcmp(argv[i], "--symdir") == 0 && i + 1 < argc)
            failed |= ct_debug_files_add_dir(options.files, argv[++i]) != CT_OK;
        else if (strcmp(argv[i], "--lines") == 0)
            lines = 1;
        else if (lines)
            failed |= dump_lines(ctx, argv[i], options.files);
        else
            failed |= dump(ctx, argv[i], &options);
    }
    ct_debug_files_free(options.files);
    ct_ctx_free(ctx);
    return failed;
}
