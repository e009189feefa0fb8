/* SPDX-License-Identifier: Apache-2.0 */
#include "tessla_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char MARK[] = "---8<---\n";

enum {
    CHANGES_MOST = 4,
    EVENTS_MOST = 16,
    INPUTS_MOST = 16,
};

struct token {
    const char *p;
    size_t n;
};

struct tessla_spec {
    struct token *tokens;
    size_t count;
};

static void add_bytes(struct tessla_text *t, const char *p, size_t n)
{
    if (n > sizeof t->p - t->n)
        return;
    memcpy(t->p + t->n, p, n);
    t->n += n;
}

void tessla_add(struct tessla_text *t, const char *text)
{
    add_bytes(t, text, strlen(text));
}

void tessla_add_format(struct tessla_text *t, const char *format, ...)
{
    char line[256];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    tessla_add(t, line);
}

unsigned tessla_below(struct tessla_text *t, unsigned n)
{
    return rng_below(&t->rng, n);
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_operator(char c)
{
    return c && strchr("<>=!&|:+-*/.", c);
}

/* Returns the size of a token: a word, a run of blanks, an operator of up to three characters, or a single
 * character. Changes keep tokens whole. */
static size_t token_size(const char *p, const char *end)
{
    const char *q = p + 1;
    if (is_word(*p))
        while (q < end && is_word(*q))
            q++;
    else if (*p == ' ')
        while (q < end && *q == ' ')
            q++;
    else if (is_operator(*p))
        while (q < end && q - p < 3 && is_operator(*q))
            q++;
    return (size_t)(q - p);
}

static bool add_spec(struct tessla_corpus *c, const char *from, const char *to)
{
    struct tessla_spec *specs = realloc(c->specs, (c->count + 1) * sizeof *specs);
    if (!specs)
        return false;
    c->specs = specs;
    struct tessla_spec s = {.tokens = malloc((size_t)(to - from) * sizeof *s.tokens)};
    if (!s.tokens)
        return false;
    for (size_t n; from < to; from += n) {
        n = token_size(from, to);
        s.tokens[s.count++] = (struct token){from, n};
    }
    c->specs[c->count++] = s;
    return true;
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    rewind(file);
    char *text = size < 0 ? NULL : malloc((size_t)size + 1);
    if (text)
        text[fread(text, 1, (size_t)size, file)] = 0;
    fclose(file);
    return text;
}

bool tessla_corpus_read(struct tessla_corpus *c, const char *path)
{
    *c = (struct tessla_corpus){.text = read_text(path)};
    bool fine = c->text;
    for (const char *p = c->text; fine && *p;) {
        const char *mark = strstr(p, MARK), *end = mark ? mark : p + strlen(p);
        fine = end == p || add_spec(c, p, end);
        p = mark ? mark + sizeof MARK - 1 : end;
    }
    return fine && c->count;
}

void tessla_corpus_free(struct tessla_corpus *c)
{
    for (size_t i = 0; i < c->count; i++)
        free(c->specs[i].tokens);
    free(c->specs);
    free(c->text);
}

static const struct tessla_spec *any_spec(struct tessla_text *t, const struct tessla_corpus *c)
{
    return &c->specs[tessla_below(t, (unsigned)c->count)];
}

static void add_tokens(struct tessla_text *t, const struct tessla_spec *s, size_t from, size_t n)
{
    for (size_t i = from; i < from + n && i < s->count; i++)
        add_bytes(t, s->tokens[i].p, s->tokens[i].n);
}

static void add_symbol(struct tessla_text *t)
{
    TESSLA_PICK(t, "(", ")", "[", "]", "{", "}", ",", ":", "=", ":=", "=>", "\"", "${", "$", "@", ".", "\n",
                "--", "#", "static if", "if", "then", "else", "def ", "define ", "where", "out *", "in ",
                "Events[", "type ", "module ", "__builtin__(", "__root__.", "monitor(", "clock", "on ",
                "weak ", "until ");
}

static void add_literal(struct tessla_text *t)
{
    TESSLA_PICK(t, "0", "1", "-1", "16", "17", "64", "9223372036854775807", "9223372036854775808",
                "123456789012345678901234567890123456789012345678901234567890123", "0xffffffffffffffffffff",
                "1.5", "1e300", "true", "()", "None", "5ns", "\"%d\"", "next[", "next[16] ",
                "holding[<=", "within[3]", "within[>=16] ", "nil[Int]", "List.empty[Int]", "Int", "String",
                "Option[Int]");
}

/* Puts something before token i of s, or replaces it. Returns how many tokens of s are consumed. */
static size_t change(struct tessla_text *t, const struct tessla_corpus *c, const struct tessla_spec *s,
                     size_t i)
{
    const struct tessla_spec *from = tessla_below(t, 2) ? s : any_spec(t, c);
    const size_t at = tessla_below(t, (unsigned)from->count);
    const size_t n = 1 + tessla_below(t, tessla_below(t, 4) ? 3 : 20);
    switch (tessla_below(t, 7)) {
    case 0:
        return n;
    case 1:
        add_tokens(t, s, i, 1);
        return 0;
    case 2:
        add_tokens(t, from, at, n);
        return 1;
    case 3:
        add_tokens(t, from, at, n);
        return 0;
    case 4:
        add_symbol(t);
        return tessla_below(t, 2);
    case 5:
        add_literal(t);
        return tessla_below(t, 2);
    default:
        return 1;
    }
}

static void add_changed(struct tessla_text *t, const struct tessla_corpus *c)
{
    const struct tessla_spec *s = any_spec(t, c);
    const unsigned changes = tessla_below(t, 2) ? 1 : 1 + tessla_below(t, CHANGES_MOST);
    size_t at[CHANGES_MOST];
    for (unsigned k = 0; k < changes; k++)
        at[k] = tessla_below(t, (unsigned)s->count);
    for (size_t i = 0; i < s->count;) {
        size_t taken = 0;
        for (unsigned k = 0; k < changes && !taken; k++)
            if (at[k] == i)
                taken = change(t, c, s, i);
        if (!taken)
            add_tokens(t, s, i, 1);
        i += taken ? taken : 1;
    }
}

static void add_wild_event(struct tessla_text *t)
{
    TESSLA_PICK(t, "x = 1", "x = \"text\"", "x = (1, 2)", "b = None", "c", "c = ()", "f = NaN", "s = \"$t\"",
                "nobody = 1", "x =", "= 1", "x = 1 / 0", "x = t * t", "s = 1.5");
}

/* Adds an event of the input declared at `line` ("in x: Events[Int]"), with a value of its type. */
static void add_event(struct tessla_text *t, const char *line)
{
    const size_t name = strcspn(line, ": \n");
    const char *type = line + strcspn(line, "[\n");
    add_bytes(t, line, name);
    if (!strncmp(type, "[Int]", 5))
        TESSLA_PICK(t, " = 0", " = 1", " = -5", " = 3", " = 64", " = 9223372036854775807",
                    " = 9223372036854775808", " = -123456789012345678901234567890");
    else if (!strncmp(type, "[Bool]", 6))
        TESSLA_PICK(t, " = true", " = false");
    else if (!strncmp(type, "[Float]", 7))
        TESSLA_PICK(t, " = 1.5", " = -0.0", " = 1e300", " = NaN", " = Infinity");
    else if (!strncmp(type, "[String]", 8))
        TESSLA_PICK(t, " = \"\"", " = \"q\"", " = \"$t\"", " = \"%d\"");
    else if (strncmp(type, "[Unit]", 6) != 0)
        TESSLA_PICK(t, " = None", " = Some(1)", " = (1, 2)", " = {a = 1}", " = List(1)");
}

/* Finds the declarations of inputs in the text and returns their number. Each line begins with the name. */
static unsigned find_inputs(const struct tessla_text *t, const char **lines)
{
    unsigned n = 0;
    for (const char *p = t->p + 1; p && n < INPUTS_MOST; p = strchr(p, '\n')) {
        p += *p == '\n';
        if (!strncmp(p, "in ", 3))
            lines[n++] = p + 3;
    }
    return n;
}

static void add_trace(struct tessla_text *t)
{
    const char *inputs[INPUTS_MOST];
    t->p[t->n < sizeof t->p ? t->n : sizeof t->p - 1] = 0;
    const unsigned count = find_inputs(t, inputs);
    unsigned time = tessla_below(t, 3);
    tessla_add(t, "\n");
    tessla_add(t, MARK);
    for (unsigned i = tessla_below(t, EVENTS_MOST); i > 0; i--) {
        time += tessla_below(t, 4);
        tessla_add_format(t, "%u: ", time);
        if (!count || !tessla_below(t, 64))
            add_wild_event(t);
        else
            add_event(t, inputs[tessla_below(t, count)]);
        tessla_add(t, "\n");
    }
}

void tessla_text_make(struct tessla_text *t, const struct tessla_corpus *c)
{
    t->n = 0;
    const char options = (char)(tessla_below(t, 2) ? 0 : tessla_below(t, 256));
    add_bytes(t, &options, 1);
    const unsigned kind = tessla_below(t, 8);
    if (kind < 4)
        add_changed(t, c);
    else if (kind < 7)
        tessla_add_tree(t);
    else
        tessla_add_watch_tree(t);
    add_trace(t);
}
