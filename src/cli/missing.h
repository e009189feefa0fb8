/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a capture names but that are missing. */
#pragma once

#include "cli/capture.h"

/* Names the missing files in which trace lies, as far as their addresses are known. With --verbose names all
 * missing files, with --quiet none. Names each file only once. */
void cli_missing_tell(const struct cli_capture *capture);
