/* SPDX-License-Identifier: Apache-2.0 */
/* Lets other parts of the chain bypass the demultiplexer. */
#pragma once

#include "coretap/frame.h"

/* Skips `size` bytes of a stream without frames, whose run must be empty. */
void ct_demux_skip(struct ct_demux *demux, size_t size);

/* Removes the last `size` bytes that were pushed and not consumed, as if they had not been pushed. */
void ct_demux_take_back(struct ct_demux *demux, size_t size);

/* Announces that the trace begins before the first byte: bytes before the first synchronisation word of a
 * TPIU are skipped, not lost. To be called before the first byte. */
void ct_demux_begin_inside(struct ct_demux *demux);

/* Returns the last ID in `count` aligned frames, which is that of the bytes after them; 0 when they have
 * none. */
uint8_t ct_frames_last_id(const uint8_t *frames, size_t count);

/* Sets the ID of the next bytes, after ct_demux_restart; 0: unknown. */
void ct_demux_set_id(struct ct_demux *demux, uint8_t id);

/* Returns the offset in the capture of a byte of the file; for DSTREAM, of its block. */
uint64_t ct_framing_block_offset(enum ct_framing framing, uint64_t file_offset);

/* Returns the offset of the next byte in the capture. */
uint64_t ct_demux_offset(const struct ct_demux *demux);
