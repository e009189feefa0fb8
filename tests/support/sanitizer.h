/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the program is built with AddressSanitizer. gcc has a macro for that, clang a feature. */
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define HAVE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAVE_ASAN 1
#endif
#endif
#ifndef HAVE_ASAN
#define HAVE_ASAN 0
#endif
