/* SPDX-License-Identifier: Apache-2.0 */
#include "live/address.h"

#include <stddef.h>
#include <string.h>

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
