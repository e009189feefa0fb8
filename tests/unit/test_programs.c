/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the programs that ran: named ones instead of those of a capture, memories, and that files are loaded
 * once, when they are needed. */
#include <stdlib.h>
#include <unistd.h>

#include "coretap/programs.h"
#include "four_functions.h"
#include "support/unit.h"

#define HIGH UINT64_C(0x7000000000)

struct fixture {
    char folder[32], here[48], other[48];
    struct ct_ctx *ctx;
    struct ct_programs *programs;
};

static void write_file(const char *path, uint8_t id)
{
    static uint8_t file[ELF_SIZE] __attribute__((aligned(8)));
    elf64_build(file, four_functions, 4);
    file[ELF_NOTE + 16] = id;
    ((Elf64_Shdr *)(void *)(file + 0x200))[1].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(file, sizeof file, 1, f), 1);
    assert_int_equal(fclose(f), 0);
}

static void renew(struct fixture *f, struct ct_programs_options options)
{
    ct_programs_free(f->programs);
    options.size = sizeof options;
    assert_int_equal(ct_programs_new(f->ctx, &options, &f->programs), CT_OK);
}

/* Makes two files with different programs. */
static int begin(void **state)
{
    static struct fixture f;
    f = (struct fixture){.folder = "/tmp/coretap-programs-XXXXXX", .ctx = ct_ctx_new()};
    *state = &f;
    if (!mkdtemp(f.folder))
        return 1;
    snprintf(f.here, sizeof f.here, "%s/program", f.folder);
    snprintf(f.other, sizeof f.other, "%s/other", f.folder);
    write_file(f.here, 1);
    write_file(f.other, 2);
    renew(&f, (struct ct_programs_options){0});
    return 0;
}

static int finish(void **state)
{
    struct fixture *f = *state;
    ct_programs_free(f->programs);
    ct_ctx_free(f->ctx);
    unlink(f->here);
    unlink(f->other);
    return rmdir(f->folder);
}

FIXTURE(struct fixture, begin, finish);

static struct ct_image program_at(const char *path, uint64_t bias)
{
    return (struct ct_image){.path = path, .addr = bias, .space = CT_SPACE_ANY, .is_elf = 1};
}

static struct ct_program *add(struct fixture *f, const char *path, const uint64_t *bias,
                              const struct ct_capture *capture)
{
    struct ct_program *program = NULL;
    assert_int_equal(ct_programs_add(f->programs, path, bias, capture, &program), CT_OK);
    return program;
}

/* ---- a capture ---- */

TEST_WITH(takes_what_the_capture_names, f)
{
    const struct ct_image images[] = {program_at(f->other, 0), {.path = f->here, .addr = 0x100, .size = 16}};
    const struct ct_buffer buffers[] = {{.name = "buffer", .image_count = 2, .images = images},
                                        {.name = "buffer", .image_count = 2, .images = images}};
    const struct ct_image ran[] = {program_at(f->here, HIGH), program_at(f->other, HIGH)};
    const struct ct_capture capture = {
        .buffer_count = 2, .buffers = buffers, .program_count = 2, .programs = ran, .main_count = 1};
    const struct ct_program_place *places;
    size_t count;
    assert_int_equal(ct_programs_add_capture(f->programs, &capture), CT_OK);
    assert_int_equal(ct_programs_count(f->programs), 3);
    assert_string_equal(ct_programs_at(f->programs, 0)->path, f->other);
    assert_int_equal(ct_programs_at(f->programs, 0)->started, 0);
    assert_string_equal(ct_programs_at(f->programs, 1)->path, f->here);
    assert_int_equal(ct_programs_at(f->programs, 1)->started, 1);
    assert_int_equal(ct_programs_at(f->programs, 2)->bias, HIGH);
    assert_int_equal(ct_programs_at(f->programs, 2)->named, 0);
    assert_null(ct_programs_at(f->programs, 3));
    /* … and after them one for the memory that is no ELF file, which both buffers have */
    assert_int_equal(ct_programs_places(f->programs, &places, &count), CT_OK);
    assert_int_equal(count, 4);
    assert_int_equal(places[1].shift, HIGH);
    assert_non_null(ct_symbols_code_at(places[3].symbols, 0x108, NULL));
}

