/* SPDX-License-Identifier: Apache-2.0 */
/* The work of the analysing thread between two pieces of trace. */
#include "live/board.h"
#include "base/c_locale.h"
#include "base/require.h"
#include "live/live.h"

#define PUBLISH_EVERY 0.5 /* seconds */
#define PUBLISH_SHARE 20  /* making a status takes at most 1/20 of the time */
#define READ_SHARE    20  /* answering read requests takes at most 1/20 of the time */

/* Writes the status as JSON into `text`, with *json, which it creates when it is NULL. On CT_ERR_NOMEM the
 * text is incomplete. */
static int write_json(struct ct_live *l, struct ct_live_text *text, struct ct_json **json,
                      struct ct_live_parts *parts)
{
    const struct ct_json_options options = {.size = sizeof options, .script = 1};
    if (!*json && ct_json_new(l->ctx, &options, ct_live_text_write, text, json) != CT_OK)
        return CT_ERR_NOMEM;
    ct_live_status_json(l, *json, parts);
    if (ct_json_flush(*json) == CT_OK)
        return CT_OK;
    ct_json_free(*json); /* a failed writer cannot be used again */
    *json = NULL;
    return CT_ERR_NOMEM;
}

void ct_live_publish(struct ct_live *l)
{
    const double begin = ct_live_now();
    ct_live_text_rewind(&l->json);
    ct_live_text_rewind(&l->words);
    ct_live_status_text(l, &l->words);
    l->parts.text = &l->json;
    l->parts.count = 0;
    if (write_json(l, &l->json, &l->status, &l->parts) != CT_OK || l->words.lacks ||
        !ct_live_board_publish(l->board, &l->json, &l->parts, &l->words))
        ct_live_lack(&l->say); /* the page keeps showing the status before */
    const double end = ct_live_now(), pause = (end - begin) * PUBLISH_SHARE;
    l->publish_next = end + (pause > PUBLISH_EVERY ? pause : PUBLISH_EVERY);
}

static void serve_request(struct ct_live *l)
{
    struct ct_live_command *command = l->board ? ct_live_board_asked(l->board, LIVE_EXCHANGES) : NULL;
    if (!command)
        return;
    ct_live_note(l, ct_live_settle(l));
    ct_live_exchange(l, command);
    if (command->action == LIVE_STOP && !l->stopping) {
        l->stopping = true;
        ct_live_stop(l);
    }
    ct_live_publish(l);
    ct_live_board_answer(l->board, LIVE_EXCHANGES);
}

/* Answers a read request, unless such answers have taken more than their share of the time. */
static void serve_reading(struct ct_live *l, double now)
{
    struct ct_live_command *command =
        l->board && now >= l->read_next ? ct_live_board_asked(l->board, LIVE_READS) : NULL;
    if (!command)
        return;
    const double begin = ct_live_now();
    ct_live_note(l, ct_live_settle(l));
    ct_live_read(l, command);
    ct_live_board_answer(l->board, LIVE_READS);
    const double end = ct_live_now();
    l->read_next = end + (end - begin) * READ_SHARE;
}

int ct_live_between(struct ct_live *l)
{
    const double now = ct_live_now();
    ct_live_tell_resumed(l);
    serve_request(l);
    serve_reading(l, now);
    ct_live_sample(l, now);
    ct_live_note(l, l->sink.pause ? l->sink.pause(l->sink.user) : CT_OK);
    if (l->board && now >= l->publish_next) {
        ct_live_note(l, ct_live_settle(l));
        ct_live_publish(l);
    }
    return ct_live_refusal(l);
}

int ct_live_status(struct ct_live *l, enum ct_live_form form, ct_write_fn *write, void *user)
{
    CT_C_LOCALE;
    struct ct_live_text text = {0};
    struct ct_json *json = NULL;
    int rc = CT_OK;
    CT_REQUIRE_OF(l, write);
    if (form == CT_LIVE_JSON)
        rc = write_json(l, &text, &json, NULL);
    else if (form == CT_LIVE_TEXT)
        ct_live_status_text(l, &text);
    else
        return ct_fail(l->ctx, CT_ERR_ARG,
                       "ct_live_status: %d is not a value of enum ct_live_form; nothing "
                       "is written",
                       (int)form);
    ct_json_free(json);
    rc = rc || text.lacks ? ct_fail_nomem(l->ctx, "status") : write(user, text.text, text.size);
    ct_live_text_free(&text);
    return rc;
}
