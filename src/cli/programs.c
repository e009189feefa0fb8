#include "cli/programs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- one program ---- */

static void find_range(struct cli_program *program)
{
    size_t count;
    const struct ct_code_range *code = ct_symbols_code(program->symbols, &count);
    program->low = count ? code[0].low : 0;
    for (size_t i = 0; i < count; i++)
        program->high = code[i].high > program->high ? code[i].high : program->high;
}

/* Leaves it without symbols when it cannot be read: the context says why. */
static bool load_names(const struct cli_args *args, struct cli_program *program)
{
    const struct ct_symbol_options names = cli_symbol_options(args, 0);
    if (ct_symbols_load_with(args->ctx, program->path, &names, &program->symbols) == CT_OK)
        find_range(program);
    return true;
}

static bool load(const struct cli_args *args, struct cli_program *program)
{
    struct ct_image image = {.path = program->path, .space = CT_SPACE_ANY, .is_elf = 1};
    const struct ct_symbol_options names = cli_symbol_options(args, 0);
    const struct ct_line_options lines = {.size = sizeof lines, .files = args->debug_files};
    if (ct_symbols_load_with(args->ctx, program->path, &names, &program->symbols) != CT_OK ||
        ct_lines_load_with(args->ctx, program->path, &lines, &program->lines) != CT_OK ||
        ct_memory_new(args->ctx, &program->memory) != CT_OK ||
        ct_memory_add_image(program->memory, &image) != CT_OK) {
        cli_library_error(args->ctx);
        return false;
    }
    find_range(program);
    return true;
}

/* Adds the program unless it is there already: *out is its place. */
static bool add(struct cli_programs *p, const char *path, uint64_t bias, struct cli_program **out)
{
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->programs[i].path, path) == 0 && p->programs[i].bias == bias) {
            *out = &p->programs[i];
            return true;
        }
    char *copy = strdup(path);
    struct cli_program *programs = copy ? realloc(p->programs, (p->count + 1) * sizeof *programs) : NULL;
    if (!programs) {
        free(copy);
        cli_no_memory();
        return false;
    }
    p->programs = programs;
    p->programs[p->count] = (struct cli_program){.path = copy, .bias = bias};
    *out = &p->programs[p->count++];
    return p->only_names ? load_names(p->args, *out) : load(p->args, *out);
}

/* The same for one that the capture names. Where names are all that is wanted it need not be there. */
static bool add_known(struct cli_programs *p, const char *path, uint64_t bias, struct cli_program **out)
{
    const size_t before = p->count;
    if (!add(p, path, bias, out))
        return false;
    if (!(*out)->symbols && p->count > before && !p->args->quiet)
        cli_say("%s; its functions are not named", ct_ctx_error(p->args->ctx));
    return true;
}

/* Room for a memory in the set of a program. */
static bool reserve(struct cli_program *program, uint32_t memory)
{
    if (memory < program->memory_count)
        return true;
    uint8_t *grown = realloc(program->in_memory, (size_t)memory + 1);
    if (!grown) {
        cli_no_memory();
        return false;
    }
    memset(grown + program->memory_count, 0, memory + 1 - program->memory_count);
    program->in_memory = grown;
    program->memory_count = (size_t)memory + 1;
    return true;
}

