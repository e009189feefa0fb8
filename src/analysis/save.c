/* SPDX-License-Identifier: Apache-2.0 */
/* Saves results as lines of text, first those about captures. The last line is a checksum of all lines before
 * it. */
#include "coretap/analysis.h"

#include "analysis/saved.h"
#include "base/ctx.h"
#include "base/fnv.h"
#include "base/require.h"
#include "base/word_sum.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 65536

struct ct_save {
    struct ct_ctx *ctx;
    ct_write_fn *write;
    void *user;
    char *text; /* text that is not written yet */
    size_t used, room;
    bool in_words; /* which of both sums is that of the file */
    uint64_t sum;
    struct ct_word_sum words;
    int result;
};

/* Writes the first bytes of the text, and adds them to the sum. */
static void flush(struct ct_save *to, size_t size)
{
    if (!size)
        return;
    if (to->in_words)
        ct_word_sum_add(&to->words, to->text, size);
    else
        to->sum = ct_fnv(to->sum, to->text, size);
    if (!to->result)
        to->result = to->write(to->user, to->text, size);
    to->used -= size;
    memmove(to->text, to->text + size, to->used);
}

/* Makes room for a line of `size` bytes. CT_ERR_NOMEM. */
static int make_room(struct ct_save *to, size_t size)
{
    if (to->room - to->used >= size)
        return CT_OK;
    flush(to, to->used - to->used % CT_WORD_SUM_BLOCK);
    if (to->room - to->used >= size)
        return CT_OK;
    const size_t room = size > FIRST_ROOM / 2 ? 2 * size + FIRST_ROOM : FIRST_ROOM;
    char *text = realloc(to->text, room);
    if (!text)
        return ct_fail_nomem(to->ctx, "saving");
    to->text = text;
    to->room = room;
    return CT_OK;
}

/* Formats a line behind the text, truncated to the room. Returns the size of the whole line with its
 * newline. */
static size_t format_line(const struct ct_save *to, const char *format, va_list args)
{
    const size_t room = to->room - to->used;
    const int size = vsnprintf(room ? to->text + to->used : NULL, room, format, args);
    return (size_t)size + 1;
}

int ct_save_line(struct ct_save *to, const char *format, ...)
{
    CT_REQUIRE(NULL, to, format);
    va_list args;
    va_start(args, format);
    const size_t size = format_line(to, format, args);
    va_end(args);
    if (!to->result && to->room - to->used < size) {
        to->result = make_room(to, size);
        va_start(args, format);
        if (!to->result)
            format_line(to, format, args);
        va_end(args);
    }
    if (to->result)
        return to->result;
    to->used += size;
    to->text[to->used - 1] = '\n';
    return CT_OK;
}

char *ct_save_begin(struct ct_save *to, size_t most)
{
    if (!to->result)
        to->result = make_room(to, most + 1);
    return to->result ? NULL : to->text + to->used;
}

void ct_save_end(struct ct_save *to, char *end)
{
    *end++ = '\n';
    to->used = (size_t)(end - to->text);
}

static void save_lost(struct ct_save *to, const char *kind, uint64_t count)
{
    if (count)
        ct_save_line(to, "lost %s %" PRIu64, kind, count);
}

/* Writes the lines about captures. Leaves out numbers that are 0, except the number of captures. */
static void save_captures(struct ct_save *to, const struct ct_analysis_captures *captures)
{
    const struct ct_losses *lost = &captures->losses;
    ct_save_line(to, "captures %" PRIu64, captures->known);
    if (captures->damaged)
        ct_save_line(to, "damaged %" PRIu64, captures->damaged);
    if (captures->unknown)
        ct_save_line(to, "unknown %" PRIu64, captures->unknown);
    if (captures->failed)
        ct_save_line(to, "failed %" PRIu64, captures->failed);
    save_lost(to, "gaps", lost->gaps);
    save_lost(to, "overflows", lost->overflows);
    save_lost(to, "contradictions", lost->contradictions);
    save_lost(to, "bad_packets", lost->bad_packets);
    save_lost(to, "lost_bytes", lost->lost_bytes);
    save_lost(to, "no_access", lost->no_access);
}

int ct_analysis_save(struct ct_analysis *analysis, ct_write_fn *write, void *user)
{
    CT_REQUIRE_OF(analysis, write);
    const struct ct_analysis_kind *kind = analysis->kind;
    struct ct_save to = {.ctx = analysis->ctx,
                         .write = write,
                         .user = user,
                         .in_words = ct_saved_has_words(kind, kind->version),
                         .sum = CT_FNV_BEGIN};
    ct_save_line(&to, "coretap-%s %u", kind->name, kind->version);
    save_captures(&to, &analysis->captures);
    ct_save_runs(&to, analysis);
    const int rc = kind->save(analysis, &to);
    flush(&to, to.used);
    if (kind->version >= kind->checked)
        ct_save_line(&to, "end %016" PRIx64, to.in_words ? ct_word_sum_end(&to.words) : to.sum);
    flush(&to, to.used);
    free(to.text);
    return rc ? rc : to.result;
}
