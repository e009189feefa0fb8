/* SPDX-License-Identifier: Apache-2.0 */
/* Removes instructions from random 32-bit code that OpenCSD takes for something else. */
#pragma once

#include <stdint.h>

/* Replaces BLX with conditional branches. BLX has no condition, so an N atom for it is invalid. */
void v7_drop_blx(uint8_t *code, uint32_t size, int thumb);

/* Makes T32 loads to the PC load LR when they are undefined (P and W are 0) or unpredictable (LDRT), because
 * OpenCSD takes them for branches. Any halfword may begin an instruction. */
void v7_drop_odd_loads(uint8_t *code, uint32_t size);
