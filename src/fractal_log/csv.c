/* SPDX-License-Identifier: Apache-2.0 */
/* Events as CSV lines. */
#include <stdio.h>
#include <string.h>

#include "coretap/fractal_report.h"

#include "base/require.h"

/* Writes a field. Quotes names that would break the line (RFC 4180). */
static int csv_text(const char *text, ct_write_fn *write, void *user)
{
    if (!strpbrk(text, ",\"\r\n"))
        return write(user, text, strlen(text));
    int rc = write(user, "\"", 1);
    for (; *text && rc == CT_OK; text++)
        rc = *text == '"' ? write(user, "\"\"", 2) : write(user, text, 1);
    return rc == CT_OK ? write(user, "\"", 1) : rc;
}

int ct_fractal_csv_write(const struct ct_fractal_names *names, const struct ct_fractal_event *e,
                         ct_write_fn *write, void *user)
{
    static const char kind[] = {'-', 'I', 'D'};
    char line[160];
    CT_REQUIRE(NULL, names, e, write);
    const int length =
        snprintf(line, sizeof line, "%llu,0x%llx,0x%llx,%s,%u,%c,", (unsigned long long)e->time,
                 (unsigned long long)e->va, (unsigned long long)e->pa, ct_fractal_op_name(e->op),
                 e->initiator, kind[e->kind < 3 ? e->kind : 0]);
    int rc = write(user, line, (size_t)length);
    if (rc == CT_OK)
        rc = csv_text(ct_fractal_names_at(names, e->va)->text, write, user);
    return rc == CT_OK ? write(user, "\n", 1) : rc;
}
