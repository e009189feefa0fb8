/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of the command line. */
#ifndef CT_CLI_ADDRESS_H
#define CT_CLI_ADDRESS_H

/* Cuts "HOST:PORT" or "[HOST]:PORT" in two, in place; without a colon all is the port, and *host NULL. */
void cli_split_address(char *text, const char **host, const char **port);

#endif
