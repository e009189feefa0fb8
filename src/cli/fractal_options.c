/* SPDX-License-Identifier: Apache-2.0 */
/* Options and messages that several subcommands of coretap fractal share. */
#include "cli/fractal.h"

struct ct_fractal_names_options cli_fractal_names_options(const struct cli_args *args, const char *program,
                                                          const uint64_t *bias)
{
    return (struct ct_fractal_names_options){.size = sizeof(struct ct_fractal_names_options),
                                             .program = program,
                                             .bias = bias,
                                             .files = args->debug_files,
                                             .raw_names = args->raw_names};
}

const char *const cli_fractal_mode_words[] = {"active", "passive", "points", NULL};

uint8_t cli_fractal_mode(const struct cli_value *value)
{
    static const uint8_t modes[] = {CT_FRACTAL_ACTIVE, CT_FRACTAL_PASSIVE, CT_FRACTAL_POINTS};
    return modes[value->number];
}

const char *const cli_fractal_protocol_words[] = {"ace", "chi", NULL};

uint32_t cli_fractal_protocol(const struct cli_value *value)
{
    static const uint32_t protocols[] = {CT_FRACTAL_ACE, CT_FRACTAL_CHI};
    return value->given ? protocols[value->number] : CT_FRACTAL_NEUTRAL;
}

size_t cli_fractal_list(const struct cli_args *args, size_t option, const char **texts)
{
    size_t count = 0;
    for (size_t i = 0; i < args->list_count; i++)
        if (args->list[i].option == option)
            texts[count++] = args->list[i].text;
    return count;
}

int cli_fractal_cluster(const struct cli_args *args, const struct cli_value *value,
                        struct ct_soc_config *config)
{
    ct_soc_defaults(config);
    return value->given && ct_soc_config_load(args->ctx, value->text, config) ? cli_library_error(args->ctx)
                                                                              : CLI_CLEAN;
}

int cli_fractal_written(const struct cli_args *args, int rc)
{
    return rc && rc != CT_ERR_IO ? cli_library_error(args->ctx) : CLI_CLEAN;
}

int cli_fractal_ended(const struct cli_args *args, const struct ct_fractal_ended *ended, int rc, bool asked)
{
    const bool stopped = rc && ended->ran; /* ended by this end of the pipe */
    if (ended->signal && !stopped)
        cli_say("the traced program was terminated by signal %u", ended->signal);
    if (ended->exit_code > 0 && asked && !stopped)
        cli_say("%s: the traced program ended with exit code %d", args->rest[0], ended->exit_code);
    if (rc) /* after what may be the reason */
        cli_library_error(args->ctx);
    return rc ? CLI_FAILED : CLI_CLEAN;
}

int cli_fractal_exit(const struct ct_fractal_ended *ended, int code)
{
    const int program = ended->signal ? 128 + (int)ended->signal : ended->exit_code;
    return code == CLI_FAILED || program <= 0 ? code : program;
}
