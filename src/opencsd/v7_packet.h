/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the packets of PTM and ETMv3. */
#pragma once

#include <opencsd/c_api/opencsd_c_api.h>
#include <stdbool.h>

enum {
    CT_OCSD_V7_ADDRESS_SIZE = 5, /* bytes of a complete address */
};

/* Returns the size of an address in bytes. */
unsigned ct_ocsd_v7_address_size(const uint8_t *bytes);

/* Returns how many low bits of an address its packet contains, for an instruction set of enum ct_v7_isa. The
 * last of two to four bytes has six bits with `marked`, else seven. */
uint8_t ct_ocsd_v7_address_bits(const uint8_t *bytes, uint8_t isa, bool marked);

/* Returns OpenCSD's value for an exception of the A and R profiles. */
ocsd_armv7_exception ct_ocsd_v7_exception(unsigned number);
