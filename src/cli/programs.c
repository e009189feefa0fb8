#include "cli/programs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- one program ---- */

static void widen(struct cli_program *program, uint64_t low, uint64_t high)
{
    if (low >= high)
        return;
    if (low < program->low)
        program->low = low;
    if (high > program->high)
        program->high = high;
}

static void find_range(struct cli_program *program)
{
    size_t count;
    const struct ct_symbol *symbols = ct_symbols_all(program->symbols, &count);
    program->low = UINT64_MAX;
    for (size_t i = 0; i < count; i++)
        widen(program, symbols[i].addr, symbols[i].addr + symbols[i].size);
    const struct ct_line *rows = ct_lines_all(program->lines, &count);
    for (size_t i = 0; i < count; i++)
        widen(program, rows[i].addr, rows[i].end);
    if (program->low > program->high)
        program->low = program->high;
}

static bool load(const struct cli_args *args, struct cli_program *program)
{
    struct ct_image image = {.path = program->path, .space = CT_SPACE_ANY, .is_elf = 1};
    if (ct_symbols_load(args->ctx, program->path, 0, &program->symbols) != CT_OK ||
        ct_lines_load(args->ctx, program->path, 0, &program->lines) != CT_OK ||
        ct_memory_new(args->ctx, &program->memory) != CT_OK ||
        ct_memory_add_image(program->memory, &image) != CT_OK) {
        cli_library_error(args->ctx);
        return false;
    }
    find_range(program);
    return true;
}

/* Adds the program unless it is there already, `path` belonging to it from then on. */
static bool add(struct cli_programs *p, char *path, uint64_t bias)
{
    for (size_t i = 0; path && i < p->count; i++) {
        if (strcmp(p->programs[i].path, path) != 0 || p->programs[i].bias != bias)
            continue;
        free(path);
        return true;
    }
    struct cli_program *programs = path ? realloc(p->programs, (p->count + 1) * sizeof *programs) : NULL;
    if (!programs) {
        free(path);
        cli_say("out of memory");
        return false;
    }
    p->programs = programs;
    p->programs[p->count] = (struct cli_program){.path = path, .bias = bias};
    return load(p->args, &p->programs[p->count++]);
}

/* ---- those that are named ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The image or program of the capture that is this file: the same path, or the same name. */
static const struct ct_image *find_image(const struct cli_capture *capture, const char *path)
{
    const struct ct_image *named = NULL;
    for (size_t i = 0; capture && i < capture->count; i++) {
        for (size_t k = 0; k < capture->buffers[i].image_count; k++) {
            const struct ct_image *image = &capture->buffers[i].images[k];
            if (image->is_elf && strcmp(image->path, path) == 0)
                return image;
            if (image->is_elf && !named && strcmp(base_name(image->path), base_name(path)) == 0)
                named = image;
        }
    }
    for (size_t i = 0; capture && i < capture->capture->program_count; i++) {
        const struct ct_image *ran = &capture->capture->programs[i];
        if (strcmp(ran->path, path) == 0)
            return ran;
        if (!named && strcmp(base_name(ran->path), base_name(path)) == 0)
            named = ran;
    }
    return named;
}

static bool parse_bias(const struct cli_args *args, char *path, uint64_t *bias)
{
    char *at = strrchr(path, '@');
    if (!at)
        return true;
    char *end;
    errno = 0;
    *bias = strtoull(at + 1, &end, 16);
    if (errno || end == at + 1 || *end) {
        cli_usage_error(args->command, "--elf %s: behind the '@' stands the load address in hexadecimal",
                        path);
        return false;
    }
    *at = '\0';
    return true;
}

static uint64_t size_of(const struct ct_image *image)
{
    struct stat st;
    if (image->size)
        return image->size;
    return stat(image->path, &st) == 0 && (uint64_t)st.st_size > image->offset
               ? (uint64_t)st.st_size - image->offset
               : 0;
}

