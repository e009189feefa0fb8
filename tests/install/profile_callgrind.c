/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the same as 'coretap profile -f callgrind CAPTURE', with the installed library. */
#include <coretap/cover.h>
#include <coretap/format.h>

#include "with_capture.h"

static int use(struct ct_ctx *ctx, const struct ct_capture *capture, struct ct_programs *programs)
{
    struct ct_profile_write_options how = {.size = sizeof how, .format = CT_PROFILE_FORMAT_CALLGRIND};
    int rc = ct_stack_sums_new(ctx, NULL, &how.stacks);
    if (!rc)
        rc = analyse(ctx, capture, programs, ct_stack_sums_analysis(how.stacks));
    if (!rc)
        rc = ct_profile_write(ct_stack_sums_cover(how.stacks), programs, &how, put, stdout, NULL);
    ct_stack_sums_free(how.stacks);
    return rc;
}

int main(int argc, char **argv)
{
    return print_capture(argc, argv, NULL, use);
}
