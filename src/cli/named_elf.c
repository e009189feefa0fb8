#include "cli/named_elf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct ct_symbol_options cli_symbol_options(const struct cli_args *args, uint64_t bias)
{
    return (struct ct_symbol_options){.size = sizeof(struct ct_symbol_options),
                                      .bias = bias,
                                      .files = args->debug_files,
                                      .raw_names = args->raw_names};
}

/* Whether a list of an earlier buffer has the image. */
static bool has_before(const struct ct_capture *capture, size_t buffer, const struct ct_image *image)
{
    for (size_t i = 0; i < buffer; i++)
        for (size_t k = 0; k < capture->buffers[i].image_count; k++)
            if (ct_image_same(&capture->buffers[i].images[k], image))
                return true;
    return false;
}

static bool add_image(struct cli_image_names *names, const struct cli_args *args,
                      const struct ct_image *image)
{
    struct ct_symbols **all = realloc(names->all, (names->count + 1) * sizeof(struct ct_symbols *));
    if (!all) {
        cli_no_memory();
        return false;
    }
    names->all = all;
    if (ct_symbols_of_image(args->ctx, image, &all[names->count]) != CT_OK) {
        cli_library_error(args->ctx);
        return false;
    }
    names->count++;
    return true;
}

bool cli_image_names_load(struct cli_image_names *names, const struct cli_args *args,
                          const struct ct_capture *capture)
{
    for (size_t i = 0; i < capture->buffer_count; i++)
        for (size_t k = 0; k < capture->buffers[i].image_count; k++) {
            const struct ct_image *image = &capture->buffers[i].images[k];
            if (!image->is_elf && !has_before(capture, i, image) && !add_image(names, args, image))
                return false;
        }
    return true;
}

void cli_image_names_free(struct cli_image_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        ct_symbols_free(names->all[i]);
    free(names->all);
    *names = (struct cli_image_names){0};
}

bool cli_named_elf_parse(const struct cli_args *args, const char *text, struct cli_named_elf *out)
{
    *out = (struct cli_named_elf){.path = strdup(text)};
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
        cli_usage_error(args->command, "--elf %s: behind the '@' stands the load address in hexadecimal",
                        text);
        free(out->path);
        return false;
    }
    *at = '\0';
    return true;
}

const char *cli_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool same_name(const char *a, const char *b)
{
    return strcmp(cli_base_name(a), cli_base_name(b)) == 0;
}

bool cli_is_copy(const char *path, uint64_t bias, const struct ct_image *ran)
{
    return bias == ran->addr && (bias || same_name(path, ran->path));
}

/* The one of this path, and the first one of its name. */
struct search {
    const char *path;
    const struct ct_image *exact, *named;
};

static void look(struct search *s, const struct ct_image *images, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!images[i].is_elf)
            continue;
        if (!s->exact && strcmp(images[i].path, s->path) == 0)
            s->exact = &images[i];
        if (!s->named && same_name(images[i].path, s->path))
            s->named = &images[i];
    }
}

const struct ct_image *cli_named_elf_find(const struct ct_capture *capture, const char *path)
{
    struct search s = {.path = path};
    const struct ct_maps *maps = capture->maps;
    for (size_t i = 0; i < capture->buffer_count; i++)
        look(&s, capture->buffers[i].images, capture->buffers[i].image_count);
    look(&s, capture->programs, capture->program_count);
    for (size_t i = 0; maps && i < maps->process_count; i++)
        for (size_t k = 0; k < maps->processes[i].generation_count; k++) {
            const struct ct_generation *g = &maps->processes[i].generations[k];
            look(&s, g->programs, g->program_count);
        }
    return s.exact ? s.exact : s.named;
}
