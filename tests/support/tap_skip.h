/* SPDX-License-Identifier: Apache-2.0 */
/* Gives skipped cmocka tests a reason. cmocka prints "not ok 1 # SKIP name" without a reason, which meson
 * takes for a failure. Here a process reads the output of the tests and turns that into "ok 1 - name # SKIP
 * reason".
 *
 *     int main(void)
 *     {
 *         const struct CMUnitTest tests[] = {...};
 *         tap_skip_begin();
 *         return cmocka_run_group_tests(tests, NULL, NULL);
 *     } */
#ifndef CT_TESTS_TAP_SKIP_H
#define CT_TESTS_TAP_SKIP_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TAP_SKIP_REASON "# skipped: "

/* Ends the running test as skipped. `reason` says what is missing and names the Debian package, if there is
 * one. */
#define tap_skip(reason) (print_message(TAP_SKIP_REASON "%s\n", reason), skip())

/* Copies lines of TAP to standard output and puts the reason of a skipped test into its line. */
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

/* Starts a process that runs the tests, and returns only in that one. This process copies the output and ends
 * with the exit code of the other. Does nothing where cmocka does not print TAP. */
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