TEST_WITH(a_named_one_stands_for_that_of_the_capture, f)
{
    const struct ct_image image = program_at("/target/program", HIGH);
    const struct ct_buffer buffer = {.name = "buffer", .image_count = 1, .images = &image};
    const struct ct_image ran[] = {program_at("/target/program", HIGH),
                                   program_at("/target/program", 0x10000)};
    const struct ct_capture capture = {
        .buffer_count = 1, .buffers = &buffer, .program_count = 2, .programs = ran, .main_count = 2};
    const struct ct_program *program = add(f, f->here, NULL, &capture);
    assert_int_equal(program->bias, HIGH);
    assert_string_equal(program->ran_as, "/target/program");
    struct ct_buffer given = buffer; /* it has the image already */
    assert_int_equal(ct_programs_give(f->programs, &given), CT_OK);
    assert_int_equal(given.image_count, 1);
    assert_int_equal(ct_programs_add_capture(f->programs, &capture), CT_OK);
    /* the named file also replaces the one at another address */
    assert_int_equal(ct_programs_count(f->programs), 2);
    assert_string_equal(ct_programs_at(f->programs, 1)->path, f->here);
    assert_int_equal(ct_programs_at(f->programs, 1)->bias, 0x10000);
    assert_int_equal(ct_programs_at(f->programs, 1)->named, 1);
}

TEST_WITH(a_name_alone_chooses_one_of_the_capture, f)
{
    const struct ct_image ran = program_at(f->here, HIGH);
    const struct ct_capture capture = {.program_count = 1, .programs = &ran};
    assert_string_equal(add(f, "program", NULL, &capture)->path, f->here);
    assert_int_equal(ct_programs_add(f->programs, "nothing", NULL, &capture, NULL), CT_ERR_IO);
    assert_int_equal(ct_programs_count(f->programs), 1);
}

/* A member of an archive is no file of its own, but exists. */
TEST_WITH(an_entry_of_an_archive_is_there, f)
{
    static const uint8_t archive[] = {
        'P', 'K', 3, 4, 10, 0, 0,    0,    0,    0,    0,    0,   0,   0, 0x47, 0xdd, 0xdc, 0x79, 1, 0, 0,
        0,   1,   0, 0, 0,  1, 0,    0,    0,    'a',  '\n', 'P', 'K', 1, 2,    10,   0,    10,   0, 0, 0,
        0,   0,   0, 0, 0,  0, 0x47, 0xdd, 0xdc, 0x79, 1,    0,   0,   0, 1,    0,    0,    0,    1, 0, 0,
        0,   0,   0, 0, 0,  0, 0,    0,    0,    0,    0,    0,   0,   0, 0,    'a',  'P',  'K',  5, 6, 0,
        0,   0,   0, 1, 0,  1, 0,    47,   0,    0,    0,    32,  0,   0, 0,    0,    0};
    char entry[sizeof f->other + 8], gone[sizeof f->other + 8];
    FILE *file = fopen(f->other, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(archive, sizeof archive, 1, file), 1);
    assert_int_equal(fclose(file), 0);
    snprintf(entry, sizeof entry, "%s!/a", f->other);
    snprintf(gone, sizeof gone, "%s!/b", f->other);
    const struct ct_image ran = program_at("/target/a", HIGH);
    const struct ct_capture capture = {.program_count = 1, .programs = &ran};
    assert_string_equal(add(f, entry, NULL, NULL)->path, entry);
    assert_int_equal(ct_programs_add(f->programs, gone, NULL, NULL, NULL), CT_ERR_IO);
    assert_non_null(strstr(ct_ctx_error(f->ctx), gone));
    /* it was said not to exist when the capture has a program of this name */
    const int rc = ct_programs_add(f->programs, entry, NULL, &capture, NULL);
    assert_null(strstr(ct_ctx_error(f->ctx), "does not exist"));
    assert_int_equal(rc, CT_OK);
}

TEST_WITH(two_programs_are_not_at_one_bias, f)
{
    const uint64_t bias = HIGH;
    const struct ct_image ran[] = {program_at("/target/renamed", HIGH), program_at("/target/low", 0)};
    const struct ct_capture capture = {.program_count = 2, .programs = ran};
    add(f, f->here, &bias, &capture);
    assert_int_equal(ct_programs_add_capture(f->programs, &capture), CT_OK);
    assert_int_equal(ct_programs_count(f->programs), 2);
    assert_string_equal(ct_programs_at(f->programs, 1)->path, "/target/low");
}

