// Takes rows out of a table: the tablets that have some of them get masks without them, and those of which no row is
// left go.
//
//   tablets before   [full][full][full][full][frag 40]        rows of the second, all of the third, rows of the last
//   tablets after    [full][full, mask][full][frag 40, mask]
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "storage/tablet_storage.h"

namespace diptych {

// positions: in ascending order, each once; the rows are there. The statistics stay, as those of rows that are mostly
// there (statistics_renewal.h). Errors: 53200, 57014 once *cancelled, which may be null, is true; then the state is as
// it was.
void erase_rows(const TabletStorage& storage, TableState& state, std::span<const int64_t> positions,
                const std::atomic<bool>* cancelled);

}  // namespace diptych
