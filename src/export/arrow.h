/* SPDX-License-Identifier: Apache-2.0 */
/* Tables as Arrow streams (IPC streaming format, metadata version 5): a schema, batches of rows, and an end
 * mark. The format is described at arrow.apache.org (Columnar Format; Schema.fbs and Message.fbs). */
#pragma once

#include "export/rows.h"

/* Makes a stream and writes its schema. `columns` must outlive the stream. CT_ERR_NOMEM, or the error of
 * `write`. */
int ct_arrow_new(struct ct_ctx *ctx, const struct ct_column *columns, size_t count, ct_write_fn *write,
                 void *user, struct ct_rows **out);