/* ---- builds ---- */

#define ID_REST "02030405060708090a0b0c0d0e0f1011121314"

TEST_WITH(another_build_than_what_is_gone_is_refused, f)
{
    static const struct {
        struct ct_image gone;
        const char *id; /* of the named file: 01, ID_REST */
        uint64_t bias;
        int rc;
    } cases[] = {
        {{.path = "/t/x", .addr = HIGH, .is_elf = 1}, "01" ID_REST, HIGH, CT_OK},
        {{.path = "/t/x", .addr = HIGH, .is_elf = 1}, "01" ID_REST "0000", HIGH, CT_OK},
        {{.path = "/t/x", .addr = HIGH, .is_elf = 1}, NULL, HIGH, CT_OK},
        {{.path = "/t/x", .addr = HIGH, .is_elf = 1}, "02" ID_REST, HIGH, CT_ERR_CONFIG},
        {{.path = "/t/x", .addr = HIGH, .is_elf = 1}, "02" ID_REST, HIGH + 0x1000, CT_OK},
        {{.path = "/t/program", .addr = HIGH, .is_elf = 1}, "02" ID_REST, 0, CT_ERR_CONFIG},
        {{.path = "/t/x", .addr = 0, .is_elf = 1}, "02" ID_REST, 0, CT_OK}, /* no overlap is known */
        {{.path = "/t/x", .addr = HIGH + TEXT + 0xfc, .size = 8}, "02" ID_REST, HIGH, CT_ERR_CONFIG},
        {{.path = "/t/x", .addr = HIGH + TEXT + 0x100, .size = 8}, "02" ID_REST, HIGH, CT_OK},
        {{.path = "/t/x", .addr = HIGH + TEXT - 8, .size = 9}, "02" ID_REST, HIGH, CT_ERR_CONFIG},
        {{.path = "/t/x", .addr = HIGH + TEXT - 8, .size = 8}, "02" ID_REST, HIGH, CT_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct ct_capture capture = {
            .path = "a-capture", .gone_count = 1, .gone = &cases[i].gone, .gone_build_ids = &cases[i].id};
        renew(f, (struct ct_programs_options){0});
        const int rc = ct_programs_add(f->programs, f->here, &cases[i].bias, &capture, NULL);
        if (rc != cases[i].rc)
            fail_msg("case %zu: %d", i, rc);
        assert_int_equal(ct_programs_count(f->programs), rc ? 0 : 1);
        if (!rc)
            continue;
        assert_non_null(strstr(ct_ctx_error(f->ctx), f->here));
        assert_non_null(strstr(ct_ctx_error(f->ctx), "01" ID_REST));
        assert_non_null(strstr(ct_ctx_error(f->ctx), cases[i].gone.path));
        assert_non_null(strstr(ct_ctx_error(f->ctx), cases[i].id));
        assert_non_null(strstr(ct_ctx_error(f->ctx), "a-capture"));
    }
}

TEST_WITH(another_build_than_what_is_here_is_refused, f)
{
    const uint64_t bias = HIGH, elsewhere = HIGH + 0x1000;
    const struct ct_image ran = program_at(f->other, HIGH);
    const struct ct_generation generation = {.program_count = 1, .programs = &ran};
    const struct ct_process process = {.generation_count = 1, .generations = &generation};
    const struct ct_maps maps = {.process_count = 1, .processes = &process};
    const struct ct_buffer buffer = {.name = "buffer", .image_count = 1, .images = &ran};
    const struct ct_capture captures[] = {
        {.program_count = 1, .programs = &ran}, {.buffer_count = 1, .buffers = &buffer}, {.maps = &maps}};
    for (size_t i = 0; i < 3; i++) {
        renew(f, (struct ct_programs_options){0});
        assert_int_equal(ct_programs_add(f->programs, f->here, &bias, &captures[i], NULL), CT_ERR_CONFIG);
        assert_non_null(strstr(ct_ctx_error(f->ctx), f->other));
        add(f, f->here, &elsewhere, &captures[i]);
    }
}

TEST_WITH(one_of_several_has_to_be_the_build, f)
{
    const uint64_t bias = HIGH;
    const struct ct_image ran[] = {program_at(f->other, HIGH), program_at(f->here, HIGH)};
    const struct ct_capture capture = {.program_count = 2, .programs = ran};
    char copy[64];
    snprintf(copy, sizeof copy, "%s/copy", f->folder);
    write_file(copy, 1);
    const struct ct_program *program = add(f, copy, &bias, &capture);
    assert_string_equal(program->ran_as, f->here); /* found by its build ID */
    unlink(copy);
}

/* Where a file overlaps itself, what ran would count twice. */
TEST_WITH(a_build_that_ran_elsewhere_may_not_overlap_that_place, f)
{
    static const struct {
        uint64_t bias;
        int rc;
    } cases[] = {{HIGH, CT_OK},
                 {2 * HIGH + 4, CT_OK}, /* it ran there, too */
                 {HIGH + 4, CT_ERR_CONFIG},
                 {HIGH - 0xfc, CT_ERR_CONFIG},
                 {HIGH + 0x100, CT_OK}};
    const struct ct_image ran[] = {program_at(f->here, HIGH), program_at(f->here, 2 * HIGH),
                                   program_at(f->here, 2 * HIGH + 4)};
    const struct ct_capture capture = {.path = "a-capture", .program_count = 3, .programs = ran};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        renew(f, (struct ct_programs_options){0});
        const int rc = ct_programs_add(f->programs, f->here, &cases[i].bias, &capture, NULL);
        if (rc != cases[i].rc)
            fail_msg("case %zu: %d: %s", i, rc, ct_ctx_error(f->ctx));
        if (rc)
            assert_non_null(strstr(ct_ctx_error(f->ctx), "a-capture"));
    }
}

