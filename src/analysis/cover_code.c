/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the instructions of a program, with the line of each. */
#include "analysis/cover.h"
#include "base/bytes.h"
#include "base/ctx.h"
#include "base/padding.h"
#include "base/room.h"
#include "base/search.h"
#include "base/table_memory.h"

#include <stdlib.h>

#define SPACE       CT_SPACE_EL1N /* any space will do: images are added in all of them */
#define FIRST_INSNS 1024u
#define GAP         32u         /* bytes of padding; code that a jump skips never has this much */
#define CSEL_MASK   0x1fe00000u /* conditional select: CSEL, CSINC, CSINV, CSNEG (Arm ARM C4.1.95) */
#define CSEL        0x1a800000u
#define CCMP_MASK   0x3fe00410u /* CCMP, CCMN */
#define CCMP        0x3a400000u
#define FLOAT_MASK  0xff200c00u /* FCCMP and FCSEL (C4.1.97) */
#define FCCMP       0x1e200400u
#define FCSEL       0x1e200c00u
#define VMRS_FLAGS  0xeef1fa10u /* VMRS APSR_nzcv, FPSCR: the flags of a comparison of floats */

/* Branches, exceptions and system instructions. No other instruction changes the flow (C4.1.95). */
#define MAY_BRANCH_MASK 0x1c000000u
#define MAY_BRANCH      0x14000000u

static bool is_hidden_a64(uint32_t opcode)
{
    return (opcode & CSEL_MASK) == CSEL || (opcode & CCMP_MASK) == CCMP || (opcode & FLOAT_MASK) == FCCMP ||
           (opcode & FLOAT_MASK) == FCSEL;
}

/* Makes room for more instructions. Uses ct_array_grow because those of a large program fill hundreds of
 * megabytes, which should neither be copied nor mapped page by page. */
static bool grow(struct ct_cover_work *work)
{
    const size_t old = work->insn_room;
    const size_t room = old ? old * 2 : FIRST_INSNS;
    struct ct_cover_insn *insns = ct_array_grow(work->insns, old, room, sizeof *insns);
    if (!insns)
        return false;
    work->insns = insns;
    work->insn_room = room;
    uint32_t *scopes = ct_array_grow(work->scopes, work->scope_room, room, sizeof *scopes);
    if (!scopes)
        return false;
    work->scopes = scopes;
    work->scope_room = room;
    return true;
}

/* Returns whether an instruction belongs behind the last one. The order is by address; of two instructions at
 * one address the one with a line comes first. */
static bool is_behind(const struct ct_cover_work *work, const struct ct_cover_insn *insn)
{
    const struct ct_cover_insn *last = &work->insns[work->report.insn_count - 1];
    return last->addr < insn->addr || (last->addr == insn->addr && last->line >= insn->line);
}

static int push(struct ct_cover_work *work, const struct ct_cover_insn *insn, uint32_t scope)
{
    struct ct_cover_report *report = &work->report;
    if (report->insn_count >= INT32_MAX)
        return ct_fail(work->ctx, CT_ERR_LIMIT,
                       "coverage: the program has more than 2^31 instructions, which is the limit; use a "
                       "smaller program");
    if (report->insn_count == work->insn_room && !grow(work))
        return ct_fail_nomem(work->ctx, "coverage");
    if (work->sorted == report->insn_count && (!work->sorted || is_behind(work, insn)))
        work->sorted++;
    work->scopes[report->insn_count] = scope;
    work->insns[report->insn_count++] = *insn;
    return CT_OK;
}

/* Returns whether an instruction in an IT block changes the flags: comparisons and tests, and 32-bit
 * instructions that say so (Arm ARM F3.1). */
static bool sets_flags_t32(uint32_t opcode)
{
    const uint32_t first = opcode >> 16;
    const bool compares = (first & 0xf800) == 0x2800 || (first & 0xff00) == 0x4500 ||
                          (first & 0xffc0) == 0x4200 || (first & 0xff80) == 0x4280;
    const bool wide =
        ((first & 0xfe00) == 0xea00 || (first & 0xfa00) == 0xf000) && first & 0x10 && !(opcode & 0x8000);
    return compares || wide || opcode == VMRS_FLAGS;
}

/* Follows an IT block. A branch in an IT block is its last instruction, and shows the outcome of the
 * condition unless the block changed the flags before it. The block may go on in another row of the line
 * table. */
