/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses in the usual notation: "HOST:PORT" or "[HOST]:PORT". */
#pragma once

struct addrinfo;

/* Splits an address in place. Without a colon, all of it is the port and *host is NULL. */
void ct_live_split_address(char *text, const char **host, const char **port);

/* Resolves an address. Without a host it means 127.0.0.1. Returns what getaddrinfo
 * returns. *all is NULL after an error; otherwise free it with freeaddrinfo. */
int ct_live_addresses(const char *text, struct addrinfo **all);
