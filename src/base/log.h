// Diptych's own log, of what does not end a statement: on standard error, since standard output is the host
// application's. spdlog's registry and default logger are the application's, too, and know nothing of it.
#pragma once

#include <spdlog/logger.h>

namespace diptych {

// Writes "[time] [diptych] [level] message". Thread safety: may be used by many threads at once.
spdlog::logger& logger();

}  // namespace diptych
