/* SPDX-License-Identifier: Apache-2.0 */
/* What the packets of PTM and ETMv3 have in common. */
#ifndef CT_OPENCSD_V7_PACKET_H
#define CT_OPENCSD_V7_PACKET_H

#include <opencsd/c_api/opencsd_c_api.h>
#include <stdbool.h>

enum {
    CT_OCSD_V7_ADDRESS_SIZE = 5, /* bytes of a whole address */
};

/* Returns how many bytes an address has. */
unsigned ct_ocsd_v7_address_size(const uint8_t *bytes);

/* Returns how many low bits of an address its packet has, of an instruction set of enum ct_v7_isa. The last
 * of two to four bytes has six bits with `marked`, else seven. */
uint8_t ct_ocsd_v7_address_bits(const uint8_t *bytes, uint8_t isa, bool marked);

/* Returns OpenCSD's name of an exception of the A and R profiles. */
ocsd_armv7_exception ct_ocsd_v7_exception(unsigned number);

#endif
