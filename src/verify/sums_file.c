/* SPDX-License-Identifier: Apache-2.0 */
/* Saves and loads results as a block of lines per output (docs/formats.md). */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "verify/sums.h"

#define TEXT_ROOM CT_PRINTABLE_ROOM(CT_VERIFY_SUMS_NAME + 1)

/* by enum ct_monitor_type */
static const char *const types[] = {"unit", "int", "float", "bool", "string", "verdict", "other"};
#define TYPES (sizeof types / sizeof *types)

static bool has_values(const struct ct_verify_sum *sum)
{
    return sum->type == CT_MONITOR_VERDICT || sum->type == CT_MONITOR_BOOL;
}

static bool has_numbers(const struct ct_verify_sum *sum)
{
    return sum->type == CT_MONITOR_INT || sum->type == CT_MONITOR_FLOAT;
}

/* ---- saving ---- */

/* Writes a text unless it is empty. */
static int save_text(struct ct_save *to, const char *key, const char *text)
{
    char room[TEXT_ROOM];
    if (!*text)
        return CT_OK;
    ct_escape_to_read(text, room);
    return ct_save_line(to, "%s %s", key, room);
}

static int save_numbers(struct ct_save *to, const struct ct_verify_sum *sum)
{
    if (sum->type == CT_MONITOR_INT && sum->numbers) {
        ct_save_line(to, "range %" PRIu64 " %" PRId64 " %" PRId64, sum->numbers, sum->low.i, sum->high.i);
        ct_save_line(to, "total %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64, sum->above.high,
                     sum->above.low, sum->below.high, sum->below.low);
    } else if (sum->numbers) {
        uint64_t bits[2];
        memcpy(&bits[0], &sum->low.f, sizeof bits[0]);
        memcpy(&bits[1], &sum->high.f, sizeof bits[1]);
        ct_save_line(to, "range %" PRIu64 " %016" PRIx64 " %016" PRIx64, sum->numbers, bits[0], bits[1]);
    }
    return sum->others ? ct_save_line(to, "others %" PRIu64, sum->others) : CT_OK;
}

static int save_first(struct ct_save *to, const struct ct_verify_violation *first)
{
    ct_save_line(to, "first %" PRIu64 " %02x %u %" PRIx64 " %u", first->time, first->id, first->uncertain,
                 first->addr, first->line);
    save_text(to, "run", first->run);
    save_text(to, "buffer", first->buffer);
    save_text(to, "value", first->value);
    save_text(to, "watch", first->watch);
    save_text(to, "function", first->function);
    return save_text(to, "file", first->file);
}

static int save_output(struct ct_save *to, const struct ct_verify_sum *sum)
{
    ct_save_line(to, "type %s", types[sum->type]);
    ct_save_line(to, "events %" PRIu64 " %" PRIu64 " %" PRIu64, sum->events, sum->violations, sum->uncertain);
    int rc =
        ct_save_line(to, "streams %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
                     sum->streams, sum->failed, sum->violated, sum->doubtful, sum->undecided, sum->satisfied);
    if (has_values(sum))
        rc = ct_save_line(to, "values %" PRIu64 " %" PRIu64 " %" PRIu64, sum->values[CT_MONITOR_UNKNOWN],
                          sum->values[CT_MONITOR_TRUE], sum->values[CT_MONITOR_FALSE]);
    if (has_numbers(sum))
        rc = save_numbers(to, sum);
    return sum->first ? save_first(to, sum->first) : rc;
}

int ct_verify_sums_save(struct ct_analysis *analysis, struct ct_save *to)
{
    const struct ct_verify_sums *s = (const struct ct_verify_sums *)analysis;
    char text[TEXT_ROOM];
    int rc = CT_OK;
    for (size_t i = 0; i < s->count && !rc; i++) {
        const struct ct_verify_sum *before = i ? &s->all[i - 1] : NULL;
        if (!before || before->sum != s->all[i].sum || strcmp(before->spec, s->all[i].spec) != 0) {
            ct_escape_to_read(s->all[i].spec, text);
            ct_save_line(to, "spec %016" PRIx64 " %s", s->all[i].sum, text);
        }
        rc = save_text(to, "output", s->all[i].output) ?: save_output(to, &s->all[i]);
    }
    return rc;
}

/* ---- loading ---- */

/* The file being loaded, read one line ahead. */
struct reader {
    struct ct_load *from;
    int more; /* 0: there is no further line */
    char spec[TEXT_ROOM], output[TEXT_ROOM];
    char texts[6][TEXT_ROOM]; /* the texts of a violation */
};

static void next(struct reader *r)
{
    r->more = ct_load_line(r->from);
}

static bool is(const struct reader *r, const char *key)
{
    return r->more && ct_load_is(r->from, 0, key);
}

/* Reads `count` decimal numbers after the first word, and advances to the next line. Returns false when the
 * line has anything else. */
