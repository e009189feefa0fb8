/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of PTM as text, in the words of OpenCSD 1.3.3. */
#pragma once

#include <opencsd/c_api/opencsd_c_api.h>

/* Writes the text of a packet (ocsd_ptm_pkt), cut to `size` bytes. Returns its length. */
size_t ct_ocsd_ptm_text(const void *packet, char *text, size_t size);