/* ---- images ---- */

TEST_WITH(becomes_an_image_where_memory_is_not_known, f)
{
    const uint64_t low = 0;
    const uint64_t high = HIGH;
    const struct ct_image dump = {.path = f->here, .addr = TEXT, .size = 4};
    struct ct_buffer buffer = {.name = "buffer", .image_count = 1, .images = &dump};
    add(f, f->here, &low, NULL);
    add(f, f->other, &high, NULL);
    assert_int_equal(ct_programs_give(f->programs, &buffer), CT_OK);
    assert_int_equal(buffer.image_count, 2);
    assert_ptr_equal(buffer.images[0].path, dump.path);
    assert_string_equal(buffer.images[1].path, f->other);
    assert_int_equal(buffer.images[1].addr, HIGH);
    assert_int_equal(buffer.images[1].is_elf, 1);
}

/* ---- memory that changes ---- */

TEST_WITH(lies_in_the_memories_that_it_was_seen_in, f)
{
    const struct ct_image first = program_at(f->here, 0);
    const struct ct_image second[] = {program_at(f->other, 0), program_at(f->here, 0)};
    const struct ct_generation generations[] = {
        {.program_count = 1, .programs = &first, .has_main = 1},
        {.from = 5, .program_count = 2, .programs = second, .has_main = 1}};
    const struct ct_process process = {.pid = 7, .generation_count = 2, .generations = generations};
    const struct ct_maps maps = {.process_count = 1, .processes = &process};
    const struct ct_capture capture = {.maps = &maps, .program_count = 2, .programs = second};
    assert_true(ct_programs_by_memory(&capture));
    assert_false(ct_programs_by_memory(&(struct ct_capture){0}));
    assert_int_equal(ct_programs_add_capture(f->programs, &capture), CT_OK);
    assert_int_equal(ct_programs_count(f->programs), 0);
    assert_int_equal(ct_programs_in(f->programs, &maps, 2), CT_OK);
    assert_int_equal(ct_programs_count(f->programs), 2);
    struct ct_program *other = ct_programs_at(f->programs, 0);
    assert_int_equal(other->started, 1);
    assert_int_equal(ct_programs_at(f->programs, 1)->started, 0);
    assert_int_equal(ct_programs_in(f->programs, &maps, 1), CT_OK);
    assert_int_equal(ct_programs_count(f->programs), 2);
    assert_int_equal(ct_program_has(other, MAIN, 2), 1);
    assert_int_equal(ct_program_has(other, MAIN, 1), 0);
    assert_int_equal(ct_program_has(ct_programs_at(f->programs, 1), MAIN, 1), 1);
    renew(f, (struct ct_programs_options){.all_memories = 1});
    assert_int_equal(ct_programs_add_capture(f->programs, &capture), CT_OK);
    assert_int_equal(ct_programs_count(f->programs), 2);
    assert_int_equal(ct_program_has(ct_programs_at(f->programs, 0), MAIN, 1), 1);
}

