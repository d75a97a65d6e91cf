#include "api/result_reader.h"

#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "program/range.h"
#include "tablet/values.h"

namespace diptych {

ResultReader::ResultReader(std::shared_ptr<const TabletSource> result)
    : result_(std::move(result)), all_columns_(result_->columns().size()), texts_(all_columns_.size()) {
  std::iota(all_columns_.begin(), all_columns_.end(), 0);
}

void ResultReader::check_way(Way way) const {
  if (way_ != Way::Any && way_ != way)
    throw Error(SqlState::invalid_transaction_state,
                "rows are read one by one or in bulk: reset the statement to change over");
}

bool ResultReader::pin_next_tablet() {
  row_ = -1;
  while (next_tablet_ < result_->tablet_count()) {
    pinned_ = result_->pin(next_tablet_++, all_columns_);
    if (pinned_->rows > 0) return true;
  }
  pinned_.reset();
  return false;
}

bool ResultReader::next_row() {
  way_ = Way::Rows;
  for (auto& text : texts_) text.reset();
  if ((!pinned_ || row_ + 1 >= pinned_->rows) && !pin_next_tablet()) return false;
  ++row_;
  return true;
}

int64_t ResultReader::next_chunk(diptych_chunk_column* columns) {
  way_ = Way::Chunks;
  decoded_.reset();
  if (!pin_next_tablet()) return 0;
  decoded_ = std::make_unique<DecodedRows>(pinned_->views, pinned_->rows, DecodedRows::Texts::Strings);
  const RowBatch batch = decoded_->batch();
  for (size_t i = 0; i < all_columns_.size(); ++i) columns[i] = chunk_column(i, batch.columns[i]);
  return pinned_->rows;
}

diptych_chunk_column ResultReader::chunk_column(size_t column, const BatchColumn& batch) {
  const Type& type = result_->columns()[column].type;
  diptych_chunk_column out{};
  out.type = api_type(type);
  out.scale = type.scale;
  out.validity = batch.validity;
  if (type.physical() != PhysicalType::Text) {
    out.width = width_bytes(type.physical());
    out.values = batch.values;
    return out;
  }
  out.offsets = batch.offsets;
  out.bytes = batch.bytes;
  return out;
}

bool ResultReader::is_null(size_t column) const { return is_null_at(pinned_->views[column], row_); }

int64_t ResultReader::int64_at(size_t column) const {
  const Value value = value_at(pinned_->views[column], result_->columns()[column].type, row_);
  if (value.is_null()) return 0;
  const Type& type = value.type();
  if (type.id == TypeId::Boolean) return value.as_boolean();
  if (range_of(type)) {
    const int128_t unit = power_of_ten(type.scale);
    const int128_t half = value.as_integral() < 0 ? -(unit / 2) : unit / 2;
    const int128_t rounded = (value.as_integral() + half) / unit;
    return rounded >= INT64_MIN && rounded <= INT64_MAX ? static_cast<int64_t>(rounded) : 0;
  }
  const double number = double_at(column);
  return std::abs(number) < 9.2e18 ? std::llrint(number) : 0;
}

double ResultReader::double_at(size_t column) const {
  const Value value = value_at(pinned_->views[column], result_->columns()[column].type, row_);
  if (value.is_null()) return 0;
  const Type& type = value.type();
  if (type.is_float()) return value.as_double();
  if (type.id == TypeId::Boolean) return value.as_boolean();
  if (type.is_string()) return std::strtod(value.as_string().c_str(), nullptr);
  if (type.id == TypeId::Numeric)
    return std::strtod(value.to_text().c_str(), nullptr);  // rounded once, from all digits
  return range_of(type) ? static_cast<double>(value.as_integral()) : 0;
}

const std::string& ResultReader::text_at(size_t column) {
  if (!texts_[column])
    texts_[column] = value_at(pinned_->views[column], result_->columns()[column].type, row_).to_text();
  return *texts_[column];
}

diptych_type api_type(const Type& type) { return static_cast<diptych_type>(type.id); }

static_assert(static_cast<int>(TypeId::Boolean) == DIPTYCH_TYPE_BOOLEAN &&
                  static_cast<int>(TypeId::Char) == DIPTYCH_TYPE_CHAR,
              "the API's types stand in the order of TypeId");

}  // namespace diptych