/* ---- those that are named ---- */

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
    size_t count;
    const struct ct_code_range *code = ct_symbols_code(program->symbols, &count);
    for (size_t i = 0; i < buffer->image_count; i++) {
        const struct ct_image *image = &buffer->images[i];
        for (size_t k = 0; k < count && !image->is_elf; k++)
            if (image->addr < code[k].high + program->bias &&
                image->addr + size_of(image) > code[k].low + program->bias)
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
            cli_no_memory();
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

bool cli_programs_by_memory(const struct ct_capture *capture)
{
    const struct ct_maps *maps = capture->maps;
    for (size_t i = 0; maps && i < maps->process_count; i++)
        for (size_t k = 0; k < maps->processes[i].generation_count; k++)
            if (maps->processes[i].generations[k].program_count)
                return true;
    return false;
}

/* True for a program that lies in some memories only. */
static bool is_mapped(const struct ct_capture *capture, const struct ct_image *image)
{
    bool common = false;
    for (size_t i = 0; image && i < capture->buffer_count; i++)
        for (size_t k = 0; k < capture->buffers[i].image_count; k++)
            common |= image == &capture->buffers[i].images[k];
    return image && !common && cli_programs_by_memory(capture);
}

static bool add_named(struct cli_programs *p, struct cli_capture *capture, const char *text)
{
    struct cli_named_elf named;
    struct cli_program *program;
    if (!cli_named_elf_parse(p->args, text, &named))
        return false;
    const struct ct_image *image = capture ? cli_named_elf_find(capture->capture, named.path) : NULL;
    if (image && !named.has_bias)
        named.bias = image->addr;
    /* The name alone chooses one that the capture knows. */
    const bool here = !image || access(named.path, F_OK) == 0;
    bool fine = add(p, here ? named.path : image->path, named.bias, &program);
    free(named.path);
    if (fine && !program->symbols) {
        cli_library_error(p->args->ctx);
        return false;
    }
    if (fine) {
        program->named = true;
        program->ran_as = image ? image->path : program->path;
    }
    if (fine && capture && is_mapped(capture->capture, image))
        fine = reserve(program, 0);
    return fine && (image || !capture || add_image(p, capture, program));
}

/* What is the same in all memories: the ELF images of the buffers. */
static bool add_images(struct cli_programs *p, const struct cli_capture *capture)
{
    struct cli_program *program;
    for (size_t i = 0; i < capture->count; i++)
        for (size_t k = 0; k < capture->buffers[i].image_count; k++) {
            const struct ct_image *image = &capture->buffers[i].images[k];
            if (image->is_elf && !add_known(p, image->path, image->addr, &program))
                return false;
        }
    return true;
}

/* A program of the capture. One that was named may stand for it, and for the same file at other addresses. */
static bool add_ran(struct cli_programs *p, const struct ct_image *ran, bool started,
                    struct cli_program **out)
{
    const struct cli_program *named = NULL;
    for (size_t i = 0; i < p->count && !named; i++)
        if (p->programs[i].ran_as && strcmp(p->programs[i].ran_as, ran->path) == 0)
            named = &p->programs[i];
    const char *ran_as = named ? named->ran_as : NULL;
    if (!add_known(p, named ? named->path : ran->path, ran->addr, out))
        return false;
    (*out)->started |= started;
    (*out)->named |= ran_as != NULL;
    (*out)->ran_as = ran_as;
    return true;
}

/* Whether one that was named, with its load bias, stands for it. */
static bool is_replaced(const struct cli_programs *p, const struct ct_image *ran)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->programs[i].named && cli_is_copy(p->programs[i].path, p->programs[i].bias, ran))
            return true;
    return false;
}

static bool add_programs(struct cli_programs *p, const struct ct_capture *capture)
{
    struct cli_program *program;
    for (size_t i = 0; i < capture->program_count; i++)
        if (!is_replaced(p, &capture->programs[i]) &&
            !add_ran(p, &capture->programs[i], i < capture->main_count, &program))
            return false;
    return true;
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
    for (size_t i = 0; i < args->list_count; i++)
        if (args->list[i].option == elf && !add_named(p, capture, args->list[i].text))
            return false;
    if (!capture)
        return true;
    return cli_image_names_load(&p->names, args, capture->capture) && add_images(p, capture) &&
           (cli_programs_by_memory(capture->capture) || add_programs(p, capture->capture));
}

bool cli_programs_any(const struct cli_programs *p)
{
    if (p->count)
        return true;
    cli_say(
        "%s: names no ELF file, so nothing is known of its functions and lines; name the program with --elf",
        p->args->operand);
    return false;
}

struct ct_stack_program *cli_programs_for_stacks(const struct cli_programs *p, size_t *count)
{
    struct ct_stack_program *all = calloc(p->count + p->names.count + 1, sizeof *all);
    *count = 0;
    for (size_t i = 0; all && i < p->count; i++)
        if (p->programs[i].symbols)
            all[(*count)++] = (struct ct_stack_program){p->programs[i].symbols, p->programs[i].bias,
                                                        cli_program_memories(&p->programs[i])};
    for (size_t i = 0; all && i < p->names.count; i++)
        all[(*count)++] = (struct ct_stack_program){.symbols = p->names.all[i]};
    return all;
}

bool cli_programs_add(struct cli_programs *p, const char *path)
{
    struct cli_program *program;
    return add(p, path, 0, &program);
}

/* ---- memory that changes ---- */

/* One process that never changed is not told apart from nobody in particular. */
static const struct ct_generation *generation_of(const struct ct_maps *maps, uint32_t memory)
{
    bool alone = maps->process_count == 1 && maps->processes[0].generation_count == 1;
    return ct_maps_generation(maps, memory || !alone ? memory : 1);
}

bool cli_programs_in(struct cli_programs *p, const struct ct_maps *maps, uint32_t memory)
{
    const struct ct_generation *generation = generation_of(maps, memory);
    for (size_t i = 0; generation && i < generation->program_count; i++) {
        const struct ct_image *ran = &generation->programs[i];
        struct cli_program *program;
        size_t before = p->count;
        if (!add_ran(p, ran, i == 0 && generation->has_main, &program))
            return false;
        bool mapped = p->count > before || program->in_memory;
        if (mapped && !reserve(program, memory))
            return false;
        if (mapped)
            program->in_memory[memory] = 1;
    }
    return true;
}

void cli_programs_close(struct cli_programs *p)
{
    for (size_t i = 0; i < p->count; i++) {
        ct_symbols_free(p->programs[i].symbols);
        ct_lines_free(p->programs[i].lines);
        ct_memory_free(p->programs[i].memory);
        free((char *)p->programs[i].path);
        free(p->programs[i].in_memory);
    }
    free(p->programs);
    cli_image_names_free(&p->names);
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
