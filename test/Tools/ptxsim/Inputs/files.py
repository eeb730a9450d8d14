"""Arrays go through the tool and come back: files.py FOLDER PTX. numpy and safetensors write and read them."""
import os
import subprocess
import sys

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file

folder, ptx = sys.argv[1], sys.argv[2]
os.makedirs(folder, exist_ok=True)
os.chdir(folder)


def run(*args):
    subprocess.run(["ptxsim", ptx, "--block=64", *args], check=True)


x = np.linspace(-3, 5, 64, dtype=np.float32).reshape(4, 16)
y = np.arange(64, dtype=np.float32).reshape(4, 16)
np.save("x.npy", x)
np.save("y.npy", y)
run("--arg=f32=2", "--arg=x.npy", "--arg=y.npy", "--arg=u32=64", "--out=y:z.npy")
z = np.load("z.npy")
assert z.dtype == np.float32 and z.shape == (4, 16) and np.array_equal(z, 2 * x + y)

# A tensor of a checkpoint, and back into one.
save_file({"w.x": x, "w.y": y}, "in.safetensors")
run("--arg=f32=-1", "--arg=in.safetensors:w.x", "--arg=in.safetensors:w.y", "--arg=u32=64", "--out=1:out.safetensors", "--out=y:out.safetensors")
with safe_open("out.safetensors", "numpy") as f:
    assert sorted(f.keys()) == ["x", "y"]
    assert np.array_equal(f.get_tensor("x"), x) and np.array_equal(f.get_tensor("y"), y - x)

# Every type comes back as it is; bf16 and fp8 are raw bits in .npy.
for name in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"):
    a = (np.arange(24) * 5 - 60).astype("<" + name).reshape(2, 3, 4)
    np.save("a.npy", a)
    run("--arg=f32=0", "--arg=a.npy", "--arg=f32[1]=0", "--arg=u32=0", "--out=x:b.npy")
    b = np.load("b.npy")
    assert b.dtype == a.dtype and b.shape == a.shape and np.array_equal(a, b), name
raw = np.arange(32, dtype=np.uint16) + 0x3F80
np.save("raw.npy", raw)
run("--arg=f32=0", "--arg=bf16@raw.npy", "--arg=f32[1]=0", "--arg=u32=0", "--out=x:b.npy", "--out=x:b.safetensors")
assert np.array_equal(np.load("b.npy"), raw)
out = subprocess.run(["ptxsim", ptx, "--arg=f32=0", "--arg=bf16@raw.npy", "--arg=f32[1]=0", "--arg=u32=0", "--print=2"], check=True,
                     capture_output=True, text=True).stdout
assert out.startswith("x = [1,1.0078125,... 32 elements]"), out

# Shapes with one, no and zero dimensions.
for a in (np.float32(7).reshape(()), np.zeros((0, 5), np.float32), np.ones(3, np.float32)):
    np.save("a.npy", a)
    run("--arg=f32=0", "--arg=a.npy", "--arg=f32[1]=0", "--arg=u32=0", "--out=x:b.npy")
    assert np.array_equal(np.load("b.npy"), a) and np.load("b.npy").shape == a.shape
# Older and newer headers.
for version in ((1, 0), (2, 0), (3, 0)):
    with open("a.npy", "wb") as f:
        np.lib.format.write_array(f, x, version=version)
    run("--arg=f32=0", "--arg=a.npy", "--arg=f32[1]=0", "--arg=u32=0", "--out=x:b.npy")
    assert np.array_equal(np.load("b.npy"), x)
print("files agree")
