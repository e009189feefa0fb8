/* SPDX-License-Identifier: Apache-2.0 */
/* JSON written as it comes: objects, arrays and values in order, with commas and indentation. */
#ifndef CT_FORMAT_JSON_H
#define CT_FORMAT_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct ct_json {
    FILE *out;
    unsigned depth;
    bool first;  /* nothing was written yet at this depth */
    bool script; /* for a <script> of a page: short, and nothing in it ends the script */
};

/* `key` is the name in an object, NULL in an array and for the outermost value. */
void ct_json_object(struct ct_json *json, const char *key);
void ct_json_array(struct ct_json *json, const char *key);
void ct_json_object_end(struct ct_json *json);
void ct_json_array_end(struct ct_json *json);

/* Text may hold any bytes: what is not UTF-8 becomes U+FFFD. NULL becomes null. */
void ct_json_text(struct ct_json *json, const char *key, const char *text);
void ct_json_number(struct ct_json *json, const char *key, uint64_t value);
void ct_json_real(struct ct_json *json, const char *key, double value);
void ct_json_bool(struct ct_json *json, const char *key, bool value);

#endif
