/* Coverage files: lines of text (docs/formats.md). Nothing in them is believed. */
#include "base/ctx.h"
#include "base/printable.h"
#include "analysis/cover.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define MOST_WORDS 8
#define MOST_NAME  4096

struct word {
    const char *text;
    size_t size;
};

struct reader {
    struct ct_cover *cover;
    struct ct_ctx *ctx;
    const char *name;
    size_t line; /* from 1 */
    struct word words[MOST_WORDS];
    size_t word_count;
    bool started;
    bool old; /* of version 1, which does not tell what was lost */
    uint32_t program;
    bool has_program;
    struct ct_edge_context context;
};

static bool word_is(const struct word *word, const char *text)
{
    return word->size == strlen(text) && memcmp(word->text, text, word->size) == 0;
}

static bool read_digits(const char *text, size_t size, unsigned base, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned c = (unsigned char)text[i];
        unsigned digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
        if (digit >= base || value > (UINT64_MAX - digit) / base)
            return false;
        value = value * base + digit;
    }
    *out = value;
    return size > 0;
}

static bool number(const struct word *word, unsigned base, uint64_t *out)
{
    return read_digits(word->text, word->size, base, out);
}

static int bad(const struct reader *r, const char *what)
{
    return ct_fail(
        r->ctx, CT_ERR_FORMAT,
        "%s:%zu: %s; the rest of the file was not read. Write it with 'coretap cover --format data'", r->name,
        r->line, what);
}

/* The first words; the last one takes the rest of the line when there are more than `most`. */
static void split(struct reader *r, const char *text, size_t size, size_t most)
{
    r->word_count = 0;
    size_t at = 0;
    while (at < size && r->word_count < most) {
        size_t end = at;
        while (end < size && (text[end] != ' ' || r->word_count + 1 == most))
            end++;
        r->words[r->word_count++] = (struct word){text + at, end - at};
        at = end + 1;
    }
}

/* program LOW HIGH BUILD-ID|- NAME */
static int read_program(struct reader *r, const char *text, size_t size)
{
    char name[CT_PRINTABLE_ROOM(MOST_NAME) + 1];
    uint8_t id[64];
    struct ct_cover_program program = {.name = name, .build_id = id};
    split(r, text, size, 5);
    if (r->word_count != 5 || !number(&r->words[1], 16, &program.low) ||
        !number(&r->words[2], 16, &program.high))
        return bad(r, "a program is 'program LOW HIGH BUILD-ID NAME' with hexadecimal addresses");
    const struct word *hex = &r->words[3];
    const struct word *path = &r->words[4];
    if (!word_is(hex, "-")) {
        program.build_id_size = hex->size / 2;
        if (hex->size % 2 || program.build_id_size > sizeof id)
            return bad(r, "a build id has 2 to 128 hexadecimal digits, or is '-'");
        for (size_t i = 0; i < program.build_id_size; i++) {
            uint64_t byte;
            if (!read_digits(hex->text + 2 * i, 2, 16, &byte))
                return bad(r, "a build id has 2 to 128 hexadecimal digits, or is '-'");
            id[i] = (uint8_t)byte;
        }
    }
    if (path->size == 0 || path->size > CT_PRINTABLE_ROOM(MOST_NAME) || memchr(path->text, '\0', path->size))
        return bad(r, "the name of a program has 1 to 4096 bytes");
    memcpy(name, path->text, path->size);
    name[path->size] = '\0';
    if (!ct_unescape(name) || strlen(name) > MOST_NAME)
        return bad(r, "the name of a program has 1 to 4096 bytes, and none of them is zero");
    r->has_program = true;
    r->context = (struct ct_edge_context){0};
    return ct_cover_program(r->cover, &program, &r->program);
}

/* context KNOWN CTXT VMID EL OTHERS */
static int read_context(struct reader *r)
{
    uint64_t values[5];
    for (size_t i = 0; i < 5; i++)
        if (r->word_count != 6 || !number(&r->words[i + 1], 16, &values[i]) || values[i] > UINT32_MAX)
            return bad(r, "a context is 'context KNOWN CTXT VMID EL OTHERS' in hexadecimal");
    r->context = (struct ct_edge_context){.known = (uint8_t)values[0],
                                          .ctxt = (uint32_t)values[1],
                                          .vmid = (uint32_t)values[2],
                                          .el_sec = (uint8_t)values[3],
                                          .others = values[4] != 0};
    return CT_OK;
}

/* The last word of a run of A32 or T32 code, which goes off the words then. */
static uint8_t read_isa(struct reader *r)
{
    const struct word *last = &r->words[r->word_count - 1];
    const bool a32 = word_is(last, "a32");
    if (!a32 && !word_is(last, "t32"))
        return CT_ISA_A64;
    r->word_count--;
    return a32 ? CT_ISA_A32 : CT_ISA_T32;
}

