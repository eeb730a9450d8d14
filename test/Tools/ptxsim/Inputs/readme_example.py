"""Runs the commands of a README's ```console blocks and compares what they print: readme_example.py README FOLDER [--update].

A line `$ COMMAND` is run in FOLDER, where the kernels of this folder are; the lines after it are what it prints, errors included. --update writes what it
prints now into the README."""
import os
import re
import shutil
import subprocess
import sys

readme, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
here = os.path.dirname(os.path.abspath(__file__))
for name in os.listdir(here):
    if name.endswith(".ptx"):
        shutil.copy(os.path.join(here, name), folder)


def run(command):
    r = subprocess.run(["bash", "-c", command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return r.stdout.rstrip("\n").split("\n") if r.stdout else []


text = open(readme).read()
commands = wrong = 0
pieces = re.split(r"(```console\n.*?```)", text, flags=re.S)
for i in range(1, len(pieces), 2):
    out = []
    for step in re.split(r"^(?=\$ )", pieces[i][len("```console\n"):-len("```")], flags=re.M):
        lines = step.rstrip("\n").split("\n")
        if not lines[0].startswith("$ "):
            continue
        commands += 1
        got = run(lines[0][2:])
        if got != lines[1:]:
            wrong += 1
            print("\n".join([lines[0] + " prints"] + got + ["instead of"] + lines[1:]))
        out += [lines[0]] + got
    pieces[i] = "```console\n" + "\n".join(out) + "\n```"
if "--update" in sys.argv:
    open(readme, "w").write("".join(pieces))
elif wrong or not commands:
    sys.exit("%s: %d of %d commands print something else" % (sys.argv[1], wrong, commands))
print("%d commands print what %s says" % (commands, os.path.basename(readme)))
