/* SPDX-License-Identifier: Apache-2.0 */
/* coretap JSON: writes objects, arrays and values as they come, with commas and indentation. For output of a
 * program beside the results that format.h writes.
 *
 *     ct_json_new(ctx, NULL, write, user, &json);
 *     ct_json_object(json, NULL);
 *     ct_json_text(json, "capture", capture->path);
 *     ct_losses_json(json, &seen->losses, CT_LOSSES_PROGRAM);
 *     ct_json_object_end(json);
 *     rc = ct_json_flush(json);
 *     ct_json_free(json); */
#ifndef CORETAP_JSON_H
#define CORETAP_JSON_H

#include "coretap/base.h"
#include "coretap/losses.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ct_json;

struct ct_json_options {
    size_t size;    /* sizeof(struct ct_json_options) */
    uint8_t script; /* 1: for the <script> of a page: without indentation, and escaped so that nothing ends
                       the script */
    uint8_t pad[7]; /* 0 */
};

/* Makes an object that passes its text to `write`, in pieces. `ctx` may be NULL. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_json_new(struct ct_ctx *ctx, const struct ct_json_options *options, ct_write_fn *write,
                       void *user, struct ct_json **out);

/* Passes what is buffered to the receiver and frees the object. */
CT_API void ct_json_free(struct ct_json *json);

/* Passes what is written so far to the receiver. Returns its first error, CT_ERR_ARG. */
CT_API int ct_json_flush(struct ct_json *json);

/* Begins and ends objects and arrays. `key` is the name in an object, NULL in an array and for the outermost
 * value. When `json` is NULL, these and the functions below do nothing. */
CT_API void ct_json_object(struct ct_json *json, const char *key);
CT_API void ct_json_array(struct ct_json *json, const char *key);
CT_API void ct_json_object_end(struct ct_json *json);
CT_API void ct_json_array_end(struct ct_json *json);

/* Writes a value. A text may contain any bytes: those that are not UTF-8 become U+FFFD, and NULL becomes
 * null. */
CT_API void ct_json_text(struct ct_json *json, const char *key, const char *text);
CT_API void ct_json_number(struct ct_json *json, const char *key, uint64_t value);
CT_API void ct_json_real(struct ct_json *json, const char *key, double value);
CT_API void ct_json_bool(struct ct_json *json, const char *key, int value);

/* Writes what is known of losses, as an object "losses" or as members of the object that is open. */
CT_API void ct_losses_json(struct ct_json *json, const struct ct_losses *losses, enum ct_losses_known known);
CT_API void ct_losses_members(struct ct_json *json, const struct ct_losses *losses,
                              enum ct_losses_known known);

#ifdef __cplusplus
}
#endif
#endif
