/* SPDX-License-Identifier: Apache-2.0 */
/* Files that coretap fractal writes, of which "-" is standard output, and events as lines of values. */
#include <string.h>

#include "cli/fractal.h"

FILE *cli_fractal_output_open(struct cli_output *output, const char *path)
{
    if (strcmp(path, "-") != 0)
        return cli_output_open(output, path);
    *output = (struct cli_output){.path = path};
    return stdout;
}

/* Names come from files: what would break a line of values is quoted (RFC 4180). */
static void csv_text(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

void cli_fractal_csv_line(FILE *out, const struct ct_fractal_event *e, const struct ct_fractal_names *names)
{
    static const char kind[] = {'-', 'I', 'D'};
    fprintf(out, "%llu,0x%llx,0x%llx,%s,%u,%c,", (unsigned long long)e->time, (unsigned long long)e->va,
            (unsigned long long)e->pa, ct_fractal_op_name(e->op), e->initiator,
            kind[e->kind < 3 ? e->kind : 0]);
    csv_text(out, ct_fractal_names_at(names, e->va)->text);
    fputc('\n', out);
}
