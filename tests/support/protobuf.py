# SPDX-License-Identifier: Apache-2.0
"""Reads messages of Protocol Buffers with Google's library and tables of the published fields. The library is
python3-protobuf of Debian; MISSING is set when it is not installed."""
import sys

sys.path.append("/usr/lib/python3/dist-packages")  # for a Python other than Debian's
try:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    MISSING = None
except ImportError:
    MISSING = "python3-protobuf is missing"

# Google's pprof, proto/profile.proto: message -> field -> (number, type). A "*" stands for a list.
PPROF = {
    "Profile": {"sample_type": (1, "ValueType*"), "sample": (2, "Sample*"), "mapping": (3, "Mapping*"),
                "location": (4, "Location*"), "function": (5, "Function*"), "string_table": (6, "string*"),
                "period_type": (11, "ValueType"), "period": (12, "int64"),
                "default_sample_type": (14, "int64")},
    "ValueType": {"type": (1, "int64"), "unit": (2, "int64")},
    "Sample": {"location_id": (1, "uint64*"), "value": (2, "int64*")},
    "Mapping": {"id": (1, "uint64"), "memory_start": (2, "uint64"), "memory_limit": (3, "uint64"),
                "file_offset": (4, "uint64"), "filename": (5, "int64"), "build_id": (6, "int64"),
                "has_functions": (7, "bool"), "has_filenames": (8, "bool"), "has_line_numbers": (9, "bool")},
    "Location": {"id": (1, "uint64"), "mapping_id": (2, "uint64"), "address": (3, "uint64"),
                 "line": (4, "Line*")},
    "Line": {"function_id": (1, "uint64"), "line": (2, "int64")},
    "Function": {"id": (1, "uint64"), "name": (2, "int64"), "system_name": (3, "int64"),
                 "filename": (4, "int64"), "start_line": (5, "int64")},
}

# Perfetto, protos/perfetto/trace: trace.proto, trace_packet.proto, interned_data, and track_event.
PERFETTO = {
    "Trace": {"packet": (1, "TracePacket*")},
    "TracePacket": {"timestamp": (8, "uint64"), "trusted_packet_sequence_id": (10, "uint32"),
                    "track_event": (11, "TrackEvent"), "interned_data": (12, "InternedData"),
                    "sequence_flags": (13, "uint32"), "compressed_packets": (50, "bytes"),
                    "track_descriptor": (60, "TrackDescriptor")},
    "InternedData": {"event_names": (2, "EventName*")},
    "EventName": {"iid": (1, "uint64"), "name": (2, "string")},
    "TrackEvent": {"type": (9, "int32"), "name_iid": (10, "uint64"), "track_uuid": (11, "uint64"),
                   "categories": (22, "string*"), "name": (23, "string"),
                   "double_counter_value": (44, "double"), "flow_ids": (47, "fixed64*")},
    "TrackDescriptor": {"uuid": (1, "uint64"), "name": (2, "string"), "process": (3, "ProcessDescriptor"),
                        "thread": (4, "ThreadDescriptor"), "parent_uuid": (5, "uint64"),
                        "counter": (8, "CounterDescriptor")},
    "ProcessDescriptor": {"pid": (1, "int32"), "process_name": (6, "string")},
    "ThreadDescriptor": {"pid": (1, "int32"), "tid": (2, "int32"), "thread_name": (5, "string")},
    "CounterDescriptor": {},
}


def messages(name, tables, syntax="proto3"):
    """Returns the classes of the messages in a table."""
    file = descriptor_pb2.FileDescriptorProto(name=f"{name}.proto", package=name, syntax=syntax)
    for message, fields in tables.items():
        made = file.message_type.add(name=message)
        for field, (number, kind) in fields.items():
            one = made.field.add(name=field, number=number, label=3 if kind.endswith("*") else 1)
            kind = kind.rstrip("*")
            if kind in tables:
                one.type, one.type_name = descriptor_pb2.FieldDescriptorProto.TYPE_MESSAGE, f".{name}.{kind}"
            else:
                one.type = getattr(descriptor_pb2.FieldDescriptorProto, f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    factory = message_factory.MessageFactory(pool)
    return {message: factory.GetPrototype(pool.FindMessageTypeByName(f"{name}.{message}"))
            for message in tables}


def unknown(message):
    """Returns fields of a message, and of those inside of it, that are missing in the table."""
    found = [field.field_number for field in message.UnknownFields()]
    for field, value in message.ListFields():
        if field.message_type:
            for inner in value if field.label == field.LABEL_REPEATED else [value]:
                found += unknown(inner)
    return found
