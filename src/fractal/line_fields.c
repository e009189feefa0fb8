/* SPDX-License-Identifier: Apache-2.0 */
#include "fractal/line_fields.h"
#include "base/digits.h"

#include "coretap/fractal.h"

int ct_line_number(struct ct_line_fields *t, uint64_t *out)
{
    unsigned base = 10;
    if (t->end - t->at > 2 && t->at[0] == '0' && t->at[1] == 'x') {
        base = 16;
        t->at += 2;
    }
    const char *first = t->at;
    uint64_t v = 0;
    for (; t->at < t->end; t->at++) {
        const int d = ct_hex_digit_any_case(*t->at);
        if (d < 0 || (unsigned)d >= base)
            break;
        if (v > (UINT64_MAX - (unsigned)d) / base)
            return 0;
        v = v * base + (unsigned)d;
    }
    *out = v;
    return t->at > first;
}

int ct_line_comma(struct ct_line_fields *t)
{
    return t->at < t->end && *t->at++ == ',';
}

void ct_line_word(struct ct_line_fields *t, char *word, size_t size)
{
    size_t n = 0;
    while (t->at < t->end && *t->at != ',' && n + 1 < size)
        word[n++] = *t->at++;
    word[n] = 0;
}

/* Reads the letter of a kind. Returns 0 if it is invalid. */
static int kind_letter(struct ct_line_fields *t, uint8_t *out)
{
    const char c = t->at < t->end ? *t->at++ : 0;
    *out = c == 'I' ? CT_FRACTAL_KIND_INSN : c == 'D' ? CT_FRACTAL_KIND_DATA : CT_FRACTAL_KIND_UNKNOWN;
    return c == 'I' || c == 'D' || c == '-';
}

const char *ct_line_origin(struct ct_line_fields *t, uint8_t *initiator, uint8_t *kind)
{
    uint64_t number;
    if (!ct_line_number(t, &number) || number > 63 || !ct_line_comma(t))
        return "initiator: 0 to 63 is expected";
    *initiator = (uint8_t)number;
    return kind_letter(t, kind) && ct_line_comma(t) ? NULL : "kind: I, D or - is expected";
}

char ct_line_kind(unsigned kind)
{
    return kind == CT_FRACTAL_KIND_INSN ? 'I' : kind == CT_FRACTAL_KIND_DATA ? 'D' : '-';
}
