/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing: programs that name libopencsd.so.1 use what libopencsd_c_api.so.1 has. */
typedef int ct_ocsd_empty;
