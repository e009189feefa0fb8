/* SPDX-License-Identifier: Apache-2.0 */
/* The contents of a capture, in both forms of output. */
#pragma once

#include <stdio.h>

#include "coretap/info.h"
#include "coretap/json.h"

/* A decoded buffer. */
struct ct_info_buffer {
    const struct ct_buffer *buffer;
    const struct ct_frame_stats *frames; /* NULL: the buffer is empty */
    enum ct_framing framing;
    const struct ct_stream *streams; /* of the decoded IDs */
    size_t stream_count;
    const struct ct_buffer *alike; /* an earlier buffer with the same images; NULL: none */
};

/* Returns the stream of a source, or NULL when it was not decoded. */
const struct ct_stream *ct_info_stream(const struct ct_info_buffer *info, const struct ct_source *source);

/* Returns the number of trace bytes of a source. */
uint64_t ct_info_source_bytes(const struct ct_info_buffer *info, const struct ct_source *source);

void ct_info_text_capture(FILE *out, const struct ct_capture *capture);
void ct_info_text_buffer(FILE *out, const struct ct_info_buffer *info);
void ct_info_text_end(FILE *out, const struct ct_losses *losses);

void ct_info_json_capture(struct ct_json *json, const struct ct_capture *capture);
void ct_info_json_buffer(struct ct_json *json, const struct ct_info_buffer *info);
void ct_info_json_end(struct ct_json *json, const struct ct_losses *losses);
