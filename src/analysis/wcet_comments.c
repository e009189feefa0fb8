/* SPDX-License-Identifier: Apache-2.0 */
/* Reads bounds from the source: "loop bound: N" in a comment, or the pragma "loopbound min M max N" of
 * TACLeBench, on the line of a loop or alone on the line above. For a line that the source repeats N times,
 * the code may run the head once more, to find that the loop is over. */
#define _GNU_SOURCE /* memmem */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/wcet.h"
#include "base/ctx.h"
#include "base/require.h"
#include "base/room.h"

/* The bounds in one file. */
struct source {
    struct ct_wcet_comment *bounds; /* by line */
    uint32_t count;
};

/* Returns the place behind the words in a line, or NULL. */
static const char *behind(const char *line, const char *end, const char *words)
{
    const char *at = memmem(line, (size_t)(end - line), words, strlen(words));
    return at ? at + strlen(words) : NULL;
}

/* Returns the bound in a line, or 0 without one up to 2^31. */
static uint64_t bound_in(const char *line, const char *end)
{
    const char *at = behind(line, end, "loop bound");
    const char *pragma = at ? NULL : behind(line, end, "loopbound");
    uint64_t bound = 0;
    if (pragma)
        at = behind(pragma, end, "max");
    if (!at)
        return 0;
    while (at < end && (*at == ':' || *at == '=' || *at == ' '))
        at++;
    for (; at < end && isdigit((unsigned char)*at) && bound <= INT32_MAX; at++)
        bound = bound * 10 + (uint64_t)(*at - '0');
    return bound <= INT32_MAX ? bound : 0;
}

/* Returns whether a line begins with a comment or a pragma. */
static bool is_alone(const char *line, const char *end)
{
    static const char *const begins[] = {"/*", "//", "*", "#pragma", "_Pragma"};
    while (line < end && isspace((unsigned char)*line))
        line++;
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if ((size_t)(end - line) >= strlen(begins[i]) && memcmp(line, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

int ct_wcet_comment_bounds(const char *text, size_t size, struct ct_wcet_comment **bounds, uint32_t *count)
{
    const char *end = text + size;
    size_t room = 0;
    *bounds = NULL;
    *count = 0;
    while (text < end) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        if (!line_end)
            line_end = end;
        if (!CT_MAKE_ROOM(*bounds, room, *count + (size_t)1))
            return CT_ERR_NOMEM;
        (*bounds)[(*count)++] = (struct ct_wcet_comment){bound_in(text, line_end), is_alone(text, line_end)};
        text = line_end + (line_end < end);
    }
    return CT_OK;
}

/* Reads the bounds of one file. A file that ct_lines_source cannot read has none. CT_ERR_NOMEM. */
static int read_source(const struct ct_lines *lines, uint32_t file, struct source *out)
{
    char *text;
    size_t size;
    *out = (struct source){0};
    int rc = ct_lines_source(lines, file, &text, &size);
    if (rc)
        return rc == CT_ERR_NOMEM ? rc : CT_OK;
    rc = ct_wcet_comment_bounds(text, size, &out->bounds, &out->count);
    free(text);
    return rc;
}

/* Returns the bound that the source gives for a line, or 0. */
static uint64_t bound_at(const struct source *source, uint32_t line)
{
    if (line > source->count)
        return 0;
    if (source->bounds[line - 1].bound)
        return source->bounds[line - 1].bound;
    return line > 1 && source->bounds[line - 2].is_alone ? source->bounds[line - 2].bound : 0;
}

/* Takes the bound of a loop. Refuses it when the trace contradicts it, and for a loop that jumps back from
 * several places: compilers make one loop of two whose heads have the same code, and one bound is not that of
 * both. */
static void look_at_loop(const struct ct_wcet *w, uint32_t number, const struct source *sources)
{
    struct ct_wcet_loop *loop = &w->loops[number];
    const uint64_t bound = loop->line ? bound_at(&sources[loop->file], loop->line) : 0;
    const uint64_t heads = bound + !loop->left_at_end;
    if (!bound || loop->origin == CT_WCET_USER)
        return;
    if (loop->backs == 1 && !ct_wcet_exceeds(w, number, heads)) {
        loop->bound = heads;
        loop->origin = CT_WCET_COMMENT;
        return;
    }
    const char *file = ct_lines_file(w->lines, loop->file);
    if (loop->backs == 1)
        ct_log(w->ctx, CT_LOG_WARNING,
               "%s:%" PRIu32 ": the bound of this loop in the source, %" PRIu64
               ", is not used, because the head of the loop ran %" PRIu64
               " times for one entry in the trace; correct the source",
               file, loop->line, bound, loop->observed);
    else
        ct_log(
            w->ctx, CT_LOG_NOTE,
            "%s:%" PRIu32 ": the bound of this loop in the source is not used, because its code jumps back "
            "from %" PRIu32 " places, which may be more than one loop of the source; give the bound of all "
            "its rounds in the file of bounds",
            file, loop->line, loop->backs);
}

int ct_wcet_comments(struct ct_wcet *w)
{
    CT_REQUIRE(NULL, w);
    int rc = ct_wcet_make_loops(w);
    uint32_t count = w->lines ? ct_lines_file_count(w->lines) : 0;
    struct source *sources = calloc(count + 1, sizeof *sources);
    if (!sources)
        rc = CT_ERR_NOMEM;
    for (uint32_t i = 0; !rc && i < count; i++)
        rc = read_source(w->lines, i, &sources[i]);
    for (uint32_t l = 0; !rc && count && l < w->loop_count; l++)
        look_at_loop(w, l, sources);
    for (uint32_t i = 0; sources && i < count; i++)
        free(sources[i].bounds);
    free(sources);
    return rc ? ct_fail_nomem(w->ctx, "wcet") : CT_OK;
}
