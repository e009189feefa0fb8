/* SPDX-License-Identifier: Apache-2.0 */
/* Files that coretap fractal writes, of which "-" is standard output. */
#include <string.h>

#include "cli/fractal.h"

FILE *cli_fractal_output_open(struct cli_output *output, const char *path)
{
    if (strcmp(path, "-") != 0)
        return cli_output_open(output, path);
    *output = (struct cli_output){.path = path};
    return stdout;
}
