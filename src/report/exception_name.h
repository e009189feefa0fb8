/* Names of exceptions by the number in a packet. */
#ifndef CT_REPORT_EXCEPTION_NAME_H
#define CT_REPORT_EXCEPTION_NAME_H

#include "coretap/input.h"

/* Name of ETMv4/ETE exception `number` on a core of `arch`: "IRQ", "HardFault", "IRQ12". IHI 0064H, Exception
 * instruction trace packet, tables for A and R profile and for M profile. The text may be in `buffer`. */
const char *ct_exception_name(const struct ct_arch *arch, unsigned number, char *buffer, size_t size);

#endif
