/* SPDX-License-Identifier: Apache-2.0 */
/* Tables as Parquet files, with texts in dictionaries and pages compressed by zstd. The format is described
 * at github.com/apache/parquet-format (README.md, Encodings.md, parquet.thrift). */
#pragma once

#include "export/rows.h"

/* Makes a file and writes its first bytes. `columns` must outlive it. CT_ERR_NOMEM, or the error of
 * `write`. */
int ct_parquet_new(struct ct_ctx *ctx, const struct ct_column *columns, size_t count, ct_write_fn *write,
                   void *user, struct ct_rows **out);
