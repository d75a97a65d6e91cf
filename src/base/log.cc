#include "base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>

#include <memory>

namespace diptych {

spdlog::logger& logger() {
  // Never destroyed: an application may close its databases after the static objects of this library.
  static auto* const own = new spdlog::logger("diptych", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  return *own;
}

}  // namespace diptych
