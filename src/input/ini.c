/* SPDX-License-Identifier: Apache-2.0 */
/* Lines are split by inih. Its dialect differs a little from that of snapshots, so the line source that it
 * reads from adapts the text: comments begin at any ; or #, a key may contain colons ("TRCIDR1(id:0x079)"), a
 * line may be longer than inih's buffer, and leading blanks have no meaning. */
#include "input/ini.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLON_IN_KEY '\x1f' /* stands for ':' while a key passes through inih, which splits there */

struct parser {
    struct ct_ini_item item;
    ct_ini_fn *fn;
    void *user;
    const char *next, *end; /* of the text */
    char *section;          /* name of the current section; "" before the first */
    char *value;            /* the whole value, if inih only got its beginning */
    const char *tail;       /* of the current line: the rest after inih's buffer */
    size_t tail_size;
    int error;
};

static int blank(char c)
{
    return isspace((unsigned char)c);
}

/* Returns the next line, without comment and surrounding blanks. */
static const char *clean_line(struct parser *p, size_t *size)
{
    const char *line = p->next;
    const char *lf = memchr(line, '\n', (size_t)(p->end - line));
    const char *end = lf ? lf : p->end;
    p->next = lf ? lf + 1 : p->end;
    p->item.line++;
    if (p->item.line == 1 && end - line >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0)
        line += 3;
    for (const char *c = line; c < end; c++)
        if (*c == ';' || *c == '#')
            end = c;
    while (line < end && blank(*line))
        line++;
    while (line < end && blank(end[-1]))
        end--;
    *size = (size_t)(end - line);
    return line;
}

static char *set_text(struct parser *p, char **slot, const char *head, size_t head_size, const char *tail,
                      size_t tail_size)
{
    char *text = malloc(head_size + tail_size + 1);
    if (!text) {
        p->error = ct_fail_nomem(p->item.ctx, p->item.path);
        return NULL;
    }
    memcpy(text, head, head_size);
    memcpy(text + head_size, tail, tail_size);
    text[head_size + tail_size] = 0;
    free(*slot);
    *slot = text;
    return text;
}

static int line_fail(struct parser *p, const char *fact)
{
    p->error = ct_fail(p->item.ctx, CT_ERR_FORMAT, "%s:%u: %s; expected [section], key=value, or a comment",
                       p->item.path, p->item.line, fact);
    return p->error;
}

/* Enters a section. Its name is not taken from inih, which keeps only the first 49 characters, and the blanks
 * around it. */
static void enter_section(struct parser *p, const char *line, size_t size)
{
    if (size < 3 || line[size - 1] != ']') {
        line_fail(p, "the section header does not end with ]");
        return;
    }
    const char *name = line + 1;
    const char *end = line + size - 1;
    while (name < end && blank(*name))
        name++;
    while (name < end && blank(end[-1]))
        end--;
    if (!set_text(p, &p->section, name, (size_t)(end - name), "", 0))
        return;
    p->item.section = p->section;
    p->item.key = NULL;
    p->item.value = NULL;
    p->error = p->fn(p->user, &p->item);
}

/* Passes one line a call to inih, instead of fgets, so that inih's line numbers match. */
static char *read_line(char *str, int num, void *stream)
{
    struct parser *p = stream;
    if (p->error || p->next == p->end || num < 2)
        return NULL;
    size_t size;
    const char *line = clean_line(p, &size);
    if (memchr(line, 0, size)) {
        line_fail(p, "the line contains a NUL byte, so this is not a text file");
        return NULL;
    }
    if (size && line[0] == '[') {
        enter_section(p, line, size);
        size = 0;
    }
    size_t fit = size;
    if (fit > (size_t)num - 1)
        for (fit = (size_t)num - 1; fit && blank(line[fit - 1]);) /* inih drops trailing blanks */
            fit--;
    memcpy(str, line, fit);
    str[fit] = 0;
    p->tail = line + fit;
    p->tail_size = size - fit;
    for (char *c = str; *c && *c != '='; c++)
        if (*c == ':')
            *c = COLON_IN_KEY;
    if (size && !strchr(str, '=')) {
        line_fail(p, "the line has no =");
        return NULL;
    }
    return str;
}

static int on_item(void *user, const char *section, const char *name, const char *value)
{
    struct parser *p = user;
    (void)section;
    if (p->error)
        return 0;
    char key[256];
    snprintf(key, sizeof key, "%s", name);
    for (char *c = key; *c; c++)
        if (*c == COLON_IN_KEY)
            *c = ':';
    if (!set_text(p, &p->value, value, strlen(value), p->tail, p->tail_size))
        return 0;
    p->item.section = p->section ? p->section : "";
    p->item.key = key;
    p->item.value = p->value + strspn(p->value, " \t");
    p->error = *key ? p->fn(p->user, &p->item) : line_fail(p, "the line has no key before the =");
    return !p->error;
}

int ct_ini_parse(struct ct_ctx *ctx, const char *path, const char *text, size_t size, ct_ini_fn *fn,
                 void *user)
{
    struct parser p = {
        .item = {.ctx = ctx, .path = path},
        .fn = fn,
        .user = user,
        .next = text,
        .end = text + size,
    };
    int line = ini_parse_stream(read_line, &p, on_item, &p);
    if (!p.error && line > 0) {
        p.item.line = (unsigned)line;
        line_fail(&p, "the line cannot be parsed");
    }
    free(p.section);
    free(p.value);
    return p.error;
}

int ct_ini_fail(const struct ct_ini_item *item, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (!item->key)
        return ct_fail(item->ctx, CT_ERR_CONFIG, "%s:%u: [%.100s]: %s", item->path, item->line, item->section,
                       text);
    return ct_fail(item->ctx, CT_ERR_CONFIG, "%s:%u: %.100s=%.200s: %s", item->path, item->line, item->key,
                   item->value, text);
}

const char *ct_ini_unquote(const struct ct_ini_item *item)
{
    char *value = item->value;
    size_t size = strlen(value);
    if (value[0] != '"' && value[0] != '\'')
        return value;
    if (size < 2 || value[size - 1] != value[0]) {
        ct_fail(item->ctx, CT_ERR_FORMAT,
                "%s:%u: %.100s: a quotation mark is not closed (; and # begin a comment even inside "
                "quotation marks); close it",
                item->path, item->line, item->key);
        return NULL;
    }
    value[size - 1] = 0;
    return value + 1;
}

int ct_ini_number(const struct ct_ini_item *item, uint64_t max, uint64_t *out)
{
    const char *text = ct_ini_unquote(item);
    if (!text)
        return CT_ERR_FORMAT;
    int hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *digits = hex ? text + 2 : text;
    if (!*digits || digits[strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789")])
        return ct_ini_fail(item, "a number is expected, decimal or with 0x");
    errno = 0;
    uint64_t number = strtoull(digits, NULL, hex ? 16 : 10);
    if (errno || number > max)
        return ct_ini_fail(item, "the number is too large; the maximum is 0x%llx", (unsigned long long)max);
    *out = number;
    return CT_OK;
}
