/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a capture names and that are not here. */
#ifndef CT_CLI_MISSING_H
#define CT_CLI_MISSING_H

#include "cli/capture.h"

/* Names the missing files in which trace lies, as far as it is known where they were; all of them with
 * --verbose, none with
 * --quiet. Each is named once, however often this is called. */
void cli_missing_tell(const struct cli_capture *capture);

#endif
