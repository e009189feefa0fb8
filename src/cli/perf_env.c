/* SPDX-License-Identifier: Apache-2.0 */
/* coretap perf-env: runs a command that decodes with libopencsd, such as perf, with coretap's decoders
 * instead. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"

#ifndef CT_OPENCSD_DIR
#define CT_OPENCSD_DIR "/usr/local/lib/coretap/opencsd"
#endif

#define LIBRARY "libopencsd_c_api.so.1"

enum {
    DIRECTORY,
};

static const struct cli_option options[] = {
    [DIRECTORY] = CLI_TEXT_OPTION("library-dir", 0, "DIR",
                                  "The folder with " LIBRARY ", where it is not the one that was installed."),
};

/* Returns whether the library lies in a folder. */
static bool is_there(const char *directory)
{
    char path[PATH_MAX + sizeof LIBRARY + 1];
    return (size_t)snprintf(path, sizeof path, "%s/%s", directory, LIBRARY) < sizeof path &&
           access(path, R_OK) == 0;
}

/* Finds the folder of the library: the given one, that beside the command, or the installed one. Returns
 * false after a message when the library is missing. */
static bool find_directory(const struct cli_args *args, char directory[PATH_MAX])
{
    const struct cli_value *given = &args->values[DIRECTORY];
    char self[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n < 0 ? 0 : n] = 0;
    char *slash = strrchr(self, '/');
    if (slash)
        *slash = 0;
    snprintf(directory, PATH_MAX, "%.*s/src/opencsd", PATH_MAX - 16, self);
    if (given->given)
        snprintf(directory, PATH_MAX, "%s", given->text);
    else if (!is_there(directory))
        snprintf(directory, PATH_MAX, "%s", CT_OPENCSD_DIR);
    if (is_there(directory))
        return true;
    cli_say("%s/%s: %s; %s was not run; %s", directory, LIBRARY, strerror(errno), args->rest[0],
            given->given ? "name its folder with --library-dir"
                         : "rebuild coretap with the headers of OpenCSD (Debian: libopencsd-dev), or name "
                           "its folder with --library-dir");
    return false;
}

/* Puts the folder in front of LD_LIBRARY_PATH. Returns false after a message without memory. */
static bool set_path(const char *directory)
{
    const char *before = getenv("LD_LIBRARY_PATH");
    const size_t size = strlen(directory) + (before ? strlen(before) : 0) + 2;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s%s%s", directory, before && *before ? ":" : "", before ? before : "");
    const bool done = path && !setenv("LD_LIBRARY_PATH", path, 1);
    free(path);
    if (!done)
        cli_no_memory();
    return done;
}

static int run(const struct cli_args *args)
{
    char directory[PATH_MAX];
    char whole[PATH_MAX];
    if (!args->rest_count)
        return cli_usage_error(args->command,
                               "COMMAND is missing; name the command to run, such as perf report");
    if (!find_directory(args, directory))
        return CLI_FAILED;
    if (!set_path(realpath(directory, whole) ? whole : directory))
        return CLI_FAILED;
    execvp(args->rest[0], args->rest);
    cli_say("%s: the command cannot be run: %s", args->rest[0], strerror(errno));
    return CLI_FAILED;
}

const struct cli_command cli_command_perf_env = {
    .name = "perf-env",
    .summary = "run perf, or another user of libopencsd, with coretap's decoders",
    .rest = "COMMAND [ARG]...",
    .examples = "coretap perf-env perf report -i run.data --itrace=i1000i\n"
                "coretap perf-env perf script -i run.data --itrace=i1i -F cpu,ip\n",
    .exit_text = "Exit status of the command; 2 with a message when it could not be run.",
    .about = "Runs a command that decodes trace with OpenCSD's library, and has it use coretap's decoders, "
             "which are faster. For this, the folder with coretap's " LIBRARY " is put in front of "
             "LD_LIBRARY_PATH. The command itself, its arguments and what it prints stay as they are: "
             "'coretap perf-env perf report --itrace=i1000i'.\n"
             "ETMv4, ETE, PTM, ETMv3 and STM are decoded. docs/perf.md says what that covers, and what it "
             "does not.",
    .whole = "it only runs another command; use that command's own options",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .own_output = true,
    .run = run,
};
