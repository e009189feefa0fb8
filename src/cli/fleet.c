/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* strdup, setenv */
#include "cli/fleet.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/counts.h"
#include "cli/fleet_state.h"
#include "cli/guard.h"
#include "cli/output.h"
#include "cli/perf_options.h"
#include "cli/programs.h"
#include "cli/progress.h"
#include "cli/results.h"
#include "cli/text_file.h"
#include "coretap/format.h"

/* ---- the command that makes pieces ---- */

static const struct {
    const char *name;
    const struct cli_command *command;
    const char *kind;
    bool adds_up;         /* sums over the parts of a stream add up to those of the stream */
    const char *words[4]; /* the words of the command that prints a piece */
} inners[] = {
    {"cover", &cli_command_cover, "coverage", true, {"cover", "--format=data"}},
    {"timing", &cli_command_timing, "timing", false, {"timing", "--format=data"}},
    {"profile", &cli_command_profile, "stacks", false, {"profile", "--format=data"}},
    {"watch", &cli_command_watch, "watch", true, {"watch", "--format=data"}},
    {"monitor", &cli_command_monitor, "monitors", false, {"monitor", "--format=data"}},
    {"stats", &cli_command_merge, "statistics", true, {"merge", "--kind=statistics"}},
    {"events", &cli_command_merge, "events", false, {"merge", "--kind=events"}},
};

#define INNERS (sizeof inners / sizeof *inners)

static const struct cli_result_kind *find_kind(const char *name)
{
    const struct cli_result_kind *kind = cli_result_kinds;
    while (strcmp(kind->name, name) != 0)
        kind++;
    return kind;
}

/* ---- the command line ---- */

/* Returns the option of the outer command that a word names, or NULL. */
static const struct cli_option *own_option(const struct cli_command *outer, const char *word)
{
    for (size_t i = 0; i < cli_option_count(outer); i++) {
        const struct cli_option *option = cli_option_at(outer, i);
        const size_t length = strlen(option->name);
        if (word[0] == '-' && word[1] == option->letter && option->letter && (!word[2] || option->kind))
            return option;
        if (!strncmp(word, "--", 2) && !strncmp(word + 2, option->name, length) &&
            (!word[2 + length] || word[2 + length] == '='))
            return option;
    }
    return NULL;
}

/* Returns whether the value of an option is the next word. */
static bool takes_next(const struct cli_option *option, const char *word)
{
    const bool is_long = word[1] == '-';
    return option->kind != CLI_FLAG && (is_long ? !strchr(word, '=') : !word[2]);
}

/* Splits the words into those of the outer command and the others. Returns false after a message. */
static bool part(struct cli_fleet *f, int argc, char **argv, int *own, int *rest)
{
    /* twice as many as there are, plus a name and a NULL for each half */
    f->taken = calloc(2 * (size_t)argc + 8, sizeof *f->taken);
    if (!f->taken)
        return cli_no_memory(), false;
    char **mine = f->taken, **others = f->taken + argc + 4;
    bool open = true;
    mine[(*own)++] = argv[0];
    (*rest)++; /* for the name of the inner command */
    for (int i = 1; i < argc; i++) {
        const struct cli_option *option = open ? own_option(f->outer, argv[i]) : NULL;
        open &= strcmp(argv[i], "--") != 0;
        if (!option) {
            others[(*rest)++] = argv[i];
            continue;
        }
        mine[(*own)++] = argv[i];
        if (takes_next(option, argv[i]) && i + 1 < argc)
            mine[(*own)++] = argv[++i];
    }
    return true;
}

/* Finds the inner command: the first word that is no option names it. Without a name it is cover. Returns its
 * index. */
static size_t find_inner(char **others, int *rest)
{
    for (size_t i = 0; i<INNERS && * rest> 1; i++) {
        if (strcmp(others[1], inners[i].name) != 0)
            continue;
        memmove(others + 1, others + 2, (size_t)(*rest - 2) * sizeof *others);
        others[--*rest] = NULL;
        return i;
    }
    return 0;
}

