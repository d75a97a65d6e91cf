#include "engine/gpu/output/group_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "engine/gpu/output/device_rows.h"
#include "engine/gpu/output/totals.h"
#include "kernel/kernel.h"
#include "tablet/aligned_buffer.h"
#include "tablet/dictionary.h"

namespace diptych::gpu {
namespace {

// The memory of a piece's columns.
class OwnedColumns {
 public:
  explicit OwnedColumns(MemoryBudget* budget) : reserved_(budget, "groups") {}
  // Errors: 53200.
  AlignedBuffer& add(size_t bytes) {
    reserved_.add(static_cast<int64_t>(bytes));
    return buffers_.emplace_back(bytes);
  }

 private:
  HostBytes reserved_;
  std::vector<AlignedBuffer> buffers_;
};

// As long as the tablets of tables by default.
constexpr size_t tablet_rows = 65536;

size_t padded(size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

GroupRows::GroupRows(const Program& program, const GroupPlan& plan, std::vector<const Dictionary*> dictionaries,
                     MemoryBudget* budget)
    : program_(program),
      table_(program.hash_tables[static_cast<size_t>(plan.hash_table)]),
      plan_(plan),
      dictionaries_(std::move(dictionaries)),
      budget_(budget),
      reserved_(budget, "groups") {}

void GroupRows::add(GroupWords batch) {
  // As if all groups were new.
  reserved_.add(static_cast<int64_t>(batch.words.size() * sizeof(uint64_t)));
  if (empty_) {
    groups_ = std::move(batch);
    empty_ = false;
    return;
  }
  if (index_.empty()) index_groups();
  const size_t states = plan_.states.words;
  for (size_t i = 0; i < batch.count(); ++i) {
    const uint64_t* row = batch.words.data() + i * batch.row_words;
    const size_t before = groups_.count(), group = find(row);
    if (group == before) {
      groups_.words.insert(groups_.words.end(), row, row + batch.row_words);
      if (2 * groups_.count() > index_.size()) index_groups();
    } else {
      uint64_t* into = groups_.words.data() + group * groups_.row_words + groups_.key_words;
      combine_states(plan_.states, {into, states}, {row + batch.key_words, states});
    }
  }
}

uint64_t GroupRows::hash(const uint64_t* key) const {
  uint64_t hash = dk_hash_i64(static_cast<int64_t>(key[0]));
  for (size_t i = 1; i < groups_.key_words; ++i) hash = dk_hash_combine(hash, key[i]);
  return hash;
}

void GroupRows::index_groups() {
  index_.assign(std::bit_ceil(std::max<size_t>(1024, 4 * groups_.count())), 0);
  const size_t count = groups_.count(), mask = index_.size() - 1;
  for (size_t group = 0; group < count; ++group) {
    size_t at = hash(groups_.words.data() + group * groups_.row_words) & mask;
    while (index_[at] != 0) at = (at + 1) & mask;
    index_[at] = static_cast<uint32_t>(group + 1);
  }
}

// The group with the key; or, put into the index, the number that a new one gets.
size_t GroupRows::find(const uint64_t* key) {
  const size_t mask = index_.size() - 1;
  size_t at = hash(key) & mask;
  for (; index_[at] != 0; at = (at + 1) & mask) {
    const uint64_t* other = groups_.words.data() + (index_[at] - 1) * groups_.row_words;
    if (std::equal(key, key + groups_.key_words, other)) return index_[at] - 1;
  }
  index_[at] = static_cast<uint32_t>(groups_.count() + 1);
  return groups_.count();
}

bool GroupRows::read_key(const uint64_t* row, size_t number, std::byte* to) const {
  const GroupKeyPlan& key = plan_.keys[number];
  const auto store = [&](auto value) { std::memcpy(to, &value, sizeof(value)); };
  uint64_t value = 0;
  bool there = true;
  if (plan_.place == GroupPlan::Place::Hashed) {
    value = row[key.word];
    there = !key.nullable || (row[0] >> number & 1) == 0;
  } else {
    const uint64_t place = row[0] / key.stride % (key.span + (key.nullable ? 1U : 0U));
    there = place != key.span;
    value = there ? static_cast<uint64_t>(key.low) + place : 0;
  }
  switch (key.physical) {
    case PhysicalType::Bool: store(static_cast<uint8_t>(value)); break;
    case PhysicalType::Int32: store(static_cast<int32_t>(value)); break;
    case PhysicalType::Float32: store(static_cast<float>(std::bit_cast<double>(value))); break;
    case PhysicalType::Int128: std::memcpy(to, row + key.word, 16); break;
    case PhysicalType::Text: {
      std::string_view text;
      if (there) text = (*dictionaries_[static_cast<size_t>(key.dictionary_column)])[static_cast<uint32_t>(value)];
      store(dk_text{text.data(), static_cast<dk_i32>(text.size())});
      break;
    }
    default: store(value);
  }
  return there;
}

std::vector<ColumnDefinition> GroupRows::columns() const {
  std::vector<ColumnDefinition> columns;
  for (const RegisterInfo& key : table_.keys) columns.push_back({"", key.type});
  for (const AggregateInfo& aggregate : table_.aggregates) columns.push_back({"", aggregate.result.type});
  return columns;
}

std::shared_ptr<const TabletSource> GroupRows::finish() const {
  auto source = std::make_shared<DeviceRows>(columns());
  const size_t keys = table_.keys.size(), count = groups_.count();
  for (size_t first = 0; first < count; first += tablet_rows) {
    SectionRows piece;
    const size_t rows = std::min(tablet_rows, count - first);
    piece.rows = static_cast<int64_t>(rows);
    auto owners = std::make_shared<OwnedColumns>(budget_);
    for (size_t i = 0; i < keys + table_.aggregates.size(); ++i) {
      ColumnView& view = piece.views.emplace_back();
      view.encoding = Encoding::Plain;
      view.physical = i < keys ? table_.keys[i].physical : table_.aggregates[i - keys].result.physical;
      const auto width = static_cast<size_t>(width_bytes(view.physical));
      AlignedBuffer& memory = owners->add(padded(rows * width) + padded(rows / 8 + 8));
      auto* bits = reinterpret_cast<uint8_t*>(memory.data() + padded(rows * width));
      std::memset(bits, 0xFF, rows / 8 + 1);
      bool any_null = false;
      for (size_t row = 0; row < rows; ++row) {
        const uint64_t* words = groups_.words.data() + (first + row) * groups_.row_words;
        std::byte* to = memory.data() + row * width;
        const bool there = i < keys ? read_key(words, i, to)
                                    : finish_state(table_.aggregates[i - keys], plan_.states, i - keys,
                                                   {words + groups_.key_words, plan_.states.words},
                                                   table_.aggregates[i - keys].position, to);
        if (there) continue;
        bits[row / 8] = static_cast<uint8_t>(bits[row / 8] & ~(1U << (row % 8)));
        any_null = true;
      }
      view.data = memory.data();
      if (any_null) view.validity = bits;
    }
    piece.owner = std::move(owners);
    source->add(std::move(piece));
  }
  return source;
}

}  // namespace diptych::gpu