/* The capture itself says what was in memory where the program is. */
static bool has_memory(const struct ct_buffer *buffer, const struct cli_program *program)
{
    uint64_t low = program->low + program->bias;
    uint64_t high = program->high + program->bias;
    for (size_t i = 0; i < buffer->image_count; i++) {
        const struct ct_image *image = &buffer->images[i];
        if (!image->is_elf && image->addr < high && image->addr + size_of(image) > low)
            return true;
    }
    return false;
}

/* Puts the program among the images of each buffer. */
static bool add_image(struct cli_programs *p, struct cli_capture *capture, const struct cli_program *program)
{
    for (size_t i = 0; i < capture->count; i++) {
        struct ct_buffer *buffer = &capture->buffers[i];
        if (has_memory(buffer, program))
            continue;
        struct ct_image **lists = realloc(p->images, (p->image_lists + 1) * sizeof(struct ct_image *));
        struct ct_image *images = malloc((buffer->image_count + 1) * sizeof *images);
        if (lists)
            p->images = lists;
        if (!lists || !images) {
            free(images);
            cli_say("out of memory");
            return false;
        }
        p->images[p->image_lists++] = images;
        if (buffer->image_count)
            memcpy(images, buffer->images, buffer->image_count * sizeof *images);
        images[buffer->image_count++] = (struct ct_image){
            .path = program->path, .addr = program->bias, .space = CT_SPACE_ANY, .is_elf = 1};
        buffer->images = images;
    }
    return true;
}

static bool add_named(struct cli_programs *p, struct cli_capture *capture, const char *text)
{
    char *path = strdup(text);
    uint64_t bias = 0;
    if (!path || !parse_bias(p->args, path, &bias)) {
        free(path);
        return false;
    }
    const struct ct_image *image = find_image(capture, path);
    if (image && bias == 0)
        bias = image->addr;
    if (!add(p, path, bias))
        return false;
    return image || !capture || add_image(p, capture, &p->programs[p->count - 1]);
}

static bool add_images(struct cli_programs *p, const struct cli_capture *capture)
{
    for (size_t i = 0; i < capture->count; i++)
        for (size_t k = 0; k < capture->buffers[i].image_count; k++) {
            const struct ct_image *image = &capture->buffers[i].images[k];
            if (image->is_elf && !add(p, strdup(image->path), image->addr))
                return false;
        }
    for (size_t i = 0; i < capture->capture->program_count; i++) {
        const struct ct_image *ran = &capture->capture->programs[i];
        if (!add(p, strdup(ran->path), ran->addr))
            return false;
    }
    if (p->count)
        return true;
    cli_say(
        "%s: names no ELF file, so nothing is known of its functions and lines; name the program with --elf",
        p->args->operand);
    return false;
}

bool cli_programs_name(struct cli_programs *p, const struct cli_args *args, const char *text,
                       struct cli_capture *capture)
{
    p->args = args;
    return add_named(p, capture, text);
}

bool cli_programs_open(struct cli_programs *p, const struct cli_args *args, size_t elf,
                       struct cli_capture *capture)
{
    p->args = args;
    bool named = false;
    for (size_t i = 0; i < args->list_count; i++) {
        if (args->list[i].option != elf)
            continue;
        named = true;
        if (!add_named(p, capture, args->list[i].text))
            return false;
    }
    return named || !capture || add_images(p, capture);
}

bool cli_programs_add(struct cli_programs *p, const char *path)
{
    return add(p, strdup(path), 0);
}

void cli_programs_close(struct cli_programs *p)
{
    for (size_t i = 0; i < p->count; i++) {
        ct_symbols_free(p->programs[i].symbols);
        ct_lines_free(p->programs[i].lines);
        ct_memory_free(p->programs[i].memory);
        free((char *)p->programs[i].path);
    }
    free(p->programs);
    for (size_t i = 0; i < p->image_lists; i++)
        free(p->images[i]);
    free(p->images);
}

struct ct_arch cli_programs_arch(const struct cli_capture *capture)
{
    if (capture)
        for (size_t i = 0; i < capture->count; i++)
            if (capture->buffers[i].source_count)
                return capture->buffers[i].sources[0].arch;
    struct ct_arch arch = {0};
    (void)ct_arch_by_name("ARM-AA64", &arch);
    return arch;
}
