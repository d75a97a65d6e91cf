#include "engine/gpu/output/device_rows.h"

namespace diptych::gpu {
namespace {

class DevicePin final : public PinnedTablet {
 public:
  DevicePin(const SectionRows& tablet, int64_t first_row, std::span<const size_t> wanted) : owner_(tablet.owner) {
    rows = tablet.rows;
    first_row_id = first_row;
    for (size_t column : wanted) views.push_back(tablet.views[column]);
  }

 private:
  std::shared_ptr<const void> owner_;
};

}  // namespace

void DeviceRows::add(SectionRows rows) {
  first_rows_.push_back(rows_);
  rows_ += rows.rows;
  tablets_.push_back(std::move(rows));
}

std::unique_ptr<PinnedTablet> DeviceRows::pin(size_t tablet, std::span<const size_t> wanted) const {
  return std::make_unique<DevicePin>(tablets_[tablet], first_rows_[tablet], wanted);
}

int64_t DeviceRows::encoded_bytes(size_t tablet, size_t column) const {
  const ColumnView& view = tablets_[tablet].views[column];
  const int64_t width = view.encoding == Encoding::Plain ? width_bytes(view.physical) : view.width;
  return width * tablets_[tablet].rows;
}

}  // namespace diptych::gpu