/* ---- what is loaded ---- */

TEST_WITH(loads_a_file_once_and_late, f)
{
    const uint64_t bias = HIGH;
    const struct ct_symbols *one, *two, *again;
    const struct ct_lines *lines;
    const struct ct_memory *memory;
    struct ct_cfg *cfg;
    size_t size;
    struct ct_program *low = add(f, f->here, NULL, NULL);
    struct ct_program *high = add(f, f->here, &bias, NULL);
    assert_ptr_not_equal(low, high);
    assert_ptr_equal(add(f, f->here, &bias, NULL), high);
    assert_int_equal(ct_program_symbols(high, &one), CT_OK);
    assert_int_equal(ct_program_lines(high, &lines), CT_OK);
    unlink(f->here); /* a loaded file is not read again, even for another address */
    assert_int_equal(ct_program_symbols(low, &two), CT_OK);
    assert_ptr_equal(one, two);
    assert_int_equal(ct_program_memory(low, &memory), CT_ERR_IO);
    assert_null(memory);
    write_file(f->here, 1);
    assert_int_equal(ct_program_symbols(high, &again), CT_OK);
    assert_ptr_equal(one, again);
    assert_int_equal(ct_program_memory(low, &memory), CT_OK);
    assert_non_null(ct_memory_at(memory, MAIN, CT_SPACE_EL1N, &size));
    assert_int_equal(ct_program_cfg(high, &cfg), CT_OK);
    assert_int_not_equal(ct_cfg_function_at(cfg, MAIN), CT_CFG_NONE);
    assert_int_equal(high->shift, HIGH);
    assert_int_equal(ct_program_has(high, HIGH + MAIN, 0), 1);
    assert_int_equal(ct_program_has(high, MAIN, 0), 0);
}

/* A file can have gigabytes of debug information. */
/* Loads symbols and lines of the first file in a new set, and returns them. */
static void load(struct fixture *f, struct ct_debug_files *files, const struct ct_symbols **symbols,
                 const struct ct_lines **lines)
{
    renew(f, (struct ct_programs_options){.files = files});
    struct ct_program *program = add(f, f->here, NULL, NULL);
    assert_int_equal(ct_program_symbols(program, symbols), CT_OK);
    assert_int_equal(ct_program_lines(program, lines), CT_OK);
}

TEST_WITH(what_is_loaded_is_kept_for_later_sets_on_wish, f)
{
    const struct ct_symbols *symbols[3];
    const struct ct_lines *lines[3];
    struct ct_debug_files *files;
    size_t count;
    assert_int_equal(ct_debug_files_new(f->ctx, &files), CT_OK);
    load(f, files, &symbols[0], &lines[0]);
    ct_debug_files_keep(files);
    load(f, files, &symbols[0], &lines[0]);
    load(f, files, &symbols[1], &lines[1]);
    assert_ptr_equal(symbols[1], symbols[0]);
    assert_ptr_equal(lines[1], lines[0]);
    assert_non_null(ct_symbols_all(symbols[1], &count));
    assert_int_equal(count, 4);
    unlink(f->here);
    write_file(f->here, 3); /* another program at the same path */
    load(f, files, &symbols[2], &lines[2]);
    assert_ptr_not_equal(symbols[2], symbols[0]);
    assert_ptr_not_equal(lines[2], lines[0]);
    renew(f, (struct ct_programs_options){.files = files, .raw_names = 1});
    assert_int_equal(ct_program_symbols(add(f, f->here, NULL, NULL), &symbols[1]), CT_OK);
    assert_ptr_not_equal(symbols[1], symbols[2]);
    unlink(f->other); /* another name of the same file, after which code without names is named */
    assert_int_equal(link(f->here, f->other), 0);
    renew(f, (struct ct_programs_options){.files = files});
    assert_int_equal(ct_program_symbols(add(f, f->other, NULL, NULL), &symbols[1]), CT_OK);
    assert_string_equal(ct_symbols_module(symbols[1]), "other");
    renew(f, (struct ct_programs_options){0});
    ct_debug_files_free(files);
    ct_debug_files_keep(NULL);
}

