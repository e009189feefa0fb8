/* SPDX-License-Identifier: Apache-2.0 */
/* The registers of an ITM, which QEMU's Cortex-M processors do not have: without them, firmware that asks
 * whether the ITM is on and a stimulus port is free never writes. They have the values that a debugger gives
 * them: everything is on. A port always has room. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ITM_BASE UINT64_C(0xe0000000)
#define ITM_SIZE 0x1000u

/* Puts the registers into the memory of a processor, whose model of QEMU is complete but does not run yet.
 * Returns false when this QEMU does not export the functions for that. */
bool itm_add(void *cpu);

/* Copies what was stored last at an address of the registers. Returns false for other addresses, and without
 * an ITM. */
bool itm_stored(uint64_t addr, void *out, size_t size);
