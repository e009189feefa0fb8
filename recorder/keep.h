/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the plugin while the program closes all numbers from one on, as before it starts another program.
 * The call cannot be held back. So a thread with a table of files of its own has them meanwhile. */
#ifndef RECORDER_KEEP_H
#define RECORDER_KEEP_H

#include <stdbool.h>

#define KEEP_FILES 3

/* Lets a thread keep the files; those of -1 are none. Returns false when that cannot be. */
bool keep_begin(const int files[KEEP_FILES]);

/* Takes files back that were closed since; a file has another number then, and -1 when it was lost. */
void keep_end(int files[KEEP_FILES]);

#endif
