#include "base/ctx.h"
#include "cli/elf_files.h"

#include "cli/capture.h"
#include "cli/fractal_source.h"
#include "cli/named_elf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TEXT (64u << 20)

char *cli_read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t size = 0;
    size_t got = 1;
    while (file && got) {
        char *more = size < MOST_TEXT ? realloc(text, size + 65536 + 1) : NULL;
        if (!more) {
            cli_say("%s: too long, or no memory for it", path);
            free(text);
            fclose(file);
            return NULL;
        }
        text = more;
        got = fread(text + size, 1, 65536, file);
        size += got;
        text[size] = '\0';
    }
    if (!file || ferror(file)) {
        cli_say("%s: cannot be read: %s", path, strerror(errno));
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

bool cli_cfg_load(const struct cli_args *args, struct cli_elf *program, const char *targets,
                  const struct ct_arch *arch)
{
    char *text = targets ? cli_read_text(targets) : NULL;
    if (targets && !text)
        return false;
    const struct ct_symbol_options names = cli_symbol_options(args, program->bias);
    struct ct_cfg_options options = {.size = sizeof options,
                                     .bias = program->bias,
                                     .arch = *arch,
                                     .names = &names,
                                     .targets = text,
                                     .targets_name = targets};
    int rc = ct_cfg_load(args->ctx, program->path, &options, &program->cfg);
    free(text);
    if (rc)
        cli_library_error(args->ctx);
    return rc == CT_OK;
}

/* ---- those of a capture ---- */

static bool add(struct cli_elfs *p, const char *path, uint64_t bias)
{
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->all[i].path, path) == 0 && p->all[i].bias == bias)
            return true;
    char *copy = strdup(path);
    struct cli_elf *all = copy ? realloc(p->all, (p->count + 1) * sizeof *all) : NULL;
    if (!all) {
        cli_no_memory();
        free(copy);
        return false;
    }
    p->all = all;
    all[p->count++] = (struct cli_elf){.path = copy, .bias = bias};
    return true;
}

/* Where it was loaded may be what the capture says. */
static bool add_named(struct cli_elfs *p, const struct cli_args *args, const struct ct_capture *capture,
                      const char *text)
{
    struct cli_named_elf named;
    if (!cli_named_elf_parse(args, text, &named))
        return false;
    const struct ct_image *image =
        capture && !named.has_bias ? cli_named_elf_find(capture, named.path) : NULL;
    bool fine = add(p, named.path, image ? image->addr : named.bias);
    free(named.path);
    return fine;
}

static bool load(struct cli_elfs *p, struct cli_elf *program, const struct cli_args *args, unsigned parts)
{
    const struct ct_symbol_options names = cli_symbol_options(args, program->bias);
    const struct ct_line_options lines = {
        .size = sizeof lines, .bias = program->bias, .files = args->debug_files};
    int rc = CT_OK;
    if (parts & CLI_ELF_SYMBOLS)
        rc = ct_symbols_load_with(args->ctx, program->path, &names, &program->symbols);
    if (!rc && parts & CLI_ELF_LINES)
        rc = ct_lines_load_with(args->ctx, program->path, &lines, &program->lines);
    if (rc) {
        cli_library_error(args->ctx);
        return false;
    }
    return !(parts & CLI_ELF_CFG) || cli_cfg_load(args, program, p->targets, &p->arch);
}

/* A program of the capture, unless one of the first `named` stands for it. */
static bool add_ran(struct cli_elfs *p, const struct ct_image *ran, size_t named)
{
    for (size_t i = 0; i < named; i++)
        if (cli_is_copy(p->all[i].path, p->all[i].bias, ran))
            return true;
    return add(p, ran->path, ran->addr);
}

/* The ELF images of the capture, and the programs that it says ran. */
static bool add_images(struct cli_elfs *p, const struct ct_capture *capture)
{
    const size_t named = p->count;
    bool fine = true;
    for (size_t b = 0; fine && b < capture->buffer_count; b++)
        for (size_t i = 0; fine && i < capture->buffers[b].image_count; i++) {
            const struct ct_image *image = &capture->buffers[b].images[i];
            fine = !image->is_elf || add_ran(p, image, named);
        }
    for (size_t i = 0; fine && i < capture->program_count; i++)
        fine = add_ran(p, &capture->programs[i], named);
    return fine;
}

static bool list_symbols(struct cli_elfs *p)
{
    p->symbols = calloc(p->count + p->images.count + 1, sizeof(struct ct_symbols *));
    if (!p->symbols) {
        cli_no_memory();
        return false;
    }
    for (size_t i = 0; i < p->count; i++)
        p->symbols[p->symbol_count++] = p->all[i].symbols;
    for (size_t i = 0; i < p->images.count; i++)
        p->symbols[p->symbol_count++] = p->images.all[i];
    return true;
}

bool cli_elfs_load(struct cli_elfs *p, const struct cli_args *args, size_t elf, unsigned parts)
{
    struct ct_capture *capture = NULL;
    bool fine = true;
    if (!fractal_source_is_log(args->operand))
        fine = cli_capture_describe(args, &capture);
    for (size_t i = 0; fine && i < args->list_count; i++)
        if (args->list[i].option == elf)
            fine = add_named(p, args, capture, args->list[i].text);
    fine = fine && (!capture || add_images(p, capture));
    if (fine && capture && parts & CLI_ELF_SYMBOLS)
        fine = cli_image_names_load(&p->images, args, capture);
    ct_capture_free(capture);
    for (size_t i = 0; fine && i < p->count; i++)
        fine = load(p, &p->all[i], args, parts);
    if (fine && parts & CLI_ELF_SYMBOLS)
        fine = list_symbols(p);
    if (!fine)
        cli_elfs_free(p);
    return fine;
}

int cli_elfs_watches(const struct cli_elfs *p, struct ct_ctx *ctx, struct ct_watches **out)
{
    int rc = ct_watches_new(ctx, out);
    for (size_t i = 0; !rc && i < p->count; i++) {
        const struct ct_watch_program program = {p->all[i].symbols, p->all[i].lines, p->all[i].cfg};
        rc = ct_watches_add_program(*out, &program);
    }
    return ct_tell_nomem(ctx, "watchpoints", rc);
}

void cli_elfs_free(struct cli_elfs *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free((char *)p->all[i].path);
        ct_symbols_free(p->all[i].symbols);
        ct_lines_free(p->all[i].lines);
        ct_cfg_free(p->all[i].cfg);
    }
    free(p->all);
    free(p->symbols);
    cli_image_names_free(&p->images);
    *p = (struct cli_elfs){0};
}
