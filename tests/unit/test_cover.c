/* SPDX-License-Identifier: Apache-2.0 */
/* Checks coverage of a program without lines: the instructions of a function that never ran count like those
 * that are listed. Also checks sums of counts. */
#include <stdlib.h>
#include <string.h>

#include "analysis/cover_extents.h"
#include "base/padding.h"
#include "coretap/cover.h"
#include "four_functions.h"
#include "support/unit.h"

#define FUNCTIONS 4
#define INSNS     8 /* per function */

struct fixture {
    uint8_t file[ELF_SIZE] __attribute__((aligned(8)));
    struct ct_symbols *symbols;
    struct ct_lines *lines;
    struct ct_memory *memory;
    struct ct_cover_source source;
};

/* Makes four functions, each of a conditional branch, a call, CSEL, CCMN, FCCMP, FCSEL, a call through a
 * register and a return. */
static int begin(void **state)
{
    static struct fixture f;
    static const uint32_t body[INSNS] = {0x540000a0, 0x94000001, 0x1a810000, 0xba410000,
                                         0x1e210400, 0x1e220c20, 0xd63f0060, 0xd65f03c0};
    f = (struct fixture){0};
    elf64_build(f.file, four_functions, FUNCTIONS);
    for (unsigned i = 0; i < FUNCTIONS * INSNS; i++)
        for (unsigned k = 0; k < 4; k++)
            f.file[ELF_TEXT + 4 * i + k] = (uint8_t)(body[i % INSNS] >> 8 * k);
    *state = &f;
    if (ct_symbols_load_bytes(NULL, "test", f.file, sizeof f.file, 0, &f.symbols) ||
        ct_lines_load_bytes(NULL, "test", f.file, sizeof f.file, 0, &f.lines) ||
        ct_memory_new(NULL, &f.memory) ||
        ct_memory_add_bytes(f.memory, f.file + ELF_TEXT, 0x80, TEXT, CT_SPACE_ANY))
        return 1;
    f.source = (struct ct_cover_source){
        .size = sizeof f.source, .memory = f.memory, .symbols = f.symbols, .lines = f.lines};
    return ct_arch_by_name("ARM-AA64", &f.source.arch);
}

static int finish(void **state)
{
    struct fixture *f = *state;
    ct_memory_free(f->memory);
    ct_lines_free(f->lines);
    ct_symbols_free(f->symbols);
    return 0;
}

FIXTURE(struct fixture, begin, finish);

static struct ct_cover_report *report(const struct fixture *f, const struct ct_cover_item *items,
                                      size_t count)
{
    struct ct_cover_report *out = NULL;
    assert_int_equal(ct_cover_report_new(NULL, &f->source, items, count, &out), CT_OK);
    return out;
}

/* A run with count 0 lists the instructions of its function, and adds nothing. */
TEST_WITH(test_unrun, f)
{
    const struct ct_cover_item brief[] = {
        {.from = WORK, .to = WORK + 8, .count = 3},
        {.from = WORK, .count = 2, .kind = CT_COVER_NOT},
        {.from = WORK, .to = WORK + 0x14, .count = 1, .kind = CT_COVER_TAKEN},
    };
    const struct ct_cover_item full[] = {
        {.from = MAIN, .to = MAIN + 8}, brief[0], {.from = LEAF + 8, .to = LEAF + 12},
        {.from = IRQ, .to = IRQ + 4},   brief[1], brief[2],
    };
    struct ct_cover_report *listed = report(f, full, 6);
    struct ct_cover_report *counted = report(f, brief, 3);
    assert_int_equal(listed->insn_count, FUNCTIONS * INSNS);
    assert_int_equal(counted->insn_count, INSNS);
    assert_int_equal(counted->insns[0].addr, WORK);
    assert_int_equal(counted->sums.insns.all, FUNCTIONS * INSNS);
    assert_int_equal(counted->sums.branches.all, 2 * FUNCTIONS);
    assert_int_equal(counted->sums.branches.seen, 2);
    assert_memory_equal(&listed->sums, &counted->sums, sizeof listed->sums);
    assert_int_equal(counted->function_count, FUNCTIONS);
    for (size_t i = 0; i < FUNCTIONS; i++) {
        const struct ct_cover_function *a = &listed->functions[i];
        const struct ct_cover_function *b = &counted->functions[i];
        assert_string_equal(b->name, four_functions[i].name);
        assert_int_equal(b->addr, a->addr);
        assert_int_equal(b->insns, a->insns);
        assert_int_equal(b->insns_run, a->insns_run);
        assert_int_equal(b->branches, a->branches);
        assert_int_equal(b->branches_run, a->branches_run);
    }
    assert_int_equal(counted->insns[0].function, 1);
    ct_cover_report_free(listed);
    ct_cover_report_free(counted);
}

