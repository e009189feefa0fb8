/* SPDX-License-Identifier: Apache-2.0 */
/* Sends open files to a socket. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#define SEND_FILES_MAX 4

/* Sends at most SEND_FILES_MAX open files, with a byte of data, as a datagram. `flags` are those of sendmsg.
 */
void send_files(struct sockaddr_un *to, socklen_t to_size, const int *files, size_t count, uint8_t data,
                int flags);
