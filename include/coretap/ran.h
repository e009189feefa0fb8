/* SPDX-License-Identifier: Apache-2.0 */
/* coretap ran: what ran in a trace, in words, for results that are empty or incomplete. An empty result is
 * right only when nothing ran; otherwise a reader wants to know which programs ran instead, and which memory
 * was missing.
 *
 *     struct ct_ran ran = {0};
 *     char text[CT_RAN_WORDS];
 *     ct_ran_add(&ran, capture, buffer, chain, programs); // in `decoded` of a session
 *     if (ran.instructions)
 *         puts(ct_ran_words(text, &ran));
 *     if (seen->holes.count)
 *         puts(ct_holes_words(text, &seen->holes, capture, programs, "time", "times")); */
#ifndef CORETAP_RAN_H
#define CORETAP_RAN_H

#include "coretap/base.h"
#include "coretap/decode.h"
#include "coretap/input.h"
#include "coretap/losses.h"
#include "coretap/programs.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CT_RAN_NAMES 32

/* Size of a text of the functions below, with its NUL. */
#define CT_RAN_WORDS 2048

/* What ran; all 0 at first. */
struct ct_ran {
    uint64_t instructions;
    char names[CT_RAN_NAMES]
              [64];  /* last parts of the programs' paths, in the order in which they were found */
    uint64_t count;  /* number of programs, including those that `names` has no room for */
    uint8_t unnamed; /* may be set by the caller: 1: no names are added */
    uint8_t pad[7];  /* 0 */
};

/* Adds what ran in the streams of a chain of level STEPS. Names are those of `programs` (NULL: none), and of
 * images of the buffer where there is no program. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_ran_add(struct ct_ran *ran, const struct ct_capture *capture, const struct ct_buffer *buffer,
                      const struct ct_chain *chain, const struct ct_programs *programs);

/* Writes the names as "a, b and c", or "a, b and 17 others". Returns `text`; NULL for a null pointer. */
CT_API const char *ct_ran_words(char text[CT_RAN_WORDS], const struct ct_ran *ran);

/* Writes the regions with the highest counts as "0x8000..0x8fc4 (12 times), ...": the file that was mapped
 * there (unknown with `capture` NULL), the name that `programs` (may be NULL) give to code outside of them,
 * or else the addresses. `one` and `many` name what is counted. Returns `text`; NULL for a null pointer. */
CT_API const char *ct_holes_words(char text[CT_RAN_WORDS], const struct ct_holes *holes,
                                  const struct ct_capture *capture, struct ct_programs *programs,
                                  const char *one, const char *many);

/* Returns 1 when code that ran lies in a missing file, else 0. The file is number `i` of capture->missing.
 * One whose address is unknown may have been anywhere. */
CT_API int ct_holes_in_missing(const struct ct_holes *holes, const struct ct_capture *capture, size_t i);

/* Returns 1 when all code that ran outside of `programs` has a name, else 0. Such code is in no program's
 * file, for example because it was generated. */
CT_API int ct_holes_are_named(const struct ct_holes *holes, struct ct_programs *programs);

#ifdef __cplusplus
}
#endif
#endif
