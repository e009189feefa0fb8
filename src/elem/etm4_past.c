/* SPDX-License-Identifier: Apache-2.0 */
/* Passes over packets whose elements nobody wants, and only counts them. */
#include "elem/etm4_release.h"

/* How ct_etm4_resolve_past counts a packet. A packet of any role but ROLE_OTHER makes one element, which
 * leaves the resolver with the next atoms. */
enum role {
    ROLE_OTHER,
    ROLE_ATOMS,
    ROLE_ADDRESS,
    ROLE_COUNT, /* a cycle count or an event */
};

static const uint8_t roles[CT_ETM4_TYPE_COUNT] = {
    [CT_ETM4_ATOM_F1] = ROLE_ATOMS,        [CT_ETM4_ATOM_F2] = ROLE_ATOMS,
    [CT_ETM4_ATOM_F3] = ROLE_ATOMS,        [CT_ETM4_ATOM_F4] = ROLE_ATOMS,
    [CT_ETM4_ATOM_F5] = ROLE_ATOMS,        [CT_ETM4_ATOM_F6] = ROLE_ATOMS,
    [CT_ETM4_ADDR_S_IS0] = ROLE_ADDRESS,   [CT_ETM4_ADDR_S_IS1] = ROLE_ADDRESS,
    [CT_ETM4_ADDR_L_32IS0] = ROLE_ADDRESS, [CT_ETM4_ADDR_L_32IS1] = ROLE_ADDRESS,
    [CT_ETM4_ADDR_L_64IS0] = ROLE_ADDRESS, [CT_ETM4_ADDR_L_64IS1] = ROLE_ADDRESS,
    [CT_ETM4_ADDR_MATCH] = ROLE_ADDRESS,   [CT_ETM4_CCNT_F1] = ROLE_COUNT,
    [CT_ETM4_CCNT_F2] = ROLE_COUNT,        [CT_ETM4_CCNT_F3] = ROLE_COUNT,
    [CT_ETM4_EVENT] = ROLE_COUNT,
};

/* most held elements that holds_plain reads */
#define PAST_HELD 16u

/* Returns whether all held elements come from packets that can be passed over. */
static bool holds_plain(const struct ct_held *held)
{
    const uint32_t count = ct_held_count(held);
    bool plain = count <= PAST_HELD;
    for (uint32_t i = 0; i < count && plain; i++) {
        const uint8_t kind = ct_held_at(held, i)->elem.kind;
        plain = kind == CT_ELEM_ADDRESS || kind == CT_ELEM_CYCLES || kind == CT_ELEM_EVENT;
    }
    return plain;
}

size_t ct_etm4_resolve_past(struct ct_etm4_resolver *r, const struct ct_etm4_packet *packets, size_t size,
                            struct ct_etm4_passed *passed)
{
    *passed = (struct ct_etm4_passed){0};
    if (!ct_etm4_is_plain(r) || !holds_plain(&r->held))
        return 0;
    size_t end = 0; /* index behind the last atoms */
    const struct ct_etm4_packet *address = NULL;
    const struct ct_etm4_packet *before = NULL; /* the last address before `end` */
    uint64_t atoms = 0;
    for (size_t i = 0; i < size && roles[packets[i].type] != ROLE_OTHER; i++) {
        const bool is_atoms = roles[packets[i].type] == ROLE_ATOMS;
        address = roles[packets[i].type] == ROLE_ADDRESS ? &packets[i] : address;
        before = is_atoms ? address : before;
        end = is_atoms ? i + 1 : end;
        atoms += packets[i].natoms;
    }
    if (!end)
        return 0;
    passed->elements = ct_held_count(&r->held) + end;
    passed->atoms = atoms;
    ct_held_clear(&r->held);
    r->last_is = before ? before->is : r->last_is;
    r->pos = packets[end - 1].pos;
    r->size = packets[end - 1].size;
    return end;
}
