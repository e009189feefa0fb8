/* SPDX-License-Identifier: Apache-2.0 */
#include "live/address.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

void ct_live_split_address(char *text, const char **host, const char **port)
{
    char *colon = strrchr(text, ':');
    *host = colon ? text : NULL;
    *port = colon ? colon + 1 : text;
    if (!colon)
        return;
    *colon = '\0';
    if (text[0] == '[' && colon > text && colon[-1] == ']') {
        colon[-1] = '\0';
        *host = text + 1;
    }
}

int ct_live_addresses(const char *text, struct addrinfo **all)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    const char *host, *port;
    char *copy = strdup(text);
    *all = NULL;
    if (!copy)
        return EAI_MEMORY;
    ct_live_split_address(copy, &host, &port);
    const int rc = getaddrinfo(host && *host ? host : "127.0.0.1", port, &hints, all);
    const int error = errno;
    free(copy);
    errno = error;
    return rc;
}
