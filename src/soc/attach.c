/* SPDX-License-Identifier: Apache-2.0 */
#include "soc/attach.h"

/* Refusals are counted by FRACTAL itself, in its INCONSISTENT register. */
static void message(void *user, const struct ct_fractal_message *m, const uint64_t *line)
{
    if (line)
        ct_fractal_data(user, m->time, m->addr, line);
    else
        ct_fractal_message(user, m);
}

static int command(void *user, struct ct_fractal_command *out)
{
    return ct_fractal_command(user, out);
}

int ct_soc_attach_fractal(struct ct_soc *soc, struct ct_fractal *f)
{
    return ct_soc_attach(soc, &(struct ct_soc_tap){.user = f, .message = message, .command = command});
}
