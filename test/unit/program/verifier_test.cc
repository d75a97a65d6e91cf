// Programs that break a rule are refused, with the rule in the message.
#include <gtest/gtest.h>

#include "base/error.h"
#include "program/builder.h"

namespace diptych {
namespace {

// select column 0 where column 0 > 5, over a cursor of one integer column.
class VerifierTest : public ::testing::Test {
 protected:
  VerifierTest() {
    Program& program = builder_.program();
    program.cursors.emplace_back();
    program.cursors.back().columns.resize(1);
    program.sources.emplace_back();
    builder_.emit(Opcode::Table, 0, 0, 0, std::string("t"));
    parallel_ = builder_.emit(Opcode::Parallel, 0);
  }

  void end_section() {
    builder_.program().instructions[parallel_].p3 = builder_.emit(Opcode::Converge);
    builder_.emit(Opcode::Finish);
  }

  int32_t integer_register() { return builder_.new_register({PhysicalType::Int32, Type{TypeId::Integer}, false}); }

  void expect_refused(const std::string& rule) {
    try {
      verify(builder_.program());
      FAIL() << "the program passed";
    } catch (const Error& error) {
      EXPECT_EQ(error.state(), SqlState::internal_error);
      EXPECT_NE(error.message().find(rule), std::string::npos) << error.message();
    }
  }

  ProgramBuilder builder_;
  int32_t parallel_ = 0;
};

TEST_F(VerifierTest, AcceptsAFilter) {
  const int32_t column = integer_register(), bound = integer_register();
  builder_.emit(Opcode::Column, column, 0);
  builder_.emit(Opcode::Integer, bound, 5);
  Label end;
  builder_.emit_jump(Opcode::Le, column, bound, end, jump_invalid);
  builder_.emit(Opcode::Result, column, 1);
  builder_.bind(end);
  end_section();
  EXPECT_NO_THROW(verify(builder_.program()));
}

TEST_F(VerifierTest, RefusesReadingBeforeWriting) {
  builder_.emit(Opcode::Result, integer_register(), 1);
  end_section();
  expect_refused("written before they are read");
}

TEST_F(VerifierTest, RefusesAValueOfOnePathOnly) {
  const int32_t column = integer_register(), other = integer_register();
  builder_.emit(Opcode::Column, column, 0);
  Label skip;
  builder_.emit_jump(Opcode::IfNull, column, 0, skip, jump_keep);
  builder_.emit(Opcode::Integer, other, 1);
  builder_.bind(skip);
  builder_.emit(Opcode::Result, other, 1);
  end_section();
  expect_refused("written before they are read");
}

TEST_F(VerifierTest, RefusesWritingTwice) {
  const int32_t number = integer_register();
  builder_.emit(Opcode::Integer, number, 1);
  builder_.emit(Opcode::Integer, number, 2);
  end_section();
  expect_refused("written once");
}

TEST_F(VerifierTest, RefusesJumpingBackward) {
  const int32_t number = integer_register();
  builder_.emit(Opcode::Integer, number, 1);
  builder_.emit(Opcode::Jump, 0, 0, parallel_ + 1, jump_keep);
  end_section();
  expect_refused("jumps go forward");
}

TEST_F(VerifierTest, RefusesColumnsThatAreNotThere) {
  builder_.emit(Opcode::Column, integer_register(), 7);
  end_section();
  expect_refused("the column exists");
}

TEST_F(VerifierTest, RefusesRowOpcodesOutsideASection) {
  builder_.program().instructions[parallel_].p3 = builder_.emit(Opcode::Converge);
  builder_.emit(Opcode::Null, integer_register());
  builder_.emit(Opcode::Finish);
  expect_refused("inside a parallel section");
}

TEST_F(VerifierTest, RefusesAnEndWithoutFinish) {
  builder_.program().instructions[parallel_].p3 = builder_.emit(Opcode::Converge);
  expect_refused("ends in Finish");
}

// Over a row set 0 of one integer column, to which the section of the fixture appends where a test asks for it.
class RowSetVerifierTest : public VerifierTest {
 protected:
  RowSetVerifierTest() {
    Program& program = builder_.program();
    program.instructions.clear();
    program.row_sets.push_back({{{PhysicalType::Int32, Type{TypeId::Integer}}}, {}, -1});
    program.cursors.emplace_back().columns.resize(1);  // 1: for the row set
  }

