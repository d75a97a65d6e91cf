#include "engine/gpu/groups/group_source.h"

#include <algorithm>
#include <numeric>

#include "engine/gpu/groups/group_kernels.h"

namespace diptych::gpu {
namespace {

class GroupPin final : public PinnedTablet {};

}  // namespace

ColumnView group_form(const GroupPlan& plan, const HashTableInfo& table, size_t i) {
  const RegisterInfo& info = i < plan.keys.size() ? table.keys[i] : table.aggregates[i - plan.keys.size()].result;
  ColumnView form;
  form.encoding = Encoding::Plain;
  form.physical = info.physical;
  form.width = static_cast<uint8_t>(result_width(plan, table, i));
  if (is_string_result(plan, table, i)) form.encoding = Encoding::Heap;
  if (i < plan.keys.size() && plan.keys[i].dictionary_column >= 0) form.encoding = Encoding::Dictionary;
  return form;
}

GroupSource::GroupSource(GpuEngine& engine, const GroupPlan& plan, const HashTableInfo& table,
                         const std::vector<const Dictionary*>& dictionaries, MemoryBudget* budget)
    : engine_(engine), host_bytes_(budget, "groups") {
  for (size_t i = 0; i < plan.keys.size() + plan.states.aggregates.size(); ++i) {
    const RegisterInfo& info = i < plan.keys.size() ? table.keys[i] : table.aggregates[i - plan.keys.size()].result;
    columns_.push_back({"", info.type});
    ColumnView& form = forms_.emplace_back(group_form(plan, table, i));
    if (form.encoding == Encoding::Dictionary)
      form.dictionary = dictionaries[static_cast<size_t>(plan.keys[i].dictionary_column)];
  }
}

void GroupSource::add(GroupColumns piece) {
  rows_ += piece.rows;
  pieces_.push_back(std::move(piece));
}

void GroupSource::move_to_host() const {
  std::vector<size_t> all(columns_.size());
  std::iota(all.begin(), all.end(), size_t{0});
  bring(all);
  for (GroupColumns& piece : pieces_) {
    piece.buffer = DeviceBuffer();
    for (GroupColumns::Column& column : piece.columns) column.strings = DeviceBuffer();
  }
  is_on_device_ = false;
}

int64_t GroupSource::encoded_bytes(size_t tablet, size_t column) const {
  const int64_t rows = pieces_[tablet].rows;
  if (forms_[column].encoding == Encoding::Heap) return rows * 4 + pieces_[tablet].columns[column].heap_bytes;
  return rows * forms_[column].width;
}

SegmentTablet GroupSource::form(size_t piece, size_t column) const {
  SegmentTablet tablet = gpu::stored_form(forms_[column], pieces_[piece].rows);
  tablet.has_nulls = pieces_[piece].columns[column].validity >= 0;
  return tablet;
}

std::shared_ptr<const ColumnSegment> GroupSource::segment(size_t piece, size_t column) const {
  const GroupColumns& from = pieces_[piece];
  const GroupColumns::Column& stored = from.columns[column];
  SegmentTablet tablet = form(piece, column);
  if (stored.is_string) {
    // In several buffers: addresses are offsets from the start of all memory.
    const auto offset = [](DeviceAddress address) { return static_cast<int64_t>(address.value); };
    tablet.data = offset(stored.strings.address());
    tablet.heap = tablet.data + stored.heap;
    if (stored.validity >= 0) tablet.validity = offset(from.buffer.address() + stored.validity);
    return std::make_shared<const ColumnSegment>(tablet, DeviceAddress{});
  }
  tablet.data = stored.values;
  tablet.validity = stored.validity;
  return std::make_shared<const ColumnSegment>(tablet, from.buffer.address());
}

// Copies what is not there yet.
void GroupSource::fetch(size_t first, size_t end, std::span<const size_t> wanted) const {
  Device& device = engine_.device();
  std::map<std::pair<size_t, size_t>, HostColumn> fetched;
  const auto stored = [&](size_t piece, size_t column) -> const GroupColumns::Column& {
    return pieces_[piece].columns[column];
  };
  for (size_t piece = first; piece < end; ++piece) {
    for (const size_t column : wanted) {
      if (copies_.contains({piece, column})) continue;
      HostColumn& copy = fetched[{piece, column}];
      const GroupColumns::Column& from = stored(piece, column);
      const int64_t rows = pieces_[piece].rows, bitmap = from.validity >= 0 ? (rows + 7) / 8 : 0;
      copy.bytes = from.is_string ? from.heap + from.heap_bytes : rows * from.width;
      reserve_on_host(host_bytes_, copy.bytes + bitmap);
      copy.values = device.allocate_pinned(std::max<int64_t>(copy.bytes, 1), "groups");
      if (bitmap > 0) copy.validity = device.allocate_pinned(bitmap, "groups");
    }
  }
  if (fetched.empty()) return;
  std::unique_ptr<Queue> queue = engine_.take_queue(&report_);
  for (auto& [place, copy] : fetched) {
    const GroupColumns& piece = pieces_[place.first];
    const GroupColumns::Column& from = stored(place.first, place.second);
    const DeviceAddress start = piece.buffer.address();
    queue->copy_to_host(copy.values.data(), from.is_string ? from.strings.address() : start + from.values, copy.bytes);
    if (copy.validity.bytes() > 0)
      queue->copy_to_host(copy.validity.data(), start + from.validity, (piece.rows + 7) / 8);
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
  for (size_t before = 0; before < tablet; ++before) pinned->first_position += pieces_[before].rows;
  std::lock_guard guard(mutex_);
  fetch(tablet, tablet + 1, wanted);
  for (const size_t column : wanted) {
    const HostColumn& copy = copies_.at({tablet, column});
    ColumnView& view = pinned->views.emplace_back(forms_[column]);
    view.data = copy.values.data();
    if (view.encoding == Encoding::Heap) {
      view.offsets = reinterpret_cast<const uint32_t*>(view.data);
      view.heap = reinterpret_cast<const char*>(view.data) + pieces_[tablet].columns[column].heap;
    }
    if (copy.validity.bytes() > 0) view.validity = reinterpret_cast<const uint8_t*>(copy.validity.data());
  }
  return pinned;
}

}  // namespace diptych::gpu
