"""lit configuration of k2c: tools come from build/bin, FileCheck and lit from LLVM's folder.

Features: `full` (long tests are wanted: K2C_FULL_TESTS is set), `compiler` (k2c was built with MLIR), `ptxas` (the assembler was found), `clang-nvptx` (a clang
with that target, %clang_nvptx), `jsonschema`, `numpy` (%python has that package),
`triton` (scripts/bootstrap.sh --triton has installed it; %triton is the Python that finds it), `python-headers` (a C compiler and Python.h of %python: Triton's
launcher is built with them).
Substitutions: %golden is the folder with golden cases that is in the tree, %llvm the prefix of LLVM, %python the interpreter of scripts/bootstrap.sh's environment if
there is one, else the one that runs lit.
"""
import os
import shutil
import subprocess
import sys

import lit.formats

config.name = "k2c"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir", ".test", ".ptx"]
config.test_source_root = os.path.dirname(__file__)
config.excludes = ["Fuzz", "CMakeLists.txt", "lit.cfg.py", "golden", "Inputs"]

path = [config.k2c_bin_dir, config.llvm_tools_dir]
cuda = os.environ.get("CUDA_HOME")
if cuda:
    path.append(os.path.join(cuda, "bin"))
config.environment["PATH"] = os.pathsep.join(path + [config.environment.get("PATH", "")])
for name in ("K2C_GOLDEN", "CUDA_HOME", "K2C_PTXAS", "K2C_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

config.substitutions.append(("%golden", os.path.join(config.test_source_root, "golden")))
config.substitutions.append(("%bin", config.k2c_bin_dir))
config.substitutions.append(("%source", config.k2c_source_dir))
config.substitutions.append(("%llvm", os.path.dirname(config.llvm_tools_dir)))

cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.environ.get("HOME", "/tmp"), ".cache")
python = os.path.join(cache, "k2c", "venv", "bin", "python")
python = python if os.path.exists(python) else sys.executable
config.substitutions.append(("%python", python))
for package in ("jsonschema", "numpy"):
    if subprocess.run([python, "-c", f"import {package}"], capture_output=True).returncode == 0:
        config.available_features.add(package)

triton = os.path.join(cache, "k2c", "triton")
if os.path.isdir(os.path.join(triton, "triton")):
    config.available_features.add("triton")
    config.substitutions.append(("%triton", f"env PYTHONPATH={triton} {python}"))

headers = "import os, sysconfig; exit(not os.path.exists(sysconfig.get_paths(scheme='posix_prefix')['include'] + '/Python.h'))"
if (shutil.which("gcc") or shutil.which("clang")) and subprocess.run([python, "-c", headers], capture_output=True).returncode == 0:
    config.available_features.add("python-headers")

if config.k2c_has_compiler:
    config.available_features.add("compiler")
else:
    config.excludes += ["Dialect", "Transforms", "Conversion", "Target", "Import", "Execution", "Reference", "Docs"]
# A clang that can make PTX of C: another compiler's PTX for the simulator.
clang = shutil.which("clang-22") or shutil.which("clang")
if clang and "nvptx64" in subprocess.run([clang, "--print-targets"], capture_output=True, text=True).stdout:
    config.available_features.add("clang-nvptx")
    config.substitutions.append(("%clang_nvptx", clang))

# Tests of a minute: scripts/test.sh without --quick sets it.
if os.environ.get("K2C_FULL_TESTS"):
    config.available_features.add("full")
if os.environ.get("K2C_GOLDEN"):
    config.available_features.add("golden-folder")
if os.environ.get("K2C_PTXAS") or shutil.which("ptxas", path=config.environment["PATH"]):
    config.available_features.add("ptxas")
