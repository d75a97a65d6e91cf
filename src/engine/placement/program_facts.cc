#include "engine/placement/program_facts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "cost/transport.h"
#include "program/section_contents.h"

namespace diptych {
namespace {

// Rows a group, where nothing is known of the keys' values.
constexpr double usual_rows_a_group = 8;
// A new group is found as any other, takes memory, and is merged with those of other threads or partitions: as much as
// so many rows that find theirs.
constexpr double look_ups_a_new_group = 4;
// Of a string that a section makes.
constexpr int64_t usual_text_bytes = 32;

int64_t row_bytes(const RegisterInfo& column) {
  return width_bytes(column.physical) + (column.physical == PhysicalType::Text ? usual_text_bytes : 0) +
         (column.nullable ? 1 : 0);
}

// Of so many rows.
double expected_groups(const HashTableInfo& table, double rows) {
  if (table.keys.empty()) return 1;
  if (table.expected_groups > 0) return std::min(rows, static_cast<double>(table.expected_groups));
  double groups = 1;
  for (const RegisterInfo& key : table.keys) {
    const double values = static_cast<double>(key.high) - static_cast<double>(key.low) + 1;
    groups *= key.has_range ? values + (key.nullable ? 1 : 0) : std::max(1.0, rows / usual_rows_a_group);
  }
  return std::min(rows, groups);
}

class FactReader {
 public:
  FactReader(const Program& program, int64_t wanted) : program_(program), wanted_(wanted) {
    cursors_.resize(program.cursors.size());
  }

  ProgramFacts run() {
    const auto& instructions = program_.instructions;
    for (size_t next = 0; next < instructions.size(); ++next) {
      const Instruction& at = instructions[next];
      const auto cursor = static_cast<size_t>(at.p1);
      switch (at.opcode) {
        case Opcode::Table: cursors_[cursor] = {program_.sources[static_cast<size_t>(at.p2)].get(), {}}; break;
        case Opcode::Groups: groups_[at.p1] = at.p2; break;
        case Opcode::Rows: cursors_[cursor] = {nullptr, find_rows(at.p2)}; break;
        case Opcode::Parallel:
          add_section(static_cast<int32_t>(next), cursors_[cursor]);
          next = static_cast<size_t>(at.p3);
          break;
        default: break;
      }
    }
    number_chains();
    return std::move(facts_);
  }

 private:
  struct Cursor {
    const TabletSource* table = nullptr;
    std::optional<size_t> object;
  };

  std::optional<size_t> find_object(Opcode kind, int32_t number) const {
    const auto known = numbers_.find({kind, number});
    return known != numbers_.end() ? std::optional(known->second) : std::nullopt;
  }

  // What is in a row set: groups, or rows that were appended.
  std::optional<size_t> find_rows(int32_t row_set) const {
    const auto groups = groups_.find(row_set);
    return groups != groups_.end() ? find_object(Opcode::Group, groups->second) : find_object(Opcode::Append, row_set);
  }

  void add_section(int32_t address, const Cursor& cursor) {
    PlacedSection section;
    section.address = address;
    section.chain = facts_.sections.size();
    std::vector<RowsToSink> sinks;
    // Asked for its tablets, a file would be read.
    if (cursor.table != nullptr && cursor.table->read_by_cpu() == nullptr && is_table(*cursor.table)) {
      section.table = cursor.table;
      read_table(section, sinks);
    } else if (cursor.object) {
      section.reads = cursor.object;
      section.facts = find_facts(program_, address, rows_of(address, *cursor.object), wanted_, &sinks);
      join(section, makers_[*cursor.object]);
    }
    for (const int32_t index : indexes_met(program_, address)) add_met(index, section);
    for (const RowsToSink& sink : sinks) add_object(sink, section);
    facts_.sections.push_back(std::move(section));
  }

  void add_met(int32_t index, PlacedSection& section) {
    const auto object = find_rows(program_.indexes[static_cast<size_t>(index)].row_set);
    if (!object) return;
    section.meets.push_back(*object);
    join(section, makers_[*object]);
  }

