/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/volume.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli/results.h"

static int on_flow(void *user, const struct ct_stream *stream, const struct ct_flow_batch *batch)
{
    (void)stream;
    return ct_volume_replay_take(user, batch->records, batch->count);
}

/* Takes no software trace, which has no instructions. */
static int begin(void *user, struct ct_session_turn *turn)
{
    if (ct_protocol_is_software(turn->source->protocol))
        return CT_OK;
    turn->sink.flow = on_flow;
    return ct_volume_replay_begin(user, turn->source);
}

static int on_decoded(void *user, const struct ct_buffer *buffer, const struct ct_chain *chain)
{
    (void)buffer;
    (void)chain;
    return ct_volume_replay_end(user);
}

/* Reports what the numbers do not include. */
static void tell(const char *path, const struct ct_volume *v)
{
    if (v->untraceable)
        cli_say("%s: %" PRIu64 " instructions are not counted, because their order is not known, or the "
                "trace breaks off after them before a waypoint",
                path, v->untraceable);
    if (!v->instructions)
        cli_say(
            "%s: nothing was measured, because the trace has no instructions, or none that --range, --id and "
            "--buffer select, or more than --max-instructions before its first branch; change these options",
            path);
}

int cli_volume_capture(const struct cli_args *args, const char *path, const struct ct_volume_options *options,
                       struct ct_volume *volume)
{
    struct cli_args *copy = malloc(sizeof *copy);
    char *operands[] = {(char *)path, NULL};
    struct ct_volume_replay *replay = NULL;
    int code = CLI_FAILED;
    if (!copy) {
        cli_no_memory();
        return code;
    }
    *copy = *args;
    copy->operand = path;
    copy->rest = operands;
    copy->rest_count = 1;
    if (ct_volume_replay_new(args->ctx, options, volume, &replay) != CT_OK)
        cli_library_error(args->ctx);
    else {
        struct cli_results read = {
            .args = copy, .threads = 1, .user = replay, .begin = begin, .decoded = on_decoded};
        if (cli_filter_read(&read.filter, copy, false))
            code = cli_results_read(&read);
        cli_results_close(&read);
    }
    ct_volume_replay_free(replay);
    free(copy);
    if (code != CLI_FAILED)
        tell(path, volume);
    return code;
}
