/* SPDX-License-Identifier: Apache-2.0 */
#include "base/module_name.h"

#include <string.h>

bool ct_module_is_named(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *ko = strstr(slash ? slash : path, ".ko");
    return ko && (ko[3] == 0 || ko[3] == '.');
}