static bool read_counts(struct reader *r, uint64_t *numbers, size_t count)
{
    bool fine = r->from->word_count == count + 1;
    for (size_t i = 0; i < count && fine; i++)
        fine = ct_load_number(r->from, i + 1, 10, &numbers[i]);
    return fine;
}

/* Reads everything after the first `before` words, and undoes its escapes. */
static bool read_text(struct reader *r, size_t before, char room[TEXT_ROOM])
{
    ct_load_split(r->from, before + 1);
    const struct ct_load_word *word = &r->from->words[before];
    if (r->from->word_count != before + 1 || !word->size || word->size >= TEXT_ROOM ||
        memchr(word->text, '\0', word->size))
        return false;
    memcpy(room, word->text, word->size);
    room[word->size] = '\0';
    return ct_unescape(room) && *room && strlen(room) <= CT_VERIFY_SUMS_NAME;
}

/* Reads a line: spec SUM NAME */
static int read_spec(struct reader *r, struct ct_verify_sum *sum)
{
    if (!read_text(r, 2, r->spec) || !ct_load_number(r->from, 1, 16, &sum->sum))
        return ct_load_bad(r->from,
                           "a specification must be 'spec SUM NAME', with a sum of hexadecimal digits and a "
                           "name of 1 to 4096 bytes");
    next(r);
    return CT_OK;
}

/* Reads a line: type TYPE */
static int read_type(struct reader *r, struct ct_verify_sum *sum)
{
    size_t type = 0;
    while (type < TYPES && !ct_load_is(r->from, 1, types[type]))
        type++;
    if (!is(r, "type") || r->from->word_count != 2 || type == TYPES)
        return ct_load_bad(r->from, "an output must be followed by 'type TYPE': unit, int, float, bool, "
                                    "string, verdict or other");
    sum->type = (uint8_t)type;
    next(r);
    return CT_OK;
}

/* Reads two lines: events N VIOLATIONS UNCERTAIN; streams N, and how they ended. */
static int read_counts_of(struct reader *r, struct ct_verify_sum *sum)
{
    uint64_t n[6];
    if (!is(r, "events") || !read_counts(r, n, 3) || n[1] > n[0] || n[2] > n[1])
        return ct_load_bad(r->from, "a type must be followed by 'events N VIOLATIONS UNCERTAIN', each at "
                                    "most as large as the one before");
    sum->events = n[0];
    sum->violations = n[1];
    sum->uncertain = n[2];
    next(r);
    if (!is(r, "streams") || !read_counts(r, n, 6))
        return ct_load_bad(r->from, "the events must be followed by 'streams N FAILED VIOLATED DOUBTFUL "
                                    "UNDECIDED SATISFIED'");
    sum->streams = n[0];
    sum->failed = n[1];
    sum->violated = n[2];
    sum->doubtful = n[3];
    sum->undecided = n[4];
    sum->satisfied = n[5];
    next(r);
    return CT_OK;
}

/* Reads a line: values UNKNOWN TRUE FALSE */
static int read_values(struct reader *r, struct ct_verify_sum *sum)
{
    if (!is(r, "values") || !read_counts(r, sum->values, 3))
        return ct_load_bad(r->from, "a verdict or a Bool must have 'values UNKNOWN TRUE FALSE'");
    next(r);
    return CT_OK;
}

/* Reads a decimal number with an optional sign. */
static bool read_signed(struct ct_load *from, size_t index, int64_t *value)
{
    struct ct_load_word *word = &from->words[index];
    const bool below = index < from->word_count && word->size && word->text[0] == '-';
    uint64_t number;
    if (below) {
        word->text++;
        word->size--;
    }
    if (!ct_load_number(from, index, 10, &number) || number > (uint64_t)INT64_MAX + below)
        return false;
    *value = (int64_t)(below ? UINT64_C(0) - number : number);
    return true;
}

static bool read_real(const struct ct_load *from, size_t index, double *value)
{
    uint64_t bits;
    if (!ct_load_number(from, index, 16, &bits))
        return false;
    memcpy(value, &bits, sizeof *value);
    return !isnan(*value) && (*value != 0 || !bits);
}

static bool read_range(struct ct_load *from, struct ct_verify_sum *sum)
{
    if (from->word_count != 4 || !ct_load_number(from, 1, 10, &sum->numbers) || !sum->numbers)
        return false;
    return sum->type == CT_MONITOR_INT ? read_signed(from, 2, &sum->low.i) &&
                                             read_signed(from, 3, &sum->high.i) && sum->low.i <= sum->high.i
                                       : read_real(from, 2, &sum->low.f) &&
                                             read_real(from, 3, &sum->high.f) && sum->low.f <= sum->high.f;
}

