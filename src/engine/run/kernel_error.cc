#include "engine/run/kernel_error.h"

#include "base/error.h"
#include "kernel/kernel.h"

namespace diptych {
namespace {

struct KernelError {
  SqlState state;
  const char* message;
};

constexpr KernelError kernel_errors[] = {{SqlState::internal_error, "no error"},
#define DIPTYCH_ROW(name, state, message) {SqlState::state, message},
                                         DK_ERRORS(DIPTYCH_ROW)
#undef DIPTYCH_ROW
};

}  // namespace

void raise_kernel_error(int32_t error, int position) {
  // Checks without a branch store errors by OR; should two different ones meet, overflow is the one they have in
  // common.
  const bool known = error > 0 && error < DK_ERROR_COUNT;
  const KernelError& row = kernel_errors[known ? error : static_cast<int32_t>(DK_NUMERIC_OUT_OF_RANGE)];
  throw Error(row.state, row.message, position);
}

}  // namespace diptych
