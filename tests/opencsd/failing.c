/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/failing.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "support/sanitizer.h"

#if HAVE_ASAN
#define REAL(name) __interceptor_##name
#else
#define REAL(name) __libc_##name
#endif

void *REAL(malloc)(size_t size);
void *REAL(calloc)(size_t count, size_t size);
void *REAL(realloc)(void *old, size_t size);
void REAL(free)(void *p);

static bool armed;
static long count, fails_at, held;

/* Counts an allocation, and returns true when it has to fail. */
static bool fails(bool is_new)
{
    if (!armed)
        return false;
    if (count++ == fails_at) {
        errno = ENOMEM;
        return true;
    }
    held += is_new;
    return false;
}

void *malloc(size_t size)
{
    return fails(true) ? NULL : REAL(malloc)(size);
}

void *calloc(size_t nmemb, size_t size)
{
    return fails(true) ? NULL : REAL(calloc)(nmemb, size);
}

void *realloc(void *ptr, size_t size)
{
    return fails(!ptr) ? NULL : REAL(realloc)(ptr, size);
}

void free(void *ptr)
{
    held -= armed && ptr;
    REAL(free)(ptr);
}

void failing_begin(long which)
{
    count = held = 0;
    fails_at = which;
    armed = true;
}

long failing_end(long *left)
{
    armed = false;
    *left = held;
    return count;
}
