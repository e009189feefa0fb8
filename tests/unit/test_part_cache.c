/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that symbols and lines from a folder of other processes are those of the program, whatever happens
 * to the folder. Needs a cross compiler; without it the tests are skipped. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coretap/programs.h"
#include "coretap/source_lines.h"
#include "support/unit.h"

#define TOOLS "aarch64-linux-gnu-"

static const char source[] = "static inline __attribute__((always_inline)) int twice(int x)\n"
                             "{\n"
                             "    return x * 2;\n"
                             "}\n"
                             "int NAME(int x)\n"
                             "{\n"
                             "    return twice(x) + 1;\n"
                             "}\n"
                             "void _start(void)\n"
                             "{\n"
                             "    for (;;)\n"
                             "        NAME(1);\n"
                             "}\n";

struct fixture {
    char folder[32], cache[48], program[48];
    struct ct_ctx *ctx;
    unsigned warnings;
};

static void count_warnings(void *user, enum ct_log_level level, const char *text)
{
    struct fixture *f = user;
    assert_non_null(strstr(text, "cannot be stored in this cache"));
    f->warnings += level == CT_LOG_WARNING;
}

static int in_folder(const struct fixture *f, const char *command)
{
    char all[400];
    snprintf(all, sizeof all, "cd %s && %s", f->folder, command);
    return system(all);
}

static int begin(void **state)
{
    static struct fixture f;
    f = (struct fixture){.folder = "/tmp/coretap-cache-XXXXXX", .ctx = ct_ctx_new()};
    *state = &f;
    if (!mkdtemp(f.folder))
        return 1;
    ct_ctx_set_log(f.ctx, count_warnings, &f, CT_LOG_WARNING);
    snprintf(f.cache, sizeof f.cache, "%s/cache", f.folder);
    snprintf(f.program, sizeof f.program, "%s/program", f.folder);
    return mkdir(f.cache, 0700);
}

static int finish(void **state)
{
    struct fixture *f = *state;
    ct_ctx_free(f->ctx);
    return in_folder(f, "rm -rf cache; rm -f program *.c *.debug") ?: rmdir(f->folder);
}

FIXTURE(struct fixture, begin, finish);

