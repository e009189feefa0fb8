/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the whole path of a command, from files to text. The input is a folder and a command: its first line
 * is a command line of the table below, or '*' for each one that finds its files; then come the files, each
 * after a line "=== NAME". In a command line '@' stands for the capture, ':' before a word for a file that
 * must exist, and '~' for a space inside of a word. CT_FUZZ_COMMAND names the only command to fuzz: '*' is
 * then one of its lines.
 *
 * What must hold: exit code 0 only with output or a message that there is none, 1 and 2 only with a message;
 * the same text twice; no control characters in it; no file and no descriptor left over. */
#define _GNU_SOURCE
#include "fuzz.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32.h"
#include "cli/cli.h"

#define MOST_BYTES  65536
#define MOST_FILES  64
#define MOST_WORDS  32
#define NAME_ROOM   128
#define RESULT_FILE "result"

/* For each command, the ways to call it that have code of their own. */
static const char *const lines[] = {
    "info @",
    "info --verbose --format json @",
    "list --packets @",
    "list --packets --framing none @",
    "list --elements @",
    "list --elements --split-source-ranges --threads 3 @",
    "decode @",
    "decode --format jsonl --elf :p.elf @",
    "decode --format csv --along trace --text-ports @",
    "decode --merge @",
    "decode --format jsonl --merge --text-ports --no-names @",
    "stats @",
    "stats --level timing --threads 4 @",
    "stats --level coverage --strict @",
    "stats --level timing --engine plain @",
    "stats --level element --threads 3 @",
    "stats --level packet --framing tpiu @",
    "stats --level frame @",
    "cover --elf :p.elf @",
    "cover --format text --functions --contexts @",
    "cover --format lcov @",
    "cover --format cobertura --all-functions @",
    "cover --format sonarqube @",
    "cover --format json --contexts @",
    "cover --format html @",
    "cover --format html --elf :p.elf @",
    "cover --format data @",
    "cover --format json :a.cov",
    "timing --elf :p.elf --edges --blocks @",
    "timing --format json --edges --blocks @",
    "timing --format svg --function work @",
    "timing --pair work~work+10 --pair work~return:work @",
    "profile --elf :p.elf @",
    "profile --format folded --weight cycles --modules @",
    "profile --format autofdo @",
    "profile --format llvm @",
    "profile --format bolt @",
    "profile --format callgrind @",
    "profile --format pprof --weight cycles @",
    "profile --format chrome @",
    "profile --format perfetto --frequency 1000 @",
    "profile --format perfetto --max-size 65536 --elf :p.elf @",
    "profile --format perfetto --elf :p.elf --at work --spec :watch.tessla @",
    "watch --elf :p.elf --at entry:work --at work+4 @",
    "watch --at context --at gap @",
    "watch --format jsonl --list :places @",
    "monitor --elf :p.elf --spec :watch.tessla --all @",
    "monitor --spec :watch.tessla --all --format jsonl --clock timestamps @",
    "monitor --spec :watch.tessla --forget 100 --history 4 --frequency 1000000 @",
    "wcet --elf :p.elf --entry work --bounds :bounds @",
    "wcet --entry work --format json @",
    "wcet --entry work --format dot --unobserved exclude @",
    "wcet --entry work --format html --nested product --quantile 0.9 @",
    "wcet --entry work --source --lp result @",
    "report --output result @",
    "report --elf :p.elf --entry work @",
    "export --perf result @",
    "merge :a.cov :b.cov",
    "merge --output result :a.cov",
    "graph --elf :p.elf",
    "graph --elf :p.elf -f dot --targets :targets",
    "graph --elf :p.elf -f json --learn @",
    "graph --elf :p.elf --learn @ -f learnt",
    "fractal report :run.log",
    "fractal report --elf :p.elf --csv :run.log",
    "fractal report --html :run.log",
    "fractal report --svg timeline :run.log",
    "fractal report --svg pages :run.log",
    "fractal report --svg lines :run.log",
    "fractal report --perfetto :run.log",
    "fractal replay --messages :messages --pgd 1000 --va-bits 39",
    "fractal replay --messages :messages --commands result",
    "watch --elf :p.elf --at entry:work :run.log",
    "timing --elf :p.elf --pair entry:work~entry:work :run.log",
    "monitor --elf :p.elf --spec :watch.tessla :run.log",
    "spec --timing @",
    "spec --timing --elf :p.elf --function work --margin 10 @",
    "spec --timing --match w* --most 2 @ @",
    "tessla --spec :spec.tessla --trace :trace",
    "tessla --spec :spec.tessla --check",
    "tessla --spec :spec.tessla --list-in",
    "tessla --spec :spec.tessla --list-out",
    "tessla --spec :spec.tessla --dot",
    "cover --elf :p.elf --from work --to 100insn --el 0 --function work --threads 2 @",
    "profile --elf :p.elf --from 1us --to work#2 --frequency 1000000 --module p.elf --pid 1 --tid 1 @",
    "report --core 0 --from 10cyc --to 1000ticks --context 0 --context 1 @",
    "watch --at context --at gap --from 5insn --to 200insn --el 1 --el 0 @",
};
#define LINES (sizeof lines / sizeof *lines)