TEST_WITH(a_folder_has_no_file_of_a_build_that_was_replaced, f)
{
    struct ct_debug_files *files;
    const struct ct_symbols *symbols;
    const char *path;
    size_t size;
    assert_int_equal(ct_program_symbols(add(f, f->here, NULL, NULL), &symbols), CT_OK);
    const uint8_t *id = ct_symbols_build_id(symbols, &size);
    assert_int_equal(ct_debug_files_new(f->ctx, &files), CT_OK);
    assert_int_equal(ct_debug_files_add_dir(files, f->folder), CT_OK);
    assert_int_equal(ct_debug_files_program(files, id, size, &path), CT_OK);
    assert_string_equal(path, f->here);
    unlink(f->here);
    assert_int_equal(ct_debug_files_program(files, id, size, &path), CT_OK);
    assert_null(path);
    write_file(f->here, 3);
    assert_int_equal(ct_debug_files_program(files, id, size, &path), CT_OK);
    assert_null(path);
    write_file(f->here, 1);
    assert_int_equal(ct_debug_files_program(files, id, size, &path), CT_OK);
    assert_string_equal(path, f->here);
    ct_debug_files_free(files);
}

TEST_WITH(what_follows_the_memory_is_read_from_it, f)
{
    const struct ct_memory *memory;
    const struct ct_symbols *symbols;
    const struct ct_lines *lines;
    struct ct_program *program = add(f, f->here, NULL, NULL);
    assert_int_equal(ct_program_memory(program, &memory), CT_OK);
    unlink(f->here);
    assert_int_equal(ct_program_symbols(program, &symbols), CT_OK);
    assert_non_null(ct_symbols_at(symbols, MAIN, NULL));
    assert_int_equal(ct_program_lines(program, &lines), CT_OK);
}

/* Headers give the place of code and the build ID. For functions the whole file is read. */
TEST_WITH(headers_are_loaded_alone, f)
{
    const uint64_t bias = HIGH;
    const struct ct_symbols *headers, *symbols, *later;
    struct ct_program *program = add(f, f->here, &bias, NULL);
    size_t count, all, size, id_size;
    assert_int_equal(ct_program_headers(program, &headers), CT_OK);
    assert_null(ct_symbols_at(headers, MAIN, NULL));
    (void)ct_symbols_all(headers, &count);
    assert_int_equal(count, 0);
    assert_int_equal(ct_program_has(program, HIGH + MAIN, 0), 1);
    assert_int_equal(ct_program_symbols(program, &symbols), CT_OK);
    assert_non_null(ct_symbols_at(symbols, MAIN, NULL));
    const struct ct_code_range *code = ct_symbols_code(headers, &count);
    const struct ct_code_range *same = ct_symbols_code(symbols, &all);
    assert_int_equal(count, all);
    assert_memory_equal(code, same, count * sizeof *code);
    const uint8_t *id = ct_symbols_build_id(headers, &size), *whole = ct_symbols_build_id(symbols, &id_size);
    assert_int_equal(size, id_size);
    assert_true(size > 0);
    assert_memory_equal(id, whole, size);
    assert_int_equal(ct_symbols_base(headers), ct_symbols_base(symbols));
    assert_int_equal(ct_symbols_entry(headers), ct_symbols_entry(symbols));
    assert_int_equal(ct_program_headers(program, &later), CT_OK);
    assert_ptr_equal(later, symbols);
}

TEST_WITH(addresses_can_include_the_bias, f)
{
    const uint64_t bias = HIGH;
    const struct ct_symbols *symbols;
    const struct ct_memory *memory;
    struct ct_cfg *cfg;
    size_t size;
    renew(f, (struct ct_programs_options){.moved = 1});
    struct ct_program *low = add(f, f->here, NULL, NULL);
    struct ct_program *high = add(f, f->here, &bias, NULL);
    assert_int_equal(high->shift, 0);
    assert_int_equal(ct_program_symbols(low, &symbols), CT_OK);
    assert_non_null(ct_symbols_at(symbols, MAIN, NULL));
    assert_int_equal(ct_program_symbols(high, &symbols), CT_OK);
    assert_non_null(ct_symbols_at(symbols, HIGH + MAIN, NULL));
    assert_int_equal(ct_program_memory(high, &memory), CT_OK);
    assert_non_null(ct_memory_at(memory, HIGH + MAIN, CT_SPACE_EL1N, &size));
    assert_int_equal(ct_program_cfg(high, &cfg), CT_OK);
    assert_int_not_equal(ct_cfg_function_at(cfg, HIGH + MAIN), CT_CFG_NONE);
    assert_int_equal(ct_program_has(high, HIGH + MAIN, 0), 1);
}

