/* SPDX-License-Identifier: Apache-2.0 */
/* The error logger of OpenCSD's C interface, shared by all trees of a process. */
#pragma once

#include <opencsd/c_api/opencsd_c_api.h>

/* Logs an error of the component `name`: writes it to the outputs if the logger's verbosity includes
 * `severity`, and stores it as the last error. `index` may be OCSD_BAD_TRC_INDEX and `id` OCSD_BAD_CS_SRC_ID
 * when unknown. */
void ct_ocsd_log(const char *name, ocsd_err_severity_t severity, ocsd_err_t code, ocsd_trc_index_t index,
                 uint8_t id, const char *message);

/* Writes text to the outputs if the logger's verbosity includes `severity`. */
void ct_ocsd_log_text(ocsd_err_severity_t severity, const char *text);

/* Destinations of text: streams, a file, a callback. */
struct ct_ocsd_outlet;

/* Sets the outlet to which trees print; NULL: that of the logger. Returns the previous one. */
struct ct_ocsd_outlet *ct_ocsd_outlet_select(struct ct_ocsd_outlet *outlet);

/* Ends one use of an outlet. The last use frees it. */
void ct_ocsd_outlet_release(struct ct_ocsd_outlet *outlet);

/* Prints text unchanged, for the tree being processed. */
void ct_ocsd_print(const char *text);

/* Does the same for text that may contain NULs. text[size] must be 0. */
void ct_ocsd_print_bytes(const char *text, size_t size);
