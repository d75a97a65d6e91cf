// Errors of the kernel subset as errors of a statement.
#pragma once

#include <cstdint>

namespace diptych {

// Ends the statement with the SQLSTATE and message of a dk_error, at a place of its text.
[[noreturn]] void raise_kernel_error(int32_t error, int position);

}  // namespace diptych
