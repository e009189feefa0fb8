/* SPDX-License-Identifier: Apache-2.0 */
/* Reads symbol maps: the names of code that a program generated while it ran, in the files /tmp/perf-PID.map
 * and jit-PID.dump that perf has established. */
#include "base/ctx.h"
#include "base/require.h"
#include "base/room.h"
#include "base/search.h"
#include "base/whole_file.h"
#include "program/jitdump.h"
#include "program/symbols.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A row of the file. */
struct row {
    struct ct_symbol symbol;
    uint64_t line;
};

struct map {
    struct ct_ctx *ctx;
    const char *path;
    struct ct_symbol_list list;
    struct row *rows;
    size_t count, room;
    uint64_t damaged, first_damaged; /* lines that are no rows, and the number of the first one */
    uint64_t empty, first_empty;     /* the same for rows of size 0 */
};

static char *read_number(char *text, uint64_t *out)
{
    char *rest;
    errno = 0;
    *out = strtoull(text, &rest, 16);
    return isxdigit((unsigned char)*text) && !errno && *rest == ' ' ? rest + 1 : NULL;
}

static struct ct_symbol symbol_of(const char *name, uint64_t addr, uint64_t size)
{
    return (struct ct_symbol){.name = name,
                              .addr = addr & ~UINT64_C(1),
                              .size = size,
                              .isa = addr & 1 ? CT_ISA_T32 : CT_ISA_A64,
                              .source = CT_SYMBOL_MAP};
}

/* Reads a line, which ends with a NUL: "START SIZE NAME", both numbers hexadecimal. Returns false when it is
 * something else. */
static bool read_row(char *line, struct ct_symbol *out)
{
    uint64_t addr, size;
    char *rest = read_number(line, &addr);
    rest = rest ? read_number(rest, &size) : NULL;
    if (!rest || !*rest || size > UINT64_MAX - addr)
        return false;
    *out = symbol_of(rest, addr, size);
    return true;
}

/* Adds a row; `number` is that of its line, or of its code in a jitdump file. */
static int add_row(struct map *m, const struct ct_symbol *symbol, uint64_t number)
{
    if (!symbol->size) {
        m->first_empty = m->empty++ ? m->first_empty : number;
        return CT_OK;
    }
    if (m->count == INT32_MAX)
        return ct_fail(m->ctx, CT_ERR_LIMIT, "%s: the map has more than %d rows; use a part of it", m->path,
                       INT32_MAX);
    if (!CT_MAKE_ROOM(m->rows, m->room, m->count + 1))
        return ct_fail_nomem(m->ctx, m->path);
    m->rows[m->count++] = (struct row){*symbol, number};
    return CT_OK;
}

static int add_line(struct map *m, char *line, size_t size, uint64_t number)
{
    struct ct_symbol symbol;
    if (size && line[size - 1] == '\r')
        line[--size] = '\0';
    if (strlen(line) != size || !read_row(line, &symbol)) {
        m->first_damaged = m->damaged++ ? m->first_damaged : number;
        return CT_OK;
    }
    return add_row(m, &symbol, number);
}

static int add_lines(struct map *m, char *text, size_t size)
{
    char *const end = text + size;
    int rc = CT_OK;
    for (uint64_t number = 1; text < end && !rc; number++) {
        char *const newline = memchr(text, '\n', (size_t)(end - text));
        char *const line_end = newline ? newline : end;
        *line_end = '\0';
        rc = add_line(m, text, (size_t)(line_end - text), number);
        text = line_end + 1;
    }
    return rc;
}

/* Adds the code of a jitdump file. Moved code has the name that it was loaded with. */
static int add_dump(struct map *m, const char *bytes, size_t size)
{
    struct ct_jitdump dump;
    struct ct_jit_code code;
    bool found = true;
    int rc = CT_OK;
    ct_jitdump_begin(&dump, bytes, size);
    while (found && !rc) {
        rc = ct_jitdump_next(&dump, (uint32_t)m->count, &code, &found);
        if (rc)
            rc = ct_fail_nomem(m->ctx, m->path);
        if (!found || rc)
            break;
        const char *name = code.name ? code.name : m->rows[code.same].symbol.name;
        const struct ct_symbol symbol = symbol_of(name, code.addr, code.size);
        rc = add_row(m, &symbol, m->count);
    }
    if (!rc && dump.is_damaged)
        ct_log(m->ctx, CT_LOG_WARNING,
               "%s: the record at byte %zu is damaged or cut, so the code from there on has no names; the "
               "program may not have ended",
               m->path, dump.at);
    if (!rc && dump.moves)
        ct_log(m->ctx, CT_LOG_WARNING,
               "%s: code was moved %llu times that is not in the file, so it has no names; record again from "
               "the start of the program",
               m->path, (unsigned long long)dump.moves);
    ct_jitdump_end(&dump);
    return rc;
}

static int row_order(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return x->symbol.addr != y->symbol.addr ? ct_order(x->symbol.addr, y->symbol.addr)
                                            : ct_order(x->line, y->line);
}

/* ---- overlapping rows ---- */

/* The rows that have begun and may not be over, as a binary heap: the latest line is first. */
struct begun {
    const struct row *rows;
    uint32_t *numbers;
    size_t count;
};

