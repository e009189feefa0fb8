/* SPDX-License-Identifier: Apache-2.0 */
/* coretap info: a decoded buffer, for both forms of output. */
#pragma once

#include "cli/capture.h"
#include "coretap/json.h"

struct cli_info_buffer {
    const struct ct_buffer *buffer;
    const struct ct_frame_stats *frames; /* NULL: the buffer is empty */
    enum ct_framing framing;
    const struct ct_stream *streams; /* of the decoded IDs */
    size_t stream_count;
};

/* Returns the stream of a source, or NULL when it was not decoded. */
const struct ct_stream *cli_info_stream(const struct cli_info_buffer *info, const struct ct_source *source);

/* Returns the number of trace bytes of a source. */
uint64_t cli_info_source_bytes(const struct cli_info_buffer *info, const struct ct_source *source);

void cli_info_text_capture(const struct ct_capture *capture);
void cli_info_text_buffer(const struct cli_info_buffer *info);
void cli_info_text_end(const struct ct_losses *losses);

void cli_info_json_capture(struct ct_json *json, const struct ct_capture *capture);
void cli_info_json_buffer(struct ct_json *json, const struct cli_info_buffer *info);
void cli_info_json_end(struct ct_json *json, const struct ct_losses *losses);
