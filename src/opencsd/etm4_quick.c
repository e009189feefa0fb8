/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of an ETMv4 or ETE with immediate effect, because nothing can be cancelled and nothing of the path
 * is held before them. Most packets are like that. */
#include "opencsd/etm4.h"
#include "opencsd/etm4_fields.h"
#include "opencsd/layout.h"
#include "opencsd/packet_out.h"
#include "proto/etm4_finish.h"

/* Returns whether all held items are unrelated to the execution path: times, counts. */
static bool holds_no_path(const struct ct_ocsd_etm4 *d)
{
    for (uint32_t i = 0; i < d->held.count; i++)
        if (!ct_ocsd_held_is_apart(ct_ocsd_held_at(&d->held, i)))
            return false;
    return true;
}

/* Commits all held items, because an atom came. */
static void take_held(struct ct_ocsd_etm4 *d)
{
    for (uint32_t i = 0; i < d->held.count; i++)
        ct_ocsd_etm4_execute(d, ct_ocsd_held_at(&d->held, i));
    ct_ocsd_held_clear(&d->held);
}

/* Takes atoms with immediate effect, after the held items. */
static void take_atoms(struct ct_ocsd_etm4 *d, uint8_t count, uint32_t atoms)
{
    struct ct_ocsd_held item = {
        .kind = CT_OCSD_HELD_ATOMS, .n = count, .p0 = count, .value = atoms, .index = d->index};
    d->address_waits = false;
    take_held(d);
    while (item.n && !d->lacks_return && !d->out_of_memory && !d->mismatch)
        ct_ocsd_etm4_atoms(d, &item, item.n);
    if (d->lacks_return)
        ct_ocsd_etm4_fail_commit(d, d->index);
    else if (d->mismatch)
        ct_ocsd_etm4_fail_image(d, d->index);
}

/* Returns whether atoms and addresses have immediate effect: nothing can be cancelled, and nothing of the
 * path is held. */
static bool is_quick(const struct ct_ocsd_etm4 *d)
{
    return d->state == CT_OCSD_ETM4_DECODE && !d->max_spec && !d->depth && !d->pending_address &&
           holds_no_path(d);
}

/* Applies the address of a packet immediately. */
static void take_address(struct ct_ocsd_etm4 *d, uint64_t addr, uint8_t is1)
{
    d->last_is1 = is1;
    if (!d->address_waits) {
        d->addr_before = d->path.addr;
        d->isa_before = d->path.isa;
    }
    d->address_waits = true;
    d->address_index = d->index;
    ct_ocsd_etm4_execute(d, &(const struct ct_ocsd_held){
                                .kind = CT_OCSD_HELD_ADDRESS, .n = is1, .value = addr, .index = d->index});
}

/* Returns whether a packet is an address without a context. */
static bool is_plain_address(const struct ct_etm4_packet *p)
{
    return (p->type >= CT_ETM4_ADDR_S_IS0 && p->type <= CT_ETM4_ADDR_L_64IS1) ||
           p->type == CT_ETM4_ADDR_MATCH;
}

bool ct_ocsd_etm4_take_quickly(struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *p)
{
    const bool has_atoms = p->type >= CT_ETM4_ATOM_F1 && p->type <= CT_ETM4_ATOM_F6;
    if (!is_quick(d) || !(has_atoms || is_plain_address(p)))
        return false;
    if (has_atoms)
        take_atoms(d, p->natoms, p->atoms);
    else
        take_address(d, p->value, p->is);
    return true;
}

/* Returns whether these atoms cannot fail, so that each range may be output before the next is known: there
 * are as many return addresses as they can need. */
static bool is_safe(const struct ct_ocsd_etm4 *d, uint8_t count)
{
    const struct ct_ocsd_return_stack *returns = &d->path.returns;
    return !d->checks && !d->need_context && d->base.tree->take_element && !d->base.tree->late &&
           (!returns->enabled || returns->count >= count);
}

/* Takes atoms like take_atoms, after the held items, and outputs their elements: each one immediately while
 * the client continues and nothing can fail. Returns the client's response. */
static ocsd_datapath_resp_t give_atoms(struct ct_ocsd_etm4 *d, uint8_t count, uint32_t atoms,
                                       ocsd_generic_trace_elem *range)
{
    ocsd_datapath_resp_t resp = OCSD_RESP_CONT;
    uint8_t done = 0;
    d->address_waits = false;
    if (is_safe(d, count)) {
        take_held(d);
        if (d->path.output.count)
            resp = ct_ocsd_output_drain(&d->path.output);
        done = ct_ocsd_etm4_give(d, atoms, count, range, &resp);
    }
    const bool all_left = done == count && !d->path.output.lacks_memory;
    if (done < count)
        take_atoms(d, (uint8_t)(count - done), atoms >> done);
    return all_left || !OCSD_DATA_RESP_IS_CONT(resp) ? resp : ct_ocsd_etm4_pump(d);
}

