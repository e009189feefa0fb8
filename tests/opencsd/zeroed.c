/* SPDX-License-Identifier: Apache-2.0 */
/* An allocator whose new memory is zero. 1.3.3 reads memory that it never wrote; with zeros its output is the
 * same in each process and after each trace. */
#include <stddef.h>

#include "support/sanitizer.h"

#if HAVE_ASAN
#define REAL(name) __interceptor_##name
#else
#define REAL(name) __libc_##name
#endif

void *REAL(calloc)(size_t count, size_t size);

void *malloc(size_t size)
{
    return REAL(calloc)(1, size + 256);
}
