#include "engine/gpu/groups/group_source.h"

#include <algorithm>

#include "engine/gpu/groups/group_kernels.h"

namespace diptych::gpu {
namespace {

class GroupPin final : public PinnedTablet {};

}  // namespace

GroupSource::GroupSource(GpuEngine& engine, const GroupPlan& plan, const HashTableInfo& table,
                         const std::vector<const Dictionary*>& dictionaries, std::vector<GroupColumns> pieces)
    : engine_(engine), pieces_(std::move(pieces)) {
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

const GroupSource::HostColumn& GroupSource::on_host(size_t piece, size_t column) const {
  const auto [found, is_new] = copies_.try_emplace({piece, column});
  HostColumn& copy = found->second;
  if (!is_new) return copy;
  try {
    const GroupColumns& from = pieces_[piece];
    const int64_t bytes = from.rows * forms_[column].width, bitmap = (from.rows + 7) / 8;
    const bool has_nulls = from.columns[column].validity >= 0;
    Device& device = engine_.device();
    copy.values = device.allocate_pinned(std::max<int64_t>(bytes, 1), "groups");
    std::unique_ptr<Queue> queue = engine_.take_queue();
    queue->copy_to_host(copy.values.data(), from.buffer.address() + from.columns[column].values, bytes);
    if (has_nulls) {
      copy.validity = device.allocate_pinned(std::max<int64_t>(bitmap, 1), "groups");
      queue->copy_to_host(copy.validity.data(), from.buffer.address() + from.columns[column].validity, bitmap);
    }
    queue->synchronize();
    engine_.give_back(std::move(queue));
  } catch (...) {
    copies_.erase(found);
    throw;
  }
  return copy;
}

std::unique_ptr<PinnedTablet> GroupSource::pin(size_t tablet, std::span<const size_t> wanted) const {
  auto pinned = std::make_unique<GroupPin>();
  pinned->rows = pieces_[tablet].rows;
  for (size_t before = 0; before < tablet; ++before) pinned->first_row_id += pieces_[before].rows;
  std::lock_guard guard(mutex_);
  for (const size_t column : wanted) {
    const HostColumn& copy = on_host(tablet, column);
    ColumnView& view = pinned->views.emplace_back(forms_[column]);
    view.data = copy.values.data();
    if (copy.validity.bytes() > 0) view.validity = reinterpret_cast<const uint8_t*>(copy.validity.data());
  }
  return pinned;
}

}  // namespace diptych::gpu
