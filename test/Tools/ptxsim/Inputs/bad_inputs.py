"""Wrong arguments and damaged files: bad_inputs.py FOLDER PTX. Each must end the tool with status 1 (2 for the kernel's own faults) within seconds and with
the text that is expected, however wrong the input is."""
import os
import struct
import subprocess
import sys

folder, ptx = sys.argv[1], sys.argv[2]
os.makedirs(folder, exist_ok=True)
os.chdir(folder)
RIGHT = ["--arg=f32=1", "--arg=f32[8]=iota", "--arg=f32[8]=zero", "--arg=u32=8"]
failed = 0


def expect(text, args, status=1, file=ptx):
    global failed
    r = subprocess.run(["ptxsim", file, *args], capture_output=True, timeout=30)
    err = r.stderr.decode(errors="replace")
    if r.returncode != status or text not in err:
        failed += 1
        print("%s %s: status %d, expected '%s', got: %s" % (file, args, r.returncode, text, err))


def npy(header, data=b"", version=b"\x01\x00", length=None):
    header = header.encode() if isinstance(header, str) else header
    with open("bad.npy", "wb") as f:
        f.write(b"\x93NUMPY" + version + struct.pack("<H", len(header) if length is None else length) + header + data)


def file(text):
    expect(text, ["--arg=f32=1", "--arg=bad.npy", "--arg=f32[8]", "--arg=u32=8"])


F4 = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }\n"
E = "ptxsim: error: "
A = E + "--arg 1 (bad.npy): bad.npy: "

# --- the file ---
expect(E + "missing.ptx: cannot be read: No such file or directory", [], file="missing.ptx")
expect(E + ".: expected a file, but got a folder", [], file=".")
expect(E + "/dev/zero: expected a regular file", [], file="/dev/zero")
open("empty.ptx", "w").close()
expect(E + "--entry: expected one of none: the file has no entries", [], file="empty.ptx")
open("binary.ptx", "wb").write(bytes(range(256)) * 40)
expect("binary.ptx:1:", [], file="binary.ptx")
open("none.ptx", "w").write(".version 8.4\n.target sm_90a\n.address_size 64\n")
expect(E + "--entry: expected one of none: the file has no entries", RIGHT, file="none.ptx")
if os.getuid():
    open("secret.ptx", "w").close()
    os.chmod("secret.ptx", 0)
    expect(E + "secret.ptx: cannot be read: Permission denied", [], file="secret.ptx")

# --- the launch ---
expect(E + "--entry: expected an entry of the file (axpy), but got 'nothing'", ["--entry=nothing"])
expect(E + "--grid: expected numbers from 1 to 2^32 - 1, but got '0'", ["--grid=0", *RIGHT])
expect(E + "--grid: expected at most three numbers, but got '1,2,3,4'", ["--grid=1,2,3,4", *RIGHT])
expect(E + "--grid: expected numbers with ',' between them, but got '-1'", ["--grid=-1", *RIGHT])
expect(E + "--grid: expected numbers with ',' between them, but got '99999999999999999999'", ["--grid=99999999999999999999", *RIGHT])
expect(E + "--grid: expected numbers with ',' between them, but got '1,'", ["--grid=1,", *RIGHT])
expect(E + "kernel 'axpy': expected a grid of 1 to (2147483647,65535,65535), but got (1,65536,1)", ["--grid=1,65536", *RIGHT])
expect(E + "kernel 'axpy': expected a block of 1 to 1024 threads, but got (1025,1,1)", ["--block=1025", *RIGHT])
expect(E + "kernel 'axpy': expected a block of 1 to 1024 threads, but got (32,32,2)", ["--block=32,32,2", *RIGHT])
expect(E + "kernel 'axpy': expected a cluster of 1 to 16 CTAs, but got (17,1,1)", ["--cluster=17", "--grid=17", *RIGHT])
expect(E + "kernel 'axpy': expected a grid of whole clusters, but got (3,1,1) with clusters of (2,1,1)", ["--grid=3", "--cluster=2", *RIGHT])
expect(E + "kernel 'axpy': expected at most 232448 bytes of shared memory, but got 0 static and 300000 dynamic", ["--shared=300000", *RIGHT])
expect(E + "--shared: expected numbers with ',' between them, but got '-5'", ["--shared=-5", *RIGHT])
expect(E + "--shared: expected one number below 2^32, but got '4294967296'", ["--shared=4294967296", *RIGHT])
expect(E + "--threads: expected at most 1024, but got 4000000000", ["--threads=4000000000", *RIGHT])
expect(E + "--schedule: expected rr, reverse, random:SEED or greedy, but got 'fast'", ["--schedule=fast", *RIGHT])
expect(E + "--async: expected eager, lazy or random:SEED, but got 'random:x'", ["--async=random:x", *RIGHT])
expect(E + "--limit: expected numbers with ',' between them, but got 'many'", ["--limit=many", *RIGHT])
expect(E + "--tc: expected exact32, h100 or a100, but got 'b200'", ["--tc=b200", *RIGHT])
expect(E + "--check: expected all, none or names of bounds, alignment,", ["--check=everything", *RIGHT])
expect(E + "--check: bounds: expected on or off, but got 'maybe'", ["--check=bounds=maybe", *RIGHT])
expect(E + "The following argument was not expected: --frobnicate", ["--frobnicate"])