static void follow_it(struct ct_cover_work *work, struct ct_cover_insn *insn, uint32_t opcode, unsigned opens)
{
    const bool inside = work->it_left && insn->addr == work->it_next;
    if (inside && (insn->type == CT_INSN_BR || insn->type == CT_INSN_IBR)) {
        insn->cond = 1;
        if (!work->it_compares)
            work->insns[work->it_insn].flags &= (uint8_t)~CT_COVER_HIDDEN;
    }
    work->it_compares = inside && (work->it_compares || sets_flags_t32(opcode));
    work->it_left = inside ? work->it_left - 1 : 0;
    if (opens) {
        work->it_insn = work->report.insn_count;
        work->it_left = opens;
    }
    work->it_next = insn->addr + insn->size;
}

/* Decodes the instruction at `bytes`. Returns its size, or 0 when it is incomplete. */
static uint8_t decode(struct ct_cover_work *work, const uint8_t *bytes, size_t size, uint8_t isa,
                      struct ct_cover_insn *out)
{
    struct ct_insn insn;
    uint32_t opcode;
    if (isa == CT_ISA_T32) {
        if (size < 2)
            return 0;
        opcode = (uint32_t)ct_load16(bytes) << 16 | (size < 4 ? 0 : ct_load16(bytes + 2));
        ct_insn_decode_t32(opcode, out->addr, &work->source.arch, &insn);
        out->flags = insn.it ? CT_COVER_HIDDEN : 0;
    } else {
        if (size < 4)
            return 0;
        opcode = ct_load32(bytes);
        if (isa == CT_ISA_A64)
            ct_insn_decode_a64(opcode, out->addr, &work->source.arch, &insn);
        else
            ct_insn_decode_a32(opcode, out->addr, &work->source.arch, &insn);
        bool branch = insn.type == CT_INSN_BR || insn.type == CT_INSN_IBR;
        bool hidden = isa == CT_ISA_A64 ? is_hidden_a64(opcode) : insn.cond && !branch;
        out->flags = hidden ? CT_COVER_HIDDEN : 0;
    }
    out->size = insn.size;
    out->type = insn.type;
    out->sub = insn.sub;
    out->cond = insn.cond;
    out->isa = isa;
    out->target = insn.type == CT_INSN_BR ? insn.target : 0;
    if (isa == CT_ISA_T32)
        follow_it(work, out, opcode, insn.it);
    return size < insn.size ? 0 : insn.size;
}

/* Returns the size of the padding behind an unconditional jump on the same line, which never executes: all
 * that is left of the line, or the gap between two entries of a vector table. 0 when there is none. */
static size_t alignment(uint8_t type, uint8_t sub, bool cond, const uint8_t *bytes, size_t size, bool wide)
{
    const bool jumps = (type == CT_INSN_BR || type == CT_INSN_IBR) && !cond && sub != CT_INSN_SUB_LINK;
    size_t at = 0;
    for (size_t n = jumps; n; at += n)
        n = ct_padding(bytes + at, size - at, wide);
    return at == size || at >= GAP ? at : 0;
}

/* Reads the instructions of [addr, end), which belong to one line. With CT_ISA_UNKNOWN, the symbols tell
 * their instruction set. */
static int read_range(struct ct_cover_work *work, uint64_t addr, uint64_t end, uint32_t file, uint32_t line,
                      enum ct_isa of_code)
{
    size_t size;
    const uint8_t *bytes = ct_memory_at(work->source.memory, addr, SPACE, &size);
    if (!bytes)
        return CT_OK;
    if (size > end - addr)
        size = (size_t)(end - addr);
    struct ct_symbol_span span = {0};
    for (size_t at = 0; at < size;) {
        struct ct_cover_insn insn = {.addr = addr + at, .file = file, .line = line};
        uint8_t isa = (uint8_t)of_code;
        if (of_code == CT_ISA_UNKNOWN)
            isa = (uint8_t)ct_cover_span_at(work, insn.addr, &span)->isa;
        if (isa == CT_ISA_UNKNOWN) { /* literals: data inside of code */
            at += 2;
            continue;
        }
        uint8_t n = decode(work, bytes + at, size - at, isa, &insn);
        if (n == 0)
            break;
        insn.function = CT_COVER_NONE;
        int result = push(work, &insn, ct_lines_scope_at(work->source.lines, insn.addr));
        if (result != CT_OK)
            return result;
        at += n;
        at += alignment(insn.type, insn.sub, insn.cond, bytes + at, size - at, isa == CT_ISA_A64);
    }
    return CT_OK;
}

