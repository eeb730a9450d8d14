//===- Ptxas.cpp - The assembler as a subprocess, with gates --------------===//
#include "k2c/Artifact/Ptxas.h"
#include "k2c/Artifact/CubinCache.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace {
/// A file that goes away with its owner unless it is kept.
struct TemporaryFile {
  SmallString<128> path;
  bool keep = false;
  TemporaryFile(StringRef prefix, StringRef suffix) {
    // What is written to it then fails, which is looked at.
    // NOLINTNEXTLINE(bugprone-unused-return-value)
    (void)sys::fs::createTemporaryFile(prefix, suffix, path);
  }
  ~TemporaryFile() {
    if (!keep && !path.empty())
      // NOLINTNEXTLINE(bugprone-unused-return-value)
      (void)sys::fs::remove(path);
  }
  std::string read() const {
    auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                        /*RequiresNullTerminator=*/false);
    return buffer ? (*buffer)->getBuffer().str() : "";
  }
};
} // namespace

/// Exit code, with stdout and stderr together in `text`; negative: did not run.
static int run(StringRef program, ArrayRef<std::string> arguments,
               std::string &text) {
  TemporaryFile out("k2c-ptxas", "log");
  std::vector<StringRef> argv{program};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  std::optional<StringRef> redirects[] = {StringRef(""), out.path.str(),
                                          out.path.str()};
  std::string problem;
  int code =
      sys::ExecuteAndWait(program, argv, std::nullopt, redirects,
                          /*SecondsToWait=*/0, /*MemoryLimit=*/0, &problem);
  text = problem + out.read();
  return code;
}

/// The Python package keeps it in nvidia/cu13/bin of a site-packages folder.
static std::vector<std::string> pythonPlaces() {
  std::vector<std::string> roots;
  if (auto folder = sys::Process::GetEnv("VIRTUAL_ENV"))
    roots.push_back(*folder);
  // Where scripts/bootstrap.sh puts the package.
  SmallString<128> cache;
  if (auto xdg = sys::Process::GetEnv("XDG_CACHE_HOME"); xdg && !xdg->empty())
    cache = *xdg;
  else if (sys::path::home_directory(cache))
    sys::path::append(cache, ".cache");
  if (!cache.empty()) {
    sys::path::append(cache, "k2c", "venv");
    roots.push_back(cache.str().str());
  }
  if (auto python = sys::findProgramByName("python3")) {
    SmallString<128> root = sys::path::parent_path(*python);
    roots.push_back(sys::path::parent_path(root).str());
  }
  roots.push_back("/usr/local");
  std::vector<std::string> places;
  for (const std::string &root : roots)
    for (StringRef packages : {"site-packages", "dist-packages"}) {
      std::error_code code;
      SmallString<128> lib(root);
      sys::path::append(lib, "lib");
      for (sys::fs::directory_iterator it(lib, code), end; !code && it != end;
           it.increment(code)) {
        if (!sys::path::filename(it->path()).starts_with("python3"))
          continue;
        SmallString<128> file(it->path());
        sys::path::append(file, packages, "nvidia");
        std::error_code inner;
        for (sys::fs::directory_iterator in(file, inner); !inner && in != end;
             in.increment(inner)) {
          SmallString<128> tool(in->path());
          sys::path::append(tool, "bin", "ptxas");
          if (sys::fs::can_execute(tool))
            places.push_back(tool.str().str());
        }
      }
    }
  llvm::sort(places);
  return places;
}

static std::optional<k2c::Ptxas> tryPtxas(const std::string &path,
                                          std::string &text) {
  if (run(path, {"--version"}, text) != 0)
    return std::nullopt;
  Regex release("V[0-9]+\\.[0-9]+\\.[0-9]+");
  SmallVector<StringRef> match;
  if (!release.match(text, &match))
    return std::nullopt;
  return k2c::Ptxas{path, match[0].str()};
}

std::optional<k2c::Ptxas> k2c::findPtxas(std::string &error) {
  std::string text;
  TemporaryFile probe("k2c", "probe");
  if (!sys::fs::exists(probe.path)) {
    error = "TMPDIR: expected a folder to write temporary files to, but got " +
            sys::path::parent_path(probe.path).str();
    return std::nullopt;
  }
  if (auto given = sys::Process::GetEnv("K2C_PTXAS")) {
    auto found = tryPtxas(*given, text);
    if (!found)
      error = "K2C_PTXAS: expected a ptxas that runs, but got " + *given;
    return found;
  }
  std::vector<std::string> places;
  if (auto cuda = sys::Process::GetEnv("CUDA_HOME"))
    places.push_back(*cuda + "/bin/ptxas");
  if (auto inPath = sys::findProgramByName("ptxas"))
    places.push_back(*inPath);
  for (const std::string &place : places)
    if (sys::fs::can_execute(place))
      if (auto found = tryPtxas(place, text))
        return found;
  for (const std::string &place : pythonPlaces())
    if (auto found = tryPtxas(place, text))
      return found;
  return std::nullopt;
}

