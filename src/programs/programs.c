/* SPDX-License-Identifier: Apache-2.0 */
/* The set of programs that ran: those named by the caller, and those that a capture knows. */
#include "programs/programs.h"

#include "base/archive.h"
#include "base/array_of.h"
#include "base/ctx.h"
#include "base/described.h"
#include "base/options.h"
#include "base/path.h"
#include "base/require.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int ct_programs_new(struct ct_ctx *ctx, const struct ct_programs_options *options, struct ct_programs **out)
{
    struct ct_programs_options o;
    CT_REQUIRE_OUT(ctx, out);
    const int rc = ct_options_read(ctx, __func__, options, &o, sizeof o);
    if (rc)
        return rc;
    struct ct_programs *p = calloc(1, sizeof *p);
    if (!p)
        return ct_fail_nomem(ctx, "programs");
    p->options = o;
    p->ctx = ctx;
    if (p->options.targets && !(p->options.targets = ct_arena_strdup(&p->arena, p->options.targets))) {
        ct_programs_free(p);
        return ct_fail_nomem(ctx, "programs");
    }
    *out = p;
    return CT_OK;
}

void ct_programs_free(struct ct_programs *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->count; i++) {
        ct_known_program_unload(p->all[i]);
        free(p->all[i]->in_memory);
    }
    for (size_t i = 0; i < p->image_count; i++)
        ct_symbols_free(p->images[i].symbols);
    for (size_t i = 0; i < p->map_count; i++)
        ct_symbols_free(p->maps[i].symbols);
    free(p->places);
    ct_arena_free(&p->arena);
    free(p);
}

static int no_memory(struct ct_programs *p)
{
    ct_fail_nomem(p->ctx, "programs");
    return CT_ERR_NOMEM;
}

static const char *keep_text(struct ct_programs *p, const char *text, bool *fine)
{
    const char *copy = text ? ct_arena_strdup(&p->arena, text) : NULL;
    *fine &= copy || !text;
    return copy;
}

/* Copies the section addresses of a kernel module. *fine becomes false when out of memory. */
static const struct ct_module_place *copy_place(struct ct_programs *p, const struct ct_module_place *from,
                                                bool *fine)
{
    struct ct_module_place *place = from ? ct_arena_alloc(&p->arena, sizeof *place) : NULL;
    struct ct_module_section *sections =
        place ? ct_arena_alloc(&p->arena, (from->count + 1) * sizeof *sections) : NULL;
    *fine &= !from || sections;
    for (size_t i = 0; sections && i < from->count; i++)
        sections[i] =
            (struct ct_module_section){keep_text(p, from->sections[i].name, fine), from->sections[i].addr};
    if (sections)
        *place = (struct ct_module_place){sections, from->count};
    return sections ? place : NULL;
}

/* Returns the image of a program at address `addr`. */
static struct ct_image image_at(const struct ct_known_program *program, uint64_t addr)
{
    return (struct ct_image){.path = program->is.path,
                             .addr = addr,
                             .space = CT_SPACE_ANY,
                             .is_elf = 1,
                             .placed = program->placed};
}

/* Returns whether a program comes from the file at `path` and, if it is a kernel module, has the same section
 * addresses. */
static bool is_of(const struct ct_known_program *program, const char *path,
                  const struct ct_module_place *placed)
{
    const struct ct_image a = image_at(program, 0);
    struct ct_image b = a;
    b.path = path;
    b.placed = placed;
    return ct_image_same(&a, &b);
}

/* Makes a program that is not in the list yet. Returns NULL when out of memory. */
static struct ct_known_program *make(struct ct_programs *p, const char *path, uint64_t bias,
                                     const struct ct_module_place *placed)
{
    bool fine = true;
    struct ct_known_program *made = ct_arena_alloc(&p->arena, sizeof *made);
    const char *copy = ct_arena_strdup(&p->arena, path);
    placed = copy_place(p, placed, &fine);
    if (!made || !copy || !fine)
        return NULL;
    *made = (struct ct_known_program){
        .is = {.path = copy, .bias = bias, .shift = bias}, .set = p, .first = made, .placed = placed};
    if (p->options.moved)
        made->is.shift = 0;
    for (size_t i = p->count; i-- > 0 && !p->options.moved;)
        if (is_of(p->all[i], path, placed))
            made->first = p->all[i]->first;
    return made;
}

