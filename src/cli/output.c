#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* The first errno of standard output; later ones are consequences. */
static int first_error;

bool cli_output_init(void)
{
    /* A reader such as head that has seen enough ends this process quietly, also when the parent
     * had the signal ignored. */
    signal(SIGPIPE, SIG_DFL);
    if (fcntl(STDERR_FILENO, F_GETFD) < 0 && open("/dev/null", O_WRONLY) < 0)
        return false;
    if (fcntl(STDOUT_FILENO, F_GETFD) < 0) {
        cli_say(
            "standard output is closed: there is nowhere to print to; redirect it to a file or /dev/null");
        return false;
    }
    return true;
}

static bool output_ok(void)
{
    if (!ferror(stdout))
        return true;
    if (!first_error)
        first_error = errno;
    return false;
}

int cli_output_finish(int code)
{
    if (output_ok() && fflush(stdout) == 0)
        return code;
    if (!first_error)
        first_error = errno;
    cli_say("standard output: %s; what was printed is not complete", strerror(first_error));
    return CLI_FAILED;
}
