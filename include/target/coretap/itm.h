/* SPDX-License-Identifier: Apache-2.0 */
/* Named events of a program: text, values and spans of time, written to stimulus ports of an ITM or channels
 * of an STM. This header is for programs on a target, C11 or C++11 by gcc or clang; it needs nothing else of
 * coretap. Only numbers go over the port: what they mean stands in a section of the ELF file, coretap_events.
 *
 *     #include <coretap/itm.h>
 *     CORETAP_TEXT(1, "%d of %u turns, %s", done, all, "slow"); // at most six arguments
 *     CORETAP_VALUE(1, "speed", speed);
 *     CORETAP_BEGIN(2, "filter");
 *     CORETAP_END(2, "filter");
 *
 * Ports are those of a Cortex-M's ITM, and nothing is written to one that is not enabled. Before the header
 * is included, CORETAP_PORTS can be defined as the address of other ones, four bytes each, or
 * CORETAP_CHANNELS as that of the channels of an STM, 256 bytes each; these are written at once.
 *
 * An event is a write of 16 bits, its number, and writes of 32 bits, its arguments. An interrupt may write
 * events to the same port between them; threads that interrupt each other need a port each. A linker script
 * need not name the section, and it may keep it out of the target's memory by
 * `coretap_events 0 (INFO) : { KEEP(*(coretap_events)) }`. Strings are written as addresses. */
#ifndef CORETAP_ITM_H
#define CORETAP_ITM_H

#include <stdint.h>

#define CORETAP_TEXT(port, ...)      CORETAP_TEXT_(CORETAP_COUNT_(__VA_ARGS__), port, __VA_ARGS__)
#define CORETAP_VALUE(port, name, x) CORETAP_EVENT_(port, 'v', name, (CORETAP_KIND_(x)), CORETAP_PUT_(x))
#define CORETAP_BEGIN(port, name)    CORETAP_EVENT_(port, 'b', name, (0), (void)0)
#define CORETAP_END(port, name)      CORETAP_EVENT_(port, 'e', name, (0), (void)0)

/* ---- ports ---- */

#ifdef CORETAP_CHANNELS /* data with a timestamp, and without (ARM IHI 0054) */
#define CORETAP_AT_(port, timed) ((uintptr_t)(CORETAP_CHANNELS) + 256u * (port) + ((timed) ? 0x10 : 0x18))
#elif defined CORETAP_PORTS
#define CORETAP_AT_(port, timed) ((uintptr_t)(CORETAP_PORTS) + 4u * (port))
#else /* ITM_TCR, ITM_TERx, and the ready bit of ITM_STIMx (DDI 0403E C1.7) */
#define CORETAP_ITM_
#define CORETAP_REGISTER_(at)    (*(volatile uint32_t *)(uintptr_t)(at))
#define CORETAP_AT_(port, timed) ((uintptr_t)0xe0000000u + 4u * (port))
#endif

static inline int coretap_enabled(unsigned port)
{
#ifdef CORETAP_ITM_
    return CORETAP_REGISTER_(0xe0000e80u) & 1 &&
           CORETAP_REGISTER_(0xe0000e00u + 4 * (port / 32)) >> port % 32 & 1;
#else
    return (void)port, 1;
#endif
}

static inline void coretap_ready(unsigned port)
{
#ifdef CORETAP_ITM_
    while (!(CORETAP_REGISTER_(CORETAP_AT_(port, 0)) & 1))
        ;
#endif
    (void)port;
}

static inline void coretap_32(unsigned port, uint32_t x)
{
    coretap_ready(port);
    *(volatile uint32_t *)CORETAP_AT_(port, 0) = x;
}

static inline void coretap_int(unsigned port, int32_t x)
{
    coretap_32(port, (uint32_t)x);
}

static inline void coretap_64(unsigned port, uint64_t x)
{
    coretap_32(port, (uint32_t)x);
    coretap_32(port, (uint32_t)(x >> 32));
}

static inline void coretap_wide(unsigned port, int64_t x)
{
    coretap_64(port, (uint64_t)x);
}

static inline void coretap_float(unsigned port, float x)
{
    uint32_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    coretap_32(port, bits);
}

