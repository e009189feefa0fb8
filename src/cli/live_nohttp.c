/* SPDX-License-Identifier: Apache-2.0 */
/* In place of the page where its libraries were not there when coretap was built. */
#include "cli/live_http.h"

struct cli_live_http *cli_live_http_start(const char *address, const char *token,
                                          const struct ct_monitor_options *compile,
                                          struct cli_live_board *board)
{
    (void)token;
    (void)compile;
    (void)board;
    cli_say(
        "--http %s: this coretap was built without libmicrohttpd and jansson, so it has no page; build it "
        "where they are (Debian: libmicrohttpd-dev libjansson-dev), or leave --http out",
        address);
    return NULL;
}

void cli_live_http_stop(struct cli_live_http *http)
{
    (void)http;
}
