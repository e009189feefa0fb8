# SPDX-License-Identifier: Apache-2.0
"""Reads Perfetto traces as documented: packets in packets are unpacked, names are looked up where they were
defined before, and events of a track make nested slices."""
import collections
import zlib

import protobuf

SLICE_BEGIN, SLICE_END, INSTANT, COUNTER = 1, 2, 3, 4
STATE_CLEARED, NEEDS_STATE = 1, 2

Slice = collections.namedtuple("Slice", "name begin end depth")


class Track:
    """Content of a track: slices; (time, name) of instants; (category, time, name, surrounding function) of
    those with a category; (time, value) of a counter."""

    def __init__(self, descriptor):
        self.descriptor = descriptor
        self.slices, self.instants, self.notes, self.values, self.open = [], [], [], [], []
        self.time = 0


class Trace:
    """A file. A broken rule of the format raises an AssertionError."""

    def __init__(self, data):
        outer = protobuf.messages("perfetto", protobuf.PERFETTO, "proto2")["Trace"]
        self.tracks, self.names, self.size, self.cleared = {}, {}, 0, False
        self.flows = collections.defaultdict(list)  # number -> (time, name of the core's track, text)
        for packet in outer.FromString(data).packet:
            assert packet.HasField("compressed_packets") and len(packet.compressed_packets) < 512 << 10
            inner = zlib.decompress(packet.compressed_packets)
            self.size += len(inner)
            trace = outer.FromString(inner)
            assert not protobuf.unknown(trace)
            for each in trace.packet:
                self.take(each)

    def take(self, packet):
        assert packet.trusted_packet_sequence_id
        self.cleared |= bool(packet.sequence_flags & STATE_CLEARED)
        assert self.cleared or not packet.sequence_flags & NEEDS_STATE
        for name in packet.interned_data.event_names:
            assert name.iid and name.iid not in self.names
            self.names[name.iid] = name.name
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert track.uuid and track.uuid not in self.tracks
            assert not track.parent_uuid or track.parent_uuid in self.tracks
            self.tracks[track.uuid] = Track(track)
        if packet.HasField("track_event"):
            self.event(packet.timestamp, packet.track_event)

    def event(self, time, event):
        track = self.tracks[event.track_uuid]
        assert event.type == COUNTER or time >= track.time, (time, track.time, track.descriptor)
        assert (event.type == COUNTER) == track.descriptor.HasField("counter")
        track.time = time
        name = self.names[event.name_iid] if event.name_iid else event.name
        if event.type == SLICE_BEGIN:
            track.open.append((name, time))
        elif event.type == SLICE_END:
            name, begin = track.open.pop()
            track.slices.append(Slice(name, begin, time, len(track.open)))
        elif event.type == INSTANT:
            if event.categories:
                inside = track.open[-1][0] if track.open else None
                track.notes.append((event.categories[0], time, name, inside))
            else:
                track.instants.append((time, name))
            for flow in event.flow_ids:
                self.flows[flow].append((time, self.name(track)[0], name))
        else:
            track.values.append((time, event.double_counter_value))

    def name(self, track):
        """Returns the names of a track and of those that contain it, outermost first."""
        of = track.descriptor
        outer = self.name(self.tracks[of.parent_uuid]) if of.parent_uuid else ()
        return outer + (of.process.process_name or of.thread.thread_name or of.name,)

    def by_name(self):
        return {self.name(track): track for track in self.tracks.values()}