  void make() { builder_.emit(Opcode::RowSet, 0); }
  void append() {
    read_table([this](int32_t column) { builder_.emit(Opcode::Append, 0, column, 1); });
  }
  void sort() { builder_.emit(Opcode::SortRows, 0); }
  void open(int32_t cursor = 1) { builder_.emit(Opcode::Rows, cursor, 0); }
  void read(int32_t cursor = 1) {
    section(cursor, [this](int32_t column) { builder_.emit(Opcode::Result, column, 1); });
  }
  void drop() { builder_.emit(Opcode::Drop, 0); }
  void give_key() { builder_.program().row_sets[0].keys.resize(1); }
  void expect_accepted() {
    builder_.emit(Opcode::Finish);
    EXPECT_NO_THROW(verify(builder_.program()));
  }
  void expect_breach(const std::string& rule) {
    builder_.emit(Opcode::Finish);
    expect_refused(rule);
  }

  // A section over the table, which does with each row what body(register of its column) emits.
  template <typename Body>
  void read_table(const Body& body) {
    if (!is_open_) builder_.emit(Opcode::Table, 0, 0, 0, std::string("t"));
    is_open_ = true;
    section(0, body);
  }

 private:
  template <typename Body>
  void section(int32_t cursor, const Body& body) {
    parallel_ = builder_.emit(Opcode::Parallel, cursor);
    const int32_t column = integer_register();
    builder_.emit(Opcode::Column, column, 0);
    body(column);
    builder_.program().instructions[static_cast<size_t>(parallel_)].p3 = builder_.emit(Opcode::Converge);
  }