static const char *const captures[] = {"snapshot.ini", "perf.data", "capture.ini"};

/* ---- parts of the input ---- */

struct file {
    char name[NAME_ROOM];
    const uint8_t *bytes;
    size_t size;
};

struct folder {
    char line[256]; /* the command line */
    struct file files[MOST_FILES];
    size_t count;
};

/* Returns the next line "=== NAME" at or after `at`, or `end`. */
static const uint8_t *find_head(const uint8_t *at, const uint8_t *end)
{
    while (end - at >= 4 && memcmp(at, "=== ", 4) != 0) {
        const uint8_t *lf = memchr(at, '\n', (size_t)(end - at));
        at = lf ? lf + 1 : end;
    }
    return end - at >= 4 ? at : end;
}

/* Copies the text up to the end of the line, and returns that end. */
static const uint8_t *take_line(const uint8_t *at, const uint8_t *end, char *text, size_t room)
{
    const uint8_t *lf = memchr(at, '\n', (size_t)(end - at));
    const size_t length = (size_t)((lf ? lf : end) - at);
    snprintf(text, room, "%.*s", (int)(length < room ? length : room - 1), (const char *)at);
    return lf ? lf + 1 : end;
}

/* Returns whether a name is that of a file below the folder. */
static bool is_name(const char *name)
{
    return *name && *name != '/' && !strstr(name, "..") && strcmp(name, RESULT_FILE) != 0 &&
           name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/")] == '\0' &&
           !strstr(name, "//") && !strstr(name, "/.") && *name != '.' && name[strlen(name) - 1] != '/';
}

static void take_apart(const uint8_t *data, size_t size, struct folder *folder)
{
    const uint8_t *end = data + size;
    const uint8_t *at = take_line(data, end, folder->line, sizeof folder->line);
    folder->count = 0;
    at = find_head(at, end);
    while (at < end && folder->count < MOST_FILES) {
        struct file *file = &folder->files[folder->count];
        file->bytes = take_line(at + 4, end, file->name, sizeof file->name);
        at = find_head(file->bytes, end);
        file->size = (size_t)(at - file->bytes);
        if (file->size && file->bytes[file->size - 1] == '\n')
            file->size--; /* that line feed belongs to the next head */
        folder->count += is_name(file->name);
    }
}

static bool has(const struct folder *folder, const char *name)
{
    for (size_t i = 0; i < folder->count; i++)
        if (strcmp(folder->files[i].name, name) == 0)
            return true;
    return false;
}

static const char *capture_of(const struct folder *folder)
{
    for (size_t i = 0; i < sizeof captures / sizeof *captures; i++)
        if (has(folder, captures[i]))
            return captures[i];
    return NULL;
}

/* Returns whether a command line is of this command. */
static bool is_of(const char *line, const char *command)
{
    const size_t length = strlen(command);
    return strncmp(line, command, length) == 0 && line[length] == ' ';
}

/* Splits a command line into words, stored in `text`. Returns their number, or 0 when a file does not
 * exist. */
static int words_of(const struct folder *folder, const char *line, char *text, size_t room, char **words)
{
    int count = 0;
    char *save = NULL;
    static char name[] = "coretap";
    static char here[] = "--symfs=.";
    words[count++] = name;
    snprintf(text, room, "%s", line);
    for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        if (strcmp(word, "@") == 0)
            word = (char *)(uintptr_t)capture_of(folder);
        else if (*word == ':' && !has(folder, ++word))
            return 0;
        if (!word)
            return 0;
        if (strcmp(word, "perf.data") == 0 && !is_of(line, "graph"))
            words[count++] = here; /* all paths are inside of this folder */
        for (char *space = strchr(word, '~'); space; space = strchr(space, '~'))
            *space = ' ';
        words[count++] = word;
    }
    words[count] = NULL;
    return count;
}

static bool can_run(const struct folder *folder, size_t line)
{
    char text[256];
    char *words[MOST_WORDS];
    return words_of(folder, lines[line], text, sizeof text, words) != 0;
}

/* Returns whether a line is of the command to fuzz. */
static bool is_wanted(size_t line)
{
    const char *wanted = getenv("CT_FUZZ_COMMAND");
    return !wanted || is_of(lines[line], wanted);
}

