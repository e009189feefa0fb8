/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/v7_packet.h"

#include "opencsd/v7.h"

static const ocsd_armv7_exception exceptions[] = {
    Excp_NoException,   Excp_DebugHalt, Excp_SMC,   Excp_Hyp,   Excp_AsyncDAbort, Excp_Jazelle,
    Excp_Reserved,      Excp_Reserved,  Excp_Reset, Excp_Undef, Excp_SVC,         Excp_PrefAbort,
    Excp_SyncDataAbort, Excp_Generic,   Excp_IRQ,   Excp_FIQ,
};

/* numbers beyond the list have no name in OpenCSD */
#define UNKNOWN_EXCEPTION ((ocsd_armv7_exception)(Excp_ThumbEECheckFail + 1))

unsigned ct_ocsd_v7_address_size(const uint8_t *bytes)
{
    unsigned n = 1;
    while (n < CT_OCSD_V7_ADDRESS_SIZE && bytes[n - 1] & 0x80)
        n++;
    return n;
}

uint8_t ct_ocsd_v7_address_bits(const uint8_t *bytes, uint8_t isa, bool marked)
{
    const unsigned shift = isa == CT_V7_A32 ? 2 : isa == CT_V7_JAZ ? 0 : 1;
    const unsigned n = ct_ocsd_v7_address_size(bytes);
    return n == CT_OCSD_V7_ADDRESS_SIZE ? 32 : (uint8_t)(7 * n - 1 - (marked && n > 1) + shift);
}

ocsd_armv7_exception ct_ocsd_v7_exception(unsigned number)
{
    return number < sizeof exceptions / sizeof *exceptions ? exceptions[number] : UNKNOWN_EXCEPTION;
}
