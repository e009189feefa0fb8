/* SPDX-License-Identifier: Apache-2.0 */
/* Splits addresses as people write them. */
#ifndef CT_LIVE_ADDRESS_H
#define CT_LIVE_ADDRESS_H

/* Splits "HOST:PORT" or "[HOST]:PORT" in place. Without a colon all of it is the port, and *host is NULL. */
void ct_live_split_address(char *text, const char **host, const char **port);

#endif
