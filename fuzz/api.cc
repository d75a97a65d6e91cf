// Fuzzing the C API: any bytes are calls in any order on one thread (api_calls.h). Nothing may crash, hang, or fail
// with an internal error (XX000).
#include <cstdlib>

#include "api_calls.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  diptych_database* database = nullptr;
  if (diptych_open(":memory:", &database) != DIPTYCH_OK) std::abort();
  diptych::fuzz::ApiCalls(database, true, {data, size}).run();
  return 0;
}
