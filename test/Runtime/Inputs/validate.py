#!/usr/bin/env python3
"""validate.py SCHEMA JSON...: checks files against a JSON Schema (draft 2020-12); prints what is wrong and exits 1, or `valid`."""
import json
import sys

from jsonschema import Draft202012Validator

schema = json.load(open(sys.argv[1]))
Draft202012Validator.check_schema(schema)
wrong = [f"{path}: {'/'.join(map(str, e.absolute_path))}: {e.message}" for path in sys.argv[2:]
         for e in Draft202012Validator(schema).iter_errors(json.load(open(path)))]
print("\n".join(wrong) or "valid")
sys.exit(bool(wrong))
