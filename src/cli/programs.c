/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/programs.h"

#include "cli/fractal_source.h"
#include "cli/results.h"
#include "cli/text_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Prints the error of a library call. Returns whether there was none. */
static bool is_fine(const struct cli_args *args, int rc)
{
    if (rc)
        cli_library_error(args->ctx);
    return rc == CT_OK;
}

/* Makes a set of programs, with the caller's options and those of the command line. Returns false after a
 * message. */
static bool make(struct ct_programs **programs, const struct cli_args *args, const char *targets,
                 struct ct_programs_options options)
{
    char *text = targets ? cli_read_text(targets) : NULL;
    options.size = sizeof options;
    options.files = args->debug_files;
    options.raw_names = args->raw_names;
    options.targets = text;
    options.targets_name = targets;
    if (text && cli_text_is_blank(text))
        cli_say("%s: the file has no statements, so the control flow stays as it is without --targets; write "
                "lines like \"PLACE: PLACE…\" (docs/analysis.md), or leave the option out",
                targets);
    bool fine = (text || !targets) && is_fine(args, ct_programs_new(args->ctx, &options, programs));
    for (size_t i = 0; i < args->symbol_maps.count && fine; i++)
        fine = is_fine(args, ct_programs_add_symbol_map(*programs, args->symbol_maps.paths[i]));
    free(text);
    return fine;
}

bool cli_programs_is_there(const char *path)
{
    const char *entry = strstr(path, "!/");
    if (access(path, R_OK) == 0)
        return true;
    char *archive = entry ? strndup(path, (size_t)(entry - path)) : NULL;
    const bool there = archive && access(archive, R_OK) == 0;
    free(archive);
    return there;
}

bool cli_programs_new(struct ct_programs **programs, const struct cli_args *args, const char *targets)
{
    return make(programs, args, targets, (struct ct_programs_options){0});
}

bool cli_programs_new_moved(struct ct_programs **programs, const struct cli_args *args, const char *targets)
{
    return make(programs, args, targets, (struct ct_programs_options){.moved = 1, .all_memories = 1});
}

/* FILE or FILE@HEX. */
struct named {
    char *path; /* owned */
    uint64_t bias;
    bool has_bias;
};

static bool parse(const struct cli_args *args, const char *text, struct named *out)
{
    *out = (struct named){.path = strdup(text)};
    char *at = out->path ? strrchr(out->path, '@') : NULL;
    if (!out->path)
        cli_no_memory();
    if (!at)
        return out->path;
    char *end;
    errno = 0;
    out->bias = strtoull(at + 1, &end, 16);
    out->has_bias = true;
    if (errno || end == at + 1 || *end) {
        cli_usage_error(args->command,
                        "--elf %s: the text behind '@' is not a hexadecimal load address; write FILE@HEX",
                        text);
        free(out->path);
        return false;
    }
    *at = '\0';
    return true;
}

static bool add_named(struct ct_programs *p, const struct cli_args *args, const char *text,
                      const struct ct_capture *capture)
{
    struct named named;
    if (!parse(args, text, &named))
        return false;
    const int rc = ct_programs_add(p, named.path, named.has_bias ? &named.bias : NULL, capture, NULL);
    free(named.path);
    return is_fine(args, rc);
}

static bool add_list(struct ct_programs *p, const struct cli_args *args, size_t elf,
                     const struct ct_capture *capture)
{
    bool fine = true;
    for (size_t i = 0; i < args->list_count && fine; i++)
        fine = args->list[i].option != elf || add_named(p, args, args->list[i].text, capture);
    return fine;
}

/* Returns whether a file is named like a kernel module: x.ko, or compressed, x.ko.xz. */
static bool is_module(const char *path)
{
    const char *end = strstr(path, ".ko");
    return end && (!end[3] || end[3] == '.');
}

/* Reads the file of a program, if there is one: the name alone may be that of a program in a capture. Only a
 * capture tells where a kernel module was loaded. */
static int read_program(struct ct_programs *p, const char *path)
{
    struct ct_program *program;
    const struct ct_memory *code;
    if (access(path, F_OK) != 0 || is_module(path))
        return CT_OK;
    const int rc = ct_programs_add(p, path, NULL, NULL, &program);
    return rc ? rc : ct_program_memory(program, &code);
}

bool cli_programs_check(const struct cli_args *args, size_t elf)
{
    struct ct_programs *programs;
    bool fine = cli_programs_new(&programs, args, NULL);
    for (size_t i = 0; i < args->list_count && fine; i++) {
        struct named named;
        if (args->list[i].option != elf)
            continue;
        fine = parse(args, args->list[i].text, &named);
        if (!fine)
            break;
        fine = is_fine(args, read_program(programs, named.path));
        free(named.path);
    }
    ct_programs_free(programs);
    return fine;
}

