#include "coretap/input.h"

#include <string.h>

__attribute__((weak)) int ct_arch_by_name(const char *model, struct ct_arch *out)
{
    memset(out, 0, sizeof *out);
    return strncmp(model, "Cortex-", 7) == 0 || strncmp(model, "ARM", 3) == 0 ? CT_OK : CT_ERR_NOT_FOUND;
}
