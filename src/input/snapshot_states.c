/* SPDX-License-Identifier: Apache-2.0 */
#include "input/snapshot_states.h"

#include <string.h>

#define STATES_MAX  65536u
#define ENTRIES_MAX ((size_t)1 << 20) /* images of all states together */
#define PIECES_MAX  ((size_t)1 << 20)

#define FRAME 16 /* bytes */

static const char image_prefix[] = "coretap.image", state_prefix[] = "coretap.state",
                  piece_prefix[] = "coretap.piece";

static bool begins(const char *section, const char *prefix)
{
    return strncmp(section, prefix, strlen(prefix)) == 0;
}

bool ct_snapshot_states_has(const char *section)
{
    return begins(section, image_prefix) || begins(section, state_prefix) || begins(section, piece_prefix);
}

static int too_many(const struct ct_ini_item *item, const char *what, size_t most)
{
    return ct_fail(item->ctx, CT_ERR_LIMIT,
                   "%s:%u: there are more than %zu %s, which is the limit; remove "
                   "some",
                   item->path, item->line, most, what);
}

/* ---- images, sorted by number ---- */

static int begin_image(struct ct_opening *opening, const struct ct_ini_item *item,
                       struct ct_snapshot_states *s, const char *where)
{
    if (s->image_count == CT_IMAGES_MAX)
        return too_many(item, "images", CT_IMAGES_MAX);
    struct ct_image_spec *images = ct_arena_push(opening->arena, s->images, &s->image_count, sizeof *images);
    if (!images)
        return ct_fail_nomem(item->ctx, item->path);
    s->images = images;
    images[s->image_count - 1] = (struct ct_image_spec){.where = where};
    return CT_OK;
}

int ct_snapshot_image(struct ct_opening *opening, const char *folder, const struct ct_ini_item *item,
                      struct ct_image_spec *image)
{
    if (strcmp(item->key, "address") == 0) {
        image->has_addr = 1;
        return ct_ini_number(item, UINT64_MAX, &image->addr);
    }
    if (strcmp(item->key, "offset") == 0)
        return ct_ini_number(item, UINT64_MAX, &image->offset);
    if (strcmp(item->key, "length") == 0) {
        image->has_size = 1;
        return ct_ini_number(item, UINT64_MAX, &image->size);
    }
    if (strcmp(item->key, "file") != 0)
        return CT_OK;
    return ct_ini_file(opening, folder, item, &image->file);
}

/* ---- states ---- */

static int begin_state(struct ct_opening *opening, const struct ct_ini_item *item,
                       struct ct_snapshot_states *s)
{
    if (s->state_count == STATES_MAX)
        return too_many(item, "states of memory", STATES_MAX);
    struct ct_snapshot_state *states =
        ct_arena_push(opening->arena, s->states, &s->state_count, sizeof *states);
    if (!states)
        return ct_fail_nomem(item->ctx, item->path);
    s->states = states;
    states[s->state_count - 1] = (struct ct_snapshot_state){0};
    return CT_OK;
}

static int on_state(struct ct_opening *opening, const struct ct_ini_item *item,
                    struct ct_snapshot_state *state)
{
    uint64_t number;
    if (strcmp(item->key, "image") != 0)
        return CT_OK;
    const int status = ct_ini_number(item, UINT64_MAX, &number);
    if (status)
        return status;
    uint64_t *images = ct_arena_push(opening->arena, state->images, &state->count, sizeof *images);
    if (!images)
        return ct_fail_nomem(item->ctx, item->path);
    images[state->count - 1] = number;
    state->images = images;
    return CT_OK;
}

/* ---- pieces ---- */

static int begin_piece(struct ct_opening *opening, const struct ct_ini_item *item,
                       struct ct_snapshot_states *s, const char *where)
{
    if (s->piece_count == PIECES_MAX)
        return too_many(item, "pieces of trace", PIECES_MAX);
    struct ct_snapshot_piece_spec *pieces =
        ct_arena_push(opening->arena, s->pieces, &s->piece_count, sizeof *pieces);
    if (!pieces)
        return ct_fail_nomem(item->ctx, item->path);
    s->pieces = pieces;
    pieces[s->piece_count - 1] = (struct ct_snapshot_piece_spec){.where = where};
    return CT_OK;
}

