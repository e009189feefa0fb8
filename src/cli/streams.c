/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/streams.h"

#include "format/listing.h"

void cli_streams_heading(struct cli_streams *s)
{
    ct_list_heading(&s->text, s->tell_buffer, s->tell_id);
    s->tell_buffer = NULL;
    s->tell_id = -1;
}

static bool on_opened(void *user)
{
    const struct cli_streams *s = user;
    return !s->opened || s->opened(s->user);
}

static int on_begin(void *user, struct ct_session_turn *turn)
{
    struct cli_streams *s = user;
    const char *buffer = cli_results_buffer(&s->read, turn, s->buffer);
    if (s->buffer != turn->buffer)
        s->tell_buffer = s->headings ? buffer : NULL;
    s->tell_id = s->headings ? cli_results_id(&s->read, turn) : -1;
    s->buffer = turn->buffer;
    turn->sink.user = s->user;
    return s->begin(s->user, turn);
}

static int on_decoded(void *user, const struct ct_buffer *buffer, const struct ct_chain *chain)
{
    struct cli_streams *s = user;
    (void)buffer;
    (void)chain;
    const int rc = s->end ? s->end(s->user) : CT_OK;
    return !ct_text_flush(&s->text) && !rc ? CT_ERR_IO : rc;
}

int cli_streams_run(struct cli_streams *s)
{
    s->read.user = s;
    s->read.opened = on_opened;
    s->read.begin = on_begin;
    s->read.decoded = on_decoded;
    s->read.text = &s->text;
    s->tell_id = -1;
    ct_text_init(&s->text, stdout);
    const int code = cli_results_read(&s->read);
    return ct_text_flush(&s->text) ? code : CLI_FAILED;
}
