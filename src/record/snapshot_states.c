/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a snapshot that only coretap reads (docs/formats.md): code that changed while it ran. It is in
 * no [dump…], so that other readers find no memory there instead of wrong memory. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/ctx.h"
#include "record/snapshot_file.h"

#define PAGE CT_CODE_PAGE

static bool follows(const struct ct_snapshot_memory *m, size_t i)
{
    return i + 1 < m->count && m->places[i + 1]->addr == m->places[i]->addr + PAGE;
}

/* Returns whether an instruction at the end of the place continues in the next one. */
static bool runs_over(const struct ct_snapshot_memory *m, size_t i)
{
    bool executed = false;
    for (const struct ct_code_page *page = m->places[i]->newest; page; page = page->older)
        executed |= page->executed[PAGE / 8 - 1] >> 7;
    return executed && follows(m, i);
}

/* Marks places that share an instruction with a changing one as changing, because an instruction is read from
 * a single image. */
static void join(struct ct_snapshot_memory *m)
{
    for (size_t i = 0; i + 1 < m->count; i++)
        m->changes[i + 1] |= m->changes[i] && runs_over(m, i);
    for (size_t i = m->count; i-- > 0;)
        m->changes[i] |= i + 1 < m->count && m->changes[i + 1] && runs_over(m, i);
}

int ct_snapshot_look(struct ct_ctx *ctx, const struct ct_snapshot *s, struct ct_code *code,
                     struct ct_snapshot_memory *m)
{
    m->places = ct_code_places(code, &m->count);
    m->joined = ct_code_has_t32(code);
    m->changes = m->places ? calloc(m->count + 1, sizeof *m->changes) : NULL;
    if (!m->changes)
        return ct_fail_nomem(ctx, "recorded memory");
    for (size_t i = 0; i < m->count; i++)
        m->changes[i] = ct_states_differ(s->states, m->places[i]);
    if (m->joined)
        join(m);
    return CT_OK;
}

/* Places in one image. */
struct group {
    size_t first, count;
    uint32_t *images; /* by state: number of its image */
};

struct writer {
    const struct ct_snapshot *s;
    const struct ct_snapshot_memory *m;
    struct ct_snapshot_file bytes;
    uint64_t size;
    FILE *out;
    uint32_t images;
    struct group *groups;
    size_t group_count;
};

static bool same_versions(const struct writer *w, const struct group *g, uint32_t a, uint32_t b)
{
    for (size_t i = g->first; i < g->first + g->count; i++)
        if (ct_states_version(w->s->states, a, w->m->places[i]) !=
            ct_states_version(w->s->states, b, w->m->places[i]))
            return false;
    return true;
}

static void write_image(struct writer *w, const struct group *g, uint32_t state)
{
    const size_t last = g->first + g->count - 1, tail = follows(w->m, last) ? 0 : CT_SNAPSHOT_TAIL;
    const uint64_t size = g->count * PAGE + tail;
    for (size_t i = g->first; i <= last; i++) {
        const struct ct_code_place *place = w->m->places[i];
        fwrite(ct_code_version(place, ct_states_version(w->s->states, state, place))->bytes, 1, PAGE,
               w->bytes.out);
    }
    fwrite("\0\0\0", 1, tail, w->bytes.out);
    fprintf(w->out,
            "\n[coretap.image%" PRIu32 "]\nfile=%schanged.bin\noffset=0x%" PRIx64 "\naddress=0x%" PRIx64
            "\nlength=0x%" PRIx64 "\n",
            w->images, w->s->part, w->size, w->m->places[g->first]->addr, size);
    w->size += size;
    w->images++;
}

static int write_group(struct ct_ctx *ctx, struct writer *w, size_t first, size_t count)
{
    const uint32_t states = ct_states_count(w->s->states);
    uint32_t *images = calloc(states, sizeof *images);
    if (!images)
        return ct_fail_nomem(ctx, "recorded memory");
    struct group *g = &w->groups[w->group_count++];
    *g = (struct group){first, count, images};
    for (uint32_t i = 0; i < states; i++) {
        uint32_t same = 0;
        while (same < i && !same_versions(w, g, same, i))
            same++;
        images[i] = same < i ? images[same] : w->images;
        if (same == i)
            write_image(w, g, i);
    }
    return CT_OK;
}

static int write_groups(struct ct_ctx *ctx, struct writer *w)
{
    const struct ct_snapshot_memory *m = w->m;
    int status = CT_OK;
    for (size_t i = 0, n; i < m->count && !status; i += n) {
        n = 1;
        while (m->joined && m->changes[i] && follows(m, i + n - 1) && m->changes[i + n])
            n++;
        if (m->changes[i])
            status = write_group(ctx, w, i, n);
    }
    return status;
}

static void write_state(const struct writer *w, uint32_t state)
{
    fprintf(w->out, "\n[coretap.state%" PRIu32 "]\n", state);
    for (size_t i = 0; i < w->group_count; i++)
        fprintf(w->out, "image=%" PRIu32 "\n", w->groups[i].images[state]);
}

static void write_piece(const struct writer *w, size_t number, size_t buffer, struct ct_snapshot_piece piece)
{
    fprintf(w->out, "\n[coretap.piece%zu]\nbuffer=ETB_%zu\nfrom=0x%" PRIx64 "\nstate=%" PRIu32 "\n", number,
            buffer, piece.from, piece.state);
}

static void write_pieces(const struct writer *w, size_t buffers)
{
    size_t number = 0;
    for (size_t i = 0; i < buffers; i++) {
        const struct ct_snapshot_core *core = &w->s->cores[i];
        if (!core->piece_count || core->pieces[0].from)
            write_piece(w, number++, i, (struct ct_snapshot_piece){0});
        for (size_t k = 0; k < core->piece_count; k++)
            write_piece(w, number++, i, core->pieces[k]);
    }
}

static int write_all(struct ct_ctx *ctx, struct writer *w, size_t buffers)
{
    w->groups = calloc(w->m->count + 1, sizeof *w->groups);
    if (!w->groups)
        return ct_fail_nomem(ctx, "recorded memory");
    w->group_count = 0;
    const int status = write_groups(ctx, w);
    for (uint32_t i = 0; i < ct_states_count(w->s->states) && !status; i++)
        write_state(w, i);
    if (!status)
        write_pieces(w, buffers);
    for (size_t i = 0; i < w->group_count; i++)
        free(w->groups[i].images);
    free(w->groups);
    return status;
}

int ct_snapshot_write_states(struct ct_ctx *ctx, const struct ct_snapshot *s,
                             const struct ct_snapshot_memory *m, size_t buffers, FILE *out)
{
    struct writer w = {.s = s, .m = m, .out = out};
    int status = ct_snapshot_create(ctx, &w.bytes, s, "changed.bin");
    if (status)
        return status;
    status = write_all(ctx, &w, buffers);
    const int finished = ct_snapshot_finish(&w.bytes);
    return status ? status : finished;
}
