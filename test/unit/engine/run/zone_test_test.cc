#include "engine/run/zone_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace diptych::cpu {
namespace {

// Tablets that are bounds and row counts alone, in groups of some.
class Bounds final : public TabletSource {
 public:
  Bounds(std::mt19937_64& random, size_t tablets) {
    int64_t row = 0;
    while (zones_.size() < tablets) {
      TabletGroup& group = groups_.emplace_back(TabletGroup{zones_.size(), 0, row, 0});
      for (size_t more = 1 + random() % 5; more > 0 && zones_.size() < tablets; --more) {
        ZoneMap zone;
        rows_.push_back(1 + static_cast<int64_t>(random() % 100));
        zone.has_bounds = random() % 8 != 0;
        zone.null_count = zone.has_bounds ? 0 : random() % 2 ? -1 : rows_.back();
        if (zone.has_bounds) zone.low = static_cast<int>(random() % 30);
        if (zone.has_bounds) zone.high = zone.low + static_cast<int>(random() % 10);
        holds_values_.push_back(zone.null_count != rows_.back());
        zones_.push_back(zone);
        ++group.count;
        group.rows += rows_.back();
      }
      row += group.rows;
    }
  }
  const std::vector<ColumnDefinition>& columns() const override { return columns_; }
  size_t tablet_count() const override { return zones_.size(); }
  int64_t row_count() const override { return groups_.back().first_row + groups_.back().rows; }
  int64_t rows_in(size_t tablet) const override { return rows_[tablet]; }
  ZoneMap zone_map(size_t tablet, size_t) const override { return zones_[tablet]; }
  const Dictionary* common_dictionary(size_t) const override { return nullptr; }
  std::unique_ptr<PinnedTablet> pin(size_t, std::span<const size_t>) const override { return nullptr; }
  int64_t encoded_bytes(size_t tablet, size_t) const override { return 3 * rows_[tablet]; }
  size_t group_count() const override { return groups_.size(); }
  TabletGroup group(size_t number) const override { return groups_[number]; }
  bool holds_values(size_t tablet) const { return holds_values_[tablet]; }

 private:
  std::vector<ColumnDefinition> columns_{{"n", Type{TypeId::Integer}}};
  std::vector<ZoneMap> zones_;
  std::vector<int64_t> rows_;
  std::vector<bool> holds_values_;
  std::vector<TabletGroup> groups_;
};

CursorInfo cursor_with(std::vector<ZoneCondition> conditions) {
  CursorInfo cursor;
  cursor.zone_conditions = std::move(conditions);
  return cursor;
}

TEST(NeededTablets, AreThoseThatAreNeededOneByOne) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const Bounds source(random, 1 + random() % 40);
    std::vector<ZoneCondition> conditions;
    constexpr Opcode comparisons[] = {Opcode::Eq, Opcode::Lt, Opcode::Le, Opcode::Gt, Opcode::Ge};
    for (size_t more = random() % 3; more > 0; --more)
      conditions.push_back({0, comparisons[random() % 5], Value::integer(static_cast<int32_t>(random() % 45) - 2)});
    const CursorInfo cursor = cursor_with(conditions);
    std::vector<bool> found(source.tablet_count());
    for (const TabletSpan& span : needed_tablets(cursor, source)) {
      EXPECT_GT(span.count, 0u);
      int64_t first_row = 0, rows = 0, bytes = 0;
      for (size_t tablet = 0; tablet < span.first; ++tablet) first_row += source.rows_in(tablet);
      for (size_t tablet = span.first; tablet < span.first + span.count; ++tablet) {
        EXPECT_FALSE(found[tablet]);
        found[tablet] = true;
        rows += source.rows_in(tablet);
        bytes += source.encoded_bytes(tablet, 0);
      }
      EXPECT_EQ(span.first_row, first_row);
      EXPECT_EQ(span.rows, rows);
      EXPECT_EQ(encoded_bytes(source, span, 0), bytes);
    }
    bool all = true;
    for (size_t tablet = 0; tablet < source.tablet_count(); ++tablet) all &= is_needed(cursor, source, tablet);
    EXPECT_LE(needs_all(cursor, source), all);
    if (conditions.empty()) {
      EXPECT_TRUE(needs_all(cursor, source));
    }
    for (size_t tablet = 0; tablet < source.tablet_count(); ++tablet) {
      if (source.holds_values(tablet))
        EXPECT_EQ(found[tablet], is_needed(cursor, source, tablet)) << tablet;
      else
        EXPECT_LE(found[tablet], is_needed(cursor, source, tablet)) << tablet;
    }
  }
}

TEST(NeededTablets, NoneForComparisonsWithNull) {
  std::mt19937_64 random(1);
  const Bounds source(random, 20);
  EXPECT_TRUE(needed_tablets(cursor_with({{0, Opcode::Eq, Value()}}), source).empty());
}

// As an index has it: whether one of these numbers lies from low to high.
KeyConditions keys_among(std::vector<int> keys) {
  const auto has_key = [keys = std::move(keys)](int128_t low, int128_t high) {
    return std::any_of(keys.begin(), keys.end(), [&](int key) { return low <= key && key <= high; });
  };
  return {{{0, has_key}}};
}

TEST(NeededTablets, AreThoseThatMayHoldAKey) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const Bounds source(random, 1 + random() % 40);
    std::vector<int> numbers;
    for (size_t more = random() % 4; more > 0; --more) numbers.push_back(static_cast<int>(random() % 45));
    const KeyConditions keys = keys_among(numbers);
    const CursorInfo cursor = cursor_with({{0, Opcode::Gt, Value::integer(3)}});
    const std::vector<bool> found = NeededTablets(cursor, source, keys).by_tablet();
    for (size_t tablet = 0; tablet < source.tablet_count(); ++tablet) {
      const ZoneMap zone = source.zone_map(tablet, 0);
      const bool is_met = !zone.has_bounds || keys.columns[0].has_key(zone.low, zone.high);
      const bool expected = is_met && is_needed(cursor, source, tablet);
      if (source.holds_values(tablet))
        EXPECT_EQ(found[tablet], expected) << tablet;
      else
        EXPECT_LE(found[tablet], expected) << tablet;
    }
  }
}

TEST(NeededTablets, NoneForAnIndexThatNoRowMeets) {
  std::mt19937_64 random(1);
  const Bounds source(random, 20);
  KeyConditions keys;
  keys.met_by_none = true;
  EXPECT_TRUE(needed_tablets(cursor_with({}), source, keys).empty());
}

}  // namespace
}  // namespace diptych::cpu
