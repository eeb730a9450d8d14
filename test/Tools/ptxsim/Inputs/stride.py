#!/usr/bin/env python3
"""stride.py FOLDER: what ptxas makes of a stride of tensormap.replace, by .version: `VERSION as FIRST` or `VERSION other`, from the machine code alone."""
import os
import struct
import subprocess
import sys

PTX = """.version %s
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 map, .param .u64 stride) {
  .reg .b64 %%map, %%stride;
  ld.param.u64 %%map, [map];
  ld.param.u64 %%stride, [stride];
  %s
  tensormap.replace.tile.global_stride.global.b1024.b64 [%%map], 0, %%stride;
  ret;
}
"""


def code(version, before=""):
    source, cubin = (os.path.join(sys.argv[1], "stride" + e) for e in (".ptx", ".cubin"))
    with open(source, "w") as f:
        f.write(PTX % (version, before))
    subprocess.run(["ptxas", "-arch=sm_90a", source, "-o", cubin], check=True)
    with open(cubin, "rb") as f:
        elf = f.read()
    at, size, count, names = struct.unpack_from("<Q", elf, 0x28)[0], *struct.unpack_from("<HHH", elf, 0x3A)
    sections = [struct.unpack_from("<IIQQQQ", elf, at + size * i) for i in range(count)]
    for name, _, _, _, offset, length in sections:
        start = sections[names][4] + name
        if elf[start:elf.index(b"\0", start)] == b".text.k":
            return elf[offset:offset + length]
    sys.exit("no .text.k in " + cubin)


os.makedirs(sys.argv[1], exist_ok=True)
first = code("8.6")
for version in ("8.3", "8.4", "8.5", "8.6"):
    print(version, "as 8.6" if code(version) == first else "other")
print("with another stride", "as 8.6" if code("8.6", "shl.b64 %stride, %stride, 1;") == first else "other")
