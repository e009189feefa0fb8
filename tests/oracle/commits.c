/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/commits.h"

#include <stdlib.h>

enum {
    COMMIT_HEADER = 0x2d,
    MOST_ADDED = 6 /* greatest number of bytes of a commit packet */
};

static void put(struct spelled *spelled, uint8_t byte, uint64_t origin)
{
    spelled->bytes[spelled->size] = byte;
    spelled->origin[spelled->size++] = (uint32_t)origin;
}

static void put_commit(struct spelled *spelled, const struct ct_etm4_packet *p)
{
    uint32_t n = p->count2;
    put(spelled, COMMIT_HEADER, p->pos);
    for (; n >> 7; n >>= 7)
        put(spelled, (uint8_t)(n | 0x80), p->pos);
    put(spelled, (uint8_t)n, p->pos);
    spelled->count++;
}

static int commits(const struct ct_etm4_packet *p)
{
    return p->type >= CT_ETM4_CCNT_F1 && p->type <= CT_ETM4_CCNT_F3 && p->flags & CT_ETM4_HAS_COMMIT &&
           p->count2;
}

static void make_room(struct spelled *spelled, size_t room)
{
    if (room <= spelled->room)
        return;
    spelled->room = room;
    spelled->bytes = realloc(spelled->bytes, room);
    spelled->origin = realloc(spelled->origin, room * sizeof(*spelled->origin));
    if (!spelled->bytes || !spelled->origin)
        abort();
}

void spell_commits(struct spelled *spelled, const struct ct_source *source, const uint8_t *bytes, size_t size,
                   const struct ct_etm4_packet *packets, size_t count)
{
    make_room(spelled, size + count * MOST_ADDED + 1);
    spelled->size = 0;
    size_t at = 0;
    int speculates = source->regs.idr8 != 0;
    for (size_t i = 0; i < count && speculates; i++) {
        if (!commits(&packets[i]))
            continue;
        for (; at < packets[i].pos + packets[i].size; at++)
            put(spelled, bytes[at], at);
        put_commit(spelled, &packets[i]);
    }
    for (; at < size; at++)
        put(spelled, bytes[at], at);
    spelled->origin[spelled->size] = (uint32_t)size;
}

void spelled_free(struct spelled *spelled)
{
    free(spelled->bytes);
    free(spelled->origin);
    *spelled = (struct spelled){0};
}
