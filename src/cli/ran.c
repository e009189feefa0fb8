/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/ran.h"
#include "cli/output.h"

bool cli_empty_tell(const struct cli_args *args, const char *path, const struct ct_empty_options *options)
{
    struct ct_empty_options asked = *options;
    struct ct_empty why;
    char words[CT_EMPTY_WORDS];
    asked.size = sizeof asked;
    if (ct_empty_find(args->ctx, &asked, &why) == CT_OK && why.reason)
        cli_say("%s: %s", path, ct_empty_words(words, &why));
    return why.reason != CT_EMPTY_NOT;
}

int cli_empty(const struct cli_args *args, const struct ct_empty_options *options)
{
    if (!cli_empty_tell(args, args->operand, options))
        return CLI_CLEAN;
    cli_output_set_empty();
    return CLI_DAMAGED;
}
