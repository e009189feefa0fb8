/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses as people write them: "HOST:PORT" or "[HOST]:PORT". */
#ifndef CT_LIVE_ADDRESS_H
#define CT_LIVE_ADDRESS_H

struct addrinfo;

/* Splits an address in place. Without a colon all of it is the port, and *host is NULL. */
void ct_live_split_address(char *text, const char **host, const char **port);

/* Finds what an address is of; without a host it is of this machine alone. Returns what getaddrinfo does.
 * *all is NULL after an error, and otherwise freed by freeaddrinfo. */
int ct_live_addresses(const char *text, struct addrinfo **all);

#endif
