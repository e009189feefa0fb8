/* SPDX-License-Identifier: Apache-2.0 */
#include "unreported.h"

#include <string.h>

#include "guest.h"

/* Encodings of DDI 0487: C6.2 for DC, C4.1 for SVE. */
#define DC_MASK       0xffffffe0u
#define DC_ZVA        0xd50b7420u
#define DC_GZVA       0xd50b7480u
#define SVE_MASK      0x9e000000u
#define SVE_MEMORY    0x84000000u
#define WHOLE_MASK    0x7fc0a000u /* LDR and STR of a vector or a predicate */
#define WHOLE_LOAD    0x05800000u
#define WHOLE_STORE   0x65800000u
#define ZERO_REGISTER 31

enum unreported unreported_by(uint32_t instruction)
{
    const uint32_t dc = instruction & DC_MASK, whole = instruction & WHOLE_MASK;
    if (dc == DC_ZVA || dc == DC_GZVA)
        return UNREPORTED_ZERO;
    if ((instruction & SVE_MASK) != SVE_MEMORY || whole == WHOLE_LOAD || whole == WHOLE_STORE)
        return UNREPORTED_NONE;
    return UNREPORTED_SVE;
}

/* Returns log2 of the block size of DC ZVA, which no function of QEMU gives. Its processors have 64 bytes,
 * except for these (target/arm/cpu64.c of 7.2, for programs). */
static unsigned block_shift(void *cpu)
{
    const char *(*type_name)(void *object);
    guest_find(&type_name, "object_get_typename");
    const char *type = type_name ? type_name(cpu) : "";
    return strncmp(type, "max-", 4) == 0 ? 9 : strncmp(type, "a64fx-", 6) == 0 ? 8 : 6;
}

bool unreported_block(unsigned cpu, unsigned number, uint64_t *va, unsigned *shift)
{
    static _Atomic unsigned known;
    if (number == ZERO_REGISTER || !guest_register(cpu, 0, (int)number, va))
        return false;
    if (!known)
        known = block_shift(guest_cpu(cpu));
    *shift = known;
    *va &= ~((UINT64_C(1) << *shift) - 1);
    return true;
}
