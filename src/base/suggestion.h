// The hint for a name that isn't there: which one of those that are there was meant?
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace diptych {

// "Did you mean \"l_shipdate\"?" or nothing when no candidate is near. Near: at most a third of the letters differ,
// counting insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
std::string suggest(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace diptych
