/* SPDX-License-Identifier: Apache-2.0 */
/* A list of captures without duplicate contents. */
#include "fleet/manifest.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/require.h"
#include "base/room.h"

#define FIRST_SLOTS 64

int ct_manifest_new(struct ct_ctx *ctx, struct ct_manifest **out)
{
    CT_REQUIRE_OUT(ctx, out);
    *out = calloc(1, sizeof **out);
    if (!*out)
        return ct_fail_nomem(ctx, "manifest");
    (*out)->ctx = ctx;
    return CT_OK;
}

void ct_manifest_free(struct ct_manifest *m)
{
    if (!m)
        return;
    free(m->captures);
    free(m->slots);
    ct_arena_free(&m->arena);
    free(m);
}

/* ---- finding equal contents ---- */

/* Returns the slot of a digest, or the free slot for it. */
static size_t slot_of(const struct ct_manifest *m, const uint8_t digest[CT_FLEET_DIGEST])
{
    uint64_t hash;
    memcpy(&hash, digest, sizeof hash);
    size_t at = (size_t)hash & (m->slot_count - 1);
    while (m->slots[at] && memcmp(m->captures[m->slots[at] - 1].digest, digest, CT_FLEET_DIGEST) != 0)
        at = (at + 1) & (m->slot_count - 1);
    return at;
}

const struct ct_fleet_capture *ct_manifest_same(const struct ct_manifest *m,
                                                const uint8_t digest[CT_FLEET_DIGEST])
{
    if (!m->slot_count)
        return NULL;
    const uint32_t found = m->slots[slot_of(m, digest)];
    return found ? &m->captures[found - 1] : NULL;
}

/* Makes room for one more digest. Half of the slots stay free. */
static bool grow_slots(struct ct_manifest *m)
{
    if (2 * (m->count + 1) <= m->slot_count)
        return true;
    uint32_t *old = m->slots;
    const size_t count = m->slot_count ? 2 * m->slot_count : FIRST_SLOTS;
    uint32_t *slots = calloc(count, sizeof *slots);
    if (!slots)
        return false;
    free(old);
    m->slots = slots;
    m->slot_count = count;
    for (size_t i = 0; i < m->count; i++)
        slots[slot_of(m, m->captures[i].digest)] = (uint32_t)i + 1;
    return true;
}

/* ---- adding ---- */

/* Copies a text. */
static bool copy(struct ct_arena *arena, const char **text)
{
    if (*text)
        *text = ct_arena_strdup(arena, *text);
    return *text != NULL;
}

static bool copy_ids(struct ct_arena *arena, struct ct_fleet_capture *capture)
{
    const char **ids = ct_arena_alloc(arena, capture->build_id_count * sizeof *ids);
    bool fine = ids != NULL;
    for (size_t i = 0; i < capture->build_id_count && fine; i++) {
        ids[i] = capture->build_ids[i];
        fine = copy(arena, &ids[i]);
    }
    capture->build_ids = ids;
    return fine;
}

/* Copies everything that the capture points to into the manifest's arena. */
static bool keep(struct ct_manifest *m, struct ct_fleet_capture *capture)
{
    return copy(&m->arena, &capture->path) && (!capture->machine || copy(&m->arena, &capture->machine)) &&
           (!capture->test || copy(&m->arena, &capture->test)) &&
           (!capture->time || copy(&m->arena, &capture->time)) &&
           (!capture->build_id_count || copy_ids(&m->arena, capture));
}

int ct_manifest_add(struct ct_manifest *m, const struct ct_fleet_capture *capture)
{
    CT_REQUIRE_OF(m, capture, capture->path, *capture->path, !capture->build_id_count || capture->build_ids);
    const struct ct_fleet_capture *same = ct_manifest_same(m, capture->digest);
    if (same)
        return ct_fail(m->ctx, CT_ERR_FORMAT,
                       "%s: has the same contents as %s, so it would count twice; remove one of them",
                       capture->path, same->path);
    struct ct_fleet_capture kept = *capture;
    if (m->count >= UINT32_MAX - 1 || !CT_MAKE_ROOM(m->captures, m->room, m->count + 1) || !grow_slots(m) ||
        !keep(m, &kept))
        return ct_fail_nomem(m->ctx, "manifest");
    const size_t slot = slot_of(m, kept.digest);
    m->captures[m->count++] = kept;
    m->slots[slot] = (uint32_t)m->count;
    return CT_OK;
}

size_t ct_manifest_count(const struct ct_manifest *m)
{
    return m ? m->count : 0;
}

const struct ct_fleet_capture *ct_manifest_at(const struct ct_manifest *m, size_t number)
{
    return m && number < m->count ? &m->captures[number] : NULL;
}
