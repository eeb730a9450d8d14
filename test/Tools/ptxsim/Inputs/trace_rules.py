"""The rules of the trace event format that ui.perfetto.dev and chrome://tracing go by, on the file of --profile. Prints what it holds."""

import json
import sys
from collections import Counter


def unique(pairs):
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), f"an object has a key twice: {keys}"
    return dict(pairs)


with open(sys.argv[1], encoding="utf-8") as file:
    trace = json.load(file, object_pairs_hook=unique, parse_constant=lambda text: sys.exit(f"{text} is no JSON"))
assert isinstance(trace, dict) and isinstance(trace["traceEvents"], list)
assert trace["displayTimeUnit"] in ("ms", "ns")

processes, tracks = {}, {}  # names
slices, open_events, kinds = {}, {}, Counter()


def number(event, key):
    value = event[key]
    assert isinstance(value, int) and 0 <= value < 2**53, f"{key}: {event}"
    return value


for event in trace["traceEvents"]:
    phase, process = event["ph"], number(event, "pid")
    track = None if event["name"] == "process_name" else number(event, "tid")
    assert isinstance(event["name"], str) and event["name"], event
    assert isinstance(event.get("args", {}), dict), event
    kinds[phase] += 1
    if phase == "M":
        assert event["name"] in ("process_name", "thread_name"), event
        names, key = (processes, process) if event["name"] == "process_name" else (tracks, (process, track))
        assert isinstance(event["args"]["name"], str) and event["args"]["name"], event
        assert key not in names, f"named twice: {event}"
        names[key] = event["args"]["name"]
        continue
    time = number(event, "ts")
    assert isinstance(event["cat"], str), event
    if phase == "X":  # complete
        slices.setdefault((process, track), []).append((time, time + number(event, "dur"), event["name"]))
    elif phase == "i":  # instant
        assert event["s"] in ("g", "p", "t"), event
    elif phase in ("b", "e"):  # asynchronous: matched by category and id
        key = (event["cat"], event["id"])
        if phase == "b":
            assert key not in open_events, f"begun twice: {event}"
            open_events[key] = event
        else:
            begin = open_events.pop(key)
            assert (begin["name"], begin["pid"]) == (event["name"], process) and begin["ts"] <= time, event
    else:
        raise AssertionError(f"unknown phase: {event}")
assert not open_events, f"begun and never ended: {open_events}"
for process, track in slices:
    assert process in processes and (process, track) in tracks, f"track {process}.{track} has no name"
for track, events in slices.items():
    events.sort(key=lambda e: (e[0], -e[1]))
    for before, after in zip(events, events[1:]):
        assert before[1] <= after[0], f"slices overlap on {track}: {before}, {after}"
print("valid:", ", ".join(f"{kinds[phase]} {phase}" for phase in sorted(kinds)))
for name in sorted(set(processes.values()) | set(tracks.values()) | {e[2] for events in slices.values() for e in events}):
    print(name)
