"""schedules.py K2-RUN PREFIX ARTIFACT WEIGHTS: runs PREFIX.in.safetensors under every schedule and compares the outputs' bytes."""
import os
import subprocess
import sys

tool, prefix, artifact, weights = sys.argv[1:]
modes = ["schedule=rr", "schedule=reverse", "schedule=greedy", "schedule=random:1", "schedule=random:2,async=lazy", "async=lazy", "schedule=reverse,async=random:1"]
outputs = []
for mode in modes:
    out = prefix + ".out.safetensors"
    subprocess.run([tool, artifact, f"--weights={weights}", f"--input={prefix}.in.safetensors", f"--output={out}", "--steps=7,1,1", "--trace"],
                   env={**os.environ, "K2RT_SIM": mode}, check=True)
    outputs.append(open(out, "rb").read())
assert all(o == outputs[0] for o in outputs), [m for m, o in zip(modes, outputs) if o != outputs[0]]
print(len(modes), "runs give the same bits")
