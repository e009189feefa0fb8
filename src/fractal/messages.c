/* SPDX-License-Identifier: Apache-2.0 */
/* Names of operations, and recorded message streams as text: time,op,initiator,kind,addr,value. */
#include "base/ctx.h"
#include "base/digits.h"
#include "base/require.h"
#include "coretap/fractal.h"
#include "fractal/line_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const op_name[CT_FRACTAL_OP_COUNT] = {
    "ReadOnce",   "ReadShared",  "ReadClean",     "ReadNotSharedDirty",
    "ReadUnique", "CleanShared", "CleanInvalid",  "MakeInvalid",
    "Write",      "WriteBack",   "TlbiVa",        "TlbiVaLast",
    "TlbiVaAll",  "TlbiAsid",    "TlbiAll",       "IciVa",
    "Data",       "RegWrite",    "TlbiVaAllLast",
};

const char *ct_fractal_op_name(unsigned op)
{
    return op < CT_FRACTAL_OP_COUNT ? op_name[op] : "?";
}

int ct_fractal_op_by_name(const char *name)
{
    CT_REQUIRE(NULL, name);
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

static int op_word(struct ct_line_fields *t, uint8_t *out)
{
    char word[24];
    ct_line_word(t, word, sizeof word);
    const int op = ct_fractal_op_by_name(word);
    *out = (uint8_t)op;
    return op >= 0;
}

/* Reads the content of a line: 128 hexadecimal digits, eight words, most significant digit first. */
static int content(struct ct_line_fields *t, uint64_t line[CT_FRACTAL_LINE_WORDS])
{
    if (t->end - t->at < 2 * CT_FRACTAL_LINE)
        return 0;
    for (int i = 0; i < CT_FRACTAL_LINE_WORDS; i++) {
        line[i] = 0;
        for (int d = 0; d < 16; d++) {
            const int digit = ct_hex_digit_any_case(*t->at++);
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
    CT_REQUIRE(ctx, text || !length, m, line);
    struct ct_line_fields t = {text, text + length};
    memset(m, 0, sizeof *m);
    const char *wrong = NULL;
    if (!ct_line_number(&t, &m->time) || !ct_line_comma(&t))
        wrong = CT_LINE_NO_TIME;
    else if (!op_word(&t, &m->op) || !ct_line_comma(&t))
        wrong = "op: unknown operation";
    else
        wrong = ct_line_origin(&t, &m->initiator, &m->kind);
    if (!wrong && (!ct_line_number(&t, &m->addr) || !ct_line_comma(&t)))
        wrong = CT_LINE_NO_ADDR;
    if (!wrong && (m->op == CT_FRACTAL_DATA ? !content(&t, line) : !ct_line_number(&t, &m->value)))
        wrong = m->op == CT_FRACTAL_DATA ? "value: 128 hexadecimal digits are expected" : CT_LINE_NO_VALUE;
    if (!wrong && t.at != t.end)
        wrong = CT_LINE_TOO_LONG;
    if (wrong)
        return ct_fail(ctx, CT_ERR_FORMAT, "column %zu: %s", (size_t)(t.at - text) + 1, wrong);
    return CT_OK;
}

size_t ct_fractal_message_print(const struct ct_fractal_message *m,
                                const uint64_t line[CT_FRACTAL_LINE_WORDS], char out[256])
{
    if (!m)
        return 0;
    int n = snprintf(out, 256, "%" PRIu64 ",%s,%u,%c,0x%" PRIx64 ",", m->time, ct_fractal_op_name(m->op),
                     m->initiator, ct_line_kind(m->kind), m->addr);
    if (m->op != CT_FRACTAL_DATA)
        return (size_t)n + (size_t)snprintf(out + n, 256 - (size_t)n, "0x%" PRIx64, m->value);
    for (int i = 0; i < CT_FRACTAL_LINE_WORDS; i++)
        n += snprintf(out + n, 256 - (size_t)n, "%016" PRIx64, line[i]);
    return (size_t)n;
}
