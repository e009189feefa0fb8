/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises the project's plugins for QEMU by their files (recorder/plugin_note.h). */
#pragma once

#include "coretap/record.h"

/* Checks that the file at `path` is the plugin that is called `file`, of a build whose data this one can
 * read. Other plugins than the project's are not checked. `variable` is the environment variable that can
 * name it. CT_ERR_CONFIG: it is not; CT_ERR_IO. */
int ct_plugin_check(struct ct_ctx *ctx, const char *path, const char *file, const char *variable);

/* Sets the error that QEMU ended before it had loaded the plugin. Returns CT_ERR_NOT_FOUND. */
int ct_plugin_not_loaded(struct ct_ctx *ctx, const struct ct_qemu *qemu, const char *program);
