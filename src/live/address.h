/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses as people write them. */
#ifndef CT_LIVE_ADDRESS_H
#define CT_LIVE_ADDRESS_H

/* Cuts "HOST:PORT" or "[HOST]:PORT" in two, in place; without a colon all is the port, and *host NULL. */
void ct_live_split_address(char *text, const char **host, const char **port);

#endif
