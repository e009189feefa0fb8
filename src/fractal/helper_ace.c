/* SPDX-License-Identifier: Apache-2.0 */
/* ACE encodings: read-address channel, IHI 0022E tables D3-7 (ARSNOOP) and D12 (DVM messages). */
#include "fractal/helper.h"

enum {
    ARSNOOP_READ_ONCE = 0x0,
    ARSNOOP_READ_SHARED = 0x1,
    ARSNOOP_CLEAN_INVALID = 0x9,
    ARSNOOP_DVM_MESSAGE = 0xf,
};

/* Fields of the first transaction of a DVM message. */
#define DVM_MORE       UINT64_C(1) /* a second transaction carries the address */
#define DVM_LEAF       (UINT64_C(1) << 4)
#define DVM_ASID_VALID (UINT64_C(1) << 5)
#define DVM_NON_SECURE (UINT64_C(3) << 8)
#define DVM_GUEST_OS   (UINT64_C(2) << 10)
#define DVM_TLBI       (UINT64_C(0) << 12)
#define DVM_ICI_PA     (UINT64_C(2) << 12)
#define DVM_ICI_VINDEX (UINT64_C(3) << 5) /* VA[19:12] are valid, in the places of ASID and VMID */

static uint64_t dvm_asid(uint16_t asid)
{
    return DVM_ASID_VALID | (uint64_t)(asid & 0xff) << 16 | (uint64_t)(asid >> 8) << 32;
}

void ct_encode_ace(struct ct_fractal_command *c)
{
    const uint64_t tlbi = DVM_TLBI | DVM_GUEST_OS | DVM_NON_SECURE;
    c->beats = 1;
    c->araddr[1] = 0;
    switch (c->kind) {
    case CT_FRACTAL_CMD_READ:
        c->arsnoop = ARSNOOP_READ_SHARED;
        c->araddr[0] = c->pa;
        break;
    case CT_FRACTAL_CMD_PEEK:
        c->arsnoop = ARSNOOP_READ_ONCE;
        c->araddr[0] = c->pa;
        break;
    case CT_FRACTAL_CMD_CLEAN:
        c->arsnoop = ARSNOOP_CLEAN_INVALID;
        c->araddr[0] = c->pa;
        break;
    case CT_FRACTAL_CMD_ICI:
        /* a core whose instruction cache is virtually indexed and physically tagged needs both */
        c->arsnoop = ARSNOOP_DVM_MESSAGE;
        c->araddr[0] = DVM_ICI_PA | DVM_NON_SECURE | DVM_ICI_VINDEX | DVM_MORE | (c->va >> 12 & 0xffff) << 16;
        c->araddr[1] = c->pa;
        c->beats = 2;
        break;
    case CT_FRACTAL_CMD_TLBI_VA:
        c->arsnoop = ARSNOOP_DVM_MESSAGE;
        c->araddr[0] = tlbi | dvm_asid(c->asid) | DVM_LEAF | DVM_MORE | (c->va >> 45 & 0xf) << 40;
        c->araddr[1] = c->va & UINT64_C(0xffffffff000);
        c->beats = 2;
        break;
    default:
        c->arsnoop = ARSNOOP_DVM_MESSAGE;
        c->araddr[0] = tlbi | dvm_asid(c->asid);
        break;
    }
}