/* Compiles the program, with this name of a function. Skips the test where that is not possible. */
static void compile(const struct fixture *f, const char *name)
{
    char path[64], command[200];
    snprintf(path, sizeof path, "%s/a.c", f->folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(source, file);
    assert_int_equal(fclose(file), 0);
    snprintf(command, sizeof command,
             TOOLS "gcc -g -O1 -nostdlib -static -Wl,--build-id -DNAME=%s a.c -o program 2>/dev/null", name);
    if (in_folder(f, command))
        tap_skip("no cross compiler for 64-bit Arm (Debian: gcc-aarch64-linux-gnu)");
}

static uint64_t hash(uint64_t sum, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

static uint64_t hash_text(uint64_t sum, const char *text)
{
    return text ? hash(sum, text, strlen(text) + 1) : hash(sum, "none", 4);
}

static uint64_t hash_symbols(uint64_t sum, const struct ct_symbols *symbols)
{
    size_t count;
    const struct ct_symbol *all = ct_symbols_all_code(symbols, &count);
    for (size_t i = 0; i < count; i++) {
        sum = hash_text(sum, all[i].name);
        sum = hash_text(sum, ct_symbols_label(symbols, &all[i]));
        sum = hash(sum, &all[i].addr, sizeof all[i].addr);
        sum = hash(sum, &all[i].size, sizeof all[i].size);
        sum = hash(sum, (const uint8_t[]){all[i].isa, all[i].source}, 2);
        assert_ptr_equal(ct_symbols_code_at(symbols, all[i].addr, NULL), &all[i]);
    }
    const uint64_t values[] = {ct_symbols_base(symbols), ct_symbols_entry(symbols),
                               ct_symbols_isa_at(symbols, ct_symbols_entry(symbols))};
    const struct ct_code_range *code = ct_symbols_code(symbols, &count);
    sum = hash(sum, code, count * sizeof *code);
    const uint8_t *id = ct_symbols_build_id(symbols, &count);
    sum = hash(sum, id, count);
    return hash_text(hash(sum, values, sizeof values), ct_symbols_module(symbols));
}

static uint64_t hash_lines(uint64_t sum, const struct ct_lines *lines)
{
    size_t count, most = 0;
    const struct ct_line *rows = ct_lines_all(lines, &most);
    for (size_t i = 0; i < most; i++) {
        sum = hash(sum, &rows[i].addr, 2 * sizeof rows[i].addr);
        sum = hash(sum, &rows[i].file, 5 * sizeof rows[i].file);
        const uint32_t scope = ct_lines_scope_at(lines, rows[i].addr);
        sum = hash(sum, &scope, sizeof scope);
    }
    const struct ct_line_scope *scopes = ct_lines_scopes(lines, &count);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t more[] = {ct_lines_call_discriminator(lines, i), ct_lines_unit(lines, i),
                                 (uint32_t)ct_lines_is_optimised(lines, i)};
        sum = hash_text(hash_text(sum, scopes[i].name), scopes[i].linkage_name);
        sum = hash(hash(sum, &scopes[i].entry, sizeof scopes[i].entry), more, sizeof more);
        sum = hash(sum, &scopes[i].decl_file, 6 * sizeof scopes[i].decl_file);
    }
    for (uint32_t i = 0; i < ct_lines_file_count(lines); i++)
        sum = hash_text(sum, ct_lines_file(lines, i));
    (void)ct_lines_labels(lines, &count);
    return hash(sum, &count, sizeof count);
}

/* Loads the program as a new process does. Returns a hash of all its symbols and lines. `cache` and `names`,
 * a folder with separate files, may be NULL. */
static uint64_t load(struct fixture *f, const char *cache, const char *names)
{
    struct ct_debug_files *files;
    struct ct_programs *programs;
    struct ct_program *program;
    const struct ct_symbols *symbols;
    const struct ct_lines *lines;
    assert_int_equal(ct_debug_files_new(f->ctx, &files), CT_OK);
    if (cache)
        assert_int_equal(ct_debug_files_cache(files, cache), CT_OK);
    if (names)
        assert_int_equal(ct_debug_files_add_dir(files, names), CT_OK);
    const struct ct_programs_options options = {.size = sizeof options, .files = files};
    assert_int_equal(ct_programs_new(f->ctx, &options, &programs), CT_OK);
    assert_int_equal(ct_programs_add(programs, f->program, NULL, NULL, &program), CT_OK);
    assert_int_equal(ct_program_symbols(program, &symbols), CT_OK);
    assert_int_equal(ct_program_lines(program, &lines), CT_OK);
    const uint64_t sum = hash_lines(hash_symbols(1, symbols), lines);
    ct_programs_free(programs);
    ct_debug_files_free(files);
    return sum;
}

/* Lists the files of the cache. Returns their number. */
static int list(const struct fixture *f, char paths[4][200])
{
    int count = 0;
    DIR *dir = opendir(f->cache);
    assert_non_null(dir);
    for (struct dirent *e = readdir(dir); e; e = readdir(dir))
        if (e->d_name[0] != '.') {
            assert_in_range(count, 0, 3);
            snprintf(paths[count++], 200, "%.48s/%.140s", f->cache, e->d_name);
        }
    closedir(dir);
    return count;
}

static ino_t inode_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_ino;
}

TEST_WITH(other_processes_use_what_one_has_loaded, f)
{
    char paths[4][200];
    ino_t inodes[2];
    compile(f, "one");
    const uint64_t plain = load(f, NULL, NULL);
    assert_true(load(f, f->cache, NULL) == plain);
    assert_int_equal(list(f, paths), 2);
    for (int i = 0; i < 2; i++)
        inodes[i] = inode_of(paths[i]);
    for (int maps = 0; maps < 2; maps++) {
        ct_ctx_map_files(f->ctx, maps);
        assert_true(load(f, f->cache, NULL) == plain);
    }
    for (int i = 0; i < 2; i++)
        assert_true(inode_of(paths[i]) == inodes[i]);
    assert_int_equal(f->warnings, 0);
}

