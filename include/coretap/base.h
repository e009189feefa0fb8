/* SPDX-License-Identifier: Apache-2.0 */
/* coretap base: what all layers share: versions, errors and the context that holds error texts. */
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

/* Results of functions that can fail: 0 is success, errors are negative. Damage in a trace is never an error:
 * it is data (see elem.h, CT_ELEM_GAP). */
enum ct_error {
    CT_OK = 0,
    CT_ERR_ARG = -1,         /* the call itself is wrong: a null pointer, an option out of range */
    CT_ERR_NOMEM = -2,       /* out of memory */
    CT_ERR_IO = -3,          /* the system refused to open, read or write something */
    CT_ERR_FORMAT = -4,      /* a file is malformed: syntax, magic number, truncated header */
    CT_ERR_CONFIG = -5,      /* a register or key has an impossible value */
    CT_ERR_UNSUPPORTED = -6, /* understood, but not supported by this version */
    CT_ERR_LIMIT = -7,       /* a stated limit was exceeded */
    CT_ERR_NOT_FOUND = -8,   /* a named thing does not exist */
};

/* Options are structs that begin with their own size, so that caller and library may have different versions:
 *
 *     struct ct_edges_options options = {.size = sizeof options, .max_contexts = 16};
 *
 * In C++, where g++ warns about members that this leaves out:
 *
 *     ct_edges_options options{};
 *     options.size = sizeof options;
 *
 * Members that a shorter struct lacks are zero, and NULL stands for a struct of zeros. CT_ERR_ARG: the size
 * is not set, or a longer struct has a member set that the library does not know. The library copies the
 * struct, but not what it points to.
 *
 * CT_ERR_ARG is also the result when a required pointer is NULL. Functions that return no error return an
 * empty value then: 0, NULL, no elements, or the value that stands for none. A NULL pointer to zero bytes is
 * allowed. A context may be NULL in all functions that take one beside other arguments: texts and messages
 * are dropped then. A function that returns an object in *out sets it to NULL when it fails, unless its
 * comment says otherwise. */

/* The library calls functions of the caller, called receivers here: for records, results, output, messages.
 * What one returns other than 0 ends the call that it came from, and becomes its result unchanged. Errors of
 * the library are above -1000; lower ones are the caller's own (see ct_ctx_fail).
 *
 * A receiver returns to the library. A C++ exception or a longjmp may not leave it: memory, files and threads
 * would stay behind, and locks taken. Catch the exception in the receiver, keep it (std::current_exception),
 * return an error, and throw it again after the call of the library. A receiver may not free the object that
 * called it, nor give it more input; other objects may be used. */

/* Returns the name of an error code, such as "CT_ERR_IO"; never NULL. */
CT_API const char *ct_error_name(int code);

/* Returns the version of the running library, such as "0.1.0". CT_VERSION_* are those of the headers. */
CT_API const char *ct_version(void);

/* Returns the version with a hash of the sources that results depend on, such as "0.1.0-4c9fbf021fdd". Two
 * libraries of one version but with different sources may give different results. */
CT_API const char *ct_version_exact(void);

/* Returns the name of a list (with NULL at its end) that a mistyped one probably stands for: one that differs
 * from it in case only, or else the one with the fewest other letters, if these are at most a third. NULL:
 * none. */
CT_API const char *ct_nearest_name(const char *name, const char *const *names);

enum ct_log_level {
    CT_LOG_ERROR,
    CT_LOG_WARNING,
    CT_LOG_NOTE,
    CT_LOG_DEBUG,
};

/* Receives one message, without a newline at the end. */
typedef void ct_log_fn(void *user, enum ct_log_level level, const char *text);

/* Receives the next piece of an output. Returns 0, or a negative error, which ends the writing and becomes
 * the result of the function that writes. */
typedef int ct_write_fn(void *user, const void *data, size_t size);

/* A context holds the text of the last error and the receiver of messages. Only one thread may use it at a
 * time. Objects made with it keep a pointer to it, so free it last. */
struct ct_ctx;

/* Makes a context; returns NULL when out of memory. Messages are dropped until ct_ctx_set_log. */
CT_API struct ct_ctx *ct_ctx_new(void);
CT_API void ct_ctx_free(struct ct_ctx *ctx);

/* Returns the text of the last failed call with this context, "" when no call failed. The text names the
 * object, the fact, the consequence and the remedy. It stays valid until the next failing call. The text of
 * an earlier call may remain after CT_ERR_ARG, and remains when a receiver of the caller ends a run without
 * ct_ctx_fail. */
CT_API const char *ct_ctx_error(const struct ct_ctx *ctx);

/* Returns 1 when memory ran out at any time with this context. This includes calls that continued without
 * storing something, such as a name, so that their results may lack it. */
CT_API int ct_ctx_lacked_memory(const struct ct_ctx *ctx);

/* Chooses whether files of trace are mapped (`on` 1) or read (0, the default). Mapping takes a tenth less
 * time when the file is in memory already. A file that becomes shorter while it is used gives CT_ERR_IO with
 * a text that says what is lost. When it is mapped, an access to the missing part raises SIGBUS before that.
 * Map only in a process that handles this signal, as the command does, or when nobody truncates the files;
 * the library installs no handler. Applies to files opened afterwards. */
CT_API void ct_ctx_map_files(struct ct_ctx *ctx, int on);

/* Stores an error of the caller as the last error. Returns `code`, so that a receiver can end a run with it.
 * CT_ERR_NOMEM also records that memory ran out. CT_ERR_ARG when `code` is 0. */
CT_API int ct_ctx_fail(struct ct_ctx *ctx, int code, const char *text);

/* Sends messages up to and including level `most` to fn(user, …); drops them when `fn` is NULL. */
CT_API void ct_ctx_set_log(struct ct_ctx *ctx, ct_log_fn *fn, void *user, enum ct_log_level most);

#ifdef __cplusplus
}
#endif
#endif
