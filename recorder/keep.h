/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps files of the plugin open while the program closes all descriptors from a number on, as programs do
 * before they start another one. The call cannot be intercepted, so a thread with its own file table keeps
 * them meanwhile. */
#pragma once

#include <stdbool.h>

#define KEEP_FILES 3

/* Starts a thread that keeps the files; -1 stands for no file. Returns false on failure. */
bool keep_begin(const int files[KEEP_FILES]);

/* Restores files that were closed since keep_begin. A restored file has another descriptor, or -1 if it was
 * lost. */
void keep_end(int files[KEEP_FILES]);
