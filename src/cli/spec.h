/* Specifications that are named on the command line. */
#ifndef CT_CLI_SPEC_H
#define CT_CLI_SPEC_H

#include "cli/cli.h"
#include "coretap/monitor.h"

enum cli_spec_found {
    CLI_SPEC_FINE,
    CLI_SPEC_WRONG, /* it does not compile */
    CLI_SPEC_NONE,  /* it cannot be read, or there is no memory */
};

/* Compiles the file (- is standard input) and says on standard error what is wrong with it. *spec is to be freed; NULL
 * with CLI_SPEC_NONE. */
enum cli_spec_found cli_spec_load(const struct cli_args *args, const char *path,
                                  const struct ct_monitor_options *options, struct ct_monitor_spec **spec);

#endif