  void read_table(PlacedSection& section, std::vector<RowsToSink>& sinks) const {
    const auto cursor = static_cast<size_t>(program_.instructions[static_cast<size_t>(section.address)].p1);
    const NeededTablets needed(program_.cursors[cursor], *section.table);
    const RowsRead read = rows_of_table(program_, section.address, *section.table, needed);
    section.needed = needed.spans();
    section.columns = columns_read(program_, section.address);
    for (const size_t column : section.columns) section.bytes.push_back(read.bytes[column]);
    section.facts = find_facts(program_, section.address, read, wanted_, &sinks);
  }

  RowsRead rows_of(int32_t address, size_t object) const {
    const auto cursor = static_cast<size_t>(program_.instructions[static_cast<size_t>(address)].p1);
    RowsRead read;
    read.rows = facts_.objects[object].rows;
    read.tablets = read.rows / morsel_rows + 1;
    read.bytes.assign(program_.cursors[cursor].columns.size(), 0);
    for (const size_t column : columns_read(program_, address))
      read.bytes[column] = read.rows * row_bytes(program_.cursors[cursor].columns[column]);
    return read;
  }

  void add_object(const RowsToSink& sink, PlacedSection& section) {
    const auto [known, is_new] = numbers_.try_emplace({sink.kind, sink.object}, facts_.objects.size());
    const size_t number = known->second;
    if (is_new) {
      facts_.objects.emplace_back();
      makers_.push_back(section.chain);
    } else {
      join(section, makers_[number]);
    }
    section.makes.push_back(number);
    ObjectFacts& object = facts_.objects[number];
    int64_t bytes = 0;
    double rows = sink.rows;
    if (sink.kind == Opcode::Group) {
      const HashTableInfo& table = program_.hash_tables[static_cast<size_t>(sink.object)];
      rows = expected_groups(table, sink.rows);
      section.facts.work[static_cast<size_t>(WorkKind::Group)] += rows * look_ups_a_new_group;
      for (const RegisterInfo& key : table.keys) bytes += row_bytes(key);
      for (const AggregateInfo& aggregate : table.aggregates) bytes += row_bytes(aggregate.result);
    } else {
      const RowSetInfo& row_set = program_.row_sets[static_cast<size_t>(sink.object)];
      if (row_set.limit >= 0) rows = std::min(rows, static_cast<double>(row_set.limit));
      for (const RegisterInfo& column : row_set.columns) bytes += row_bytes(column);
      object.stays = index_over(program_, sink.object) >= 0;
      // Put into the index.
      if (object.stays) section.facts.work[static_cast<size_t>(WorkKind::Group)] += rows;
    }
    object.rows = std::max(object.rows, static_cast<int64_t>(std::ceil(rows)));
    object.bytes = object.rows * bytes;
  }

  // Makes the section's chain and that one the same.
  void join(PlacedSection& section, size_t chain) {
    const size_t old = std::exchange(section.chain, chain);
    for (PlacedSection& other : facts_.sections)
      if (other.chain == old) other.chain = chain;
    for (size_t& maker : makers_)
      if (maker == old) maker = chain;
  }

  void number_chains() {
    std::map<size_t, size_t> numbers;
    for (PlacedSection& section : facts_.sections)
      section.chain = numbers.try_emplace(section.chain, numbers.size()).first->second;
    facts_.chains = numbers.size();
  }

  const Program& program_;
  const int64_t wanted_;
  ProgramFacts facts_;
  std::vector<Cursor> cursors_;
  std::map<int32_t, int32_t> groups_;                     // by row set, the hash table
  std::map<std::pair<Opcode, int32_t>, size_t> numbers_;  // of objects, by sink
  std::vector<size_t> makers_;                            // by object, the chain of the sections that make it
};

}  // namespace

ProgramFacts find_program_facts(const Program& program, int64_t wanted) { return FactReader(program, wanted).run(); }

}  // namespace diptych
