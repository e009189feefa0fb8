#include "coretap/input.h"

const char *ct_protocol_name(enum ct_protocol protocol)
{
    static const char *const names[] = {"none", "etmv4i", "ete", "etmv3", "ptm", "stm", "itm"};
    return (size_t)protocol < sizeof names / sizeof *names ? names[protocol] : "unknown";
}
