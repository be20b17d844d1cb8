#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "runtime/jit/stages.h"
#include "runtime/tir/prim_func.h"

namespace ingot::jit {

// The file by which Linux' perf names generated code: a line `START SIZE NAME` for each function, numbers in hex.
//
// Several may write to one file. Functions whose pages were given back stay in it: perf takes the later of two lines
// for an address. Thread safe.
class PerfMap {
 public:
  // Where perf looks for the functions of this process.
  static std::filesystem::path path_of_process();

  // Appends to the file; what was written before this process started is dropped, as its number was another process's.
  // Throws Io, also where the path is a symbolic link.
  explicit PerfMap(std::filesystem::path path);
  ~PerfMap();
  PerfMap(const PerfMap&) = delete;
  PerfMap& operator=(const PerfMap&) = delete;

  // One line for each function of the code. Throws Io.
  void add(const Code& code, const std::string& name) const;
  // The same for code whose functions begin at these bytes of it; the last one ends with `bytes`.
  struct Entry {
    size_t begin;
    std::string name;
  };
  void add(const CodeMemory& memory, size_t bytes, std::vector<Entry> entries) const;

 private:
  std::filesystem::path path_;
  int file_;
};

// "softmax[4x32][4x32]": the function with the dimensions of its parameters, those that vary as the function names
// them.
std::string perf_name(const tir::PrimFunc& func, std::span<const std::vector<int64_t>> dims,
                      std::span<const uint32_t> varying = {});

}  // namespace ingot::jit
