/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the same as 'coretap profile -f folded CAPTURE...', with the installed library. */
#include <coretap/format.h>
#include <coretap/stacks.h>

#include "with_capture.h"

/* Adds the stacks of one capture. */
static int add(struct ct_ctx *ctx, const char *path, struct ct_stack_sums *sums)
{
    struct ct_programs *programs = NULL;
    struct ct_capture *capture = NULL;
    int rc = ct_capture_open(ctx, path, &capture);
    if (!rc)
        rc = ct_programs_new(ctx, NULL, &programs);
    if (!rc)
        rc = ct_programs_add_capture(programs, capture);
    if (!rc)
        rc = analyse(ctx, capture, programs, ct_stack_sums_analysis(sums));
    ct_programs_free(programs);
    ct_capture_free(capture);
    return rc;
}

int main(int argc, char **argv)
{
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_stack_sums *sums = NULL;
    int rc = ctx ? ct_stack_sums_new(ctx, NULL, &sums) : CT_ERR_NOMEM;
    for (int i = 1; i < argc && !rc; i++)
        rc = add(ctx, argv[i], sums);
    if (!rc)
        rc = ct_stack_sums_write(sums, NULL, put, stdout);
    if (rc)
        fprintf(stderr, "%s: %s\n", ct_error_name(rc), ct_ctx_error(ctx));
    ct_stack_sums_free(sums);
    ct_ctx_free(ctx);
    return rc ? 1 : 0;
}