TEST_WITH(damaged_files_are_written_again, f)
{
    char paths[4][200];
    compile(f, "one");
    const uint64_t plain = load(f, f->cache, NULL);
    assert_int_equal(list(f, paths), 2);
    for (int i = 0; i < 2; i++) {
        struct stat st;
        assert_int_equal(stat(paths[i], &st), 0);
        for (long at = 0; at < st.st_size; at += 1 + st.st_size / 60) {
            FILE *file = fopen(paths[i], "r+");
            assert_non_null(file);
            fseek(file, at, SEEK_SET);
            const int byte = fgetc(file);
            fseek(file, at, SEEK_SET);
            fputc(byte ^ 0x10, file);
            assert_int_equal(fclose(file), 0);
            assert_true(load(f, f->cache, NULL) == plain);
        }
        for (long size = 0; size < st.st_size; size += 1 + st.st_size / 6) {
            struct stat now;
            assert_int_equal(truncate(paths[i], size), 0);
            assert_true(load(f, f->cache, NULL) == plain);
            assert_int_equal(stat(paths[i], &now), 0);
            assert_int_equal(now.st_size, st.st_size);
        }
    }
    assert_int_equal(f->warnings, 0);
}

TEST_WITH(a_program_that_was_written_since_is_loaded_again, f)
{
    compile(f, "one");
    const uint64_t before = load(f, f->cache, NULL);
    compile(f, "other");
    const uint64_t after = load(f, f->cache, NULL);
    assert_true(after != before && after == load(f, NULL, NULL));
    assert_true(after == load(f, f->cache, NULL));
}

TEST_WITH(a_separate_file_counts_from_when_it_is_there, f)
{
    compile(f, "one");
    if (in_folder(f, TOOLS "objcopy --only-keep-debug program names.debug && " TOOLS "strip program"))
        tap_skip("no binutils for 64-bit Arm (Debian: binutils-aarch64-linux-gnu)");
    const uint64_t without = load(f, f->cache, NULL);
    const uint64_t with = load(f, f->cache, f->folder);
    assert_true(with != without && with == load(f, NULL, f->folder));
    assert_true(load(f, f->cache, f->folder) == with);
    assert_true(load(f, f->cache, NULL) == without);
    assert_int_equal(in_folder(f, TOOLS "strip --strip-debug names.debug"), 0); /* still has the symbols */
    assert_true(load(f, f->cache, f->folder) == load(f, NULL, f->folder));
    assert_true(load(f, f->cache, f->folder) != with);
}

TEST_WITH(without_room_each_process_loads_the_program, f)
{
    char paths[4][200];
    struct rlimit limit;
    compile(f, "one");
    const uint64_t plain = load(f, NULL, NULL);
    assert_true(load(f, "/nowhere/cache", NULL) == plain);
    assert_int_equal(f->warnings, 1);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    const struct rlimit small = {.rlim_cur = 100, .rlim_max = limit.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const uint64_t full = load(f, f->cache, NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_true(full == plain);
    assert_int_equal(f->warnings, 2);
    assert_int_equal(list(f, paths), 0);
}

TEST_WITH(processes_that_begin_at_once_agree, f)
{
    enum {
        PROCESSES = 4
    };
    char paths[4][200];
    pid_t pids[PROCESSES];
    compile(f, "one");
    const uint64_t plain = load(f, NULL, NULL);
    for (int i = 0; i < PROCESSES; i++) {
        pids[i] = fork();
        if (!pids[i])
            _exit(load(f, f->cache, NULL) != plain || f->warnings);
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(list(f, paths), 2);
    assert_true(load(f, f->cache, NULL) == plain);
}
