/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions taken out of random code of 32 bits, because OpenCSD takes them for something else. */
#ifndef CT_TEST_V7_CODE_H
#define CT_TEST_V7_CODE_H

#include <stdint.h>

/* Makes branches that may not be taken of BLX, which has no condition: an N atom of it cannot be. */
void v7_drop_blx(uint8_t *code, uint32_t size, int thumb);

/* Makes T32 loads to the PC that are undefined (P and W are 0) or unpredictable (LDRT) load LR: OpenCSD takes
 * them for branches. Any halfword may begin an instruction. */
void v7_drop_odd_loads(uint8_t *code, uint32_t size);

#endif