/* Adds the program unless it is there already. */
static int add(struct ct_programs *p, const char *path, uint64_t bias, const struct ct_module_place *placed,
               struct ct_known_program **out)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->all[i]->is.bias == bias && is_of(p->all[i], path, placed)) {
            *out = p->all[i];
            return CT_OK;
        }
    struct ct_known_program *made = make(p, path, bias, placed);
    struct ct_known_program **all = made ? ct_arena_push(&p->arena, p->all, &p->count, sizeof *all) : NULL;
    if (!all)
        return no_memory(p);
    p->all = all;
    p->all[p->count - 1] = *out = made;
    ct_programs_forget_rests(p);
    return CT_OK;
}

/* Puts a program of another capture into all memories of this one. */
static void appear(struct ct_known_program *program)
{
    if (program->nowhere)
        program->is.memories = (struct ct_memory_set){0};
    program->nowhere = false;
}

/* Makes room for a memory in the program's set of memories. */
static int reserve(struct ct_known_program *program, uint32_t memory)
{
    struct ct_memory_set *memories = &program->is.memories;
    if (program->in_memory && memory < memories->count)
        return CT_OK;
    uint8_t *grown = realloc(program->in_memory, (size_t)memory + 1);
    if (!grown)
        return no_memory(program->set);
    memset(grown + memories->count, 0, memory + 1 - memories->count);
    program->in_memory = grown;
    *memories = (struct ct_memory_set){grown, (size_t)memory + 1};
    return CT_OK;
}

/* ---- named programs ---- */

/* A search for an image: the one with this path or, failing that, the first one with its name. */
struct search {
    const char *path;
    const struct ct_image *exact, *alike;
};

static void look(struct search *s, const struct ct_image *images, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!images[i].is_elf)
            continue;
        if (!s->exact && strcmp(images[i].path, s->path) == 0)
            s->exact = &images[i];
        if (!s->alike && ct_same_base_name(images[i].path, s->path))
            s->alike = &images[i];
    }
}

/* Finds the image or program of the capture for the file at `path`; NULL when there is none. */
static const struct ct_image *find(const struct ct_capture *capture, const char *path)
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
    return s.exact ? s.exact : s.alike;
}

int ct_programs_by_memory(const struct ct_capture *capture)
{
    const struct ct_maps *maps = capture ? capture->maps : NULL;
    for (size_t i = 0; maps && i < maps->process_count; i++)
        for (size_t k = 0; k < maps->processes[i].generation_count; k++)
            if (maps->processes[i].generations[k].program_count)
                return 1;
    return 0;
}

/* Returns whether the image is only in some memories of the capture. */
static bool is_mapped(const struct ct_capture *capture, const struct ct_image *image)
{
    bool common = false;
    for (size_t i = 0; i < capture->buffer_count; i++)
        for (size_t k = 0; k < capture->buffers[i].image_count; k++)
            common |= image == &capture->buffers[i].images[k];
    return !common && ct_programs_by_memory(capture);
}

