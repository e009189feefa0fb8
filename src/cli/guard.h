/* SPDX-License-Identifier: Apache-2.0 */
/* What happens when a library ends the command. */
#ifndef CT_CLI_GUARD_H
#define CT_CLI_GUARD_H

/* Turns an end of the process that a library causes into a message and exit code 2, and removes temporary
 * files. When memory runs out, libdw and libgccjit call exit(1), C++ (CBC, libgccjit) aborts, and both write
 * through null pointers. */
void cli_guard(void);

/* Notes that the command ends by itself, so that exit() is not unusual any more. Result: `code`. */
int cli_guard_end(int code);

#endif
