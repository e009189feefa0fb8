/* SPDX-License-Identifier: Apache-2.0 */
/* coretap: what every layer shares: versions, errors and the context that holds their text. */
#ifndef CORETAP_BASE_H
#define CORETAP_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CT_VERSION_MAJOR 0
#define CT_VERSION_MINOR 1
#define CT_VERSION_PATCH 0

#if defined(CT_BUILDING) && defined(__GNUC__)
#define CT_API __attribute__((visibility("default")))
#else
#define CT_API
#endif

/* Results of functions that can fail. 0 is success, errors are negative.
 * Trouble in a trace is never one of these: it is data (see elem.h, CT_ELEM_GAP). */
enum ct_error {
    CT_OK = 0,
    CT_ERR_ARG = -1,         /* the call itself is wrong: a null pointer, an option out of range */
    CT_ERR_NOMEM = -2,       /* no memory */
    CT_ERR_IO = -3,          /* the system refused to open, read or write something */
    CT_ERR_FORMAT = -4,      /* a file is not what it should be: syntax, magic, truncated header */
    CT_ERR_CONFIG = -5,      /* a register or key has a value that cannot be */
    CT_ERR_UNSUPPORTED = -6, /* understood, but not something this version does */
    CT_ERR_LIMIT = -7,       /* a stated limit was exceeded */
    CT_ERR_NOT_FOUND = -8,   /* a named thing does not exist */
};

/* Options are structs that begin with their own size, so that caller and library may be of two versions:
 *
 *     struct ct_edges_options options = {.size = sizeof options, .max_contexts = 16};
 *
 * What a shorter struct lacks is zero, and NULL stands for one that is all zero. CT_ERR_ARG: the size is not
 * set, or a longer struct has something set behind what the library knows. They are copied, but not what they
 * point to.
 *
 * A pointer that a function needs and that is NULL is CT_ERR_ARG. Functions that give no error give nothing
 * then: 0, NULL, no elements, or what stands for none of them. NULL in the place of bytes of which there are
 * none is no error. */

/* Returns the name of an error code, such as "CT_ERR_IO"; never NULL. */
CT_API const char *ct_error_name(int code);

/* Returns the version of the library that runs, such as "0.1.0"; CT_VERSION_* are those of the one compiled
 * against. */
CT_API const char *ct_version(void);

/* Returns the version with a hash of the sources that results depend on, such as "0.1.0-4c9fbf021fdd". Two
 * libraries with one version and other sources may find something else in a trace. */
CT_API const char *ct_version_exact(void);

enum ct_log_level {
    CT_LOG_ERROR,
    CT_LOG_WARNING,
    CT_LOG_NOTE,
    CT_LOG_DEBUG,
};

/* Receives one message, without a newline at its end. */
typedef void ct_log_fn(void *user, enum ct_log_level level, const char *text);

/* Receives the next piece of something that is written. Result: 0, or a negative error, which ends the
 * writing and is returned by the function that writes. */
typedef int ct_write_fn(void *user, const void *data, size_t size);

/* A context holds the text of the last error and the receiver of messages. It belongs to one
 * thread at a time; objects made with it keep a pointer to it, so free it last. */
struct ct_ctx;

/* Makes a context; NULL without memory. Messages go nowhere until ct_ctx_set_log. */
CT_API struct ct_ctx *ct_ctx_new(void);
CT_API void ct_ctx_free(struct ct_ctx *ctx);

/* Returns the text of the last failed call on this context: object, fact, consequence, remedy; "" when no
 * call failed. The pointer lives until the next failing call. */
CT_API const char *ct_ctx_error(const struct ct_ctx *ctx);

/* Returns 1 when memory was missing at any time with this context. It tells of calls, too, that went on
 * without what they could not store, such as a name: their results may lack it. */
CT_API int ct_ctx_lacked_memory(const struct ct_ctx *ctx);

/* Lets files of trace be mapped in place of being read, or with `on` 0 not. Mapping takes a tenth less time
 * where the file is in memory already. A file that becomes shorter meanwhile is CT_ERR_IO with a text that
 * says what is lost; but where it is mapped, an access to what is no longer there is a SIGBUS before. So
 * mapping is for a process that handles this signal, as the command does, or whose files nobody cuts; the
 * library installs no handlers and does not map unless it is told to. Applies to files that are opened
 * afterwards. */
CT_API void ct_ctx_map_files(struct ct_ctx *ctx, int on);

/* Stores an error of the caller's own as that of the last failed call. Returns `code`, so that a receiver can
 * end a run with it. CT_ERR_NOMEM also says that memory was missing. CT_ERR_ARG in the place of a code of 0.
 */
CT_API int ct_ctx_fail(struct ct_ctx *ctx, int code, const char *text);

/* Gives messages up to and including the level `most` to fn(user, …); with `fn` NULL to nobody. */
CT_API void ct_ctx_set_log(struct ct_ctx *ctx, ct_log_fn *fn, void *user, enum ct_log_level most);

#ifdef __cplusplus
}
#endif
#endif