# --- scalars ---
expect(E + "--arg: entry 'axpy' has 4 parameters, but got 1", RIGHT[:1])
expect(E + "--arg 4 (u32=1): entry 'axpy' has 4 parameters", RIGHT + ["--arg=u32=1"])
expect(E + "--arg 0 (f64=1): parameter 'a' has 4 bytes, but got 8", ["--arg=f64=1"])
expect(E + "--arg 0 (u32=1): parameter 'a' is .f32, but got u32", ["--arg=u32=1"])
expect(E + "--arg 0 (f17=1): expected a type of s8 u8 s16", ["--arg=f17=1"])
expect(E + "--arg 0 (f32=one): expected a number of type f32, but got 'one'", ["--arg=f32=one"])
expect(E + "--arg 0 (f32=): expected a number of type f32, but got ''", ["--arg=f32="])
expect(E + "--arg 0 (5): expected TYPE=VALUE, TYPE[SHAPE]=INIT, FILE.npy,", ["--arg=5"])
expect(E + "--arg 3 (u32=-1): expected a number of type u32, but got '-1'", RIGHT[:3] + ["--arg=u32=-1"])
expect(E + "--arg 3 (u32=4294967296): expected a number of type u32, but got '4294967296'", RIGHT[:3] + ["--arg=u32=4294967296"])
expect(E + "--arg 3 (s32=2147483648): expected a number of type s32", RIGHT[:3] + ["--arg=s32=2147483648"])
expect(E + "--arg 3 (bytes:0011zz): expected pairs of hexadecimal digits", RIGHT[:3] + ["--arg=bytes:0011zz"])
expect(E + "--arg 3 (bytes:001122): parameter 'n' has 4 bytes, but got 3", RIGHT[:3] + ["--arg=bytes:001122"])
expect(E + "nowhere: cannot be read", RIGHT[:3] + ["--arg=bytes:@nowhere"])

# --- buffers ---
for spec, text in [
    ("f32[", "expected TYPE[SHAPE]=INIT, FILE.npy or FILE.safetensors:NAME"),
    ("f33[4]=zero", "expected a type of s8 u8"),
    ("f32[-4]=zero", "expected numbers with ',' between them, but got '-4'"),
    ("f32[4,,4]=zero", "expected numbers with ',' between them, but got '4,,4'"),
    ("f32[99999999999999]=zero", "expected buffers of at most "),
    ("f32[4294967296,4294967296,4294967296]=zero", "expected buffers of at most "),
    ("f32[4]=zero!", "expected zero, iota, rand:SEED or numbers of type f32, but got 'zero!'"),
    ("f32[4]zero", "expected =INIT behind ']', but got 'zero'"),
    ("f32[4]=", "expected =INIT behind ']', but got '='"),
    ("f32[]", "expected a shape in the brackets, or numbers behind '='"),
    ("f32[4]=1,2,3", "expected 4 numbers, but got 3"),
    ("f32[4]=rand", "expected rand:SEED or rand:SEED:LOW:HIGH, but got 'rand'"),
    ("f32[4]=rand:x", "expected rand:SEED or rand:SEED:LOW:HIGH, but got 'rand:x'"),
    ("f32[4]=rand:1:5:2", "expected rand:SEED or rand:SEED:LOW:HIGH, but got 'rand:1:5:2'"),
    ("u8[4]=rand:1:0:300", "expected LOW and HIGH in the range of u8"),
    ("u8[4]=256", "expected zero, iota, rand:SEED or numbers of type u8, but got '256'"),
    ("missing.npy", "missing.npy: cannot be read: No such file or directory"),
    ("missing.safetensors:x", "missing.safetensors"),
    ("@x.npy", "expected a type before '@'"),
    ("&nobody", "expected a buffer of none, but got 'nobody'"),
    ("&0", "expected the index of an argument that is a buffer, but got 0"),
    ("map:nobody:box=4", "expected a buffer of none, but got 'nobody'"),
]:
    expect(E + "--arg 1 (%s): " % spec, ["--arg=f32=1", "--arg=" + spec])
    expect(text, ["--arg=f32=1", "--arg=" + spec])