/* Refuses options that would make something other than a piece. Returns false after a message. */
static bool refuse_format(const struct cli_fleet *f)
{
    static const char *const names[] = {"format", "kind", "shard"};
    for (size_t i = 0; i < f->inner.command->option_count; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (f->inner.values[i].given && !strcmp(f->inner.command->options[i].name, names[k])) {
                cli_usage_error(f->outer,
                                "--%s: results of captures are added up in --format data only; leave the "
                                "option out, and make other formats from the sum with 'coretap %s'",
                                names[k], f->command);
                return false;
            }
    return true;
}

/* Makes the words of the command that prints a piece: its own words and those of the command line, without
 * operands. Returns false after a message. */
static bool make_words(struct cli_fleet *f, size_t inner, char **others, int rest)
{
    size_t count = 0;
    f->words = calloc((size_t)rest + 8, sizeof *f->words);
    if (!f->words)
        return cli_no_memory(), false;
    f->words[count++] = "coretap";
    for (size_t i = 0; inners[inner].words[i]; i++)
        f->words[count++] = inners[inner].words[i];
    f->words[count++] = "--quiet";
    /* getopt moved the operands behind the options */
    const int options = rest - f->inner.rest_count;
    for (int i = 1; i < options; i++)
        if (strcmp(others[i], "--") != 0)
            f->words[count++] = others[i];
    return true;
}

enum cli_parse cli_fleet_parse(struct cli_fleet *f, const struct cli_command *outer, int argc, char **argv)
{
    int own = 0, rest = 0;
    f->outer = outer;
    if (!part(f, argc, argv, &own, &rest))
        return CLI_PARSE_BAD;
    f->own.command = outer;
    const enum cli_parse parsed = cli_parse(outer, own, f->taken, &f->own);
    if (parsed != CLI_PARSE_RUN)
        return parsed;
    char **others = f->taken + argc + 4;
    const size_t inner = find_inner(others, &rest);
    f->command = inners[inner].name;
    f->kind = find_kind(inners[inner].kind);
    f->adds_up = inners[inner].adds_up;
    f->inner.command = inners[inner].command;
    others[0] = (char *)inners[inner].command->name;
    const bool listed = f->own.values[CLI_FLEET_MANIFEST].given;
    if (!listed && rest == 1) {
        cli_usage_error(outer, "CAPTURE is missing; name captures, or give --manifest LIST");
        return CLI_PARSE_BAD;
    }
    if (listed)
        others[rest++] = "manifest"; /* replaces the operand that the inner command requires */
    if (cli_parse(f->inner.command, rest, others, &f->inner) != CLI_PARSE_RUN || !refuse_format(f))
        return CLI_PARSE_BAD;
    if (listed && f->inner.rest_count > 1) {
        cli_usage_error(outer,
                        "'%s': captures can be named by --manifest or as operands, but not by both; leave "
                        "one of them out",
                        f->inner.rest[0]);
        return CLI_PARSE_BAD;
    }
    return make_words(f, inner, others, rest) ? CLI_PARSE_RUN : CLI_PARSE_BAD;
}

/* ---- captures ---- */

static void refuse_operand(void *user, const char *path, const char *why)
{
    bool *fine = user;
    *fine = false;
    cli_say("%s: %s; name a capture", path, why);
}

static bool read_operands(struct cli_fleet *f)
{
    bool fine = true;
    const struct ct_manifest_options options = {
        .size = sizeof options, .user = &fine, .skipped = refuse_operand, .trust = 1};
    for (int i = 0; i < f->inner.rest_count && fine; i++)
        if (ct_manifest_find(f->manifest, f->inner.rest[i], &options))
            return cli_library_error(f->ctx), false;
    return fine;
}

#define MOST_MANIFEST ((size_t)1 << 30) /* in bytes; a line, for one capture, has a few hundred */

bool cli_manifests_read(struct ct_ctx *ctx, const struct cli_args *args, size_t option,
                        struct ct_manifest *manifest)
{
    for (size_t i = 0; i < args->list_count; i++) {
        size_t size;
        if (args->list[i].option != option)
            continue;
        char *text = cli_read_file(args->list[i].text, MOST_MANIFEST, &size);
        if (!text)
            return false;
        const int rc = ct_manifest_read(manifest, args->list[i].text, text, size);
        free(text);
        if (rc)
            return cli_library_error(ctx), false;
    }
    return true;
}

/* Reads the manifests, or examines the named captures. Returns false after a message. */
static bool find_captures(struct cli_fleet *f)
{
    if (ct_manifest_new(f->ctx, &f->manifest))
        return cli_library_error(f->ctx), false;
    return f->own.values[CLI_FLEET_MANIFEST].given
               ? cli_manifests_read(f->ctx, &f->own, CLI_FLEET_MANIFEST, f->manifest)
               : read_operands(f);
}

static bool read_captures(struct cli_fleet *f)
{
    if (!f->manifest && !find_captures(f))
        return false;
    for (size_t i = 0; i < ct_manifest_count(f->manifest); i++)
        f->bytes += ct_manifest_at(f->manifest, i)->size;
    if (!ct_manifest_count(f->manifest))
        cli_say("the manifest lists no capture, so there is no result; make one with 'coretap manifest'");
    return ct_manifest_count(f->manifest) > 0;
}

/* ---- the job ---- */

/* Decodes a capture, in a process made for that, and possibly for others after it. */
static int decode(int argc, char **argv)
{
    cli_forget_messages(); /* inherited from the parent process */
    cli_keep_programs();   /* this process decodes more captures */
    cli_perf_options_accept();
    cli_guard();
    return cli_guard_end(cli_main(argc, argv));
}

static bool make_job(struct cli_fleet *f)
{
    const struct cli_value *values = f->own.values;
    size_t hidden = 0;
    if (values[CLI_FLEET_THREADS].given) {
        f->hidden[hidden++] = "--threads";
        f->hidden[hidden++] = values[CLI_FLEET_THREADS].text;
    }
    const struct ct_fleet_job_options options = {.size = sizeof options,
                                                 .words = f->words,
                                                 .hidden = f->hidden,
                                                 .state = f->state,
                                                 .seconds = values[CLI_FLEET_TIMEOUT].number,
                                                 .trust = cli_fleet_trusts(f),
                                                 .run = decode};
    return !ct_fleet_job_new(f->ctx, &options, f->manifest, &f->job) && !f->kind->make(f->ctx, &f->sum)
               ? true
               : (cli_library_error(f->ctx), false);
}

static const struct ct_fleet_capture *in_order(const struct cli_fleet *f, size_t turn)
{
    return ct_manifest_at(f->manifest, ct_fleet_job_order(f->job, turn));
}

/* Refuses captures with the same contents, because they would count twice. Reads only those of equal size;
 * captures come in order of size. Returns false after a message. */
static bool refuse_same(const struct cli_fleet *f)
{
    struct ct_manifest *read;
    const struct ct_fleet_capture *before = NULL, *at, *next = in_order(f, 0);
    int rc = ct_manifest_new(f->ctx, &read);
    for (size_t turn = 0; !rc && (at = next); turn++, before = at) {
        struct ct_fleet_capture capture = *at;
        next = in_order(f, turn + 1);
        if ((before && before->size == at->size) || (next && next->size == at->size))
            rc = ct_fleet_digest(f->ctx, capture.path, capture.digest, &capture.size);
        else
            continue;
        rc = rc == CT_ERR_IO ? CT_OK : rc ? rc : ct_manifest_add(read, &capture);
    }
    ct_manifest_free(read);
    return !rc || (cli_library_error(f->ctx), false);
}

bool cli_fleet_trusts(const struct cli_fleet *f)
{
    return f->own.values[CLI_FLEET_TRUST].given || !f->own.values[CLI_FLEET_MANIFEST].given;
}

/* Opens the programs that the command line names: with a wrong one, each capture would fail. Returns false
 * after a message. */
static bool check_programs(struct cli_fleet *f)
{
    size_t elf = 0;
    while (elf < f->inner.command->option_count && strcmp(f->inner.command->options[elf].name, "elf") != 0)
        elf++;
    f->inner.ctx = f->ctx;
    return cli_programs_check(&f->inner, elf);
}

/* Lets this process and those that it makes keep the memory that they free, for the next capture: the kernel
 * would clear it each time. */
static void keep_memory(void)
{
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
    mallopt(M_TOP_PAD, 4 << 20); /* bytes that are asked for at once, beyond what is needed */
#endif
}

/* Gives the folder of --cache to the debuginfod client and to the processes that decode. Returns false after
 * a message. */
static bool use_cache(const char *cache)
{
    const char *const remedy = "name a folder that can be written with --cache";
    struct stat st;
    if (!cache)
        return true;
    const bool made = mkdir(cache, 0700) == 0;
    if (!made && errno == EEXIST && stat(cache, &st) == 0 && !S_ISDIR(st.st_mode))
        errno = ENOTDIR;
    if (!made && errno != EEXIST) {
        cli_say("%s: the folder of the cache cannot be used: %s; the job does not begin; %s", cache,
                strerror(errno), remedy);
        return false;
    }
    if (access(cache, W_OK) != 0)
        cli_say(
            "warning: %s: the folder of the cache is not writable: %s; programs that must be fetched from "
            "servers stay without names, and each process loads the symbols of all programs again; %s",
            cache, strerror(errno), remedy);
    cli_cache_programs(cache);
    return setenv("DEBUGINFOD_CACHE_PATH", cache, 1) == 0 || (cli_no_memory(), false);
}

bool cli_fleet_open(struct cli_fleet *f, bool with_state)
{
    keep_memory();
    if (!use_cache(f->own.values[CLI_FLEET_CACHE].text))
        return false;
    const bool listed = f->own.values[CLI_FLEET_MANIFEST].given;
    return read_captures(f) && check_programs(f) && cli_fleet_state_find(f) && make_job(f) &&
           (!with_state || ((listed || refuse_same(f)) && cli_fleet_state_open(f)));
}

/* instead of an exit code: the piece is a kept one and damaged */
#define AGAIN (-1)

static int merge(struct cli_fleet *f, const struct ct_fleet_piece *piece, size_t number)
{
    const double begin = cli_seconds();
    const void *data;
    size_t size;
    ct_fleet_piece_result(piece, &data, &size);
    const int rc = ct_analysis_load(f->sum, "the piece", data, size);
    f->merging += cli_seconds() - begin;
    if (rc != CT_ERR_FORMAT || !ct_fleet_piece_was_kept(piece))
        return rc ? cli_library_error(f->ctx) : CLI_CLEAN;
    cli_say("%s: its saved piece is damaged: %s; the capture is processed again",
            ct_manifest_at(f->manifest, number)->path, ct_ctx_error(f->ctx));
    ct_fleet_job_drop(f->job, number);
    return AGAIN;
}

/* Adds the result of a piece to the sum. Returns an enum cli_exit, or AGAIN. */
static int add_piece(struct cli_fleet *f, const struct ct_fleet_piece *piece, size_t number, char **failure)
{
    const void *data;
    size_t size;
    const int rc = ct_fleet_piece_result(piece, &data, &size);
    if (!rc)
        return merge(f, piece, number);
    if (rc != CT_ERR_NOT_FOUND)
        return cli_library_error(f->ctx);
    *failure = strdup(ct_fleet_piece_failure(piece));
    if (!*failure || ct_analysis_add_failure(f->sum, *failure))
        return cli_no_memory(), CLI_FAILED;
    return CLI_CLEAN;
}

int cli_fleet_wait(struct ct_fleet_piece *piece, bool (*wait)(void *user), void *user)
{
    enum {
        LOOK_MS = 5
    };
    int code = CLI_CLEAN;
    while (code == CLI_CLEAN && !ct_fleet_piece_wait(piece, LOOK_MS))
        code = !wait || wait(user) ? CLI_CLEAN : CLI_FAILED;
    return code;
}

void cli_fleet_tell_cache(struct cli_fleet *f, const struct ct_fleet_piece *piece)
{
    static const char prefix[] = "coretap: warning: ";
    const char *cache = f->own.values[CLI_FLEET_CACHE].text;
    const size_t length = cache ? strlen(cache) : 0;
    for (const char *line = cache ? ct_fleet_piece_said(piece) : ""; *line && !f->told_cache;) {
        const size_t size = strcspn(line, "\n");
        const char *text = line + sizeof prefix - 1;
        if (!strncmp(line, prefix, sizeof prefix - 1) && !strncmp(text, cache, length) &&
            text[length] == ':') {
            cli_say("warning: %.*s", (int)(size - (sizeof prefix - 1)), text);
            f->told_cache = true;
        }
        line += size + (line[size] == '\n');
    }
}

int cli_fleet_do(struct cli_fleet *f, size_t number, bool (*wait)(void *user), void *user, char **failure)
{
    struct ct_fleet_piece *piece;
    int code;
    *failure = NULL;
    do {
        if (ct_fleet_piece_begin(f->job, number, &piece))
            return cli_library_error(f->ctx);
        code = cli_fleet_wait(piece, wait, user);
        if (code == CLI_CLEAN)
            code = add_piece(f, piece, number, failure);
        cli_fleet_tell_cache(f, piece);
        ct_fleet_piece_free(piece);
    } while (code == AGAIN);
    return code;
}

bool cli_fleet_fails_too_often(const struct cli_fleet *f, uint64_t failures)
{
    const struct cli_value *most = &f->own.values[CLI_FLEET_MAX_FAILURES];
    if (!most->given || failures <= most->number)
        return false;
    cli_say("more captures than --max-failures %" PRIu64
            " could not be read, so the job ends; its pieces stay "
            "in %s; correct the cause and continue with --resume",
            most->number, f->state);
    return true;
}

int cli_fleet_tell(const struct cli_fleet *f)
{
    const struct ct_analysis_captures *all = &f->sum->captures;
    char words[CT_LOSSES_WORDS];
    if (!f->own.quiet)
        cli_say("%s of %" PRIu64 " capture%s, %" PRIu64 " of them damaged, %" PRIu64
                " more that could not be read; losses: %s",
                f->kind->name, all->known, all->known == 1 ? "" : "s", all->damaged, all->failed,
                ct_losses_words(words, &all->losses));
    if (!f->own.quiet)
        cli_outside_tell_sum(f->outer->name, f->sum);
    cli_results_tell_failures(f->outer->name, f->sum);
    return all->failed || all->damaged ? CLI_DAMAGED : CLI_CLEAN;
}

int cli_fleet_write(struct cli_fleet *f)
{
    const char *path = cli_fleet_output(f);
    if (!path)
        return cli_results_save(f->ctx, f->sum, stdout);
    struct cli_output output;
    FILE *file = cli_output_open(&output, path);
    if (!file)
        return CLI_FAILED;
    const int code = cli_results_save(f->ctx, f->sum, file);
    return cli_output_close(&output, code == CLI_CLEAN) ? code : CLI_FAILED;
}

void cli_fleet_remove(const struct cli_fleet *f, size_t part, size_t parts)
{
    if (!f->made_state)
        return;
    for (size_t i = part; i < ct_manifest_count(f->manifest); i += parts) {
        ct_fleet_job_drop(f->job, i);
        ct_fleet_job_drop_shards(f->job, i);
    }
}

void cli_fleet_close(struct cli_fleet *f)
{
    cli_fleet_state_close(f);
    ct_analysis_free(f->sum);
    ct_fleet_job_free(f->job);
    ct_manifest_free(f->manifest);
    free(f->words);
    free(f->taken);
}
