#include "base/error.h"

namespace diptych {

const char* code_of(SqlState state) {
  switch (state) {
#define X(name, code, text) \
  case SqlState::name: return code;
    DIPTYCH_SQLSTATES(X)
#undef X
  }
  return "XX000";
}

}  // namespace diptych
