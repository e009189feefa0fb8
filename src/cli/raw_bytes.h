/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of a trace that are given without a description, such as the dump of a trace buffer. */
#pragma once

#include <stdbool.h>

/* Reports what the bytes of a file look like (framing, trace IDs, protocols) and prints the .ini file to
 * write for them. Returns false, without a message, when nothing in the file looks like trace. */
bool cli_raw_bytes_tell(const char *path);