static bool is_later(const struct begun *b, size_t one, size_t other)
{
    return b->rows[b->numbers[one]].line > b->rows[b->numbers[other]].line;
}

static void swap(struct begun *b, size_t one, size_t other)
{
    const uint32_t number = b->numbers[one];
    b->numbers[one] = b->numbers[other];
    b->numbers[other] = number;
}

static void put(struct begun *b, uint32_t number)
{
    size_t at = b->count++;
    b->numbers[at] = number;
    for (; at && is_later(b, at, (at - 1) / 2); at = (at - 1) / 2)
        swap(b, at, (at - 1) / 2);
}

static void drop_first(struct begun *b)
{
    size_t at = 0, next;
    b->numbers[0] = b->numbers[--b->count];
    while ((next = 2 * at + 1) < b->count) {
        next += next + 1 < b->count && is_later(b, next + 1, next);
        if (!is_later(b, next, at))
            break;
        swap(b, at, next);
        at = next;
    }
}

static uint64_t end_of(const struct begun *b)
{
    const struct ct_symbol *first = &b->rows[b->numbers[0]].symbol;
    return first->addr + first->size;
}

/* Makes the segments of the sorted rows: each address belongs to the latest row that has it, because memory
 * of generated code is used again. `numbers` has room for one of each row. */
static void make_segments(struct map *m, uint32_t *numbers)
{
    struct begun begun = {.rows = m->rows, .numbers = numbers};
    size_t next = 0;
    while (next < m->count || begun.count) {
        const bool starts = next < m->count && (!begun.count || m->rows[next].symbol.addr <= end_of(&begun));
        const uint64_t at = starts ? m->rows[next].symbol.addr : end_of(&begun);
        while (next < m->count && m->rows[next].symbol.addr == at)
            put(&begun, (uint32_t)next++);
        while (begun.count && end_of(&begun) <= at)
            drop_first(&begun);
        const uint32_t owner = begun.count ? begun.numbers[0] : CT_SEGMENT_NONE;
        struct ct_segment *last = &m->list.segments[m->list.segment_count];
        if (!m->list.segment_count || last[-1].owner != owner)
            m->list.segments[m->list.segment_count++] = (struct ct_segment){.start = at, .owner = owner};
    }
}

static int arrange(struct map *m)
{
    uint32_t *numbers = malloc((m->count + 1) * sizeof *numbers);
    m->list.all = malloc((m->count + 1) * sizeof *m->list.all);
    m->list.segments = malloc((2 * m->count + 1) * sizeof *m->list.segments);
    const bool fine = numbers && m->list.all && m->list.segments;
    if (fine) {
        if (m->count)
            qsort(m->rows, m->count, sizeof *m->rows, row_order);
        make_segments(m, numbers);
        for (; m->list.count < m->count; m->list.count++)
            m->list.all[m->list.count] = m->rows[m->list.count].symbol;
    }
    free(numbers);
    return fine ? CT_OK : ct_fail_nomem(m->ctx, m->path);
}

/* ---- the file ---- */

static int read_text(struct map *m, char **text, size_t *size)
{
    struct stat st;
    const int fd = open(m->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        const char *why = fd < 0 ? strerror(errno) : "it is not a regular file";
        if (fd >= 0)
            close(fd);
        return ct_fail(m->ctx, CT_ERR_IO,
                       "%s: the symbol map cannot be read: %s; name the file that the program wrote, "
                       "/tmp/perf-PID.map or jit-PID.dump",
                       m->path, why);
    }
    *size = (size_t)st.st_size;
    *text = ct_arena_alloc(&m->list.names, *size + 1);
    const int rc =
        *text ? ct_whole_file_read_to(m->ctx, fd, m->path, 0, *size, *text) : ct_fail_nomem(m->ctx, m->path);
    close(fd);
    return rc;
}

static void tell(const struct map *m)
{
    if (m->damaged)
        ct_log(m->ctx, CT_LOG_WARNING,
               "%s:%llu: this is not a row of a symbol map (START SIZE NAME, both numbers hexadecimal); it "
               "is the first of %llu such lines, which name nothing; correct them, or record again",
               m->path, (unsigned long long)m->first_damaged, (unsigned long long)m->damaged);
    if (m->empty)
        ct_log(m->ctx, CT_LOG_WARNING,
               "%s:%llu: this row has the size 0; it is the first of %llu such rows, which name nothing; "
               "give them the sizes of their code",
               m->path, (unsigned long long)m->first_empty, (unsigned long long)m->empty);
    if (!m->count)
        ct_log(m->ctx, CT_LOG_WARNING,
               "%s: the symbol map has no row, so it names nothing; name the file that the program wrote "
               "during the recording",
               m->path);
}

int ct_symbols_load_map(struct ct_ctx *ctx, const char *path, struct ct_symbols **out)
{
    struct map m = {.ctx = ctx, .path = path};
    char *text = NULL;
    size_t size = 0;
    CT_REQUIRE_OUT(ctx, out, path);
    int rc = read_text(&m, &text, &size);
    if (!rc)
        rc = ct_is_jitdump(text, size) ? add_dump(&m, text, size) : add_lines(&m, text, size);
    if (!rc)
        rc = arrange(&m);
    free(m.rows);
    if (!rc)
        tell(&m);
    return ct_symbols_of_list(ctx, path, &m.list, rc, out);
}