/* Returns whether there is a file, or an entry of an archive; otherwise errno says why not. */
static bool is_there(const char *path)
{
    struct ct_archived where;
    if (access(path, F_OK) == 0)
        return true;
    const int fd = ct_archive_entry(path) ? ct_archive_open(path, &where) : -1;
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

int ct_programs_add(struct ct_programs *p, const char *path, const uint64_t *bias,
                    const struct ct_capture *capture, struct ct_program **out)
{
    if (out)
        *out = NULL;
    CT_REQUIRE_OF(p, path);
    const struct ct_image *image = capture ? find(capture, path) : NULL;
    const bool here = is_there(path);
    if (!here && !image)
        return ct_fail(p->ctx, CT_ERR_IO, "%s: cannot be opened: %s", path, strerror(errno));
    if (!here && strchr(path, '/') && strcmp(path, image->path) != 0)
        return ct_fail(p->ctx, CT_ERR_IO,
                       "%s: this file does not exist; the program of this name that ran is %s; give that "
                       "path, or only the name without a folder",
                       path, image->path);
    const uint64_t at = bias ? *bias : image ? image->addr : 0;
    struct ct_known_program *program;
    int rc = here && capture ? ct_program_version(p->ctx, path, at, capture, &image) : CT_OK;
    if (!rc)
        rc = add(p, here ? path : image->path, at, image ? image->placed : NULL, &program);
    if (rc)
        return rc;
    const char *ran_as = image ? ct_arena_strdup(&p->arena, image->path) : program->is.path;
    if (!ran_as)
        return no_memory(p);
    program->is.named = 1;
    program->is.ran_as = ran_as;
    program->in_capture = image != NULL;
    appear(program);
    if (image && !p->options.all_memories && is_mapped(capture, image))
        rc = reserve(program, 0);
    if (out && !rc)
        *out = &program->is;
    return rc;
}

/* ---- programs of a capture ---- */

/* Returns whether a program named by the caller, with its load bias, replaces an image of the capture. */
static bool is_replaced(const struct ct_programs *p, const struct ct_image *ran)
{
    for (size_t i = 0; i < p->count; i++) {
        const struct ct_program *is = &p->all[i]->is;
        if (is->named && is->bias == ran->addr && (is->bias || ct_same_base_name(is->path, ran->path)))
            return true;
    }
    return false;
}

/* Adds a program of the capture. A program named by the caller may replace it, also at other addresses. */
static int add_ran(struct ct_programs *p, const struct ct_image *ran, bool started,
                   struct ct_known_program **out)
{
    const struct ct_program *named = NULL;
    for (size_t i = 0; i < p->count && !named; i++)
        if (p->all[i]->is.ran_as && strcmp(p->all[i]->is.ran_as, ran->path) == 0)
            named = &p->all[i]->is;
    const int rc = add(p, named ? named->path : ran->path, ran->addr, ran->placed, out);
    if (rc)
        return rc;
    (*out)->is.started |= started;
    (*out)->in_capture = true;
    if (named) {
        (*out)->is.named = 1;
        (*out)->is.ran_as = named->ran_as;
    }
    return CT_OK;
}

static int add_everywhere(struct ct_programs *p, const struct ct_image *ran, bool started)
{
    struct ct_known_program *program;
    const int rc = add_ran(p, ran, started, &program);
    if (!rc)
        appear(program);
    return rc;
}

/* Adds an image that is not an ELF file. */
static int add_memory(struct ct_programs *p, const struct ct_image *image)
{
    for (size_t i = 0; i < p->image_count; i++)
        if (ct_image_same(&p->images[i].image, image))
            return CT_OK;
    struct ct_known_image known = {.image = *image};
    known.image.path = ct_arena_strdup(&p->arena, image->path);
    if (!known.image.path)
        return no_memory(p);
    const int rc = ct_symbols_of_image(p->ctx, image, &known.symbols);
    if (rc)
        return rc;
    struct ct_known_image *images = ct_arena_push(&p->arena, p->images, &p->image_count, sizeof *images);
    if (!images) {
        ct_symbols_free(known.symbols);
        return no_memory(p);
    }
    p->images = images;
    images[p->image_count - 1] = known;
    return CT_OK;
}

static int add_images(struct ct_programs *p, const struct ct_buffer *buffer, const struct ct_capture *capture)
{
    int rc = CT_OK;
    for (size_t i = 0; i < buffer->image_count && !rc; i++) {
        const struct ct_image *image = &buffer->images[i];
        if (!image->is_elf)
            rc = add_memory(p, image);
        else if (!is_replaced(p, image) && !(rc = ct_program_names_memory(p->ctx, image, capture)))
            rc = add_everywhere(p, image, false);
    }
    return rc;
}

/* Copies the texts of a source. */
static struct ct_source copy_source(struct ct_programs *p, const struct ct_source *from, bool *fine)
{
    struct ct_source to = *from;
    to.name = keep_text(p, from->name, fine);
    to.core = keep_text(p, from->core, fine);
    to.model = keep_text(p, from->model, fine);
    for (unsigned i = 0; i < CT_SOURCE_EVENTS; i++)
        to.events[i] = keep_text(p, from->events[i], fine);
    return to;
}

/* Copies the names of contexts, which several buffers of a capture may share. */
static const struct ct_context_name *copy_names(struct ct_programs *p, const struct ct_capture *capture,
                                                size_t index, bool *fine)
{
    const struct ct_buffer *b = &capture->buffers[index];
    if (index && b->names == capture->buffers[index - 1].names &&
        b->name_count == capture->buffers[index - 1].name_count)
        return p->sources[p->source_count - 1].names;
    struct ct_context_name *names = ct_arena_alloc(&p->arena, (b->name_count + 1) * sizeof *names);
    *fine &= names != NULL;
    for (size_t i = 0; i < b->name_count && *fine; i++) {
        names[i] = b->names[i];
        names[i].name = keep_text(p, b->names[i].name, fine);
    }
    return names;
}

/* Keeps the sources and context names of a capture. */
static int keep_sources(struct ct_programs *p, const struct ct_capture *capture)
{
    for (size_t i = 0; i < capture->buffer_count; i++) {
        const struct ct_buffer *from = &capture->buffers[i];
        bool fine = true;
        struct ct_source *sources = ct_arena_alloc(&p->arena, (from->source_count + 1) * sizeof *sources);
        struct ct_maps *maps = ct_arena_alloc(&p->arena, sizeof *maps);
        const struct ct_context_name *names = copy_names(p, capture, i, &fine);
        struct ct_buffer *all = ct_arena_push(&p->arena, p->sources, &p->source_count, sizeof *all);
        if (!sources || !maps || !all || !fine)
            return ct_fail_nomem(p->ctx, "programs");
        for (size_t k = 0; k < from->source_count; k++)
            sources[k] = copy_source(p, &from->sources[k], &fine);
        if (from->maps)
            maps->clock = from->maps->clock;
        p->sources = all;
        all[p->source_count - 1] = (struct ct_buffer){.name = keep_text(p, from->name, &fine),
                                                      .source_count = from->source_count,
                                                      .sources = sources,
                                                      .maps = maps,
                                                      .name_count = from->name_count,
                                                      .names = names};
        if (!fine)
            return ct_fail_nomem(p->ctx, "programs");
    }
    return CT_OK;
}

const struct ct_buffer *ct_programs_sources(const struct ct_programs *p, size_t *count)
{
    return CT_ARRAY_OF(p, sources, source_count, count);
}

int ct_programs_add_capture(struct ct_programs *p, const struct ct_capture *capture)
{
    CT_REQUIRE_OF(p, capture);
    int rc = ct_buffers_check(p->ctx, __func__, capture->buffers, capture->buffer_count);
    if (rc)
        return rc;
    rc = keep_sources(p, capture) ?: ct_programs_add_maps(p, capture);
    ct_programs_forget_rests(p);
    for (size_t i = 0; i < capture->buffer_count && !rc; i++)
        rc = add_images(p, &capture->buffers[i], capture);
    if (!p->options.all_memories && ct_programs_by_memory(capture))
        return rc;
    for (size_t i = 0; i < capture->program_count && !rc; i++)
        if (!is_replaced(p, &capture->programs[i]) &&
            !ct_program_was_replaced(p->ctx, &capture->programs[i], capture))
            rc = add_everywhere(p, &capture->programs[i], i < capture->main_count);
    return rc;
}

void ct_programs_next_capture(struct ct_programs *p)
{
    static const uint8_t none[1];
    if (p) {
        p->sources = NULL; /* those of the previous capture stay in the arena, for callers that still use
                              them */
        p->source_count = 0;
        ct_programs_leave_maps(p);
    }
    for (size_t i = 0; i < ct_programs_count(p); i++) {
        struct ct_known_program *program = p->all[i];
        free(program->in_memory);
        program->in_memory = NULL;
        program->in_capture = false;
        program->nowhere = true;
        program->is.memories = (struct ct_memory_set){.has = none};
    }
}

/* Returns the generation of a memory. When the capture has one process that never changed, memory 0 is its
 * memory. */
static const struct ct_generation *generation_of(const struct ct_maps *maps, uint32_t memory)
{
    const bool alone = maps->process_count == 1 && maps->processes[0].generation_count == 1;
    return ct_maps_generation(maps, memory || !alone ? memory : 1);
}

int ct_programs_in(struct ct_programs *p, const struct ct_maps *maps, uint32_t memory)
{
    CT_REQUIRE_OF(p, maps);
    const struct ct_generation *generation = generation_of(maps, memory);
    int rc = CT_OK;
    for (size_t i = 0; generation && i < generation->program_count && !rc; i++) {
        struct ct_known_program *program;
        const size_t before = p->count;
        rc = add_ran(p, &generation->programs[i], i == 0 && generation->has_main, &program);
        if (rc || (p->count == before && !program->in_memory && !program->nowhere))
            continue;
        rc = reserve(program, memory);
        program->nowhere = false;
        if (!rc)
            program->in_memory[memory] = 1;
    }
    return rc;
}

/* ---- images of buffers ---- */

static uint64_t size_of(const struct ct_image *image)
{
    struct stat st;
    if (image->size)
        return image->size;
    return stat(image->path, &st) == 0 && (uint64_t)st.st_size > image->offset
               ? (uint64_t)st.st_size - image->offset
               : 0;
}

/* Returns whether the capture itself contains the memory of the program. */
static bool has_memory(const struct ct_buffer *buffer, const struct ct_program *program,
                       const struct ct_symbols *symbols)
{
    size_t count;
    const struct ct_code_range *code = ct_symbols_code(symbols, &count);
    for (size_t i = 0; i < buffer->image_count; i++) {
        const struct ct_image *image = &buffer->images[i];
        for (size_t k = 0; k < count && !image->is_elf; k++)
            if (image->addr < code[k].high + program->shift &&
                image->addr + size_of(image) > code[k].low + program->shift)
                return true;
    }
    return false;
}

static int give(struct ct_programs *p, const struct ct_known_program *program, struct ct_buffer *buffer)
{
    struct ct_image *images = ct_arena_alloc(&p->arena, (buffer->image_count + 1) * sizeof *images);
    if (!images)
        return no_memory(p);
    if (buffer->image_count)
        memcpy(images, buffer->images, buffer->image_count * sizeof *images);
    images[buffer->image_count++] = image_at(program, program->is.bias);
    buffer->images = images;
    return CT_OK;
}

int ct_programs_give(struct ct_programs *p, struct ct_buffer *buffer)
{
    int rc = CT_OK;
    CT_REQUIRE_OF(p, buffer);
    for (size_t i = 0; i < p->count && !rc; i++) {
        struct ct_known_program *program = p->all[i];
        const struct ct_symbols *symbols;
        if (!program->is.named || program->in_capture)
            continue;
        rc = ct_program_symbols(&program->is, &symbols);
        if (!rc && !has_memory(buffer, &program->is, symbols))
            rc = give(p, program, buffer);
    }
    return rc;
}

/* ---- access ---- */

size_t ct_programs_count(const struct ct_programs *p)
{
    return p ? p->count : 0;
}

struct ct_program *ct_programs_at(const struct ct_programs *p, size_t number)
{
    return p && number < p->count ? &p->all[number]->is : NULL;
}
