#include <cstdlib>
#include <string_view>

#include "engine/cpu/loops/loops.h"

namespace diptych::cpu {
namespace {

const LoopTable& choose() {
#if defined(__x86_64__)
  const char* asked = std::getenv("DIPTYCH_ISA");
  const std::string_view most = asked != nullptr ? asked : "v4";
  __builtin_cpu_init();
  const bool has_v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
  const bool has_v4 = has_v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512cd");
  if (has_v4 && most == "v4") return v4::table;
  if (has_v3 && most != "v2") return v3::table;
#endif
  return v2::table;
}

}  // namespace

const LoopTable& loops() {
  static const LoopTable& table = choose();
  return table;
}

}  // namespace diptych::cpu
