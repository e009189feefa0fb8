/* SPDX-License-Identifier: Apache-2.0 */
/* The error logger that all trees of a process share, as OpenCSD's C interface has it. */
#ifndef CT_OPENCSD_LOG_H
#define CT_OPENCSD_LOG_H

#include <opencsd/c_api/opencsd_c_api.h>

/* Logs an error of the component `name`: gives its text to the outputs when the logger's verbosity includes
 * `severity`, and keeps it as the last error. `index` is OCSD_BAD_TRC_INDEX and `id` OCSD_BAD_CS_SRC_ID where
 * they are not known. */
void ct_ocsd_log(const char *name, ocsd_err_severity_t severity, ocsd_err_t code, ocsd_trc_index_t index,
                 uint8_t id, const char *message);

/* Gives text to the outputs when the logger's verbosity includes `severity`. */
void ct_ocsd_log_text(ocsd_err_severity_t severity, const char *text);

/* What text goes to: streams, a file, a callback. */
struct ct_ocsd_outlet;

/* Sets the outlet to which trees print, or with NULL that of the logger. Returns the one before. */
struct ct_ocsd_outlet *ct_ocsd_outlet_select(struct ct_ocsd_outlet *outlet);

/* Ends one use of an outlet, which is freed behind the last. */
void ct_ocsd_outlet_release(struct ct_ocsd_outlet *outlet);

/* Prints text for the tree at work, as it is. */
void ct_ocsd_print(const char *text);

/* Does so with text that may have zero bytes. text[size] must be 0. */
void ct_ocsd_print_bytes(const char *text, size_t size);

#endif
