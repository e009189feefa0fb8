/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the server of a live run's page (http.c) and its API (http_api.c). */
#pragma once

#include <microhttpd.h>
#include <stdatomic.h>

#include "base/library.h"
#include "live/board.h"
#include "live/guests.h"
#include "live/places.h"
#include "live/turns.h"

/* Functions of libmicrohttpd. It is loaded for the first page only, because loading it takes as long as a
 * whole short command. */
#define CT_LIVE_MHD(X)                                                                                       \
    X(MHD_add_response_header)                                                                               \
    X(MHD_create_response_from_buffer)                                                                       \
    X(MHD_create_response_from_callback)                                                                     \
    X(MHD_destroy_response)                                                                                  \
    X(MHD_get_connection_info)                                                                               \
    X(MHD_get_daemon_info)                                                                                   \
    X(MHD_lookup_connection_value)                                                                           \
    X(MHD_queue_response)                                                                                    \
    X(MHD_quiesce_daemon)                                                                                    \
    X(MHD_start_daemon)                                                                                      \
    X(MHD_stop_daemon)

CT_LIBRARY(ct_live_mhd, CT_LIVE_MHD);
extern union ct_live_mhd ct_live_mhd;

struct ct_live_http {
    const struct ct_live_say *say;
    struct MHD_Daemon *daemon;
    struct ct_live_board *board;
    struct ct_monitor_options compile;
    struct ct_live_guests *guests;
    struct ct_live_turns *compiling;
    struct ct_live_places *places;
    char *token; /* token that requests must show; NULL: none */
    char *host;  /* host in the address, or an empty text */
    char *page;
    size_t page_size;
    atomic_uint requests; /* requests not answered yet */
};

/* The received part of a request's body. */
struct ct_live_http_body {
    char *text;
    size_t size;
    bool too_long;
    bool may; /* the headers show that the request is allowed */
};

/* Answer a GET, or a POST with its body, of an authorised client. */
enum MHD_Result ct_live_http_get(const struct ct_live_http *http, struct MHD_Connection *connection,
                                 const char *url);
enum MHD_Result ct_live_http_post(const struct ct_live_http *http, struct MHD_Connection *connection,
                                  const char *url, const struct ct_live_http_body *body);

/* Answers with an error and its reason `why`. */
enum MHD_Result ct_live_http_refuse(const struct ct_live_http *http, struct MHD_Connection *connection,
                                    unsigned status, const char *why);

/* Closes the connection, because there is no memory for an answer. */
enum MHD_Result ct_live_http_hang_up(const struct ct_live_http *http);
