/* SPDX-License-Identifier: Apache-2.0 */
/* Names of exceptions by the number in a packet. */
#pragma once

#include "coretap/input.h"

/* Returns the name of exception `number` in the trace of `source`: "IRQ", "HardFault", "IRQ12". It may lie in
 * `buffer`. ETMv4 and ETE: IHI 0064H, Exception instruction trace packet, tables for A and R profile and for
 * M profile; PTM: IHI 0035, ETMv3: IHI 0014, Branch address packet; ITM: the exceptions of the M profile. */
const char *ct_exception_name(const struct ct_source *source, unsigned number, char *buffer, size_t size);