static int on_piece(struct ct_opening *opening, const struct ct_ini_item *item,
                    struct ct_snapshot_piece_spec *piece)
{
    if (strcmp(item->key, "from") == 0)
        return ct_ini_number(item, UINT64_MAX, &piece->from);
    if (strcmp(item->key, "state") == 0)
        return ct_ini_number(item, UINT64_MAX, &piece->state);
    if (strcmp(item->key, "buffer") != 0)
        return CT_OK;
    piece->buffer = ct_arena_strdup(opening->arena, item->value);
    return piece->buffer ? CT_OK : ct_fail_nomem(item->ctx, item->path);
}

int ct_snapshot_states_item(struct ct_opening *opening, const char *folder, const struct ct_ini_item *item,
                            struct ct_snapshot_states *s)
{
    const bool image = begins(item->section, image_prefix), state = begins(item->section, state_prefix);
    if (item->key)
        return image   ? ct_snapshot_image(opening, folder, item, &s->images[s->image_count - 1])
               : state ? on_state(opening, item, &s->states[s->state_count - 1])
                       : on_piece(opening, item, &s->pieces[s->piece_count - 1]);
    if (state)
        return begin_state(opening, item, s);
    const char *where = ct_arena_printf(opening->arena, "%s:%u: [%s]", item->path, item->line, item->section);
    if (!where)
        return ct_fail_nomem(item->ctx, item->path);
    return image ? begin_image(opening, item, s, where) : begin_piece(opening, item, s, where);
}

/* ---- conversion to maps and pieces ---- */

/* Adds an image. *image NULL: its file is missing. */
static int add_image(struct ct_opening *opening, const struct ct_image_spec *spec, struct ct_image **image)
{
    size_t count = 0;
    *image = NULL;
    if (!spec->file || !spec->has_addr)
        return ct_fail(opening->ctx, CT_ERR_CONFIG,
                       "%s: the section has no %s=; a memory image needs file= and address=", spec->where,
                       spec->file ? "address" : "file");
    return ct_image_add(opening, spec, image, &count);
}

static int make_generation(struct ct_opening *opening, const char *path, const struct ct_snapshot_states *s,
                           struct ct_image *const *known, size_t number, struct ct_generation *generation)
{
    const struct ct_snapshot_state *state = &s->states[number];
    struct ct_image *images = ct_arena_alloc(opening->arena, (state->count + 1) * sizeof *images);
    if (!images)
        return ct_fail_nomem(opening->ctx, path);
    size_t count = 0;
    for (size_t i = 0; i < state->count; i++) {
        if (state->images[i] >= s->image_count)
            return ct_fail(opening->ctx, CT_ERR_CONFIG,
                           "%.300s: [coretap.state%zu]: image=%llu does not exist; the file has %zu images, "
                           "which are numbered from 0 in the order of the file; correct the number",
                           path, number, (unsigned long long)state->images[i], s->image_count);
        if (known[state->images[i]])
            images[count++] = *known[state->images[i]];
    }
    *generation = (struct ct_generation){.from = number, .name = "", .images = images, .image_count = count};
    return CT_OK;
}