/* Decodes the address packet at the beginning of the bytes and applies the address. Returns its size; 0 when
 * it is incomplete, or another packet. */
static uint32_t take_next_address(struct ct_ocsd_etm4 *d, const struct ct_etm4_header *header,
                                  const uint8_t *bytes, uint32_t size)
{
    struct ct_etm4_decoder *packets = d->packets;
    struct ct_cursor c = {.p = bytes + 1, .end = bytes + size};
    struct ct_etm4_address now = packets->history[0];
    if (header->type > CT_ETM4_ADDR_MATCH) /* a source address */
        return 0;
    if (header->form == CT_ETM4_FORM_ADDR_SHORT)
        ct_etm4_address_short(&c, header->is, &now);
    else if (header->form == CT_ETM4_FORM_ADDR_32)
        ct_etm4_address_32(&c, header->is, packets->sf, &now);
    else if (header->form == CT_ETM4_FORM_ADDR_64)
        ct_etm4_address_64(&c, header->is, &now);
    else
        now = packets->history[*bytes & 3];
    if (c.cut)
        return 0;
    ct_etm4_history_push(packets, &now);
    take_address(d, now.value, now.is);
    return (uint32_t)(c.p - bytes);
}

/* Takes the cycle count or timestamp at the beginning of the bytes, which is held until an atom comes.
 * Returns its size; 0 when it is incomplete. */
static uint32_t take_next_time(struct ct_ocsd_etm4 *d, const uint8_t *bytes, uint32_t size,
                               ocsd_datapath_resp_t *resp)
{
    struct ct_etm4_packet packet;
    size_t count;
    const size_t used = ct_ocsd_etm4_decode(d->packets, bytes, size, d->feed.pos, 0, &packet, &count);
    if (!count)
        return 0;
    d->commit_index = 0;
    ct_ocsd_etm4_hold(d, &packet);
    if (d->out_of_memory)
        *resp = ct_ocsd_etm4_pump(d);
    return (uint32_t)used;
}

/* Takes the packet at the beginning of the bytes if it is an atom, address or time packet. Returns its size,
 * or 0. */
static uint32_t take_next(struct ct_ocsd_etm4 *d, const uint8_t *bytes, uint32_t size,
                          ocsd_generic_trace_elem *range, ocsd_datapath_resp_t *resp)
{
    const struct ct_etm4_header *header = &d->packets->headers[*bytes];
    switch (header->form) {
    case CT_ETM4_FORM_ATOM:
        *resp = give_atoms(d, header->natoms, header->atoms, range);
        return 1;
    case CT_ETM4_FORM_ADDR_SHORT:
    case CT_ETM4_FORM_ADDR_32:
    case CT_ETM4_FORM_ADDR_64:
    case CT_ETM4_FORM_ADDR_MATCH:
        return take_next_address(d, header, bytes, size);
    case CT_ETM4_FORM_CCNT_F1:
    case CT_ETM4_FORM_CCNT_F2:
    case CT_ETM4_FORM_CCNT_F3:
    case CT_ETM4_FORM_TIMESTAMP:
        return take_next_time(d, bytes, size, resp);
    default:
        return 0;
    }
}

ocsd_datapath_resp_t ct_ocsd_etm4_take_run(struct ct_ocsd_etm4 *d, const struct ct_ocsd_piece *piece,
                                           uint32_t *at)
{
    ocsd_generic_trace_elem range;
    ocsd_datapath_resp_t resp = OCSD_RESP_CONT;
    if (!d->packets->synced || d->feed.size || !is_quick(d) || ct_ocsd_output_lacks(&d->path.output))
        return resp;
    memcpy(&range, &d->path.output.blank, sizeof range);
    range.elem_type = OCSD_GEN_TRC_ELEM_INSTR_RANGE;
    while (*at < piece->size && OCSD_DATA_RESP_IS_CONT(resp) && d->state == CT_OCSD_ETM4_DECODE) {
        d->index = ct_ocsd_piece_index(piece, *at);
        resp = OCSD_RESP_CONT; /* a response applies to its packet only */
        const uint32_t taken = take_next(d, piece->bytes + *at, piece->size - *at, &range, &resp);
        if (!taken)
            break;
        d->feed.pos += taken;
        *at += taken;
    }
    return resp;
}
