/* SPDX-License-Identifier: Apache-2.0 */
/* Tables as streams of Arrow (IPC streaming format, metadata of version 5): a schema, batches of rows, and an
 * end. The format is that of arrow.apache.org (Columnar Format; Schema.fbs and Message.fbs). */
#ifndef CT_EXPORT_ARROW_H
#define CT_EXPORT_ARROW_H

#include "export/rows.h"

/* Makes a stream and writes its schema. The columns have to stay. CT_ERR_NOMEM, what `write` returned. */
int ct_arrow_new(struct ct_ctx *ctx, const struct ct_column *columns, size_t count, ct_write_fn *write,
                 void *user, struct ct_rows **out);

#endif
