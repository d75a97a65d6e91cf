#include "storage/row_eraser.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "storage/store_state.h"

namespace diptych {

void erase_rows(const TabletStorage& storage, TableState& state, std::span<const int64_t> positions,
                const std::atomic<bool>* cancelled) {
  check_invariant(positions.front() >= 0 && positions.back() < state.directory.rows(), "rows that go are there");
  std::vector<NewMask> masks;
  while (!positions.empty()) {
    check_cancelled(cancelled);
    const size_t tablet = state.directory.tablet_of(positions.front());
    const auto [handle, mask, first_row] = state.directory[tablet];
    const auto end = std::lower_bound(positions.begin(), positions.end(), first_row + handle->rows());
    const auto here = positions.first(static_cast<size_t>(end - positions.begin()));
    masks.push_back({tablet, std::make_shared<VisibilityMask>(storage.ids->take(), handle->rows(), mask.get(), here,
                                                              first_row, storage.budget)});
    positions = positions.subspan(here.size());
  }
  state.directory.put_masks(masks);
  state.blob = nullptr;
}

}  // namespace diptych
