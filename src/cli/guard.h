/* SPDX-License-Identifier: Apache-2.0 */
/* What happens when a library ends the command. */
#ifndef CT_CLI_GUARD_H
#define CT_CLI_GUARD_H

/* Some libraries end the process when memory runs out: libdw and libgccjit call exit(1), C++ (CBC, libgccjit)
 * aborts, and both write through the null pointer that they were given. From now on that is a message and
 * exit code 2, and temporary files are removed. */
void cli_guard(void);

/* The command ends by itself: exit() is nothing unusual any more. Result: `code`. */
int cli_guard_end(int code);

#endif
