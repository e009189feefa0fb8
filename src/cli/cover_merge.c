/* coretap merge: coverage files, added up. */
#include "cli/commands.h"
#include "cli/cover.h"
#include "report/cover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char first_line[] = "coretap-coverage ";

bool cli_cover_is_file(const char *path)
{
    char start[sizeof first_line] = {0};
    errno = 0;
    FILE *file = fopen(path, "rb");
    if (!file && errno == ENOMEM)
        cli_no_memory();
    size_t got = file ? fread(start, 1, sizeof first_line - 1, file) : 0;
    if (file)
        fclose(file);
    return got == sizeof first_line - 1 && strcmp(start, first_line) == 0;
}

/* The whole file; NULL after a message. */
static char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t room = 0;
    *size = 0;
    while (file && !feof(file) && !ferror(file)) {
        if (*size == room) {
            room = room ? room * 2 : 65536;
            char *wider = realloc(text, room);
            if (!wider)
                break;
            text = wider;
        }
        *size += fread(text + *size, 1, room - *size, file);
    }
    bool good = file && feof(file) && !ferror(file);
    if (!good) {
        cli_say("%s: cannot be read: %s", path, strerror(errno));
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

bool cli_cover_read(struct ct_ctx *ctx, struct ct_cover *cover, const char *path)
{
    size_t size;
    char *text = read_file(path, &size);
    if (!text)
        return false;
    int result = ct_cover_read(cover, path, text, size);
    free(text);
    if (result != CT_OK)
        cli_library_error(ctx);
    return result == CT_OK;
}

static int run(const struct cli_args *args)
{
    struct ct_cover *cover;
    if (args->rest_count == 0)
        return cli_usage_error(args->command, "name the coverage files to add up");
    if (ct_cover_new(args->ctx, &cover) != CT_OK)
        return cli_library_error(args->ctx);
    int code = CLI_CLEAN;
    for (int i = 0; i < args->rest_count && code == CLI_CLEAN; i++)
        if (!cli_cover_read(args->ctx, cover, args->rest[i]))
            code = CLI_FAILED;
    if (code == CLI_CLEAN && ct_cover_write(stdout, cover) != CT_OK)
        code = cli_library_error(args->ctx);
    ct_cover_free(cover);
    return code;
}

const struct cli_command cli_command_merge = {
    .name = "merge",
    .summary = "add up coverage files",
    .rest = "FILE...",
    .about =
        "Adds up the counts of coverage files, which 'coretap cover --format data' writes, and prints one of "
        "the "
        "same kind: by program, told apart by build id, and context. What was lost in their captures adds up "
        "too. "
        "Their format is in docs/formats.md. "
        "'coretap cover' makes reports of the result.",
    .run = run,
};