/* Returns the `choice`th line that can run, modulo their number, or LINES when none can. */
static size_t choose(const struct folder *folder, uint32_t choice)
{
    size_t all[LINES];
    size_t count = 0;
    for (size_t i = 0; i < LINES; i++)
        if (is_wanted(i) && can_run(folder, i))
            all[count++] = i;
    return count ? all[choice % count] : LINES;
}

/* ---- the folder ---- */

static char root[4096];
static int outside = -1; /* the folder in which the target was started */

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    if (where->level)
        remove(path);
    return 0;
}

static void empty_folder(void)
{
    nftw(".", remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void remove_folder(void)
{
    rmdir(root);
}

/* Makes the folder in which commands run, and an environment without settings of this machine. */
static void prepare(void)
{
    if (*root)
        return;
    const char *above = getenv("TMPDIR");
    snprintf(root, sizeof root, "%s/coretap-fuzz.XXXXXX", above ? above : "/tmp");
    outside = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (!mkdtemp(root)) {
        perror(root);
        exit(1);
    }
    atexit(remove_folder);
    setenv("HOME", root, 1);
    unsetenv("DEBUGINFOD_URLS");
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    close(nothing);
}

static void leave(void)
{
    empty_folder();
    if (fchdir(outside))
        exit(1);
}

static void write_file(const struct file *file)
{
    char path[NAME_ROOM];
    snprintf(path, sizeof path, "%s", file->name);
    for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return; /* there is a file in place of the folder */
    if (write(fd, file->bytes, file->size) != (ssize_t)file->size)
        exit(1);
    close(fd);
}

/* ---- one run ---- */

struct result {
    int code;
    char *out; /* what was printed, then what was written */
    size_t size, printed;
    char *messages;
    size_t message_size;
};

static void fail(const char *line, const struct result *r, const char *why)
{
    fprintf(stderr, "coretap %s: %s\nexit code %d, %zu bytes printed, %zu in all\n%.2000s\n", line, why,
            r->code, r->printed, r->size, r->messages ? r->messages : "");
    fwrite(r->out, 1, r->size < 4000 ? r->size : 4000, stderr);
    leave();
    abort();
}

static void append(struct result *r, int fd)
{
    struct stat st;
    if (fd < 0 || fstat(fd, &st))
        return;
    r->out = realloc(r->out, r->size + (size_t)st.st_size + 1);
    if (!r->out || pread(fd, r->out + r->size, (size_t)st.st_size, 0) != st.st_size)
        exit(1);
    r->size += (size_t)st.st_size;
    r->out[r->size] = '\0';
}

/* Removes what is never the same twice: seconds, and the time of day in Cobertura's format. */
static void drop_times(struct result *r)
{
    char *seconds = r->printed ? strstr(r->out, "\nseconds=") : NULL;
    char *day = r->printed ? strstr(r->out, "timestamp=\"") : NULL;
    if (seconds)
        r->size = r->printed = (size_t)(seconds + 1 - r->out);
    for (; day && *day != '>' && *day; day++)
        if (*day >= '0' && *day <= '9')
            *day = '0';
}

static struct result run(const char *line, int argc, char **words)
{
    struct result r = {0};
    char *copy[MOST_WORDS];
    FILE *const usual = stderr;
    /* CBC loads the C++ library, which keeps the stderr that it finds and flushes it at the end: it is loaded
     * here, before stderr is replaced for a run. */
    dlopen("libCbcSolver.so.3", RTLD_LAZY);
    unlink(RESULT_FILE);
    fflush(stdout);
    const int before = dup(STDOUT_FILENO);
    const int out = memfd_create("stdout", MFD_CLOEXEC);
    memcpy(copy, words, sizeof copy);
    dup2(out, STDOUT_FILENO);
    stderr = open_memstream(&r.messages, &r.message_size);
    r.code = cli_main(argc, copy);
    fclose(stderr);
    stderr = usual;
    fflush(stdout);
    dup2(before, STDOUT_FILENO);
    close(before);
    append(&r, out);
    close(out);
    r.printed = r.size;
    const int file = open(RESULT_FILE, O_RDONLY | O_CLOEXEC);
    append(&r, file);
    if (file >= 0)
        close(file);
    if (is_of(line, "stats") || is_of(line, "cover"))
        drop_times(&r);
    return r;
}

static void free_result(struct result *r)
{
    free(r->out);
    free(r->messages);
}

static bool is_printable(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)text[i] < ' ' ? text[i] != '\n' && text[i] != '\t' : text[i] == 0x7f)
            return false;
    return true;
}

/* Returns whether a command prints something that is not text. */
static bool prints_bytes(const char *line)
{
    return strstr(line, "--format pprof") || strstr(line, "--format perfetto");
}

