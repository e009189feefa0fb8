/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the tests that registered themselves (unit.h), and gives skipped ones a reason. cmocka prints "not ok
 * 1 # SKIP name" without a reason, which meson takes for a failure. A process reads the output of the tests
 * and turns that into "ok 1 - name # SKIP reason". */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#define TESTS_MAX 100

static struct CMUnitTest registered[TESTS_MAX];
static size_t registered_count;
static CMFixtureFunction group_setup, group_teardown;

void unit_add(const struct CMUnitTest *test)
{
    if (registered_count == TESTS_MAX)
        abort();
    registered[registered_count++] = *test;
}

void unit_set_group(CMFixtureFunction setup, CMFixtureFunction teardown)
{
    group_setup = setup;
    group_teardown = teardown;
}

/* Copies lines of TAP to standard output and puts the reason of a skipped test into its line. */
static void copy_tap(FILE *in)
{
    char line[4096], reason[4096] = "";
    unsigned number;
    int name;
    while (fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = 0;
        if (!strncmp(line, UNIT_SKIP_REASON, sizeof UNIT_SKIP_REASON - 1))
            snprintf(reason, sizeof reason, "%s", line + sizeof UNIT_SKIP_REASON - 1);
        else if (name = 0, sscanf(line, "not ok %u # SKIP %n", &number, &name) == 1 && name)
            printf("ok %u - %s # SKIP %s\n", number, line + name, reason);
        else
            puts(line);
        fflush(stdout);
    }
}

/* Starts a process that runs the tests, and returns only in that one. This process copies the output and ends
 * with the exit code of the other. Does nothing where cmocka does not print TAP. */
static void name_skips(void)
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
        copy_tap(in);
    const bool ended = waitpid(tests, &status, 0) == tests && WIFEXITED(status);
    exit(ended ? WEXITSTATUS(status) : 1);
}

int main(void)
{
    struct CMUnitTest tests[registered_count]; /* of the right size: cmocka's macro takes it from the array */
    memcpy(tests, registered, sizeof tests);
    name_skips();
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