static inline void coretap_double(unsigned port, double x)
{
    uint64_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    coretap_64(port, bits);
}

static inline void coretap_pointer(unsigned port, const volatile void *x)
{
    if (sizeof x == 8)
        coretap_64(port, (uint64_t)(uintptr_t)x);
    else
        coretap_32(port, (uint32_t)(uintptr_t)x);
}

/* ---- what an argument is: float, double, int, unsigned, 64 bits, 64 bits unsigned, pointer ---- */

#if __SIZEOF_LONG__ == 8
#define CORETAP_LONG_(narrow, wide) wide
#else
#define CORETAP_LONG_(narrow, wide) narrow
#endif

#ifdef __cplusplus
char (&coretap_kind(float))[1];
char (&coretap_kind(double))[2];
char (&coretap_kind(int))[3];
char (&coretap_kind(unsigned))[4];
char (&coretap_kind(long))[CORETAP_LONG_(3, 5)];
char (&coretap_kind(unsigned long))[CORETAP_LONG_(4, 6)];
char (&coretap_kind(long long))[5];
char (&coretap_kind(unsigned long long))[6];
char (&coretap_kind(const volatile void *))[7];
#define CORETAP_KIND_(x) " fdiulwp"[sizeof coretap_kind(x)]

#define CORETAP_PUTS_(type, function)                                                                        \
    static inline void coretap_put(unsigned port, type x)                                                    \
    {                                                                                                        \
        function(port, x);                                                                                   \
    }
CORETAP_PUTS_(float, coretap_float)
CORETAP_PUTS_(double, coretap_double)
CORETAP_PUTS_(int, coretap_int)
CORETAP_PUTS_(unsigned, coretap_32)
CORETAP_PUTS_(long, CORETAP_LONG_(coretap_int, coretap_wide))
CORETAP_PUTS_(unsigned long, CORETAP_LONG_(coretap_32, coretap_64))
CORETAP_PUTS_(long long, coretap_wide)
CORETAP_PUTS_(unsigned long long, coretap_64)
CORETAP_PUTS_(const volatile void *, coretap_pointer)
#define CORETAP_PUT_(x) coretap_put(coretap_port_, x)
#else
#define CORETAP_PICK_(x, f, d, i, u, l, w, p)                                                                \
    _Generic((x), float                                                                                      \
             : f, double                                                                                     \
             : d, _Bool                                                                                      \
             : u, char                                                                                       \
             : i, signed char                                                                                \
             : i, short                                                                                      \
             : i, int                                                                                        \
             : i, long                                                                                       \
             : CORETAP_LONG_(i, l), long long                                                                \
             : l, unsigned char                                                                              \
             : u, unsigned short                                                                             \
             : u, unsigned                                                                                   \
             : u, unsigned long                                                                              \
             : CORETAP_LONG_(u, w), unsigned long long                                                       \
             : w, default                                                                                    \
             : p)
#define CORETAP_KIND_(x) CORETAP_PICK_(x, 'f', 'd', 'i', 'u', 'l', 'w', 'p')
#define CORETAP_PUT_(x)                                                                                      \
    CORETAP_PICK_(x, coretap_float, coretap_double, coretap_int, coretap_32, coretap_wide, coretap_64,       \
                  coretap_pointer)                                                                           \
    (coretap_port_, x)
#endif

/* ---- events ---- */

#ifdef __cplusplus
extern "C" const char __start_coretap_events[] __attribute__((visibility("hidden")));
#else
extern const char __start_coretap_events[] __attribute__((visibility("hidden")));
#endif

/* Lets the compiler compare arguments with the format. */
static inline __attribute__((format(printf, 1, 2))) void coretap_check(const char *format, ...)
{
    (void)format;
}

static inline void coretap_number(unsigned port, const void *name)
{
    coretap_ready(port);
    *(volatile uint16_t *)CORETAP_AT_(port, 1) =
        (uint16_t)(0xc000u | ((uintptr_t)name - (uintptr_t)__start_coretap_events) / 8);
}

/* What the section has of an event. In C++ its type has no linkage: so all of them are alike to g++, which
 * does not take functions' and inline functions' into one section. It drops the section in templates (GCC bug
 * 41091), where the name of a function has its arguments. */