static int read_item(struct reader *r, uint32_t kind)
{
    struct ct_cover_item item = {.kind = kind};
    bool two = kind != CT_COVER_NOT;
    if (kind == CT_COVER_RUN)
        item.isa = read_isa(r);
    if (r->word_count != (two ? 4u : 3u) || !number(&r->words[1], 16, &item.from) ||
        (two && !number(&r->words[2], 16, &item.to)) || !number(&r->words[two ? 3 : 2], 10, &item.count))
        return bad(r, "a count is 'run FROM TO N [a32|t32]', 'taken FROM TO N' or 'not FROM N'");
    if (!r->has_program)
        return bad(r, "a count before the first 'program'");
    return ct_cover_add_item(r->cover, r->program, &r->context, &item);
}

static int read_start(struct reader *r)
{
    if (r->word_count != 2 || !word_is(&r->words[0], "coretap-coverage"))
        return bad(r, "not a coverage file: the first line is not 'coretap-coverage 2'");
    r->old = word_is(&r->words[1], "1");
    if (!r->old && !word_is(&r->words[1], "2"))
        return bad(r, "a coverage file of another version than 1 and 2");
    r->started = true;
    if (r->old)
        ct_cover_add_captures(r->cover, &(struct ct_cover_captures){.unknown = 1});
    return CT_OK;
}

/* captures N, damaged N, unknown N */
static int read_captures(struct reader *r, size_t offset)
{
    struct ct_cover_captures more = {0};
    if (r->word_count != 2 || !number(&r->words[1], 10, (uint64_t *)((char *)&more + offset)))
        return bad(r, "a number of captures is 'captures N', 'damaged N' or 'unknown N'");
    ct_cover_add_captures(r->cover, &more);
    return CT_OK;
}

/* lost KIND N */
static int read_lost(struct reader *r)
{
    static const struct {
        const char *name;
        size_t offset;
    } kinds[] = {
        {"gaps", offsetof(struct ct_losses, gaps)},
        {"overflows", offsetof(struct ct_losses, overflows)},
        {"contradictions", offsetof(struct ct_losses, contradictions)},
        {"bad_packets", offsetof(struct ct_losses, bad_packets)},
        {"lost_bytes", offsetof(struct ct_losses, lost_bytes)},
        {"no_access", offsetof(struct ct_losses, no_access)},
    };
    struct ct_cover_captures more = {0};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && r->word_count == 3; i++) {
        if (!word_is(&r->words[1], kinds[i].name) ||
            !number(&r->words[2], 10, (uint64_t *)((char *)&more.losses + kinds[i].offset)))
            continue;
        ct_cover_add_captures(r->cover, &more);
        return CT_OK;
    }
    return bad(r,
               "a loss is 'lost KIND N', KIND being gaps, overflows, contradictions, bad_packets, lost_bytes "
               "or no_access");
}

static int read_line(struct reader *r, const char *text, size_t size)
{
    split(r, text, size, MOST_WORDS);
    if (r->word_count == 0)
        return CT_OK;
    const struct word *word = &r->words[0];
    if (!r->started)
        return read_start(r);
    if (word_is(word, "program"))
        return read_program(r, text, size);
    if (word_is(word, "context"))
        return read_context(r);
    if (word_is(word, "run"))
        return read_item(r, CT_COVER_RUN);
    if (word_is(word, "taken"))
        return read_item(r, CT_COVER_TAKEN);
    if (word_is(word, "not"))
        return read_item(r, CT_COVER_NOT);
    if (!r->old && word_is(word, "captures"))
        return read_captures(r, offsetof(struct ct_cover_captures, known));
    if (!r->old && word_is(word, "damaged"))
        return read_captures(r, offsetof(struct ct_cover_captures, damaged));
    if (!r->old && word_is(word, "unknown"))
        return read_captures(r, offsetof(struct ct_cover_captures, unknown));
    if (!r->old && word_is(word, "lost"))
        return read_lost(r);
    return bad(
        r, r->old ? "the line begins with none of program, context, run, taken, not"
                  : "the line begins with none of captures, damaged, unknown, lost, program, context, run, "
                    "taken, not");
}

int ct_cover_read(struct ct_cover *cover, const char *name, const char *text, size_t size)
{
    struct reader r = {.cover = cover, .ctx = ct_cover_ctx(cover), .name = name};
    size_t at = 0;
    while (at < size) {
        const char *newline = memchr(text + at, '\n', size - at);
        size_t end = newline ? (size_t)(newline - text) : size;
        r.line++;
        int result = read_line(&r, text + at, end - at);
        if (result != CT_OK)
            return result;
        at = end + 1;
    }
    return r.started ? CT_OK : bad(&r, "the file is empty");
}