static int64_t sumOf(StringRef text, StringRef pattern) {
  Regex regex(pattern);
  SmallVector<StringRef> match;
  int64_t sum = 0;
  while (regex.match(text, &match)) {
    int64_t value = 0;
    (void)match[1].getAsInteger(10, value);
    sum += value;
    text = text.substr(match[0].end() - text.begin());
  }
  return sum;
}

k2c::PtxasReport k2c::parsePtxasReport(const std::string &text) {
  PtxasReport report;
  report.registers = sumOf(text, "Used ([0-9]+) registers");
  report.staticSharedBytes = sumOf(text, "([0-9]+) bytes smem");
  report.stackBytes = sumOf(text, "([0-9]+) bytes stack frame");
  report.spillBytes = sumOf(text, "([0-9]+) bytes spill");
  Regex advisory("C75[0-9][0-9]");
  SmallVector<StringRef> lines;
  StringRef(text).split(lines, '\n');
  for (StringRef line : lines)
    if (advisory.match(line))
      report.advisories.push_back(line.trim().str());
  return report;
}

std::string k2c::gateFailure(const PtxasReport &report) {
  if (report.spillBytes)
    return "expected no register spills, but got " +
           std::to_string(report.spillBytes) + " bytes";
  if (report.stackBytes)
    return "expected no stack frame, but got " +
           std::to_string(report.stackBytes) + " bytes";
  if (!report.advisories.empty())
    return "expected no C75xx advisory of ptxas, but got '" +
           report.advisories.front() + "'";
  return "";
}

std::vector<std::string> k2c::ptxasFlags(const std::string &arch) {
  return {"-v", "-arch=" + arch};
}

std::string k2c::explainFault(const Ptxas &ptxas, const Assembled &assembled,
                              const std::string &name, const std::string &ptx,
                              const std::string &arch) {
  TemporaryFile kept("k2c-" + name, "ptx");
  kept.keep = true;
  std::error_code code;
  raw_fd_ostream out(kept.path, code);
  std::string fault =
      "kernel " + name + ": " + assembled.fault + "\n" + assembled.log;
  if (code)
    return fault;
  out << ptx;
  out.close();
  if (out.has_error()) {
    out.clear_error();
    return fault;
  }
  std::string path = kept.path.str().str();
  return fault + "\n  PTX kept in " + path + "\n  to reproduce: " + ptxas.path +
         " " + join(ptxasFlags(arch), " ") + " -o /dev/null " + path;
}

k2c::Assembled k2c::assemble(const Ptxas &ptxas, const CubinCache &cache,
                             const std::string &name, const std::string &ptx,
                             const std::string &arch) {
  Assembled result;
  std::vector<std::string> flags = ptxasFlags(arch);
  std::string key =
      sha256(ptxas.version + "\n" + join(flags, " ") + "\n" + ptx);
  if (auto entry = cache.find(key)) {
    result.cubin = std::move(entry->cubin);
    result.log = std::move(entry->log);
    result.cached = true;
  } else {
    TemporaryFile source("k2c", "ptx"), target("k2c", "cubin");
    {
      std::error_code code;
      raw_fd_ostream out(source.path, code);
      if (code) {
        result.fault =
            "expected room for a temporary file, but got " + code.message();
        return result;
      }
      out << ptx;
      out.close();
      if (out.has_error()) {
        result.fault = "expected room for a temporary file, but got " +
                       out.error().message();
        out.clear_error();
        return result;
      }
    }
    std::string input = source.path.str().str();
    std::vector<std::string> arguments = flags;
    arguments.insert(arguments.end(), {"-o", target.path.str().str(), input});
    int code = run(ptxas.path, arguments, result.log);
    // The name of the temporary file is in no message that is kept.
    for (size_t at; (at = result.log.find(input)) != std::string::npos;)
      result.log.replace(at, input.size(), name + ".ptx");
    if (code != 0) {
      result.fault = "expected ptxas to accept it, but got exit code " +
                     std::to_string(code);
      return result;
    }
    result.cubin = target.read();
    // Kept even if the gates fail: they are asked again when it is read.
    cache.insert(key, {result.cubin, result.log});
  }
  result.report = parsePtxasReport(result.log);
  result.fault = gateFailure(result.report);
  result.spills = !result.fault.empty() && result.report.advisories.empty();
  return result;
}
