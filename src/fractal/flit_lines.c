/* SPDX-License-Identifier: Apache-2.0 */
/* Flits in recorded message streams: time,CHANNEL.OPCODE,initiator,kind,addr,data. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/ctx.h"
#include "base/require.h"
#include "fractal/line_fields.h"
#include "fractal/wire.h"

/* Returns the operation of a line, its second field. NULL: the line has none. */
static const char *operation(const char *text, size_t length, size_t *size)
{
    const char *at = text && length ? memchr(text, ',', length) : NULL;
    if (!at)
        return NULL;
    at++;
    const size_t rest = length - (size_t)(at - text);
    const char *end = memchr(at, ',', rest);
    *size = end ? (size_t)(end - at) : rest;
    return at;
}

int ct_fractal_flit_is_line(const char *text, size_t length)
{
    size_t size;
    const char *op = operation(text, length, &size);
    return op && memchr(op, '.', size);
}

/* Returns the channel with this name, or CT_FRACTAL_CHANNEL_COUNT. */
static unsigned channel_by_name(const char *word, size_t size)
{
    unsigned c = 0;
    while (c < CT_FRACTAL_CHANNEL_COUNT &&
           (strlen(ct_wire_channels[c].name) != size || memcmp(ct_wire_channels[c].name, word, size) != 0))
        c++;
    return c;
}

/* Reads an opcode, by name or number. Returns 0 if it is invalid. */
static int opcode_word(struct ct_line_fields *t, unsigned channel, uint8_t *out)
{
    uint64_t value;
    if (t->at < t->end && *t->at >= '0' && *t->at <= '9') {
        if (!ct_line_number(t, &value) || value > UINT8_MAX)
            return 0;
        *out = (uint8_t)value;
        return 1;
    }
    char word[40];
    ct_line_word(t, word, sizeof word);
    for (unsigned o = 0; o >> ct_wire_channels[channel].opcode_bits == 0; o++)
        if (ct_wire_channels[channel].opcode[o].name &&
            strcmp(ct_wire_channels[channel].opcode[o].name, word) == 0) {
            *out = (uint8_t)o;
            return 1;
        }
    return 0;
}

/* Reads CHANNEL.OPCODE. Returns what is wrong with it, or NULL. */
static const char *read_operation(struct ct_line_fields *t, struct ct_fractal_flit *flit)
{
    const size_t rest = (size_t)(t->end - t->at);
    const char *dot = rest ? memchr(t->at, '.', rest) : NULL;
    const unsigned channel = dot ? channel_by_name(t->at, (size_t)(dot - t->at)) : CT_FRACTAL_CHANNEL_COUNT;
    if (channel == CT_FRACTAL_CHANNEL_COUNT)
        return "op: unknown channel; AC, AR, AW, SNP or REQ is expected before the '.'";
    t->at = dot + 1;
    flit->channel = (uint8_t)channel;
    return opcode_word(t, channel, &flit->opcode) && ct_line_comma(t) ? NULL : "op: unknown opcode";
}

int ct_fractal_flit_parse(struct ct_ctx *ctx, const char *text, size_t length,
                          struct ct_fractal_message *beside, struct ct_fractal_flit *flit)
{
    CT_REQUIRE(ctx, text || !length, beside, flit);
    struct ct_line_fields t = {text, text + length};
    memset(beside, 0, sizeof *beside);
    memset(flit, 0, sizeof *flit);
    const char *wrong = NULL;
    if (!ct_line_number(&t, &beside->time) || !ct_line_comma(&t))
        wrong = CT_LINE_NO_TIME;
    if (!wrong)
        wrong = read_operation(&t, flit);
    if (!wrong)
        wrong = ct_line_origin(&t, &beside->initiator, &beside->kind);
    if (!wrong && (!ct_line_number(&t, &flit->addr) || !ct_line_comma(&t)))
        wrong = CT_LINE_NO_ADDR;
    if (!wrong && !ct_line_number(&t, &flit->data))
        wrong = CT_LINE_NO_VALUE;
    if (!wrong && t.at != t.end)
        wrong = CT_LINE_TOO_LONG;
    if (wrong)
        return ct_fail(ctx, CT_ERR_FORMAT, "column %zu: %s", (size_t)(t.at - text) + 1, wrong);
    return CT_OK;
}

size_t ct_fractal_flit_print(const struct ct_fractal_flit *flit, const struct ct_fractal_message *beside,
                             char out[128])
{
    if (!flit || !beside)
        return 0;
    const char *name = ct_fractal_flit_name(flit->channel, flit->opcode);
    char number[8];
    snprintf(number, sizeof number, "0x%x", flit->opcode);
    const int n = snprintf(out, 128, "%" PRIu64 ",%s.%s,%u,%c,0x%" PRIx64 ",0x%" PRIx64, beside->time,
                           ct_fractal_channel_name(flit->channel), *name == '?' ? number : name,
                           beside->initiator, ct_line_kind(beside->kind), flit->addr, flit->data);
    return (size_t)n;
}
