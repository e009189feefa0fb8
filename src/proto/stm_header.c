/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/stm_header.h"

#define MARKED      CT_STM_MARKER
#define TIMED       CT_STM_HAS_TS
#define LONG_HEADER CT_STM_NOT_SYNC

const struct ct_stm_header ct_stm_headers_1[16] = {
    [0x0] = {CT_STM_NULL, 0, 0},
    [0x1] = {CT_STM_M8, 2, 0},
    [0x2] = {CT_STM_MERR, 2, 0},
    [0x3] = {CT_STM_C8, 2, 0},
    [0x4] = {CT_STM_D8, 2, 0},
    [0x5] = {CT_STM_D16, 4, 0},
    [0x6] = {CT_STM_D32, 8, 0},
    [0x7] = {CT_STM_D64, 16, 0},
    [0x8] = {CT_STM_D8, 2, MARKED | TIMED},
    [0x9] = {CT_STM_D16, 4, MARKED | TIMED},
    [0xa] = {CT_STM_D32, 8, MARKED | TIMED},
    [0xb] = {CT_STM_D64, 16, MARKED | TIMED},
    [0xc] = {CT_STM_D4, 1, 0},
    [0xd] = {CT_STM_D4, 1, MARKED | TIMED},
    [0xe] = {CT_STM_FLAG, 0, TIMED},
    [0xf] = {LONG_HEADER, 0, 0},
};

const struct ct_stm_header ct_stm_headers_2[16] = {
    [0x0] = {LONG_HEADER, 0, 0},     [0x1] = {CT_STM_M16, 4, 0},      [0x2] = {CT_STM_GERR, 2, 0},
    [0x3] = {CT_STM_C16, 4, 0},      [0x4] = {CT_STM_D8, 2, TIMED},   [0x5] = {CT_STM_D16, 4, TIMED},
    [0x6] = {CT_STM_D32, 8, TIMED},  [0x7] = {CT_STM_D64, 16, TIMED}, [0x8] = {CT_STM_D8, 2, MARKED},
    [0x9] = {CT_STM_D16, 4, MARKED}, [0xa] = {CT_STM_D32, 8, MARKED}, [0xb] = {CT_STM_D64, 16, MARKED},
    [0xc] = {CT_STM_D4, 1, TIMED},   [0xd] = {CT_STM_D4, 1, MARKED},  [0xe] = {CT_STM_FLAG, 0, 0},
    [0xf] = {CT_STM_ASYNC, 0, 0},
};

/* Headers 4 and 5 are TIME: not decoded, because in STPv2 the length of its payload depends on the clock that
 * it names. */
const struct ct_stm_header ct_stm_headers_3[16] = {
    [0x0] = {CT_STM_VERSION, 1, 0},  [0x1] = {CT_STM_NULL, 0, TIMED}, [0x2] = {CT_STM_USER, 1, 0},
    [0x3] = {CT_STM_USER, 1, TIMED}, [0x4] = {CT_STM_RESERVED, 0, 0}, [0x5] = {CT_STM_RESERVED, 0, 0},
    [0x6] = {CT_STM_TRIG, 2, 0},     [0x7] = {CT_STM_TRIG, 2, TIMED}, [0x8] = {CT_STM_FREQ, 8, 0},
    [0x9] = {CT_STM_FREQ, 8, TIMED}, [0xa] = {CT_STM_XSYNC, 2, 0},    [0xb] = {CT_STM_XSYNC, 2, TIMED},
    [0xc] = {CT_STM_RESERVED, 0, 0}, [0xd] = {CT_STM_RESERVED, 0, 0}, [0xe] = {CT_STM_RESERVED, 0, 0},
    [0xf] = {CT_STM_RESERVED, 0, 0},
};
