/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the decisions of a program that go on over several lines, and the line on which each begins. */
#include "analysis/cover.h"
#include "base/ctx.h"
#include "base/require.h"
#include "base/search.h"

#include <stdlib.h>

struct file {
    struct ct_cover_extents extents;
    bool has_code;
    bool is_read;
};

struct ct_cover_decisions {
    uint32_t count;
    struct file files[];
};

void ct_cover_decisions_free(struct ct_cover_decisions *decisions)
{
    for (uint32_t i = 0; decisions && i < decisions->count; i++)
        free(decisions->files[i].extents.all);
    free(decisions);
}

/* Reads the source of one file. Returns false when out of memory. */
static bool read_file(struct file *file, const struct ct_lines *lines, uint32_t number)
{
    char *text;
    size_t size;
    const int rc = ct_lines_source(lines, number, &text, &size);
    if (rc)
        return rc != CT_ERR_NOMEM;
    file->is_read = true;
    const bool done = ct_cover_extents_read(&file->extents, text, size);
    free(text);
    return done;
}

int ct_cover_decisions_new(struct ct_ctx *ctx, const struct ct_lines *lines, struct ct_cover_decisions **out)
{
    CT_REQUIRE_OUT(ctx, out, lines);
    size_t rows;
    const struct ct_line *row = ct_lines_all(lines, &rows);
    const uint32_t count = ct_lines_file_count(lines);
    struct ct_cover_decisions *decisions = calloc(1, sizeof *decisions + count * sizeof *decisions->files);
    if (!decisions)
        return ct_fail_nomem(ctx, "coverage");
    decisions->count = count;
    for (size_t i = 0; i < rows; i++)
        if (row[i].file < count)
            decisions->files[row[i].file].has_code = true;
    for (uint32_t i = 0; i < count; i++)
        if (decisions->files[i].has_code && !read_file(&decisions->files[i], lines, i)) {
            ct_cover_decisions_free(decisions);
            return ct_fail_nomem(ctx, "coverage");
        }
    *out = decisions;
    return CT_OK;
}

bool ct_cover_is_read(const struct ct_cover_decisions *decisions, uint32_t file)
{
    return file < decisions->count && decisions->files[file].is_read;
}

struct ct_cover_extent ct_cover_decision_at(const struct ct_cover_decisions *decisions, uint32_t file,
                                            uint32_t line)
{
    const struct ct_cover_extents *extents =
        decisions && file < decisions->count ? &decisions->files[file].extents : NULL;
    const size_t at = extents ? CT_COUNT_WHILE(extents->count, i, extents->all[i].last < line) : 0;
    if (extents && at < extents->count && extents->all[at].first <= line)
        return extents->all[at];
    return (struct ct_cover_extent){line, line};
}
