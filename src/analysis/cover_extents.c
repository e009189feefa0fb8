/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memmem */
#include "analysis/cover_extents.h"
#include "base/room.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH        256u /* brackets in brackets; what is deeper is passed over */
#define LONGEST_CHAR 6u   /* bytes between the quotes of a character, which tell it from a lifetime of Rust */
#define LONGEST_MARK 16u  /* characters of the delimiter of a raw string */

/* The expression that is being read inside of one pair of brackets, or outside of all. */
struct frame {
    uint32_t first, last; /* lines of its first and last token; 0: none yet */
    char bracket;         /* 0 outside of all */
    bool controls;        /* the brackets of an if or a loop, after which a statement begins */
    bool decides;         /* it has && or || */
    bool goes_on;         /* the last token was && or || */
};

struct reader {
    struct ct_cover_extents *extents;
    const char *at, *end;
    uint32_t line;
    unsigned depth; /* of the innermost frame */
    struct frame frames[DEPTH];
    bool line_begins; /* only blanks so far */
    bool controls;    /* the last token was `if` or the like */
    bool failed;
};

static struct frame *top(struct reader *r)
{
    return &r->frames[r->depth < DEPTH ? r->depth : DEPTH - 1];
}

/* Ends the expression, and keeps its lines when it decides. */
static void end_expression(struct reader *r)
{
    struct frame *frame = top(r);
    struct ct_cover_extents *extents = r->extents;
    if (frame->decides && frame->last > frame->first) {
        if (CT_MAKE_ROOM(extents->all, extents->room, extents->count + 1))
            extents->all[extents->count++] = (struct ct_cover_extent){frame->first, frame->last};
        else
            r->failed = true;
    }
    *frame = (struct frame){.bracket = frame->bracket, .controls = frame->controls};
}

/* Adds a token to the expression. A line ends a statement unless && or || stand at its end or begin the next
 * one. */
static void add_token(struct reader *r, bool decides)
{
    struct frame *frame = top(r);
    const bool in_statement = !frame->bracket || frame->bracket == '{';
    if (in_statement && frame->first && r->line > frame->last && !frame->goes_on && !decides)
        end_expression(r);
    if (!frame->first)
        frame->first = r->line;
    frame->last = r->line;
    frame->goes_on = decides;
    frame->decides |= decides;
}

/* && or ||. At the begin of an expression it is a reference, or a closure of Rust. */
static void add_operator(struct reader *r)
{
    if (top(r)->first)
        add_token(r, true);
}

static void open_bracket(struct reader *r, char bracket)
{
    if (bracket == '{')
        end_expression(r);
    else
        add_token(r, false);
    if (++r->depth < DEPTH)
        r->frames[r->depth] = (struct frame){.bracket = bracket, .controls = r->controls};
}

/* Closes the innermost open bracket of this kind. Inside of braces there is none of another kind: the text
 * may have both branches of an #if. */
static void close_bracket(struct reader *r, char bracket)
{
    unsigned depth = r->depth;
    if (depth >= DEPTH) {
        r->depth--;
        return;
    }
    while (depth && r->frames[depth].bracket != bracket &&
           (bracket == '{' || r->frames[depth].bracket != '{'))
        depth--;
    if (!depth || r->frames[depth].bracket != bracket)
        return;
    while (r->depth >= depth) {
        const bool controls = top(r)->controls;
        end_expression(r);
        r->depth--;
        if (bracket == '{' || controls)
            end_expression(r);
        else
            top(r)->last = r->line;
    }
}

/* ---- tokens ---- */

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c & 0x80;
}

static char peek(const struct reader *r, size_t ahead)
{
    return (size_t)(r->end - r->at) > ahead ? r->at[ahead] : 0;
}

static bool is_next(const struct reader *r, const char *text)
{
    const size_t size = strlen(text);
    return (size_t)(r->end - r->at) >= size && memcmp(r->at, text, size) == 0;
}

/* Goes on to `to`, and counts the lines in between. */
static void skip_to(struct reader *r, const char *to)
{
    for (; r->at < to; r->at++)
        r->line += *r->at == '\n';
}

/* Skips a text up to the end of `mark`, or of the file. */
static void skip_past(struct reader *r, const char *mark, size_t size)
{
    const char *found = memmem(r->at, (size_t)(r->end - r->at), mark, size);
    skip_to(r, found ? found + size : r->end);
}

/* Skips a line of the preprocessor, which may go on after a backslash, or a comment of one line. */
static void skip_line(struct reader *r)
{
    for (; r->at < r->end && *r->at != '\n'; r->at++)
        if (*r->at == '\\' && (peek(r, 1) == '\n' || (peek(r, 1) == '\r' && peek(r, 2) == '\n'))) {
            r->at += peek(r, 1) == '\r' ? 2 : 1;
            r->line++;
        }
}

/* Skips a text in quotes. */
static void skip_quoted(struct reader *r, char quote)
{
    const char *at = r->at + 1;
    while (at < r->end && *at != quote)
        at += *at == '\\' && r->end - at > 1 ? 2 : 1;
    skip_to(r, at < r->end ? at + 1 : r->end);
}

/* Skips a character in quotes, or only the first one of a lifetime of Rust. */
static void skip_character(struct reader *r)
{
    size_t size = 1;
    while (size <= LONGEST_CHAR && peek(r, size) && peek(r, size) != '\'' && peek(r, size) != '\n')
        size++;
    if (peek(r, 1) == '\\' || peek(r, size) == '\'')
        skip_quoted(r, '\'');
    else
        r->at++;
}

/* Skips R"mark(...)mark", whose first quote is next. Where a quote or the end of the file comes before the
 * bracket, it is an ordinary string behind the name of a macro. */
