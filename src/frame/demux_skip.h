/* SPDX-License-Identifier: Apache-2.0 */
/* Lets another part of the chain take bytes past the demultiplexer. */
#ifndef CT_FRAME_DEMUX_SKIP_H
#define CT_FRAME_DEMUX_SKIP_H

#include "coretap/frame.h"

/* Skips `size` bytes of a stream without frames, whose run must be empty. */
void ct_demux_skip(struct ct_demux *demux, size_t size);

/* Takes back the last `size` bytes that were pushed, which nobody consumed, as if they had not been
 * pushed. */
void ct_demux_take_back(struct ct_demux *demux, size_t size);

/* Says that the first bytes are not those that the trace begins with: what comes before the first
 * synchronisation word of a TPIU is left out, and is not lost. Before the first byte. */
void ct_demux_begin_inside(struct ct_demux *demux);

/* Returns the last ID that `count` aligned frames name, which is that of the bytes behind them; 0 when they
 * name none. */
uint8_t ct_frames_last_id(const uint8_t *frames, size_t count);

/* Says which ID the bytes have that come next, behind ct_demux_restart; 0: it is not known. */
void ct_demux_set_id(struct ct_demux *demux, uint8_t id);

/* Returns the offset in the capture of a byte of the file: of DSTREAM, of the block that it is in. */
uint64_t ct_framing_block_offset(enum ct_framing framing, uint64_t file_offset);

/* Returns the offset of the next byte in the capture. */
uint64_t ct_demux_offset(const struct ct_demux *demux);

#endif