/* Returns whether the symbols say that [from, end) is exactly one function with a name. Sets `span` to the
 * span at `from`. */
static bool is_function(const struct ct_cover_work *work, uint64_t from, uint64_t end,
                        struct ct_symbol_span *span)
{
    ct_symbols_around(work->source.symbols, from, span);
    return span->from == from && span->end == end && span->function && span->code;
}

static int push_unrun(struct ct_cover_work *work, const struct ct_cover_unrun *unrun)
{
    if (!CT_MAKE_ROOM(work->unrun, work->unrun_room, work->unrun_count + 1))
        return ct_fail_nomem(work->ctx, "coverage");
    work->unrun[work->unrun_count++] = *unrun;
    return CT_OK;
}

/* Counts and drops the instructions from index `first` on: those of the function [from, end), which has no
 * lines and did not run. Large programs have many such functions, and nobody lists their instructions. Keeps
 * the instructions when the symbols divide that code in another way. */
static int leave_out(struct ct_cover_work *work, size_t first, uint64_t from, uint64_t end)
{
    struct ct_symbol_span span;
    if (first == work->report.insn_count || work->insns[first].addr != from ||
        !is_function(work, from, end, &span))
        return CT_OK;
    struct ct_cover_unrun unrun = {.addr = from, .symbol = span.code};
    for (size_t i = first; i < work->report.insn_count; i++) {
        const struct ct_cover_insn *insn = &work->insns[i];
        unrun.insns++;
        unrun.calls += insn->sub == CT_INSN_SUB_LINK;
        unrun.hidden += (insn->flags & CT_COVER_HIDDEN) != 0;
        unrun.decisions += ct_cover_decides(insn);
    }
    work->report.insn_count = first;
    work->sorted = work->sorted < first ? work->sorted : first;
    work->it_left = 0;
    return push_unrun(work, &unrun);
}

/* Counts the instructions of A64 code. Decodes only possible branches, because most instructions are none. */
static void count_a64(const uint8_t *bytes, size_t count, const struct ct_arch *arch,
                      struct ct_cover_unrun *unrun)
{
    uint32_t hidden = 0;
    unrun->insns = (uint32_t)count;
    for (size_t i = 0; i < count; i++)
        hidden += is_hidden_a64(ct_load32(bytes + 4 * i));
    for (size_t i = 0; i < count; i++) {
        const uint32_t opcode = ct_load32(bytes + 4 * i);
        struct ct_insn insn;
        if ((opcode & MAY_BRANCH_MASK) != MAY_BRANCH)
            continue;
        ct_insn_decode_a64(opcode, 0, arch, &insn);
        unrun->calls += insn.sub == CT_INSN_SUB_LINK;
        unrun->decisions += (insn.type == CT_INSN_BR || insn.type == CT_INSN_IBR) && insn.cond;
        const size_t padding =
            alignment(insn.type, insn.sub, insn.cond, bytes + 4 * (i + 1), 4 * (count - i - 1), true) / 4;
        unrun->insns -= (uint32_t)padding;
        i += padding;
    }
    unrun->hidden = hidden;
}

/* Counts the instructions of the function [from, end), which has no lines and did not run, as leave_out()
 * does, but without storing each. Leaves *done false when the function has to be read. */
static int leave_out_a64(struct ct_cover_work *work, uint64_t from, uint64_t end, bool *done)
{
    struct ct_symbol_span span;
    size_t size;
    if (!is_function(work, from, end, &span) || span.isa != CT_ISA_A64)
        return CT_OK;
    const uint8_t *bytes = ct_memory_at(work->source.memory, from, SPACE, &size);
    if (!bytes || size < 4 || end - from < 4)
        return CT_OK;
    struct ct_cover_unrun unrun = {.addr = from, .symbol = span.code};
    count_a64(bytes, (size < end - from ? size : (size_t)(end - from)) / 4, &work->source.arch, &unrun);
    *done = true;
    return push_unrun(work, &unrun);
}

static int read_rows(struct ct_cover_work *work)
{
    size_t count;
    const struct ct_line *rows = ct_lines_all(work->source.lines, &count);
    int result = CT_OK;
    for (size_t i = 0; i < count && result == CT_OK; i++)
        if (rows[i].end > rows[i].addr)
            result = read_range(work, rows[i].addr, rows[i].end, rows[i].file, rows[i].line, CT_ISA_UNKNOWN);
    return result;
}

