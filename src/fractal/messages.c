/* SPDX-License-Identifier: Apache-2.0 */
/* Names of operations, and recorded message streams as text: time,op,initiator,kind,addr,value. */
#include "base/ctx.h"
#include "coretap/fractal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const op_name[CT_FRACTAL_OP_COUNT] = {
    "ReadOnce",   "ReadShared",  "ReadClean",    "ReadNotSharedDirty",
    "ReadUnique", "CleanShared", "CleanInvalid", "MakeInvalid",
    "Write",      "WriteBack",   "TlbiVa",       "TlbiVaLast",
    "TlbiVaAll",  "TlbiAsid",    "TlbiAll",      "IciVa",
    "Data",       "RegWrite",
};

const char *ct_fractal_op_name(unsigned op)
{
    return op < CT_FRACTAL_OP_COUNT ? op_name[op] : "?";
}

int ct_fractal_op_by_name(const char *name)
{
    if (!name)
        return CT_ERR_ARG;
    for (int i = 0; i < CT_FRACTAL_OP_COUNT; i++)
        if (!strcmp(op_name[i], name))
            return i;
    return CT_ERR_NOT_FOUND;
}

const char *ct_fractal_command_name(unsigned kind)
{
    static const char *const name[CT_FRACTAL_CMD_KIND_COUNT] = {"Read", "Peek",   "Clean",
                                                                "Ici",  "TlbiVa", "TlbiAsid"};
    return kind < CT_FRACTAL_CMD_KIND_COUNT ? name[kind] : "?";
}

/* A cursor over one line of text. */
struct text {
    const char *at, *end;
};

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Reads a number, decimal or, after 0x, hexadecimal. 0: there is none, or it has more than 64 bits. */
static int number(struct text *t, uint64_t *out)
{
    unsigned base = 10;
    if (t->end - t->at > 2 && t->at[0] == '0' && t->at[1] == 'x') {
        base = 16;
        t->at += 2;
    }
    const char *first = t->at;
    uint64_t v = 0;
    for (; t->at < t->end; t->at++) {
        const int d = hex_digit(*t->at);
        if (d < 0 || (unsigned)d >= base)
            break;
        if (v > (UINT64_MAX - (unsigned)d) / base)
            return 0;
        v = v * base + (unsigned)d;
    }
    *out = v;
    return t->at > first;
}

static int comma(struct text *t)
{
    return t->at < t->end && *t->at++ == ',';
}

static int op_word(struct text *t, uint8_t *out)
{
    char word[24];
    size_t n = 0;
    while (t->at < t->end && *t->at != ',' && n + 1 < sizeof word)
        word[n++] = *t->at++;
    word[n] = 0;
    const int op = ct_fractal_op_by_name(word);
    *out = (uint8_t)op;
    return op >= 0;
}

static int kind_letter(struct text *t, uint8_t *out)
{
    const char c = t->at < t->end ? *t->at++ : 0;
    *out = c == 'I' ? CT_FRACTAL_KIND_INSN : c == 'D' ? CT_FRACTAL_KIND_DATA : CT_FRACTAL_KIND_UNKNOWN;
    return c == 'I' || c == 'D' || c == '-';
}

/* Reads the content of a line, 128 hexadecimal digits: eight words, each as its value is written. */
static int content(struct text *t, uint64_t line[CT_FRACTAL_LINE_WORDS])
{
    if (t->end - t->at < 2 * CT_FRACTAL_LINE)
        return 0;
    for (int i = 0; i < CT_FRACTAL_LINE_WORDS; i++) {
        line[i] = 0;
        for (int d = 0; d < 16; d++) {
            const int digit = hex_digit(*t->at++);
            if (digit < 0)
                return 0;
            line[i] = line[i] << 4 | (unsigned)digit;
        }
    }
    return 1;
}

int ct_fractal_message_parse(struct ct_ctx *ctx, const char *text, size_t length,
                             struct ct_fractal_message *m, uint64_t line[CT_FRACTAL_LINE_WORDS])
{
    if ((!text && length) || !m || !line)
        return ct_fail_null(ctx, __func__);
    struct text t = {text, text + length};
    uint64_t initiator;
    memset(m, 0, sizeof *m);
    const char *wrong = NULL;
    if (!number(&t, &m->time) || !comma(&t))
        wrong = "time: a number is expected";
    else if (!op_word(&t, &m->op) || !comma(&t))
        wrong = "op: no such operation";
    else if (!number(&t, &initiator) || initiator > 63 || !comma(&t))
        wrong = "initiator: 0 to 63 is expected";
    else if (!kind_letter(&t, &m->kind) || !comma(&t))
        wrong = "kind: I, D or - is expected";
    else if (!number(&t, &m->addr) || !comma(&t))
        wrong = "addr: a number is expected";
    else if (m->op == CT_FRACTAL_DATA ? !content(&t, line) : !number(&t, &m->value))
        wrong = m->op == CT_FRACTAL_DATA ? "value: 128 hexadecimal digits are expected"
                                         : "value: a number is expected";
    else if (t.at != t.end)
        wrong = "characters after the last field";
    if (wrong)
        return ct_fail(ctx, CT_ERR_FORMAT, "column %zu: %s", (size_t)(t.at - text) + 1, wrong);
    m->initiator = (uint8_t)initiator;
    return CT_OK;
}

size_t ct_fractal_message_print(const struct ct_fractal_message *m,
                                const uint64_t line[CT_FRACTAL_LINE_WORDS], char out[256])
{
    if (!m)
        return 0;
    int n = snprintf(out, 256, "%" PRIu64 ",%s,%u,%c,0x%" PRIx64 ",", m->time, ct_fractal_op_name(m->op),
                     m->initiator,
                     m->kind == CT_FRACTAL_KIND_INSN   ? 'I'
                     : m->kind == CT_FRACTAL_KIND_DATA ? 'D'
                                                       : '-',
                     m->addr);
    if (m->op != CT_FRACTAL_DATA)
        return (size_t)n + (size_t)snprintf(out + n, 256 - (size_t)n, "0x%" PRIx64, m->value);
    for (int i = 0; i < CT_FRACTAL_LINE_WORDS; i++)
        n += snprintf(out + n, 256 - (size_t)n, "%016" PRIx64, line[i]);
    return (size_t)n;
}
