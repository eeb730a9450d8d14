#!/usr/bin/env python3
"""step_memory.py OWN ARENA: two --stats files; prints `shared` when the second run needed less memory for a step than the first."""
import json
import sys

own, arena = (json.load(open(path))["memory"]["step"] for path in sys.argv[1:3])
print("shared" if 0 < arena < own else f"own {own}, arena {arena}")