static void skip_raw(struct reader *r)
{
    char end[LONGEST_MARK + 2] = ")";
    size_t size = 0;
    while (size < LONGEST_MARK && !strchr("(\"", peek(r, size + 1))) {
        end[size + 1] = peek(r, size + 1);
        size++;
    }
    end[size + 1] = '"';
    if (peek(r, size + 1) == '(')
        skip_past(r, end, size + 2);
    else
        skip_quoted(r, '"');
}

/* Skips the raw string of Rust that may be next: "...", or #"..."# with any number of #. */
static void skip_hashed(struct reader *r)
{
    char end[LONGEST_MARK + 1] = "\"";
    size_t size = 0;
    while (size < LONGEST_MARK && peek(r, size) == '#')
        end[++size] = '#';
    if (peek(r, size) != '"')
        return;
    r->at += size + 1;
    skip_past(r, end, size + 1);
}

static bool is_one_of(const char *word, size_t size, const char *const *words)
{
    for (; *words; words++)
        if (strlen(*words) == size && memcmp(*words, word, size) == 0)
            return true;
    return false;
}

static void read_word(struct reader *r)
{
    static const char *const controls[] = {"if", "while", "for", "switch", "constexpr", NULL};
    static const char *const begins[] = {"return", "else", "do", "case", "match", "let", NULL};
    static const char *const operators[] = {"and", "or", NULL};
    static const char *const raw[] = {"r", "br", "cr", NULL};
    const char *word = r->at;
    const bool is_number = *word >= '0' && *word <= '9';
    while (r->at < r->end && (is_word(*r->at) || (is_number && *r->at == '\'')))
        r->at++;
    const size_t size = (size_t)(r->at - word);
    r->controls = is_one_of(word, size, controls);
    if (r->at[-1] == 'R' && size <= 3 && peek(r, 0) == '"') {
        add_token(r, false);
        skip_raw(r);
    } else if (is_one_of(word, size, operators)) {
        add_operator(r);
    } else if (r->controls || is_one_of(word, size, begins)) {
        end_expression(r);
    } else {
        add_token(r, false);
        if (is_one_of(word, size, raw))
            skip_hashed(r);
    }
}

/* Reads a mark that is none of those that stand alone. Returns its size. */
static size_t read_mark(struct reader *r)
{
    static const char *const pairs[] = {"==", "<=", ">=", "!=", "::", "->"};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (is_next(r, pairs[i])) {
            add_token(r, false);
            return 2;
        }
    if (is_next(r, "&&") || is_next(r, "||")) {
        add_operator(r);
        return 2;
    }
    /* "?" ends an operand in Rust, and a condition elsewhere */
    const bool is_postfix = *r->at == '?' && peek(r, 1) && strchr(".;),", peek(r, 1));
    if (strchr(",;=:?", *r->at) && !is_postfix)
        end_expression(r);
    else
        add_token(r, false);
    return 1;
}

static void read_punctuation(struct reader *r)
{
    const char c = *r->at;
    if (c == '"') {
        add_token(r, false);
        skip_quoted(r, '"');
    } else if (c == '\'') {
        add_token(r, false);
        skip_character(r);
    } else if (c == '`' && memchr(r->at + 1, '`', (size_t)(r->end - r->at) - 1)) { /* a raw string of Go */
        add_token(r, false);
        r->at++;
        skip_past(r, "`", 1);
    } else if (strchr("([{", c)) {
        open_bracket(r, c);
        r->at++;
    } else if (strchr(")]}", c)) {
        close_bracket(r, c == ')' ? '(' : c == ']' ? '[' : '{');
        r->at++;
    } else {
        r->at += read_mark(r);
    }
    r->controls = false;
}

static void read_next(struct reader *r)
{
    const char c = *r->at;
    const bool line_begins = r->line_begins;
    if (c == '\n') {
        r->line_begins = true;
        skip_to(r, r->at + 1);
        return;
    }
    if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v' || c == '\\' || !c) {
        r->at++;
        return;
    }
    r->line_begins = false;
    if ((c == '#' && line_begins) || is_next(r, "//"))
        skip_line(r);
    else if (is_next(r, "/*"))
        skip_past(r, "*/", 2);
    else if (is_word(c))
        read_word(r);
    else
        read_punctuation(r);
}

static int by_line(const void *a, const void *b)
{
    const struct ct_cover_extent *x = a, *y = b;
    return ct_order(x->first, y->first) ?: ct_order(x->last, y->last);
}

/* Sorts the extents, and makes one of those that have a line in common: conditions of one line are those of
 * one decision. */
static void join(struct ct_cover_extents *extents)
{
    size_t n = 0;
    if (extents->count)
        qsort(extents->all, extents->count, sizeof *extents->all, by_line);
    for (size_t i = 0; i < extents->count; i++) {
        const struct ct_cover_extent extent = extents->all[i];
        struct ct_cover_extent *last = n ? &extents->all[n - 1] : NULL;
        if (!last || extent.first > last->last)
            extents->all[n++] = extent;
        else if (extent.last > last->last)
            last->last = extent.last;
    }
    extents->count = n;
}

bool ct_cover_extents_read(struct ct_cover_extents *extents, const char *text, size_t size)
{
    struct reader *r = calloc(1, sizeof *r);
    if (!r)
        return false;
    *r = (struct reader){.extents = extents, .at = text, .end = text + size, .line = 1, .line_begins = true};
    while (r->at < r->end && !r->failed)
        read_next(r);
    const bool failed = r->failed;
    free(r);
    join(extents);
    return !failed;
}