static bool read_total(struct ct_load *from, struct ct_verify_sum *sum)
{
    return from->word_count == 5 && ct_load_number(from, 1, 16, &sum->above.high) &&
           ct_load_number(from, 2, 16, &sum->above.low) && ct_load_number(from, 3, 16, &sum->below.high) &&
           ct_load_number(from, 4, 16, &sum->below.low);
}

/* Reads lines: range N LOW HIGH; total of an Int; others N */
static int read_numbers(struct reader *r, struct ct_verify_sum *sum)
{
    if (is(r, "range")) {
        if (!read_range(r->from, sum))
            return ct_load_bad(r->from,
                               "a range must be 'range N LOW HIGH', for an Int in decimal numbers, for a "
                               "Float in the bits of IEEE 754 in hexadecimal digits, and LOW must not exceed "
                               "HIGH");
        next(r);
        if (sum->type == CT_MONITOR_INT && (!is(r, "total") || !read_total(r->from, sum)))
            return ct_load_bad(r->from, "the range of an Int must be followed by 'total' with four numbers "
                                        "in hexadecimal digits");
        if (sum->type == CT_MONITOR_INT)
            next(r);
    }
    if (!is(r, "others"))
        return CT_OK;
    if (!read_counts(r, &sum->others, 1))
        return ct_load_bad(r->from, "values that are not in a range must be 'others N'");
    next(r);
    return CT_OK;
}

/* Reads a line: first TIME ID UNCERTAIN ADDR LINE */
static bool read_first_line(const struct ct_load *from, struct ct_verify_violation *v)
{
    uint64_t id, uncertain, line;
    if (from->word_count != 6 || !ct_load_number(from, 1, 10, &v->time) ||
        !ct_load_number(from, 2, 16, &id) || !ct_load_number(from, 3, 10, &uncertain) ||
        !ct_load_number(from, 4, 16, &v->addr) || !ct_load_number(from, 5, 10, &line) || id > UINT8_MAX ||
        uncertain > 1 || line > UINT32_MAX)
        return false;
    v->id = (uint8_t)id;
    v->uncertain = (uint8_t)uncertain;
    v->line = (uint32_t)line;
    return true;
}

/* Reads a violation, and those of its texts that are present, in order. */
static int read_first(struct reader *r, struct ct_verify_violation *v)
{
    static const char *const keys[] = {"run", "buffer", "value", "watch", "function", "file"};
    const char **const fields[] = {&v->run, &v->buffer, &v->value, &v->watch, &v->function, &v->file};
    if (!is(r, "first") || !read_first_line(r->from, v))
        return ct_load_bad(r->from, "an output with violations must have 'first TIME ID UNCERTAIN ADDR "
                                    "LINE'");
    next(r);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        r->texts[i][0] = '\0';
        *fields[i] = r->texts[i];
        if (!is(r, keys[i]))
            continue;
        if (!read_text(r, 1, r->texts[i]))
            return ct_load_bad(r->from, "the text of a violation must have 1 to 4096 bytes and no zero byte");
        next(r);
    }
    return CT_OK;
}

/* Reads "output NAME" and all lines about this output. */
static int read_output(struct reader *r, struct ct_verify_sums *into, struct ct_verify_sum sum)
{
    struct ct_verify_violation first = {.time = 0};
    if (!is(r, "output") || !read_text(r, 1, r->output))
        return ct_load_bad(r->from, "the line must begin with captures, damaged, unknown, lost, capture, "
                                    "spec, or output with a name of 1 to 4096 bytes");
    next(r);
    sum.spec = r->spec;
    sum.output = r->output;
    int rc = read_type(r, &sum) ?: read_counts_of(r, &sum);
    if (!rc && has_values(&sum))
        rc = read_values(r, &sum);
    if (!rc && has_numbers(&sum))
        rc = read_numbers(r, &sum);
    if (!rc && sum.violations) {
        rc = read_first(r, &first);
        sum.first = &first;
    }
    const size_t known = into->count;
    if (!rc)
        rc = ct_verify_sums_put(into, &sum);
    return !rc && known == into->count ? ct_load_bad(r->from, "the previous output appears twice") : rc;
}

static int read_all(struct reader *r, struct ct_verify_sums *into)
{
    struct ct_verify_sum sum = {.spec = NULL};
    int rc = CT_OK;
    bool has_spec = false;
    next(r);
    while (!rc && r->more) {
        if (is(r, "spec")) {
            rc = read_spec(r, &sum);
            has_spec = true;
        } else if (has_spec) {
            rc = read_output(r, into, sum);
        } else {
            rc = ct_load_bad(r->from, "an output must come after a specification");
        }
    }
    return rc;
}

int ct_verify_sums_load(struct ct_analysis *part, struct ct_load *from)
{
    struct reader *r = calloc(1, sizeof *r);
    if (!r)
        return CT_ERR_NOMEM;
    r->from = from;
    const int rc = read_all(r, (struct ct_verify_sums *)part);
    free(r);
    return rc;
}
