/* SPDX-License-Identifier: Apache-2.0 */
/* Files of sums of logs: a line for each name, page and point (docs/formats.md). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "fractal_sums/sums.h"

#define TEXT_ROOM CT_PRINTABLE_ROOM(CT_FRACTAL_SUMS_NAME + 1)

/* names in the file, by enum ct_fractal_name_kind */
static const char *const kinds[] = {"function", "object", "section", "region", "elsewhere", "page"};
#define KINDS (sizeof kinds / sizeof *kinds)

/* ---- saving ---- */

/* Returns a space and the text, escaped so that it can be read back. Returns an empty text unchanged. */
static const char *tail(const char *text, char room[TEXT_ROOM + 1])
{
    room[0] = '\0';
    if (*text) {
        room[0] = ' ';
        ct_escape_to_read(text, room + 1);
    }
    return room;
}

static int save_totals(const struct ct_fractal_totals *t, struct ct_save *to)
{
    int rc = ct_save_line(to, "events %" PRIu64 " %" PRIu64 " %" PRIu64, t->events, t->aliases, t->insns);
    for (unsigned i = 0; i < CT_FRACTAL_OP_COUNT; i++)
        if (t->by_op[i])
            rc = ct_save_line(to, "op %" PRIu64 " %s", t->by_op[i], ct_fractal_op_name(i));
    for (unsigned i = 0; i < sizeof t->by_initiator / sizeof *t->by_initiator; i++)
        if (t->by_initiator[i])
            rc = ct_save_line(to, "initiator %" PRIu64 " %u", t->by_initiator[i], i);
    return rc;
}

/* Writes a `program` line when the following rows belong to another program than the rows before. */
static void save_program(const char *program, const char **before, struct ct_save *to)
{
    char room[TEXT_ROOM + 1];
    if (!*before || strcmp(*before, program) != 0)
        ct_save_line(to, "program%s", tail(program, room));
    *before = program;
}

int ct_fractal_sums_save(struct ct_analysis *analysis, struct ct_save *to)
{
    struct ct_fractal_sums *s = (struct ct_fractal_sums *)analysis;
    char room[TEXT_ROOM + 1];
    const char *program = NULL;
    int rc = ct_fractal_sums_sort(s) ?: save_totals(&s->totals, to);
    for (size_t i = 0; i < s->names.count && !rc; i++) {
        const struct ct_fractal_sum *row = (const struct ct_fractal_sum *)s->names.rows + i;
        save_program(row->program, &program, to);
        if (row->kind == CT_FRACTAL_PAGE)
            rc = ct_save_line(to, "page %" PRIu64 " %" PRIu64 " %" PRIx64 "%s", row->events, row->insns,
                              row->offset, tail(row->name, room));
        else
            rc = ct_save_line(to, "%s %" PRIu64 " %" PRIu64 "%s", kinds[row->kind], row->events, row->insns,
                              tail(row->name, room));
    }
    for (size_t i = 0; i < s->points.count && !rc; i++) {
        const struct ct_fractal_point_sum *p = (const struct ct_fractal_point_sum *)s->points.rows + i;
        save_program(p->program, &program, to);
        rc = ct_save_line(
            to, "point %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIx64 "%s",
            p->hits, p->intervals, p->shortest, p->longest, p->total, p->clock_hz, p->offset,
            tail(p->name, room));
    }
    return rc;
}

/* ---- loading ---- */

struct reader {
    struct ct_load *from;
    struct ct_fractal_sums *into;
    bool has_program, has_events;
    char program[TEXT_ROOM], name[TEXT_ROOM];
};

/* Reads everything after the first `before` words as one text and undoes its escapes. The text may be
 * empty. */
static bool read_tail(struct reader *r, size_t before, char room[TEXT_ROOM])
{
    ct_load_split(r->from, before + 1);
    room[0] = '\0';
    if (r->from->word_count <= before)
        return r->from->word_count == before;
    const struct ct_load_word *word = &r->from->words[before];
    if (!word->size || word->size >= TEXT_ROOM || memchr(word->text, '\0', word->size))
        return false;
    memcpy(room, word->text, word->size);
    room[word->size] = '\0';
    return ct_unescape(room) && *room && strlen(room) <= CT_FRACTAL_SUMS_NAME;
}

/* Reads `count` numbers, starting at the second word. The last `hex` of them are hexadecimal. */
static bool read_numbers(const struct reader *r, uint64_t *numbers, size_t count, size_t hex)
{
    bool fine = true;
    for (size_t i = 0; i < count && fine; i++)
        fine = ct_load_number(r->from, i + 1, i + hex < count ? 10 : 16, &numbers[i]);
    return fine;
}