int ct_snapshot_states_finish(struct ct_opening *opening, const char *path, struct ct_snapshot_states *s)
{
    struct ct_arena *arena = opening->arena;
    size_t entries = 0;
    for (size_t i = 0; i < s->state_count; i++)
        entries += s->states[i].count;
    if (!s->state_count)
        return CT_OK;
    if (entries > ENTRIES_MAX)
        return ct_fail(opening->ctx, CT_ERR_LIMIT,
                       "%.300s: the states of memory have more than %zu images, "
                       "which is the limit; the snapshot is not read",
                       path, ENTRIES_MAX);
    struct ct_maps *maps = ct_arena_alloc(arena, sizeof *maps);
    struct ct_process *process = ct_arena_alloc(arena, sizeof *process);
    struct ct_generation *generations = ct_arena_alloc(arena, s->state_count * sizeof *generations);
    struct ct_image **known = ct_arena_alloc(arena, (s->image_count + 1) * sizeof *known);
    if (!maps || !process || !generations || !known)
        return ct_fail_nomem(opening->ctx, path);
    int status = CT_OK;
    for (size_t i = 0; i < s->image_count && !status; i++)
        status = add_image(opening, &s->images[i], &known[i]);
    for (size_t i = 0; i < s->state_count && !status; i++)
        status = make_generation(opening, path, s, known, i, &generations[i]);
    *process = (struct ct_process){.generations = generations, .generation_count = s->state_count};
    *maps = (struct ct_maps){.process_count = 1, .processes = process, .by_piece = 1};
    s->maps = maps;
    return status;
}

static int add_piece(struct ct_opening *opening, struct ct_buffer *buffer, struct ct_piece **pieces,
                     uint64_t from, uint64_t state)
{
    struct ct_piece *room = ct_arena_push(opening->arena, *pieces, &buffer->piece_count, sizeof *room);
    if (!room)
        return ct_fail_nomem(opening->ctx, buffer->path);
    room[buffer->piece_count - 1] =
        (struct ct_piece){.offset = from, .time = state, .tid = CT_NO_THREAD, .joins = 1};
    *pieces = room;
    return CT_OK;
}

static int check_piece(struct ct_opening *opening, const struct ct_snapshot_states *s,
                       const struct ct_snapshot_piece_spec *piece, const struct ct_buffer *buffer,
                       const struct ct_piece *before)
{
    const char *wrong =
        piece->state >= s->state_count            ? "state= is not the number of a state"
        : before && piece->from <= before->offset ? "from= is not greater than that of the previous piece"
        : buffer->framing != CT_FRAMING_NONE && piece->from % FRAME ? "from= is not the start of a frame"
                                                                    : NULL;
    return wrong ? ct_fail(opening->ctx, CT_ERR_CONFIG,
                           "%s: %s, so the trace cannot be divided into its "
                           "pieces; correct the number",
                           piece->where, wrong)
                 : CT_OK;
}

int ct_snapshot_states_apply(struct ct_opening *opening, const struct ct_snapshot_states *s,
                             struct ct_buffer *buffer)
{
    struct ct_piece *pieces = NULL;
    uint64_t size = 0;
    int status = CT_OK;
    if (!s->maps)
        return CT_OK;
    opening->files->look(opening->files->user, buffer->path, &size);
    for (size_t i = 0; i < s->piece_count && !status; i++) {
        const struct ct_snapshot_piece_spec *piece = &s->pieces[i];
        if (!piece->buffer || strcmp(piece->buffer, buffer->name) != 0)
            continue;
        const struct ct_piece *before = pieces ? &pieces[buffer->piece_count - 1] : NULL;
        if (!before && piece->from) /* what comes before belongs to the first state */
            status = add_piece(opening, buffer, &pieces, 0, 0);
        if (!status)
            status = check_piece(opening, s, piece, buffer, pieces ? &pieces[buffer->piece_count - 1] : NULL);
        if (!status && piece->from < size)
            status = add_piece(opening, buffer, &pieces, piece->from, piece->state);
        else if (!status && piece->from > size)
            ct_log(opening->ctx, CT_LOG_WARNING,
                   "%s: from= is beyond the end of %s, which is truncated; this piece and the following ones "
                   "are lost",
                   piece->where, buffer->path);
    }
    if (!status && !pieces)
        status = add_piece(opening, buffer, &pieces, 0, 0);
    for (size_t i = 0; pieces && i < buffer->piece_count && !status; i++)
        pieces[i].size = (i + 1 < buffer->piece_count ? pieces[i + 1].offset : size) - pieces[i].offset;
    buffer->pieces = pieces;
    buffer->maps = s->maps;
    return status;
}