#ifndef __cplusplus
#define CORETAP_NAME_(text)                                                                                  \
    struct {                                                                                                 \
        char kind_, kinds_[7], text_[sizeof(text)];                                                          \
    }
#define CORETAP_PLACE_() (void)0
#else
namespace
{
template <unsigned size> struct coretap_name {
    char kind_, kinds_[7], text_[size];
};
/* Looks for "[wi" at the first `count` places of a text; halving it keeps the recursion flat (C++11). */
constexpr bool coretap_is_template(const char *text, unsigned count)
{
    return count > 1 ? coretap_is_template(text, count / 2) ||
                           coretap_is_template(text + count / 2, count - count / 2)
                     : count && text[0] == '[' && text[1] == 'w' && text[2] == 'i';
}
} // namespace
#define CORETAP_NAME_(text) coretap_name<sizeof(text)>
#define CORETAP_PLACE_()                                                                                     \
    static_assert(!coretap_is_template(__PRETTY_FUNCTION__, sizeof(__PRETTY_FUNCTION__) - 3),                \
                  "g++ has no named events in templates")
#endif

#define CORETAP_BARE_(...) __VA_ARGS__
#define CORETAP_EVENT_(port, kind, text, kinds, ...)                                                         \
    do {                                                                                                     \
        CORETAP_PLACE_();                                                                                    \
        static const CORETAP_NAME_(text) coretap_name_                                                       \
            __attribute__((section("coretap_events"), aligned(8))) = {kind, {CORETAP_BARE_ kinds}, text};    \
        const unsigned coretap_port_ = (port);                                                               \
        if (coretap_enabled(coretap_port_)) {                                                                \
            coretap_number(coretap_port_, &coretap_name_);                                                   \
            __VA_ARGS__;                                                                                     \
        }                                                                                                    \
    } while (0)

#define CORETAP_TEXT_(n, port, ...)      CORETAP_TEXT_OF_(n, port, __VA_ARGS__)
#define CORETAP_TEXT_OF_(n, port, ...)   CORETAP_TEXT_##n##_(n, port, __VA_ARGS__)
#define CORETAP_TEXT_0_(n, port, format) CORETAP_EVENT_(port, 't', format, (0), coretap_check(format))
#define CORETAP_TEXT_N_(n, port, format, ...)                                                                \
    CORETAP_EVENT_(port, 't', format, (CORETAP_EACH_##n##_(CORETAP_KIND_, __VA_ARGS__)),                     \
                   CORETAP_EACH_##n##_(CORETAP_PUT_, __VA_ARGS__),                                           \
                   0 ? coretap_check(format, __VA_ARGS__) : (void)0)
#define CORETAP_TEXT_1_ CORETAP_TEXT_N_
#define CORETAP_TEXT_2_ CORETAP_TEXT_N_
#define CORETAP_TEXT_3_ CORETAP_TEXT_N_
#define CORETAP_TEXT_4_ CORETAP_TEXT_N_
#define CORETAP_TEXT_5_ CORETAP_TEXT_N_
#define CORETAP_TEXT_6_ CORETAP_TEXT_N_

#define CORETAP_EACH_1_(m, a)      m(a)
#define CORETAP_EACH_2_(m, a, ...) m(a), CORETAP_EACH_1_(m, __VA_ARGS__)
#define CORETAP_EACH_3_(m, a, ...) m(a), CORETAP_EACH_2_(m, __VA_ARGS__)
#define CORETAP_EACH_4_(m, a, ...) m(a), CORETAP_EACH_3_(m, __VA_ARGS__)
#define CORETAP_EACH_5_(m, a, ...) m(a), CORETAP_EACH_4_(m, __VA_ARGS__)
#define CORETAP_EACH_6_(m, a, ...) m(a), CORETAP_EACH_5_(m, __VA_ARGS__)

#define CORETAP_COUNT_(...)                           CORETAP_SEVENTH_(__VA_ARGS__, 6, 5, 4, 3, 2, 1, 0, 0)
#define CORETAP_SEVENTH_(a, b, c, d, e, f, g, n, ...) n

#endif
