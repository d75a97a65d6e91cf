// The line that shows how far a long statement is.
//
//   ████████████▌               41% 24.6M of 60.0M rows, 3 s left
#pragma once

#include <diptych/diptych.h>

#include <string>

namespace diptych::shell {

// At most `cells` wide, without a line break. While the total is unknown only rows and elapsed time are told.
std::string progress_line(const diptych_progress& progress, size_t cells);

// 999, 1.2k, 24.6M, 3.0G.
std::string short_count(int64_t count);

// "2 s", "1 min 20 s", "3 h 5 min".
std::string short_duration(double seconds);

}  // namespace diptych::shell