  bool is_open_ = false;
};

TEST_F(RowSetVerifierTest, AcceptsSeveralAppendingAndSeveralReading) {
  make();
  append();
  append();
  open();
  read();
  read();
  drop();
  expect_accepted();
}

TEST_F(RowSetVerifierTest, AcceptsSortedRows) {
  give_key();
  make();
  append();
  sort();
  open();
  read();
  drop();
  expect_accepted();
}

TEST_F(RowSetVerifierTest, AcceptsGroups) {
  builder_.program().hash_tables.emplace_back().keys.resize(1);
  builder_.emit(Opcode::Groups, 0, 0);
  open();
  read();
  drop();
  expect_accepted();
}

TEST_F(RowSetVerifierTest, RefusesGroupsOfOtherColumns) {
  builder_.program().hash_tables.emplace_back().keys.resize(2);
  builder_.emit(Opcode::Groups, 0, 0);
  drop();
  expect_breach("keys and aggregates as columns");
}

TEST_F(RowSetVerifierTest, RefusesMakingTwice) {
  make();
  make();
  drop();
  expect_breach("a row set is made once");
}

TEST_F(RowSetVerifierTest, RefusesMakingAgainAfterItsDrop) {
  make();
  drop();
  make();
  expect_breach("a row set is made once");
}

TEST_F(RowSetVerifierTest, RefusesAppendingToNothing) {
  append();
  expect_breach("made before rows are appended");
}

TEST_F(RowSetVerifierTest, RefusesAppendingToSortedRows) {
  give_key();
  make();
  sort();
  append();
  expect_breach("before it is sorted or opened");
}

TEST_F(RowSetVerifierTest, RefusesAppendingToOpenedRows) {
  make();
  open();
  append();
  expect_breach("before it is sorted or opened");
}

TEST_F(RowSetVerifierTest, RefusesAppendingToGroups) {
  builder_.program().hash_tables.emplace_back().keys.resize(1);
  builder_.emit(Opcode::Groups, 0, 0);
  append();
  expect_breach("never to one of groups");
}

TEST_F(RowSetVerifierTest, RefusesAppendingAfterTheDrop) {
  make();
  drop();
  append();
  expect_breach("appended to a row set after its Drop");
}

TEST_F(RowSetVerifierTest, RefusesAppendingOtherColumns) {
  builder_.program().row_sets[0].columns.resize(2);
  make();
  append();
  expect_breach("gives every column");
}

TEST_F(RowSetVerifierTest, RefusesAppendingOtherTypes) {
  builder_.program().row_sets[0].columns[0].physical = PhysicalType::Int64;
  make();
  append();
  expect_breach("keeps the physical types");
}

TEST_F(RowSetVerifierTest, RefusesSortingNothing) {
  give_key();
  sort();
  expect_breach("made before it is sorted");
}

TEST_F(RowSetVerifierTest, RefusesSortingTwice) {
  give_key();
  make();
  sort();
  sort();
  expect_breach("sorted once");
}

TEST_F(RowSetVerifierTest, RefusesSortingWithoutKeys) {
  make();
  sort();
  expect_breach("needs a row set with keys");
}

TEST_F(RowSetVerifierTest, RefusesSortingWhatIsOpen) {
  make();
  open();
  sort();
  expect_breach("before it is opened");
}

TEST_F(RowSetVerifierTest, RefusesSortingAfterTheDrop) {
  give_key();
  make();
  drop();
  sort();
  expect_breach("not sorted after its Drop");
}

TEST_F(RowSetVerifierTest, RefusesOpeningNothing) {
  open();
  expect_breach("made before it is opened");
}

TEST_F(RowSetVerifierTest, RefusesOpeningWhatIsToBeSorted) {
  give_key();
  make();
  open();
  expect_breach("sorted before it is opened");
}

TEST_F(RowSetVerifierTest, RefusesOpeningAfterTheDrop) {
  make();
  drop();
  open();
  expect_breach("not opened after its Drop");
}

TEST_F(RowSetVerifierTest, RefusesACursorOfOtherColumns) {
  builder_.program().cursors[1].columns.resize(2);
  make();
  open();
  expect_breach("a cursor on a row set has its columns");
}

TEST_F(RowSetVerifierTest, RefusesOpeningACursorTwice) {
  make();
  open();
  open();
  expect_breach("a cursor is opened once");
}

TEST_F(RowSetVerifierTest, RefusesReadingACursorThatIsNotOpen) {
  make();
  read();
  expect_breach("opened before its rows are read");
}

TEST_F(RowSetVerifierTest, RefusesReadingAfterTheDrop) {
  make();
  open();
  drop();
  read();
  expect_breach("not read after the Drop");
}

TEST_F(RowSetVerifierTest, RefusesDroppingNothing) {
  drop();
  expect_breach("made before its Drop");
}

TEST_F(RowSetVerifierTest, RefusesDroppingTwice) {
  make();
  drop();
  drop();
  expect_breach("dropped once");
}

TEST_F(RowSetVerifierTest, RefusesAnEndWithoutDrop) {
  make();
  expect_breach("dropped before Finish");
}

// Over an index 0 of row set 0 by its one column, which rows of the table meet.
class IndexVerifierTest : public RowSetVerifierTest {
 protected:
  IndexVerifierTest() { builder_.program().indexes.push_back({0, 1}); }

