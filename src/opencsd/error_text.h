/* SPDX-License-Identifier: Apache-2.0 */
/* Error codes as text, in the words of OpenCSD 1.3.3. */
#pragma once

#include <opencsd/c_api/opencsd_c_api.h>

/* Writes "0x0003 (OCSD_ERR_NOT_INIT) [Component not initialised.]; ", cut to `size` bytes. */
void ct_ocsd_error_text(ocsd_err_t code, char *text, size_t size);
