/* SPDX-License-Identifier: Apache-2.0 */
/* Handles libraries that end the process. */
#pragma once

/* Turns an end of the process that a library causes into a message and exit code 2, and removes temporary
 * files. Without memory, libdw and libgccjit call exit(1), C++ code (CBC, libgccjit) aborts, and both kinds
 * write through null pointers. */
void cli_guard(void);

/* Notes that the command ends regularly, so that exit() is expected from now on. Returns `code`. */
int cli_guard_end(int code);
