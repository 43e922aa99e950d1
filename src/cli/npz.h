// NumPy's archives: .npz, a zip of .npy files.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"

namespace looseleaf {

struct NpyArray {
  std::string type;            // NumPy's: "<f4", "<i4", "|b1"
  std::vector<int64_t> shape;  // C order
  std::string bytes;
};

// By name, without ".npy".
using Npz = std::map<std::string, NpyArray>;

NpyArray npy_array(std::string type, std::vector<int64_t> shape, const void* data, size_t bytes);

// Errors: kUnavailable.
Status write_npz(const std::string& path, const Npz& arrays);

// Arrays of other types than the three above are refused, as are Fortran order and more than 1 GiB.
// Errors: kNotFound (it cannot be opened), kCorrupt (no such archive; with the array's name).
Expected<Npz> read_npz(const std::string& path);

}  // namespace looseleaf
