/* SPDX-License-Identifier: Apache-2.0 */
/* The decoders that can be created, by name. */
#pragma once

#include "opencsd/tree.h"

/* Returns whether the library has a decoder of this name, in the version that the program was built for. */
bool ct_ocsd_kind_is_built_in(const char *name);

/* Returns whether the client registered a decoder of this name. */
bool ct_ocsd_custom_is_known(const char *name);

/* Creates a decoder that the client registered. Sets *id to its trace ID. Returns the result of the client's
 * functions. */
ocsd_err_t ct_ocsd_custom_create(struct ct_ocsd_tree *tree, const char *name, int create_flags,
                                 const void *config, unsigned char *id);