/* Reads a line `events N ALIASES INSNS`, `op N NAME` or `initiator N NUMBER`. */
static int read_total(struct reader *r)
{
    struct ct_fractal_totals more = {0};
    uint64_t n[3];
    bool fine = false;
    if (ct_load_is(r->from, 0, "events")) {
        fine = !r->has_events && r->from->word_count == 4 && read_numbers(r, n, 3, 0);
        r->has_events = true;
        more.events = fine ? n[0] : 0;
        more.aliases = fine ? n[1] : 0;
        more.insns = fine ? n[2] : 0;
    } else if (ct_load_is(r->from, 0, "op")) {
        fine = read_numbers(r, n, 1, 0) && read_tail(r, 2, r->name);
        const int op = fine ? ct_fractal_op_by_name(r->name) : -1;
        fine = op >= 0;
        if (fine)
            more.by_op[op] = n[0];
    } else {
        fine = r->from->word_count == 3 && read_numbers(r, n, 2, 0) && n[1] < 64;
        if (fine)
            more.by_initiator[n[1]] = n[0];
    }
    if (!fine)
        return ct_load_bad(r->from, "the line is not 'events N ALIASES INSNS' (once), 'op N NAME' or "
                                    "'initiator N NUMBER' with a number below 64");
    ct_fractal_totals_add(&r->into->totals, &more);
    return CT_OK;
}

/* Reads a line `KIND EVENTS INSNS [OFFSET] NAME`. */
static int read_name(struct reader *r, uint8_t kind)
{
    const bool is_page = kind == CT_FRACTAL_PAGE;
    uint64_t n[3] = {0};
    if (!read_numbers(r, n, is_page ? 3 : 2, is_page) || !read_tail(r, is_page ? 4 : 3, r->name))
        return ct_load_bad(r->from, "the line is not 'KIND EVENTS INSNS NAME' or 'page EVENTS INSNS OFFSET "
                                    "REGION' with a name of at most 4096 bytes");
    const struct ct_fractal_sum row = {
        .program = r->program, .name = r->name, .events = n[0], .insns = n[1], .offset = n[2], .kind = kind};
    const size_t known = r->into->names.count;
    const int rc = ct_fractal_sums_put(r->into, &row);
    return !rc && known == r->into->names.count ? ct_load_bad(r->from, "the name is there twice") : rc;
}

/* Reads a line `point HITS INTERVALS SHORTEST LONGEST TOTAL CLOCK OFFSET NAME`. */
static int read_point(struct reader *r)
{
    uint64_t n[7];
    const bool fine = read_numbers(r, n, 7, 1) && read_tail(r, 8, r->name);
    if (!fine || n[2] > n[3] || (!n[1] && (n[3] || n[4])))
        return ct_load_bad(r->from, "the line is not 'point HITS INTERVALS SHORTEST LONGEST TOTAL CLOCK "
                                    "OFFSET NAME', or has times without intervals");
    const struct ct_fractal_point_sum row = {.program = r->program,
                                             .name = r->name,
                                             .hits = n[0],
                                             .intervals = n[1],
                                             .shortest = n[2],
                                             .longest = n[3],
                                             .total = n[4],
                                             .clock_hz = n[5],
                                             .offset = n[6]};
    const size_t known = r->into->points.count;
    const int rc = ct_fractal_sums_put_point(r->into, &row);
    return !rc && known == r->into->points.count ? ct_load_bad(r->from, "the point is there twice") : rc;
}

static int read_line(struct reader *r)
{
    if (ct_load_is(r->from, 0, "program")) {
        r->has_program = read_tail(r, 1, r->program);
        return r->has_program ? CT_OK
                              : ct_load_bad(r->from, "the name of a program must have at most 4096 bytes");
    }
    if (ct_load_is(r->from, 0, "events") || ct_load_is(r->from, 0, "op") ||
        ct_load_is(r->from, 0, "initiator"))
        return read_total(r);
    uint8_t kind = 0;
    while (kind < KINDS && !ct_load_is(r->from, 0, kinds[kind]))
        kind++;
    if (!r->has_program || (kind == KINDS && !ct_load_is(r->from, 0, "point")))
        return ct_load_bad(
            r->from,
            "the line begins with none of captures, damaged, unknown, lost, capture, events, op, initiator, "
            "program or, after a program, function, object, section, region, elsewhere, page, point");
    return kind < KINDS ? read_name(r, kind) : read_point(r);
}

int ct_fractal_sums_load(struct ct_analysis *part, struct ct_load *from)
{
    struct reader *r = calloc(1, sizeof *r);
    if (!r)
        return CT_ERR_NOMEM;
    r->from = from;
    r->into = (struct ct_fractal_sums *)part;
    int rc = CT_OK;
    while (!rc && ct_load_line(from))
        rc = read_line(r);
    free(r);
    return rc;
}
