// The texts of the kernel subset, carried inside the program, as the GPU engines hand them to a compiler at run time.
//
//   kernel_text({"integer.h", "device/block.h"})
//     -> dialect.h wide.h integer.h device/platform.h device/block.h, in one text
//
// Files are named relative to src/kernel. The text is the same for NVRTC and for OpenCL; what includes a file of
// device/ has to be preceded by the definitions that device/platform.h asks for. All functions are safe to call from
// any thread.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "kernel/function_table.h"

namespace diptych {

// These files and all that they need, each once, in the order in which they build on each other; without comments.
// Errors: XX000 for a name that is none.
std::string kernel_text(std::span<const std::string_view> files);
inline std::string kernel_text(std::initializer_list<std::string_view> files) {
  return kernel_text(std::span<const std::string_view>(files.begin(), files.size()));
}

// The file that defines a function of the kernel subset ("dk_add_i64"), outside device/; empty: none does.
std::string_view file_of_function(std::string_view name);

// The file that defines dk_<kernel_name> of the row, or its _size and _write; empty for the host's functions.
std::string_view file_of_function(FunctionId id);

// All names of files, in order.
std::span<const std::string_view> kernel_file_names();

}  // namespace diptych
