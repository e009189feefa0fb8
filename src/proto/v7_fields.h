/* SPDX-License-Identifier: Apache-2.0 */
/* Fields that the packets of ETMv3 and PTM share. */
#pragma once

#include "coretap/packet.h"
#include "proto/cursor.h"

/* Reads seven bits a byte while bit 7 is set, at most five bytes. */
uint32_t ct_v7_cont(struct ct_cursor *c);

/* Returns the lowest address bit in branch packets of the instruction set. */
unsigned ct_v7_address_shift(unsigned isa);

/* Number of zero bytes that an alignment packet needs before its 0x80. */
#define CT_V7_ASYNC_ZEROS 5
