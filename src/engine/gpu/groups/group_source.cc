#include "engine/gpu/groups/group_source.h"

#include <algorithm>

#include "engine/gpu/groups/group_kernels.h"

namespace diptych::gpu {
namespace {

class GroupPin final : public PinnedTablet {};

}  // namespace

GroupSource::GroupSource(GpuEngine& engine, const GroupPlan& plan, const HashTableInfo& table,
                         const std::vector<const Dictionary*>& dictionaries, std::vector<GroupColumns> pieces,
                         MemoryBudget* budget)
    : engine_(engine), pieces_(std::move(pieces)), host_bytes_(budget, "groups") {
  for (size_t i = 0; i < plan.keys.size() + plan.states.aggregates.size(); ++i) {
    const RegisterInfo& info = i < plan.keys.size() ? table.keys[i] : table.aggregates[i - plan.keys.size()].result;
    columns_.push_back({"", info.type});
    ColumnView& form = forms_.emplace_back();
    form.encoding = Encoding::Plain;
    form.physical = info.physical;
    form.width = static_cast<uint8_t>(result_width(plan, table, i));
    if (i >= plan.keys.size() || plan.keys[i].dictionary_column < 0) continue;
    form.encoding = Encoding::Dictionary;
    form.dictionary = dictionaries[static_cast<size_t>(plan.keys[i].dictionary_column)];
  }
  for (const GroupColumns& piece : pieces_) rows_ += piece.rows;
}

int64_t GroupSource::encoded_bytes(size_t tablet, size_t column) const {
  return pieces_[tablet].rows * forms_[column].width;
}

SegmentTablet GroupSource::form(size_t piece, size_t column) const {
  SegmentTablet tablet = stored_form(forms_[column], pieces_[piece].rows);
  tablet.has_nulls = pieces_[piece].columns[column].validity >= 0;
  return tablet;
}

std::shared_ptr<const ColumnSegment> GroupSource::segment(size_t piece, size_t column) const {
  const GroupColumns& from = pieces_[piece];
  SegmentTablet tablet = form(piece, column);
  tablet.data = from.columns[column].values;
  tablet.validity = from.columns[column].validity;
  return std::make_shared<const ColumnSegment>(tablet, from.buffer.address());
}

// Copies what is not there yet.
void GroupSource::fetch(size_t first, size_t end, std::span<const size_t> wanted) const {
  Device& device = engine_.device();
  std::map<std::pair<size_t, size_t>, HostColumn> fetched;
  for (size_t piece = first; piece < end; ++piece) {
    for (const size_t column : wanted) {
      if (copies_.contains({piece, column})) continue;
      HostColumn& copy = fetched[{piece, column}];
      const int64_t bitmap = pieces_[piece].columns[column].validity >= 0 ? (pieces_[piece].rows + 7) / 8 : 0;
      const int64_t bytes = pieces_[piece].rows * forms_[column].width;
      host_bytes_.add(bytes + bitmap);
      copy.values = device.allocate_pinned(std::max<int64_t>(bytes, 1), "groups");
      if (bitmap > 0) copy.validity = device.allocate_pinned(bitmap, "groups");
    }
  }
  if (fetched.empty()) return;
  std::unique_ptr<Queue> queue = engine_.take_queue();
  for (auto& [place, copy] : fetched) {
    const GroupColumns& from = pieces_[place.first];
    const GroupColumns::Column& column = from.columns[place.second];
    queue->copy_to_host(copy.values.data(), from.buffer.address() + column.values,
                        from.rows * forms_[place.second].width);
    if (copy.validity.bytes() > 0)
      queue->copy_to_host(copy.validity.data(), from.buffer.address() + column.validity, (from.rows + 7) / 8);
  }
  queue->synchronize();
  engine_.give_back(std::move(queue));
  copies_.merge(fetched);
}

void GroupSource::bring(std::span<const size_t> wanted) const {
  std::lock_guard guard(mutex_);
  fetch(0, pieces_.size(), wanted);
}

std::unique_ptr<PinnedTablet> GroupSource::pin(size_t tablet, std::span<const size_t> wanted) const {
  auto pinned = std::make_unique<GroupPin>();
  pinned->rows = pieces_[tablet].rows;
  for (size_t before = 0; before < tablet; ++before) pinned->first_row_id += pieces_[before].rows;
  std::lock_guard guard(mutex_);
  fetch(tablet, tablet + 1, wanted);
  for (const size_t column : wanted) {
    const HostColumn& copy = copies_.at({tablet, column});
    ColumnView& view = pinned->views.emplace_back(forms_[column]);
    view.data = copy.values.data();
    if (copy.validity.bytes() > 0) view.validity = reinterpret_cast<const uint8_t*>(copy.validity.data());
  }
  return pinned;
}

}  // namespace diptych::gpu