expect(E + "--arg 0 (f32[4]=zero): parameter 'a' is .f32, but got a buffer", ["--arg=f32[4]=zero"])
expect(E + "--buffer=x: expected NAME=SPEC", ["--buffer=x"])
expect(E + "--buffer=x=f32: expected TYPE[SHAPE]=INIT", ["--buffer=x=f32"])
expect(E + "--buffer=x=f32[2]: there is a buffer 'x' already", ["--buffer=x=f32[1]", "--buffer=x=f32[2]"])
expect(E + "--out=z: expected a buffer of x, y, but got 'z'", RIGHT + ["--out=z"])
expect(E + "--out=0: expected the index of an argument that is a buffer, but got 0", RIGHT + ["--out=0"])
expect(E + "--out=y:y.txt: expected WHICH, WHICH:FILE.npy or WHICH:FILE.safetensors", RIGHT + ["--out=y:y.txt"])
expect(E + "nowhere/y.npy: cannot be written: No such file or directory", RIGHT + ["--out=y:nowhere/y.npy", "--block=8"])
expect(E + "--print: expected numbers", RIGHT + ["--print=some"])

# --- damaged .npy files ---
open("bad.npy", "wb").close()
file(A + "expected a .npy file, but its first bytes are not \\x93NUMPY")
open("bad.npy", "wb").write(b"\x93NUMPY\x01")
file(A + "the file ends inside its header")
npy(F4 % "8,", b"\0" * 32, version=b"\x04\x00")
file(A + "expected version 1.0, 2.0 or 3.0, but got 4.0")
npy(F4 % "8,", b"\0" * 32, length=60000)
file(A + "the file ends inside its header of 60000 bytes")
npy(F4 % "8,", b"\0" * 31)
file(A + "expected 32 bytes after the header (8 elements of 4 bytes), but got 31")
npy(F4 % "8,", b"\0" * 33)
file(A + "expected 32 bytes after the header (8 elements of 4 bytes), but got 33")
npy(F4 % "4294967296, 4294967296, 4294967296", b"")
file(A + "the shape has more elements than fit into memory")
npy(F4 % "-8,", b"\0" * 32)
file(A + "malformed header at '-8,")
npy(F4.replace("<f4", ">f4") % "8,", b"\0" * 32)
file(A + "expected a little-endian number type as descr, but got '>f4'")
npy(F4.replace("<f4", "|O") % "8,", b"\0" * 32)
file(A + "expected a little-endian number type as descr, but got '|O'")
npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (8,), }", b"\0" * 32)
file(A + "expected elements that are numbers, but got a structured type")
npy(F4.replace("False", "True") % "2, 4", b"\0" * 32)
file(A + "expected C order, but got fortran_order True")
npy(F4.replace("False", "Perhaps") % "8,", b"\0" * 32)
file(A + "malformed header at 'Perhaps")
npy("{'descr': '<f4', 'shape': (8,), }", b"\0" * 32)
file(A + "expected the keys descr, fortran_order and shape in the header")
npy("{'descr': '<f4', 'descr': '<f4', 'shape': (8,), }", b"\0" * 32)
file(A + "expected the keys descr, fortran_order and shape once each, but got 'descr'")
npy("{'descr': '<f4", b"")
file(A + "malformed header at ''<f4")
npy("[1, 2]", b"")
file(A + "malformed header at '[1, 2]'")
npy(b"\xff" * 40, b"")
file(A + "malformed header at")
npy(F4 % ("1," * 40), b"\0" * 4)
file(A + "expected at most 32 dimensions")
npy(F4 % "8,", b"\0" * 32)
expect(E + "--arg 1 (f64@bad.npy): expected a type of 4 bytes, as the file has f32, but got f64", ["--arg=f32=1", "--arg=f64@bad.npy"])
os.makedirs("folder.npy", exist_ok=True)
expect("folder.npy: expected a file, but got a folder", ["--arg=f32=1", "--arg=folder.npy"])
open("bad.safetensors", "wb").write(b"\xff" * 100)
expect("bad.safetensors", ["--arg=f32=1", "--arg=bad.safetensors:x"])
# A file that is cut off anywhere is refused (or, when only its padding is gone, never crashes).
npy(F4 % "8,", b"\0" * 32)
whole = open("bad.npy", "rb").read()
for n in range(0, len(whole), 7):
    open("bad.npy", "wb").write(whole[:n])
    file(E + "--arg 1 (bad.npy): bad.npy: ")

# --- faults of the kernel end with status 2 ---
expect("axpy.ptx:20:3: error: ld.global.f32: cta (0,0,0) warp 0 lane 8 (thread 8): ", RIGHT[:3] + ["--arg=u32=9"], status=2)
expect("is a null pointer", ["--arg=f32=1", "--arg=u64=0", "--arg=f32[8]", "--arg=u32=8"], status=2)
print("all refused" if not failed else "%d went wrong" % failed)
sys.exit(bool(failed))