static bool give(struct ct_programs *p, const struct cli_args *args, struct cli_capture *capture)
{
    int rc = CT_OK;
    for (size_t i = 0; capture && i < capture->count && !rc; i++)
        rc = ct_programs_give(p, &capture->buffers[i]);
    return is_fine(args, rc);
}

bool cli_programs_name(struct ct_programs *p, const struct cli_args *args, const char *text,
                       struct cli_capture *capture)
{
    return add_named(p, args, text, capture ? capture->capture : NULL) && give(p, args, capture);
}

/* Returns the capture with only the selected buffers. */
static struct ct_capture view_of(const struct cli_capture *capture)
{
    struct ct_capture view = *capture->capture;
    view.buffers = capture->buffers;
    view.buffer_count = capture->count;
    return view;
}

bool cli_programs_open(struct ct_programs **programs, const struct cli_args *args, size_t elf,
                       struct cli_capture *capture)
{
    return cli_programs_new(programs, args, NULL) && cli_programs_of(*programs, args, elf, capture);
}

bool cli_programs_of(struct ct_programs *programs, const struct cli_args *args, size_t elf,
                     struct cli_capture *capture)
{
    ct_programs_next_capture(programs);
    if (!capture)
        return add_list(programs, args, elf, NULL);
    if (!add_list(programs, args, elf, capture->capture) || !give(programs, args, capture))
        return false;
    return cli_programs_also_of(programs, args, capture);
}

bool cli_programs_also_of(struct ct_programs *programs, const struct cli_args *args,
                          const struct cli_capture *capture)
{
    const struct ct_capture view = view_of(capture);
    return is_fine(args, ct_programs_add_capture(programs, &view));
}

static bool fill(struct ct_programs *p, const struct cli_args *args, size_t elf,
                 const struct ct_capture *capture)
{
    const struct ct_program_place *places;
    size_t count;
    return add_list(p, args, elf, capture) &&
           (!capture || is_fine(args, ct_programs_add_capture(p, capture))) &&
           is_fine(args, ct_programs_places(p, &places, &count));
}

/* Adds the programs of the first operand. A capture names some; an event log and a saved file do not. Returns
 * false after a message. */
static bool describe(struct ct_programs *programs, const struct cli_args *args, size_t elf)
{
    struct ct_capture *capture = NULL;
    const bool is_capture =
        !cli_fractal_source_is_log(args->operand) && !cli_results_is_file(NULL, args->operand);
    const bool fine =
        (!is_capture || cli_capture_describe(args, &capture)) && fill(programs, args, elf, capture);
    ct_capture_free(capture);
    return fine;
}

bool cli_programs_describe(struct ct_programs **programs, const struct cli_args *args, size_t elf,
                           const char *targets)
{
    return cli_programs_new_moved(programs, args, targets) && describe(*programs, args, elf);
}

bool cli_programs_describe_unmoved(struct ct_programs **programs, const struct cli_args *args, size_t elf,
                                   const char *targets)
{
    return make(programs, args, targets, (struct ct_programs_options){.all_memories = 1}) &&
           describe(*programs, args, elf);
}

void cli_programs_tell_unnamed(const struct cli_args *args)
{
    if (!args->quiet)
        cli_say("%s; its functions have no names", ct_ctx_error(args->ctx));
}

bool cli_programs_any(const struct ct_programs *p, const struct cli_args *args,
                      const struct cli_capture *capture)
{
    if (ct_programs_count(p) || args->symbol_maps.count || capture->capture->symbol_map_count)
        return true;
    cli_say("%s: %s; functions and lines are not known; name the program with --elf", capture->capture->path,
            capture->capture->missing_count ? "none of the program files that the capture names was found"
                                            : "the capture names no program file");
    return false;
}

bool cli_programs_name_events(struct ct_programs *programs, const struct cli_args *args,
                              struct ct_watches *watches)
{
    const struct ct_named_table *table;
    const struct ct_program *of, *other;
    int rc = ct_programs_named(programs, &table, &of, &other);
    if (rc && rc != CT_ERR_NOMEM && !args->quiet)
        cli_say("%s", ct_ctx_error(args->ctx));
    if (other && !args->quiet)
        cli_say("%s and %s both have names of events with the same numbers; the names of %s are used",
                of->path, other->path, of->path);
    if (rc != CT_ERR_NOMEM)
        rc = ct_watches_named_at(watches, table, of ? of->shift : 0);
    if (rc == CT_ERR_NOMEM)
        cli_library_error(args->ctx);
    return rc != CT_ERR_NOMEM;
}