/* The runs among the items of a report. They come first, sorted by address. */
struct runs {
    const struct ct_cover_item *items;
    size_t count;
};

static struct runs runs_of(const struct ct_cover_item *items, size_t count)
{
    struct runs runs = {items, 0};
    while (runs.count < count && items[runs.count].kind == CT_COVER_RUN)
        runs.count++;
    return runs;
}

/* Returns the index of the first run that begins at or behind `addr`. */
static size_t first_run(const struct runs *runs, uint64_t addr)
{
    return CT_COUNT_WHILE(runs->count, i, runs->items[i].from < addr);
}

/* Returns the instruction set of a run. Asks the symbols about A64, because an item says A64 also when its
 * instruction set is unknown. */
static enum ct_isa isa_of(const struct ct_cover_work *work, const struct ct_cover_item *run)
{
    const enum ct_isa isa =
        run->isa == CT_ISA_A64 ? ct_symbols_isa_at(work->source.symbols, run->from) : (enum ct_isa)run->isa;
    return isa == CT_ISA_UNKNOWN ? CT_ISA_A64 : isa;
}

/* Reads a function of an A32 or T32 program. Where neither lines nor symbols tell the instruction set, the
 * runs do. */
static int read_mixed(struct ct_cover_work *work, const struct runs *runs, const struct ct_symbol *symbol,
                      uint64_t from, uint64_t end)
{
    const bool bare = symbol->source >= CT_SYMBOL_UNWIND;
    enum ct_isa isa = bare ? (enum ct_isa)symbol->isa : CT_ISA_UNKNOWN;
    int result = CT_OK;
    size_t i = first_run(runs, from);
    if (bare && i < runs->count && runs->items[i].from < end)
        isa = isa_of(work, &runs->items[i]);
    for (; i < runs->count && runs->items[i].from < end && result == CT_OK; i++) {
        const struct ct_cover_item *run = &runs->items[i];
        const uint64_t to = run->to < end ? run->to : end;
        if (run->from > from)
            result = read_range(work, from, run->from, CT_LINE_NONE, 0, isa);
        from = run->from > from ? run->from : from;
        if (to > from && result == CT_OK)
            result = read_range(work, from, to, CT_LINE_NONE, 0, isa_of(work, run));
        from = to > from ? to : from;
    }
    return from < end && result == CT_OK ? read_range(work, from, end, CT_LINE_NONE, 0, isa) : result;
}

/* Reads the part [from, end) of a function without lines. With `drops`, only counts its instructions. */
static int read_function(struct ct_cover_work *work, const struct runs *runs, const struct ct_symbol *symbol,
                         uint64_t from, uint64_t end, bool drops)
{
    const size_t first = work->report.insn_count;
    const bool is_a64 = symbol->isa == CT_ISA_A64;
    bool done = false;
    int result = drops && is_a64 ? leave_out_a64(work, from, end, &done) : CT_OK;
    if (done || result)
        return result;
    result = is_a64 ? read_range(work, from, end, CT_LINE_NONE, 0, CT_ISA_UNKNOWN)
                    : read_mixed(work, runs, symbol, from, end);
    return drops && !result ? leave_out(work, first, from, end) : result;
}

static bool is_own(const struct ct_cover_source *source, uint64_t addr)
{
    return !source->code || ct_code_has(source->code, source->code_count, addr);
}

/* Reads the functions without lines. In a function with some lines, what lies between these is padding and
 * data. */
static int read_symbols(struct ct_cover_work *work, const struct runs *runs)
{
    size_t count;
    const struct ct_symbol *symbols = ct_symbols_all(work->source.symbols, &count);
    const bool has_lines = work->report.insn_count > 0;
    size_t run = 0;      /* the first run behind the function */
    uint64_t ran_to = 0; /* end of the runs before that one */
    int result = CT_OK;
    uint64_t done = 0; /* end of the last function, because functions may overlap */
    for (size_t i = 0; i < count && result == CT_OK; i++) {
        uint64_t from = symbols[i].addr > done ? symbols[i].addr : done;
        uint64_t end = symbols[i].addr + symbols[i].size;
        if (ct_lines_at(work->source.lines, symbols[i].addr) || end <= from || !is_own(&work->source, from))
            continue;
        for (; run < runs->count && runs->items[run].from < end; run++)
            ran_to = runs->items[run].to > ran_to ? runs->items[run].to : ran_to;
        result = read_function(work, runs, &symbols[i], from, end, !has_lines && ran_to <= from);
        done = end;
    }
    return result;
}

