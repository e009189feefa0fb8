/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/ran.h"
#include "cli/output.h"

void cli_ran_tell_empty(const struct ct_ran *ran, const struct cli_args *args, const char *result,
                        const char *why, const char *remedy)
{
    char names[CT_RAN_WORDS];
    cli_say("%s: %s empty although %llu instructions ran%s%s: %s; %s", args->operand, result,
            (unsigned long long)ran->instructions, ran->count ? ", in " : "", ct_ran_words(names, ran), why,
            remedy);
}

int cli_ran_but_empty(const struct ct_ran *ran, const struct cli_args *args, int code, const char *result,
                      const char *why, const char *remedy)
{
    if (!ran->instructions || code == CLI_FAILED)
        return code;
    cli_ran_tell_empty(ran, args, result, why, remedy);
    cli_output_set_empty();
    return CLI_DAMAGED;
}
