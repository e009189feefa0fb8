/* SPDX-License-Identifier: Apache-2.0 */
/* A cmocka test that is skipped says why. cmocka prints "not ok 1 # SKIP name", without a reason, which
 * meson takes for a failure: here a process reads what the tests print and makes "ok 1 - name # SKIP
 * reason" of it.
 *
 *     int main(void)
 *     {
 *         const struct CMUnitTest tests[] = {...};
 *         tap_skip_begin();
 *         return cmocka_run_group_tests(tests, NULL, NULL);
 *     }
 */
#ifndef CT_TESTS_TAP_SKIP_H
#define CT_TESTS_TAP_SKIP_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TAP_SKIP_REASON "# skipped: "

/* Ends the running test as skipped. `reason`: what is missing and, if there is one, the Debian package. */
#define tap_skip(reason) (print_message(TAP_SKIP_REASON "%s\n", reason), skip())

/* Copies lines of TAP to standard output, the reason of a skipped test into its line. */
static inline void tap_skip_copy(FILE *in)
{
    char line[4096], reason[4096] = "";
    unsigned number;
    int name;
    while (fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = 0;
        if (!strncmp(line, TAP_SKIP_REASON, sizeof TAP_SKIP_REASON - 1))
            snprintf(reason, sizeof reason, "%s", line + sizeof TAP_SKIP_REASON - 1);
        else if (name = 0, sscanf(line, "not ok %u # SKIP %n", &number, &name) == 1 && name)
            printf("ok %u - %s # SKIP %s\n", number, line + name, reason);
        else
            puts(line);
        fflush(stdout);
    }
}

/* Starts a process that runs the tests, whose output this one copies and with whose exit code it ends:
 * returns in the new one only. Does nothing where cmocka does not print TAP. */
static inline void tap_skip_begin(void)
{
    const char *output = getenv("CMOCKA_MESSAGE_OUTPUT");
    int ends[2], status = 0;
    if (!output || strcmp(output, "TAP") || pipe(ends))
        return;
    const pid_t tests = fork();
    if (tests < 0)
        return;
    if (tests == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        return;
    }
    close(ends[1]);
    FILE *in = fdopen(ends[0], "r");
    if (in)
        tap_skip_copy(in);
    const bool ended = waitpid(tests, &status, 0) == tests && WIFEXITED(status);
    exit(ended ? WEXITSTATUS(status) : 1);
}

#endif
