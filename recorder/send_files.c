/* SPDX-License-Identifier: Apache-2.0 */
#include "send_files.h"

#include <string.h>
#include <unistd.h>

void send_files(struct sockaddr_un *to, socklen_t to_size, const int *files, size_t count, uint8_t data,
                int flags)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(SEND_FILES_MAX * sizeof(int))];
    } control = {{0}};
    struct iovec bytes = {&data, 1};
    const struct msghdr m = {.msg_name = to,
                             .msg_namelen = to_size,
                             .msg_iov = &bytes,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = CMSG_SPACE(count * sizeof(int))};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(c), files, count * sizeof(int));
    const int s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sendmsg(s, &m, flags | MSG_NOSIGNAL);
    close(s);
}