TEST_WITH(knows_where_an_address_is, f)
{
    const uint64_t bias = HIGH;
    struct ct_program_where where;
    const struct ct_image dump = {.path = "/target/dump", .addr = 0x100, .size = 16};
    const struct ct_buffer buffer = {.name = "buffer", .image_count = 1, .images = &dump};
    const struct ct_capture capture = {.buffer_count = 1, .buffers = &buffer};
    const struct ct_program *program = add(f, f->here, &bias, NULL);
    assert_int_equal(ct_programs_add_capture(f->programs, &capture), CT_OK);
    assert_int_equal(ct_programs_where(f->programs, HIGH + WORK + 4, &where), CT_OK);
    assert_ptr_equal(where.program, program);
    assert_string_equal(where.function, "work");
    assert_null(where.file);
    assert_int_equal(ct_programs_where(f->programs, 0x104, &where), CT_OK);
    assert_null(where.program);
    assert_string_equal(where.function, "dump+0x0");
    assert_int_equal(ct_programs_where(f->programs, WORK, &where), CT_OK);
    assert_null(where.function);
}

TEST_WITH(knows_data_and_sections, f)
{
    static const struct test_symbol symbols[] = {
        {.name = "table", .value = 0x500000, .size = 8, .type = STT_OBJECT, .bind = STB_LOCAL, .section = 1},
        {.name = "main", .value = MAIN, .size = 8, .type = STT_FUNC, .bind = STB_GLOBAL, .section = 1},
        {.name = "elsewhere", .value = 8, .type = STT_OBJECT, .bind = STB_GLOBAL, .section = SHN_UNDEF},
        {.name = "mark", .value = 0x500008, .type = STT_OBJECT, .bind = STB_GLOBAL, .section = 1}};
    static uint8_t file[ELF_SIZE] __attribute__((aligned(8)));
    const uint64_t bias = HIGH;
    const struct ct_layout *layout;
    elf64_build(file, symbols, 4);
    ((Elf64_Ehdr *)file)->e_shstrndx = 3;
    Elf64_Shdr *text = (Elf64_Shdr *)(file + 0x200) + 1;
    text->sh_name = 1; /* "table" */
    text->sh_flags = SHF_ALLOC;
    char path[40];
    FILE *opened = test_file(file, ELF_SIZE, path);
    assert_non_null(opened);
    renew(f, (struct ct_programs_options){.moved = 1});
    assert_int_equal(ct_program_layout(add(f, path, &bias, NULL), &layout), CT_OK);
    assert_int_equal(layout->object_count, 2);
    assert_string_equal(layout->objects[0].name, "table");
    assert_int_equal(layout->objects[0].addr, HIGH + 0x500000);
    assert_int_equal(layout->objects[0].size, 8);
    assert_string_equal(layout->objects[1].name, "mark");
    assert_int_equal(layout->objects[1].size, 0);
    assert_int_equal(layout->section_count, 1);
    assert_string_equal(layout->sections[0].name, "table");
    assert_int_equal(layout->sections[0].addr, HIGH + TEXT);
    assert_int_equal(layout->end, HIGH + 0x500010);
    fclose(opened);
}

TEST_WITH(functions_are_found_in_the_first_program_that_has_them, f)
{
    struct ct_program *program, *here = add(f, f->here, NULL, NULL);
    uint32_t function;
    struct ct_cfg *cfg;
    size_t count;
    add(f, f->other, NULL, NULL);
    assert_int_equal(ct_programs_function(f->programs, "main", &program, &function), CT_OK);
    assert_ptr_equal(program, here);
    assert_int_equal(ct_program_cfg(program, &cfg), CT_OK);
    assert_string_equal(ct_cfg_functions(cfg, &count)[function].name, "main");
    /* by the program and its address, as in listings */
    assert_int_equal(ct_programs_function(f->programs, "other+0x4", &program, &function), CT_ERR_NOT_FOUND);
    assert_non_null(strstr(ct_ctx_error(f->ctx), "no function begins at this address"));
    assert_null(program);
    assert_int_equal(function, CT_CFG_NONE);
    assert_int_equal(ct_programs_function(f->programs, "none", &program, &function), CT_ERR_NOT_FOUND);
    assert_non_null(strstr(ct_ctx_error(f->ctx), "none: no program has a function of that name"));
    assert_int_equal(ct_programs_function(f->programs, NULL, &program, &function), CT_ERR_ARG);
    assert_int_equal(ct_programs_function(f->programs, "main", &program, NULL), CT_ERR_ARG);
}

