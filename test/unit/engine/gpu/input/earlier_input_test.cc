// What is done again for a table that has changed, and what is not: inputs of several states of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "engine/device/device_testing.h"
#include "engine/gpu/input/chosen_tablets.h"
#include "engine/gpu/input/section_input.h"
#include "engine/program_maker.h"
#include "engine/rows/host_row_set.h"

namespace diptych::testing {
namespace {

using gpu::GpuEngine;
using gpu::InputLoader;
using gpu::SectionInput;
using gpu::SegmentRange;
using Ids = std::vector<uint64_t>;
using Input = std::shared_ptr<SectionInput>;
using Place = gpu::ColumnSegment::Place;
using For = gpu::InputCache::For;
using Words = std::vector<uint64_t>;

constexpr int64_t rows_a_tablet = 16, tile_rows = 8;
constexpr size_t range_tablets = 64, most_tablets = 16, columns = 2;
constexpr size_t words_of_tablet = gpu::tablet_words + columns * gpu::column_words;

Ids ids_between(uint64_t first, uint64_t last) {
  Ids ids(last - first + 1);
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

std::shared_ptr<const TabletSource> numbered_rows(int64_t rows) {
  std::vector<std::vector<Value>> values;
  for (int64_t i = 0; i < rows; ++i)
    values.push_back({i % 7 == 3 ? Value() : Value::bigint(i * 7919 % 10007), Value::bigint(i)});
  return make_table({{"a", Type{TypeId::BigInt}}, {"b", Type{TypeId::BigInt}}}, values, rows_a_tablet, false);
}

class EarlierInputTest : public EachDevice {
 protected:
  void SetUp() override {
    EachDevice::SetUp();
    if (device_ == nullptr || queue_ == nullptr) return;
    queue_->report_to(&report_);
    engine_ = std::make_unique<GpuEngine>(*device_);
    ProgramMaker maker(rows_);
    maker.parallel(0);
    maker.result({maker.column(0), maker.column(1)});
    maker.converge();
    program_ = maker.finish();
    const auto parallel = std::ranges::find(program_->instructions, Opcode::Parallel, &Instruction::opcode);
    address_ = static_cast<int32_t>(parallel - program_->instructions.begin());
  }

  // A tablet of an id has always the same rows; of ids from 900 on there is one row less.
  std::shared_ptr<const TabletSource> table(const Ids& ids) const {
    std::vector<ChosenTablets::Tablet> tablets;
    for (const uint64_t id : ids)
      tablets.push_back({id, id < 900 ? rows_ : shorter_, id < 900 ? id % most_tablets : 0});
    return std::make_shared<ChosenTablets>(std::move(tablets));
  }

  SectionTask task(const std::shared_ptr<const TabletSource>& source, const NeededTablets& needed) const {
    return {*program_, address_, source, -1, context_, needed};
  }

  static std::vector<SegmentRange> ranges_of(const TabletSource& source) {
    std::vector<SegmentRange> ranges;
    for (size_t first = 0; first < source.tablet_count(); first += range_tablets) {
      const size_t count = std::min(range_tablets, source.tablet_count() - first);
      ranges.push_back({first, count, source.rows_between(0, first), std::vector<bool>(count, true)});
    }
    return ranges;
  }

  Input load(const std::shared_ptr<const TabletSource>& source, const Input& earlier) {
    InputLoader loader(*engine_, *source, columns_, Residency::Cached, *queue_);
    Input input = loader.load(ranges_of(*source), earlier);
    described_bytes_ = sent_by([&] { described_ = loader.describe(*input, tile_rows); });
    return input;
  }

  Words words() {
    Words words(static_cast<size_t>(described_->tablets) * words_of_tablet);
    queue_->copy_to_host(words.data(), described_->buffer.address(), static_cast<int64_t>(words.size() * 8));
    queue_->synchronize();
    return words;
  }

  template <typename Action>
  int64_t sent_by(Action&& action) {
    const QueueWork before = report_.work;
    action();
    return report_.work.since(before).bytes_to_device;
  }

  // The input of the second state made of that of the first is the one that is made of none, and has so many of its
  // ranges.
  void expect_shared(const Ids& first, const Ids& second, size_t shared) {
    const Input before = load(table(first), nullptr);
    const Input after = load(table(second), before);
    const Words made_of_before = words();
    const int64_t sent = described_bytes_;
    const auto is_shared = [&](const auto& range) {
      return std::ranges::find(before->ranges, range) != before->ranges.end();
    };
    EXPECT_EQ(std::ranges::count_if(after->ranges, is_shared), static_cast<int64_t>(shared));
    const auto described = described_;
    const Input alone = load(table(second), nullptr);
    EXPECT_TRUE(words() == made_of_before);
    EXPECT_EQ(described->tiles, described_->tiles);
    EXPECT_EQ(described->tiles_per_tablet, described_->tiles_per_tablet);
    EXPECT_EQ(after->rows, alone->rows);
    EXPECT_EQ(after->bytes, alone->bytes);
    EXPECT_TRUE(after->shape == alone->shape);
    EXPECT_LE(sent, described_bytes_ - static_cast<int64_t>(shared * range_tablets * words_of_tablet * 8));
  }

  const std::vector<size_t> columns_{0, 1};
  const ExecutionContext context_{};
  std::shared_ptr<const TabletSource> rows_ = numbered_rows(most_tablets * rows_a_tablet),
                                      shorter_ = numbered_rows(rows_a_tablet - 9);
  std::unique_ptr<GpuEngine> engine_;
  std::shared_ptr<const Program> program_;
  int32_t address_ = 0;
  WorkReport report_;
  std::shared_ptr<gpu::TabletDescriptions> described_;
  int64_t described_bytes_ = 0;
};

TEST_P(EarlierInputTest, ATabletIsReplacedAndOneIsNew) {
  Ids second = ids_between(1, 200);
  second[70] = 300;
  second.push_back(301);
  expect_shared(ids_between(1, 200), second, 2);
}

// All that is behind it is somewhere else.
TEST_P(EarlierInputTest, ATabletIsGone) {
  Ids second = ids_between(1, 200);
  second.erase(second.begin() + 64);
  expect_shared(ids_between(1, 200), second, 1);
}

// Rows behind it have other numbers.
TEST_P(EarlierInputTest, ATabletHasFewerRows) {
  Ids second = ids_between(1, 200);
  second[3] = 900;
  expect_shared(ids_between(1, 192), second, 0);
}

TEST_P(EarlierInputTest, TheTableIsAnother) { expect_shared(ids_between(1, 200), ids_between(301, 500), 0); }

TEST_P(EarlierInputTest, TheLastTabletGoes) { expect_shared(ids_between(1, 129), ids_between(1, 128), 2); }

TEST_P(EarlierInputTest, IsKeptUntilItIsReplacedOrMemoryIsShort) {
  gpu::InputCache& inputs = engine_->inputs();
  auto first = table(ids_between(1, 70));
  const auto other = table(ids_between(301, 370));
  Ids changed = ids_between(1, 70);
  changed.back() = 200;
  const auto second = table(changed);
  std::weak_ptr<SectionInput> of_first;
  {
    const Input input = load(first, nullptr);
    inputs.keep(first, columns_, Place::Device, input, For::Statement);
    of_first = input;
  }
  EXPECT_EQ(inputs.find_earlier(*other, columns_, Place::Device), nullptr);
  EXPECT_EQ(inputs.find_earlier(*second, {0}, Place::Device), nullptr);
  EXPECT_EQ(inputs.find_earlier(*second, columns_, Place::Pinned), nullptr);
  EXPECT_EQ(inputs.find_earlier(*second, columns_, Place::Device), of_first.lock());
  // Somebody may still read the first state.
  inputs.keep(second, columns_, Place::Device, load(second, of_first.lock()), For::Statement);
  EXPECT_EQ(inputs.find(first, columns_, Place::Device), of_first.lock());
  first.reset();
  inputs.keep(other, columns_, Place::Device, load(other, nullptr), For::Statement);
  EXPECT_FALSE(of_first.expired());
  changed.back() = 201;
  auto third = table(changed);
  inputs.keep(third, columns_, Place::Device, load(third, of_first.lock()), For::Statement);
  EXPECT_TRUE(of_first.expired());
  const std::weak_ptr<SectionInput> of_third = inputs.find(third, columns_, Place::Device);
  third.reset();
  engine_->device_columns().drop(1);
  EXPECT_TRUE(of_third.expired());
  EXPECT_NE(inputs.find(second, columns_, Place::Device), nullptr);
}

// What little of a table has changed is there before a statement asks for it, if one has asked for the state before.
TEST_P(EarlierInputTest, WhatStatementsReadIsFollowed) {
  gpu::InputCache& inputs = engine_->inputs();
  std::vector<std::shared_ptr<const TabletSource>> states;
  Ids ids = ids_between(1, 200);
  for (uint64_t state = 0; state < 4; ++state) {
    states.push_back(table(ids));
    ids[70] = 300 + state;
  }
  const auto find = [&](size_t state) { return inputs.find(states[state], columns_, Place::Device); };
  engine_->follow(states[0]);
  EXPECT_EQ(find(0), nullptr) << "nobody has read it";
  inputs.keep(states[0], columns_, Place::Device, load(states[0], nullptr), For::Statement);
  engine_->follow(states[1]);
  engine_->follow(states[2]);
  EXPECT_EQ(find(2), nullptr) << "nobody has read the state before";
  const Input followed = find(1);
  ASSERT_NE(followed, nullptr);
  const int64_t sent = sent_by([&] {
    InputLoader loader(*engine_, *states[1], columns_, Residency::Cached, *queue_);
    described_ = loader.describe(*followed, tile_rows);
  });
  EXPECT_EQ(sent, 0) << "it is described, too";
  const Words words_of_followed = words();
  const Input alone = load(states[1], nullptr);
  EXPECT_TRUE(words() == words_of_followed);
  EXPECT_EQ(followed->rows, alone->rows);
  EXPECT_EQ(followed->bytes, alone->bytes);
  EXPECT_TRUE(followed->shape == alone->shape);
  engine_->follow(states[3]);
  EXPECT_NE(find(3), nullptr);
  // More than is brought unasked.
  Ids others = ids_between(1, 64 * 6);
  states.push_back(table(others));
  inputs.keep(states.back(), columns_, Place::Device, load(states.back(), nullptr), For::Statement);
  for (size_t range = 0; range < 5; ++range) others[64 * range] = 900 + range;
  states.push_back(table(others));
  engine_->follow(states.back());
  EXPECT_EQ(find(states.size() - 1), nullptr);
}

// Several states at once, in any order, some of them changed further: every one has its own rows.
TEST_P(EarlierInputTest, StatesTakeTurns) {
  std::mt19937_64 random(7);
  struct State {
    Ids ids;
    std::shared_ptr<const TabletSource> table;
  };
  std::vector<State> states(3, {ids_between(1, 150), nullptr});  // one table at first
  uint64_t next_id = 151;
  for (int turn = 0; turn < 40; ++turn) {
    State& state = states[random() % states.size()];
    if (state.table == nullptr || turn % 2 == 0) {
      if (random() % 4 == 0) state.ids = states[random() % states.size()].ids;
      state.ids[random() % state.ids.size()] = next_id++;
      if (random() % 3 != 0) state.ids.push_back(next_id++);
      if (random() % 5 == 0) state.ids.erase(state.ids.begin() + static_cast<ptrdiff_t>(random() % state.ids.size()));
      state.table = table(state.ids);
    }
    const NeededTablets needed(program_->cursors[0], *state.table);
    std::string reason;
    auto result = engine_->run(task(state.table, needed), Residency::Cached, gpu::KernelChoice::Generated, reason);
    ASSERT_TRUE(result) << reason;
    HostRowSet rows(state.table->columns());
    for (ResultPiece& piece : result->rows) rows.add(std::move(piece.rows));
    EXPECT_TRUE(rows_of(rows) == rows_of(*state.table)) << turn;
  }
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Each, EarlierInputTest, ::testing::Values("cuda", "opencl"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace diptych::testing