  void build(int32_t row_set = 0) { builder_.emit(Opcode::Build, 0, row_set); }
  void make_and_build() {
    make();
    append();
    build();
  }
  int32_t found_register() { return builder_.new_register({PhysicalType::Int64, Type{TypeId::BigInt}, false}); }
  int32_t match(int32_t key) {
    const int32_t found = found_register();
    builder_.emit(Opcode::Matches, found, key, 0);
    return found;
  }
  int32_t fetch(int32_t found, int64_t column = 0) {
    const int32_t out = integer_register();
    builder_.emit(Opcode::Fetch, out, found, 0, column);
    return out;
  }
  void result(int32_t number) { builder_.emit(Opcode::Result, number, 1); }
  // What a section after Build breaks.
  template <typename Body>
  void expect_breach_of_section(const std::string& rule, const Body& body) {
    make_and_build();
    read_table(body);
    drop();
    expect_breach(rule);
  }
  template <typename Body>
  void expect_accepted_section(const Body& body) {
    make_and_build();
    read_table(body);
    drop();
    expect_accepted();
  }
};

TEST_F(IndexVerifierTest, AcceptsPairs) {
  expect_accepted_section([this](int32_t key) { result(fetch(match(key))); });
}

TEST_F(IndexVerifierTest, AcceptsPairsOfPairs) {
  expect_accepted_section([this](int32_t key) { result(fetch(match(fetch(match(key))))); });
}

TEST_F(IndexVerifierTest, AcceptsAnIndexWithoutKeys) {
  builder_.program().indexes[0].keys = 0;
  expect_accepted_section([this](int32_t) { result(fetch(match(0))); });
}

TEST_F(IndexVerifierTest, AcceptsAnIndexOfSortedRowsThatAreReadAsWell) {
  give_key();
  make();
  append();
  sort();
  build();
  open();
  read();
  drop();
  expect_accepted();
}

TEST_F(IndexVerifierTest, AcceptsAnIndexOfGroups) {
  builder_.program().hash_tables.emplace_back().keys.resize(1);
  builder_.emit(Opcode::Groups, 0, 0);
  build();
  drop();
  expect_accepted();
}

// ---- Build

TEST_F(IndexVerifierTest, RefusesBuildingTwice) {
  make_and_build();
  build();
  drop();
  expect_breach("an index is built once");
}

TEST_F(IndexVerifierTest, RefusesBuildingOverAnotherRowSet) {
  builder_.program().row_sets.push_back(builder_.program().row_sets[0]);
  make();
  builder_.emit(Opcode::RowSet, 1);
  build(1);
  expect_breach("an index is built over its row set");
}

TEST_F(IndexVerifierTest, RefusesMoreKeysThanColumns) {
  builder_.program().indexes[0].keys = 2;
  make();
  build();
  expect_breach("the keys of an index are columns of its row set");
}

TEST_F(IndexVerifierTest, RefusesAnIndexThatIsNotThere) {
  make();
  builder_.emit(Opcode::Build, 1, 0);
  expect_breach("operand p1 (index) exists");
}

TEST_F(IndexVerifierTest, RefusesBuildingOverNothing) {
  build();
  expect_breach("made before an index is built over it");
}

TEST_F(IndexVerifierTest, RefusesBuildingAfterTheDrop) {
  make();
  drop();
  build();
  expect_breach("no index is built over a row set after its Drop");
}

TEST_F(IndexVerifierTest, RefusesBuildingOverWhatIsToBeSorted) {
  give_key();
  make();
  build();
  expect_breach("sorted before an index is built over it");
}

TEST_F(IndexVerifierTest, RefusesAppendingToWhatHasAnIndex) {
  make();
  build();
  append();
  expect_breach("before it is sorted or opened");
}

// ---- Matches

TEST_F(IndexVerifierTest, RefusesMatchesBeforeBuild) {
  make();
  read_table([this](int32_t key) { result(match(key)); });
  expect_breach("an index is built before it is used");
}

TEST_F(IndexVerifierTest, RefusesMatchesAfterTheDrop) {
  make_and_build();
  drop();
  read_table([this](int32_t key) { result(match(key)); });
  expect_breach("an index is not used after the Drop of its row set");
}

TEST_F(IndexVerifierTest, RefusesKeysOfOtherTypes) {
  expect_breach_of_section("Matches keeps the physical types of the index's keys", [this](int32_t) {
    const int32_t wide = found_register();
    builder_.emit(Opcode::Integer, wide, 1);
    result(match(wide));
  });
}

TEST_F(IndexVerifierTest, RefusesNarrowRowNumbers) {
  expect_breach_of_section("the row of an index is an Int64", [this](int32_t key) {
    const int32_t found = integer_register();
    builder_.emit(Opcode::Matches, found, key, 0);
    result(found);
  });
}

TEST_F(IndexVerifierTest, RefusesKeysBeforeTheyAreWritten) {
  expect_breach_of_section("written before they are read", [this](int32_t) { result(match(integer_register())); });
}

TEST_F(IndexVerifierTest, RefusesJumpsOverMatches) {
  expect_breach_of_section("jumps over Matches go to Converge", [this](int32_t key) {
    Label behind;
    builder_.emit_jump(Opcode::IfNull, key, 0, behind, jump_keep);
    match(key);
    builder_.bind(behind);
    result(key);
  });
}

TEST_F(IndexVerifierTest, AcceptsJumpsToMatchesAndToConverge) {
  expect_accepted_section([this](int32_t key) {
    Label matches, end;
    builder_.emit_jump(Opcode::IfNull, key, 0, end, jump_invalid);
    builder_.emit_jump(Opcode::IfNull, key, 0, matches, jump_keep);
    builder_.emit(Opcode::Integer, integer_register(), 1);
    builder_.bind(matches);
    const int32_t found = match(key);
    builder_.emit_jump(Opcode::IfNull, fetch(found), 0, end, jump_invalid);
    result(key);
    builder_.bind(end);
  });
}

TEST_F(IndexVerifierTest, RefusesWritingWhatIsFromBeforeMatches) {
  expect_breach_of_section("registers from before Matches are only read", [this](int32_t key) {
    const int32_t before = integer_register();
    builder_.emit(Opcode::Move, before, key);
    const int32_t found = match(key);
    builder_.emit(Opcode::Move, before, fetch(found));
    result(before);
  });
}

TEST_F(IndexVerifierTest, RefusesWritingWhatIsFromBeforeTheLastMatches) {
  expect_breach_of_section("registers from before Matches are only read", [this](int32_t key) {
    const int32_t found = match(key);
    builder_.emit(Opcode::Move, found, match(fetch(found)));
    result(found);
  });
}

TEST_F(IndexVerifierTest, AcceptsWritingSeveralTimesBehindMatches) {
  expect_accepted_section([this](int32_t key) {
    const int32_t found = match(key), out = integer_register();
    builder_.emit(Opcode::Move, out, key);
    builder_.emit(Opcode::Move, out, fetch(found));
    result(out);
  });
}

// ---- Fetch

TEST_F(IndexVerifierTest, RefusesFetchingBeforeBuild) {
  make();
  read_table([this](int32_t) {
    const int32_t found = found_register();
    builder_.emit(Opcode::Integer, found, 0);
    result(fetch(found));
  });
  expect_breach("an index is built before it is used");
}

TEST_F(IndexVerifierTest, RefusesFetchingAfterTheDrop) {
  make_and_build();
  drop();
  read_table([this](int32_t) {
    const int32_t found = found_register();
    builder_.emit(Opcode::Integer, found, 0);
    result(fetch(found));
  });
  expect_breach("an index is not used after the Drop of its row set");
}

TEST_F(IndexVerifierTest, RefusesFetchingColumnsThatAreNotThere) {
  expect_breach_of_section("Fetch names a column of the index's row set",
                           [this](int32_t key) { result(fetch(match(key), 1)); });
}

TEST_F(IndexVerifierTest, RefusesFetchingNoColumn) {
  expect_breach_of_section("Fetch names a column of the index's row set", [this](int32_t key) {
    const int32_t out = integer_register();
    builder_.emit(Opcode::Fetch, out, match(key), 0);
    result(out);
  });
}

TEST_F(IndexVerifierTest, RefusesFetchingOtherTypes) {
  expect_breach_of_section("Fetch keeps the physical type of the column", [this](int32_t key) {
    const int32_t out = found_register();
    builder_.emit(Opcode::Fetch, out, match(key), 0, int64_t{0});
    result(out);
  });
}

TEST_F(IndexVerifierTest, RefusesFetchingWhereOneRowOfSeveralIsFound) {
  builder_.program().indexes.front().finds_one = true;
  expect_breach_of_section("finds one of several", [this](int32_t key) { result(fetch(match(key))); });
}

TEST_F(IndexVerifierTest, RefusesFetchingOfARowThatIsNotFound) {
  expect_breach_of_section("written before they are read", [this](int32_t) { result(fetch(found_register())); });
}

}  // namespace
}  // namespace diptych
