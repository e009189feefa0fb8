/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces the page in a build without libmicrohttpd. */
#include "live/http.h"

int ct_live_http_start(struct ct_ctx *ctx, const struct ct_live_say *say, const char *address,
                       const char *token, const struct ct_monitor_options *compile,
                       struct ct_live_board *board, const struct ct_live_options *options,
                       struct ct_live_http **out)
{
    (void)say;
    (void)token;
    (void)compile;
    (void)board;
    (void)options;
    *out = NULL;
    return ct_fail(ctx, CT_ERR_UNSUPPORTED,
                   "%s: coretap was built without libmicrohttpd, so the page cannot be served; build coretap "
                   "where libmicrohttpd is installed (Debian: libmicrohttpd-dev), or omit --http",
                   address);
}

void ct_live_http_stop(struct ct_live_http *http)
{
    (void)http;
}
