#include "engine/placement/program_facts.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "cost/transport.h"
#include "engine/placement/program_key.h"
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
    groups_.assign(program.row_sets.size(), no_table);
  }

  ProgramFacts run() {
    facts_.key = program_key(program_, 0);
    facts_.lasting_key = lasting_key(program_);
    facts_.wanted = wanted_;
    const auto& instructions = program_.instructions;
    for (size_t next = 0; next < instructions.size(); ++next) {
      const Instruction& at = instructions[next];
      const auto cursor = static_cast<size_t>(at.p1);
      switch (at.opcode) {
        case Opcode::Table: cursors_[cursor] = {static_cast<size_t>(at.p2), {}}; break;
        case Opcode::Groups: groups_[static_cast<size_t>(at.p1)] = at.p2; break;
        case Opcode::Rows: cursors_[cursor] = {std::nullopt, find_rows(at.p2)}; break;
        case Opcode::Parallel:
          add_section(static_cast<int32_t>(next), cursors_[cursor]);
          next = static_cast<size_t>(at.p3);
          break;
        default: break;
      }
    }
    number_chains();
    find_leaving();
    return std::move(facts_);
  }

 private:
  struct Cursor {
    std::optional<size_t> source, object;
  };

  struct Sink {
    Opcode kind = Opcode::Group;
    int32_t number = 0;
    bool operator==(const Sink&) const = default;
  };

  static constexpr int32_t no_table = -1;

  std::optional<size_t> find_object(Opcode kind, int32_t number) const {
    const auto known = std::find(sinks_.begin(), sinks_.end(), Sink{kind, number});
    return known != sinks_.end() ? std::optional<size_t>(known - sinks_.begin()) : std::nullopt;
  }

  // What is in a row set: groups, or rows that were appended.
  std::optional<size_t> find_rows(int32_t row_set) const {
    const int32_t table = groups_[static_cast<size_t>(row_set)];
    return table != no_table ? find_object(Opcode::Group, table) : find_object(Opcode::Append, row_set);
  }

  // Asked for its tablets, a file would be read.
  static bool is_placed(const TabletSource& source) { return source.read_by_cpu() == nullptr && is_table(source); }

  void add_section(int32_t address, const Cursor& cursor) {
    PlacedSection section;
    section.address = address;
    section.chain = facts_.sections.size();
    std::vector<RowsToSink> sinks;
    if (cursor.source && is_placed(*program_.sources[*cursor.source])) {
      section.table = cursor.source;
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
    const TabletSource& table = *program_.sources[*section.table];
    const NeededTablets needed(program_.cursors[cursor], table);
    RowsRead read = rows_of_table(program_, section.address, table, needed);
    section.needed = needed.spans();
    section.facts = find_facts(program_, section.address, read, wanted_, &sinks);
    for (const size_t column : read.columns) section.bytes.push_back(read.bytes[column]);
    section.columns = std::move(read.columns);
  }

  RowsRead rows_of(int32_t address, size_t object) const {
    const auto cursor = static_cast<size_t>(program_.instructions[static_cast<size_t>(address)].p1);
    RowsRead read;
    read.rows = facts_.objects[object].rows;
    read.tablets = read.rows / morsel_rows + 1;
    read.bytes.assign(program_.cursors[cursor].columns.size(), 0);
    read.columns = columns_read(program_, address);
    for (const size_t column : read.columns)
      read.bytes[column] = read.rows * row_bytes(program_.cursors[cursor].columns[column]);
    return read;
  }

  void add_object(const RowsToSink& sink, PlacedSection& section) {
    const std::optional<size_t> known = find_object(sink.kind, sink.object);
    const size_t number = known.value_or(sinks_.size());
    if (known) {
      join(section, makers_[number]);
    } else {
      facts_.objects.emplace_back();
      sinks_.push_back({sink.kind, sink.object});
      makers_.push_back(section.chain);
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
    std::vector<size_t> chains;
    for (PlacedSection& section : facts_.sections) {
      const auto number = static_cast<size_t>(std::find(chains.begin(), chains.end(), section.chain) - chains.begin());
      if (number == chains.size()) chains.push_back(section.chain);
      section.chain = number;
    }
    facts_.chains = chains.size();
  }

  // The few rows of a dimension go where the many of a fact table are: from elsewhere its index would come over the
  // bus.
  void find_leaving() {
    std::vector<bool> is_large(facts_.chains);
    for (const PlacedSection& section : facts_.sections)
      if (section.table && section.facts.rows >= least_device_rows) is_large[section.chain] = true;
    for (PlacedSection& section : facts_.sections) section.may_leave_cpu = section.table && is_large[section.chain];
  }

  const Program& program_;
  const int64_t wanted_;
  ProgramFacts facts_;
  std::vector<Cursor> cursors_;
  std::vector<int32_t> groups_;  // by row set, the hash table
  std::vector<Sink> sinks_;      // by object, which fills it
  std::vector<size_t> makers_;   // by object, the chain of the sections that make it
};

}  // namespace

int size_class_of(const ProgramFacts& facts, size_t chain) {
  int64_t bytes = 0;
  for (const PlacedSection& section : facts.sections) {
    if (section.chain != chain) continue;
    bytes += section.facts.result_bytes;
    for (const size_t object : section.makes) bytes += facts.objects[object].bytes;
  }
  return static_cast<int>(std::bit_width(static_cast<uint64_t>(bytes))) / 2;
}

ProgramFacts find_program_facts(const Program& program, int64_t wanted) { return FactReader(program, wanted).run(); }

}  // namespace diptych
