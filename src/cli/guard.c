#include "cli/guard.h"
#include "cli/cli.h"
#include "cli/output.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static pid_t guarded;

/* Only what is safe in a handler of signals. */
static void end_at_once(void)
{
    static const char text[] = "coretap: out of memory: a library ended the command; what was printed is not "
                               "whole, and files are as they were before\n";
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    cli_output_remove(); /* unlink alone: NOLINT(bugprone-signal-handler,cert-sig30-c) */
    _exit(CLI_FAILED);
}

/* Not in a child that starts another program. */
static void on_exit_of_library(void)
{
    if (guarded == getpid())
        end_at_once();
}

/* Aborts for another reason are what they always were. */
static void on_abort(int number)
{
    /* errno of the thread is only read: NOLINTNEXTLINE(bugprone-signal-handler,cert-sig30-c) */
    if (errno == ENOMEM && guarded == getpid())
        end_at_once();
    cli_output_remove(); /* NOLINT(bugprone-signal-handler,cert-sig30-c) */
    signal(number, SIG_DFL);
    raise(number);
}

void cli_guard(void)
{
    guarded = getpid();
    if (atexit(on_exit_of_library) != 0)
        cli_no_memory();
    signal(SIGABRT, on_abort);
}

int cli_guard_end(int code)
{
    guarded = 0;
    return code;
}