/* Reads what was executed outside of all known code, because only executed addresses certainly hold
 * instructions there. Items and instructions are sorted by address. */
static int read_executed(struct ct_cover_work *work, const struct runs *runs)
{
    const struct ct_cover_item *items = runs->items;
    const size_t known = work->report.insn_count;
    size_t next = 0; /* index of the next known instruction */
    uint64_t done = 0;
    int result = CT_OK;
    for (size_t i = 0; i < runs->count && result == CT_OK; i++) {
        uint64_t at = items[i].from > done ? items[i].from : done;
        while (at < items[i].to && result == CT_OK) {
            while (next < known && work->insns[next].addr + work->insns[next].size <= at)
                next++;
            const uint64_t end =
                next < known && work->insns[next].addr < items[i].to ? work->insns[next].addr : items[i].to;
            if (at < end)
                result = read_range(work, at, end, CT_LINE_NONE, 0, isa_of(work, &items[i]));
            at = next < known ? work->insns[next].addr + work->insns[next].size : items[i].to;
        }
        done = items[i].to > done ? items[i].to : done;
    }
    return result;
}

/* Drops the padding behind a function, which line tables assign to the function's last line, and instructions
 * that were read twice because a function without lines contains one with lines. */
static void drop_padding(struct ct_cover_work *work)
{
    size_t n = 0;
    struct ct_symbol_span span = {0};
    for (size_t i = 0; i < work->report.insn_count; i++) {
        if (n && work->insns[n - 1].addr == work->insns[i].addr)
            continue;
        bool known = work->scopes[i] != CT_LINE_NONE ||
                     ct_cover_span_at(work, work->insns[i].addr, &span)->function != NULL;
        if (!known)
            continue;
        work->insns[n] = work->insns[i];
        work->scopes[n++] = work->scopes[i];
    }
    work->report.insn_count = n;
    work->sorted = n;
}

struct placed {
    struct ct_cover_insn insn;
    uint32_t scope;
    uint32_t pad;
};

/* Sorts by address; of two at one address the one with a line comes first. */
static int by_address(const void *a, const void *b)
{
    const struct placed *x = a;
    const struct placed *y = b;
    if (x->insn.addr != y->insn.addr)
        return x->insn.addr < y->insn.addr ? -1 : 1;
    return x->insn.line > y->insn.line ? -1 : x->insn.line < y->insn.line;
}

static struct placed placed_at(const struct ct_cover_work *work, size_t i)
{
    return (struct placed){.insn = work->insns[i], .scope = work->scopes[i]};
}

/* Sorts the instructions, because functions without lines were read behind all others: first sorts those read
 * behind `sorted`, then merges both lists from their ends. */
static int sort(struct ct_cover_work *work)
{
    size_t sorted = work->sorted;
    size_t left = work->report.insn_count - sorted;
    if (!left)
        return CT_OK;
    struct placed *others = malloc(left * sizeof *others);
    if (!others)
        return ct_fail_nomem(work->ctx, "coverage");
    for (size_t i = 0; i < left; i++)
        others[i] = placed_at(work, sorted + i);
    qsort(others, left, sizeof *others, by_address);
    while (left) {
        const struct placed last = sorted ? placed_at(work, sorted - 1) : others[0];
        const bool moves = sorted && by_address(&last, &others[left - 1]) > 0;
        const struct placed *next = moves ? &last : &others[left - 1];
        const size_t to = sorted + left - 1;
        sorted -= moves;
        left -= !moves;
        work->insns[to] = next->insn;
        work->scopes[to] = next->scope;
    }
    free(others);
    work->sorted = work->report.insn_count;
    return CT_OK;
}

int ct_cover_read_code(struct ct_cover_work *work, const struct ct_cover_item *items, size_t count)
{
    const struct runs runs = runs_of(items, count);
    int result = read_rows(work);
    bool all = work->source.all_functions || work->report.insn_count == 0;
    if (result == CT_OK && all)
        result = read_symbols(work, &runs);
    if (result == CT_OK && all)
        result = sort(work);
    if (result != CT_OK)
        return result;
    drop_padding(work);
    if (all)
        result = read_executed(work, &runs);
    if (result == CT_OK && all)
        result = sort(work);
    return result == CT_OK ? ct_cover_make_functions(work) : result;
}