static void check(const char *line, const struct result *r)
{
    if (r->code < CLI_CLEAN || r->code > CLI_FAILED)
        fail(line, r, "an exit code that is none");
    /* A specification may have no streams, and its run no results. */
    if (r->code == CLI_CLEAN && !r->size && !r->message_size && !is_of(line, "tessla"))
        fail(line, r, "clean without a word");
    if (r->code != CLI_CLEAN && !r->message_size)
        fail(line, r, "no message says why");
    const bool is_text = prints_bytes(line) || is_printable(r->out, r->printed);
    if (!is_text || !is_printable(r->messages, r->message_size))
        fail(line, r, "control characters");
}

static size_t count_descriptors(void)
{
    size_t count = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir))
        count++;
    if (dir)
        closedir(dir);
    return count;
}

static int count_entries(void)
{
    int count = 0;
    DIR *dir = opendir(".");
    for (const struct dirent *entry; dir && (entry = readdir(dir));)
        count += strcmp(entry->d_name, RESULT_FILE) != 0;
    if (dir)
        closedir(dir);
    return count;
}

static void run_line(const struct folder *folder, const char *line)
{
    char text[256];
    char *words[MOST_WORDS];
    const int argc = words_of(folder, line, text, sizeof text, words);
    if (!argc)
        return;
    const int entries = count_entries();
    const size_t descriptors = count_descriptors();
    struct result first = run(line, argc, words);
    struct result second = run(line, argc, words);
    check(line, &first);
    if (first.code != second.code || first.size != second.size ||
        (first.size && memcmp(first.out, second.out, first.size) != 0))
        fail(line, &second, "another result the second time");
    if (count_entries() != entries)
        fail(line, &first, "a file is left over");
    if (count_descriptors() != descriptors)
        fail(line, &first, "a file is left open");
    free_result(&first);
    free_result(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct folder folder;
    if (size > MOST_BYTES)
        return 0;
    prepare();
    if (chdir(root))
        return 0;
    take_apart(data, size, &folder);
    const bool any = strcmp(folder.line, "*") == 0;
    const bool one = any && getenv("CT_FUZZ_COMMAND");
    const size_t chosen = one ? choose(&folder, ct_crc32(data, size)) : LINES;
    for (size_t i = 0; i < folder.count; i++)
        write_file(&folder.files[i]);
    for (size_t i = 0; i < LINES; i++)
        if (one ? i == chosen : is_wanted(i) && (any || strcmp(folder.line, lines[i]) == 0))
            run_line(&folder, lines[i]);
    leave();
    return 0;
}

#ifdef CT_FUZZ_MUTATE
/* ---- mutations that keep the input a folder ---- */

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

static size_t put_text(uint8_t *data, size_t size, size_t room, const char *before, const char *text)
{
    const size_t length = strlen(before) + strlen(text) + 1;
    if (size + length > room)
        return size;
    memcpy(data + size, before, strlen(before));
    memcpy(data + size + strlen(before), text, strlen(text));
    data[size + length - 1] = '\n';
    return size + length;
}

static size_t put_file(uint8_t *data, size_t size, size_t room, const struct file *file)
{
    const size_t at = put_text(data, size, room, "=== ", file->name);
    if (at == size || at + file->size + 1 > room)
        return size;
    memcpy(data + at, file->bytes, file->size);
    data[at + file->size] = '\n';
    return at + file->size + 1;
}

/* Changes one file, or shortens it, or changes the command. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    struct folder folder;
    uint8_t *copy = malloc(size + 1);
    uint8_t *changed = malloc(max_size + 1);
    if (!copy || !changed || !size) {
        free(copy);
        free(changed);
        return LLVMFuzzerMutate(data, size, max_size);
    }
    memcpy(copy, data, size);
    take_apart(copy, size, &folder);
    const unsigned how = seed % 16;
    const unsigned choice = seed / 16;
    struct file *file = folder.count ? &folder.files[choice % folder.count] : NULL;
    const size_t line = choose(&folder, choice);
    if (file && how == 0) {
        file->size = file->size ? choice / 64 % file->size : 0;
    } else if (file && how > 2) {
        memcpy(changed, file->bytes, file->size);
        file->size =
            LLVMFuzzerMutate(changed, file->size, max_size / 2 > file->size ? max_size / 2 : file->size);
        file->bytes = changed;
    }
    const bool keep = how > 4 && strcmp(folder.line, "*") != 0;
    size_t used = put_text(data, 0, max_size, "", keep || line == LINES ? folder.line : lines[line]);
    for (size_t i = 0; i < folder.count; i++)
        used = put_file(data, used, max_size, &folder.files[i]);
    free(copy);
    free(changed);
    return used;
}
#endif
