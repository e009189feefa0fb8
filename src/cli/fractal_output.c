/* SPDX-License-Identifier: Apache-2.0 */
/* The output files of coretap fractal. */
#include <string.h>
#include <sys/stat.h>

#include "cli/fractal.h"

#define OUTPUTS_MAX 3 /* most output files of a command */

/* Opens the file of an output at the first call. Returns NULL after a message. */
static FILE *open_once(struct cli_fractal_output *o)
{
    struct stat about;
    if (o->file || o->refused)
        return o->file;
    if (!o->alone && strcmp(o->path, "-") == 0) {
        o->output = (struct cli_output){.path = o->path};
        o->file = stdout;
    } else {
        o->file = cli_output_open(&o->output, o->path);
    }
    o->refused = !o->file;
    if (o->file && fstat(fileno(o->file), &about) == 0 && !S_ISREG(about.st_mode))
        setvbuf(o->file, NULL, _IONBF, 0); /* somebody may be reading along */
    return o->file;
}

/* Writes a piece. CT_ERR_NOT_FOUND: the output cannot be opened. CT_ERR_IO: it cannot be written. */
static int write_strictly(void *user, const void *data, size_t size)
{
    FILE *file = open_once(user);
    return file ? cli_output_write(file, data, size) : CT_ERR_NOT_FOUND;
}

/* Writes a piece. Ignores a write error, which the stream remembers. */
static int write_on(void *user, const void *data, size_t size)
{
    const int rc = write_strictly(user, data, size);
    return rc == CT_ERR_IO ? CT_OK : rc;
}

ct_write_fn *cli_fractal_output_fn(const struct cli_fractal_output *output, bool strict)
{
    if (!output->path)
        return NULL;
    return strict ? write_strictly : write_on;
}

int cli_fractal_output_close(const struct cli_args *args, struct cli_fractal_output *outputs, size_t count,
                             int code)
{
    struct cli_output *all[OUTPUTS_MAX];
    const bool keep = code != CLI_FAILED && !cli_lacked_memory(args->ctx);
    for (size_t i = 0; i < count; i++)
        all[i] = &outputs[i].output;
    return cli_output_close_all(all, count, keep) ? code : CLI_FAILED;
}