/* Padding between the entries of a vector table is not untested code; a jump over a few instructions is. */
TEST_WITH(test_alignment, original)
{
    static const uint32_t nop = 0xd503201f, jump = 0x14000001;
    const struct test_symbol vectors = {"vectors", TEXT, 0x80, STT_FUNC, STB_GLOBAL, 1};
    const struct ct_cover_item ran = {.from = TEXT, .to = TEXT + 4, .count = 1};
    struct fixture f = *original;
    for (unsigned i = 0; i < 32; i++) { /* jumps at 0, 16 and 20, and padding to the end */
        const uint32_t opcode = i == 0 || i == 16 || i == 20 ? jump : nop;
        memcpy(f.file + ELF_TEXT + 4 * i, &opcode, 4);
    }
    uint8_t code[0x80];
    memcpy(code, f.file + ELF_TEXT, sizeof code);
    elf64_build(f.file, &vectors, 1);
    memcpy(f.file + ELF_TEXT, code, sizeof code);
    assert_int_equal(ct_symbols_load_bytes(NULL, "test", f.file, sizeof f.file, 0, &f.symbols), CT_OK);
    assert_int_equal(ct_memory_new(NULL, &f.memory), CT_OK);
    assert_int_equal(ct_memory_add_bytes(f.memory, code, sizeof code, TEXT, CT_SPACE_ANY), CT_OK);
    f.source.symbols = f.symbols;
    f.source.memory = f.memory;
    struct ct_cover_report *r = report(&f, &ran, 1);
    assert_int_equal(r->sums.insns.all, 3 + 3);
    assert_int_equal(r->sums.insns.seen, 1);
    ct_cover_report_free(r);
    r = report(&f, NULL, 0);
    assert_int_equal(r->sums.insns.all, 3 + 3); /* also in a function that did not run */
    ct_cover_report_free(r);
    ct_memory_free(f.memory);
    ct_symbols_free(f.symbols);
}

/* Nothing ran at all. */
TEST_WITH(test_nothing, f)
{
    struct ct_cover_report *none = report(f, NULL, 0);
    assert_int_equal(none->insn_count, 0);
    assert_int_equal(none->sums.insns.all, FUNCTIONS * INSNS);
    assert_int_equal(none->sums.calls.all, 2 * FUNCTIONS);
    assert_int_equal(none->sums.hidden.all, 4 * FUNCTIONS);
    assert_int_equal(none->sums.functions.all, FUNCTIONS);
    assert_int_equal(none->sums.functions.seen, 0);
    ct_cover_report_free(none);
}

/* ---- sums ---- */

#define DIFFERENT 3000u /* items, each of which occurs twice */
#define STEP      1117u /* has no common factor with twice DIFFERENT */

/* Makes item `number` in the order of kind, from, to and isa: three kinds of a thousand items each, ten of
 * which begin at the same place. Places are `apart` from each other. */
static struct ct_cover_item ordered_item(unsigned number, uint64_t apart)
{
    const unsigned within = number % 1000;
    return (struct ct_cover_item){.kind = number / 1000,
                                  .from = 0x400000 + within / 10 * apart,
                                  .to = 0x500000 + within % 10 / 2 * 8,
                                  .isa = (uint8_t)(within % 2),
                                  .count = 1 + number};
}

