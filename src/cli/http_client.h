/* SPDX-License-Identifier: Apache-2.0 */
/* One HTTP request and its answer, for the API of a live run. */
#ifndef CT_CLI_HTTP_CLIENT_H
#define CT_CLI_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

struct cli_http_request {
    const char *address; /* PORT, HOST:PORT or [HOST]:PORT */
    const char *method, *path;
    const char *token; /* or NULL */
    const char *body;  /* JSON; NULL: none */
    size_t size;
};

struct cli_http_answer {
    unsigned status;
    char *body; /* NUL behind it */
    size_t size;
    char *text; /* of the whole answer */
};

/* Asks for plain text. False: said why. */
bool cli_http_ask(const struct cli_http_request *request, struct cli_http_answer *answer);
void cli_http_answer_free(struct cli_http_answer *answer);

#endif
