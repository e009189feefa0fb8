/* SPDX-License-Identifier: Apache-2.0 */
#include "base/module_name.h"
#include "base/path.h"

#include <string.h>

bool ct_module_is_named(const char *path)
{
    const char *ko = strstr(ct_base_name(path), ".ko");
    return ko && (ko[3] == 0 || ko[3] == '.');
}
