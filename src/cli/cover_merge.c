/* SPDX-License-Identifier: Apache-2.0 */
/* coretap merge: coverage files, added up. */
#include "cli/commands.h"
#include "cli/cover.h"
#include "cli/output.h"
#include "cli/text_file.h"

#include <errno.h>
#include <stdlib.h>

bool cli_cover_is_file(const char *path)
{
    char start[32];
    errno = 0;
    FILE *file = fopen(path, "rb");
    if (!file && errno == ENOMEM)
        cli_no_memory();
    const size_t got = file ? fread(start, 1, sizeof start, file) : 0;
    if (file)
        fclose(file);
    return ct_analysis_is_saved(ct_cover_kind(), start, got);
}

bool cli_cover_read(struct ct_ctx *ctx, struct ct_cover *cover, const char *path)
{
    size_t size;
    char *text = cli_read_file(path, SIZE_MAX, &size);
    if (!text)
        return false;
    int result = ct_analysis_load(ct_cover_analysis(cover), path, text, size);
    free(text);
    if (result != CT_OK)
        cli_library_error(ctx);
    return result == CT_OK;
}

int cli_cover_write(struct ct_ctx *ctx, struct ct_cover *cover, FILE *out)
{
    const int rc = ct_analysis_save(ct_cover_analysis(cover), cli_output_write, out);
    /* A file that cannot be written is told of at the end of the command. */
    return rc && rc != CT_ERR_IO ? cli_library_error(ctx) : CLI_CLEAN;
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
    if (code == CLI_CLEAN)
        code = cli_cover_write(args->ctx, cover, stdout);
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
