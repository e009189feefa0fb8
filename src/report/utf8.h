/* UTF-8 in what comes from elsewhere. */
#ifndef CT_REPORT_UTF8_H
#define CT_REPORT_UTF8_H

#include <stddef.h>

/* Bytes of the UTF-8 sequence (RFC 3629) that the `size` bytes at `s` begin with, or 0 when it is none. */
size_t ct_utf8_length(const unsigned char *s, size_t size);

#endif