static void check_sums(uint64_t apart)
{
    static struct ct_cover_item items[2 * DIFFERENT];
    for (unsigned i = 0; i < 2 * DIFFERENT; i++)
        items[i * STEP % (2 * DIFFERENT)] = ordered_item(i / 2, apart);
    assert_int_equal(ct_cover_add_up(items, 2 * DIFFERENT), DIFFERENT);
    for (unsigned i = 0; i < DIFFERENT; i++) {
        struct ct_cover_item wanted = ordered_item(i, apart);
        wanted.count *= 2;
        assert_memory_equal(&items[i], &wanted, sizeof wanted);
    }
}

/* Items that are announced and missing, and a report with nowhere to go, are refused. */
TEST_WITH(test_null, f)
{
    struct ct_cover_report *none = NULL;
    assert_int_equal(ct_cover_report_new(NULL, &f->source, NULL, 1, &none), CT_ERR_ARG);
    assert_int_equal(ct_cover_report_new(NULL, &f->source, NULL, 0, NULL), CT_ERR_ARG);
    assert_null(none);
}

/* A number that no program has gives one without a name. */
TEST(test_unknown_program)
{
    const struct ct_program_identity program = {.name = "program", .high = 4};
    struct ct_cover *cover;
    uint32_t number;
    assert_int_equal(ct_cover_new(NULL, &cover), CT_OK);
    assert_null(ct_cover_program_at(cover, 0).name);
    assert_int_equal(ct_cover_program(cover, &program, &number), CT_OK);
    assert_string_equal(ct_cover_program_at(cover, number).name, "program");
    assert_null(ct_cover_program_at(cover, number + 1).name);
    assert_null(ct_cover_program_at(cover, UINT32_MAX).name);
    ct_cover_free(cover);
}

/* Sorts and adds up many items in random order, anywhere in the address space. */
TEST(test_sums)
{
    check_sums(4);
    check_sums(UINT64_C(0x12345678abc));
    check_sums(UINT64_MAX / 128);
}

/* At the end there is no padding, whatever follows. */
TEST(test_padding)
{
    static const uint8_t zeros[4];
    for (unsigned wide = 0; wide < 2; wide++) {
        assert_int_equal(ct_padding(zeros, 0, wide), 0);
        assert_int_equal(ct_padding(zeros, 1, wide), 1);
        assert_int_equal(ct_padding(zeros, 4, wide), 4);
    }
}

/* What looks like code inside of a raw string is none: quotes, brackets, operators. Behind it the only
 * decision of each text begins and ends at the given lines. */
TEST(test_raw_strings)
{
    static const struct {
        const char *text;
        uint32_t first, last;
    } cases[] = {
        {"const char *s = R\"(say \"no)\";\nif (a &&\n    b)\n", 2, 3}, /* C++ */
        {"auto s = u8R\"x(\" (a)\" &&\n)x\";\nif (a &&\n    b)\n", 3, 4},
        {"auto s = R\"no string\";\nif (a &&\n    b)\n", 2, 3},
        {"let s = r\"C:\\\";\nif a &&\n    b {\n", 2, 3}, /* Rust */
        {"let s = r#\"say \"no\"#;\nif a &&\n    b {\n", 2, 3},
        {"let s = br##\"a\"# &&\n\"##;\nif a\n    || b {\n", 3, 4},
        {"let t = r#type;\nif a &&\n    b {\n", 2, 3},
        {"s := `it's \"` + `C:\\`\nif a &&\n\tb {\n", 2, 3}, /* Go */
        {"s := `\n\" ( &&\n`\nif a &&\n\tb {\n", 4, 5},
        {"if a &&\n\tb ` {\n", 1, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ct_cover_extents extents = {0};
        assert_true(ct_cover_extents_read(&extents, cases[i].text, strlen(cases[i].text)));
        assert_int_equal(extents.count, 1);
        assert_int_equal(extents.all[0].first, cases[i].first);
        assert_int_equal(extents.all[0].last, cases[i].last);
        free(extents.all);
    }
}
