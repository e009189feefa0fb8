/* SPDX-License-Identifier: Apache-2.0 */
/* Empty: programs linked to libopencsd.so.1 use the functions of libopencsd_c_api.so.1. */
typedef int ct_ocsd_empty;