/* The control flow of a program takes long to read. No symbol gives the name, so it is not read. */
TEST_WITH(a_function_that_no_symbol_names_needs_no_control_flow, f)
{
    struct ct_program *program;
    const struct ct_symbols *symbols;
    uint32_t function;
    assert_int_equal(ct_program_symbols(add(f, f->here, NULL, NULL), &symbols), CT_OK);
    unlink(f->here); /* so reading the control flow would fail */
    assert_int_equal(ct_programs_function(f->programs, "none", &program, &function), CT_ERR_NOT_FOUND);
    assert_int_equal(ct_programs_function(f->programs, "main", &program, &function), CT_ERR_IO);
    assert_int_equal(ct_programs_function(f->programs, "program+0x4", &program, &function), CT_ERR_IO);
}

/* ---- errors ---- */

TEST_WITH(one_that_is_not_there_leaves_the_others, f)
{
    const struct ct_program_place *places;
    const struct ct_symbols *symbols;
    size_t count;
    struct ct_program *missing = add(f, f->other, NULL, NULL);
    assert_int_equal(ct_programs_add(f->programs, "/nowhere/missing", NULL, NULL, NULL), CT_ERR_IO);
    assert_non_null(strstr(ct_ctx_error(f->ctx), "/nowhere/missing"));
    assert_int_equal(unlink(f->other), 0);
    add(f, f->here, NULL, NULL);
    assert_int_equal(ct_program_symbols(missing, &symbols), CT_ERR_IO);
    assert_null(symbols);
    assert_non_null(strstr(ct_ctx_error(f->ctx), f->other));
    assert_int_equal(ct_programs_places(f->programs, &places, &count), CT_ERR_IO);
    assert_int_equal(count, 1);
    assert_int_equal(ct_program_has(missing, MAIN, 0), 0);
}

TEST_WITH(null_is_an_error, f)
{
    struct ct_programs_options none = {0};
    struct ct_programs *programs;
    const struct ct_symbols *symbols;
    assert_int_equal(ct_programs_new(f->ctx, NULL, NULL), CT_ERR_ARG);
    assert_int_equal(ct_programs_new(f->ctx, &none, &programs), CT_ERR_ARG);
    assert_int_equal(ct_programs_add(f->programs, NULL, NULL, NULL, NULL), CT_ERR_ARG);
    assert_int_equal(ct_programs_add(NULL, f->here, NULL, NULL, NULL), CT_ERR_ARG);
    assert_int_equal(ct_programs_add_capture(f->programs, NULL), CT_ERR_ARG);
    assert_int_equal(ct_programs_in(f->programs, NULL, 0), CT_ERR_ARG);
    assert_int_equal(ct_programs_give(f->programs, NULL), CT_ERR_ARG);
    assert_int_equal(ct_program_symbols(NULL, &symbols), CT_ERR_ARG);
    assert_int_equal(ct_program_headers(NULL, &symbols), CT_ERR_ARG);
    assert_int_equal(ct_program_lines(add(f, f->here, NULL, NULL), NULL), CT_ERR_ARG);
    assert_int_equal(ct_programs_count(NULL), 0);
    ct_programs_free(NULL);
}

/* An older caller has fewer options, a newer one more. */
TEST_WITH(options_are_read_by_their_size, f)
{
    struct {
        struct ct_programs_options options;
        uint64_t more;
    } newer = {.options = {.size = sizeof newer, .moved = 1}};
    const uint64_t bias = HIGH;
    ct_programs_free(f->programs);
    assert_int_equal(ct_programs_new(f->ctx, &newer.options, &f->programs), CT_OK);
    assert_int_equal(add(f, f->here, &bias, NULL)->shift, 0);
    newer.options.size = offsetof(struct ct_programs_options, moved);
    ct_programs_free(f->programs);
    assert_int_equal(ct_programs_new(f->ctx, &newer.options, &f->programs), CT_OK);
    assert_int_equal(add(f, f->here, &bias, NULL)->shift, HIGH);
}
