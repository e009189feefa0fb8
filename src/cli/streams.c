/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/streams.h"

static bool on_opened(void *user)
{
    const struct cli_streams *s = user;
    return !s->opened || s->opened(s->user);
}

static int on_decode(void *user)
{
    const struct cli_streams *s = user;
    return s->decode(s->user);
}

static int on_flush(void *user)
{
    const struct cli_streams *s = user;
    return s->flush(s->user);
}

static int on_begin(void *user, struct ct_session_turn *turn)
{
    struct cli_streams *s = user;
    const char *buffer = cli_results_buffer(&s->read, turn, s->buffer);
    s->buffer = turn->buffer;
    turn->sink.user = s->user;
    const int rc = s->headings ? s->heading(s->user, buffer, cli_results_id(&s->read, turn)) : CT_OK;
    return rc ? rc : s->begin(s->user, turn);
}

static int on_decoded(void *user, const struct ct_buffer *buffer, const struct ct_chain *chain)
{
    const struct cli_streams *s = user;
    (void)buffer;
    (void)chain;
    const int rc = s->end ? s->end(s->user) : CT_OK;
    return rc ? rc : s->flush(s->user);
}

int cli_streams_run(struct cli_streams *s)
{
    s->read.user = s;
    s->read.opened = on_opened;
    s->read.decode = s->decode ? on_decode : NULL;
    s->read.begin = on_begin;
    s->read.decoded = on_decoded;
    s->read.flush = on_flush;
    return cli_results_read(&s->read);
}
