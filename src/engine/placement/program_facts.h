// What placement knows of a program before it runs: its sections, and the objects that flow from one to the next.
//
//   section 3 (table) ──groups──> section 12 ──sorted rows──> section 20        one chain
//   section 27 (another table)                                                  another: nothing flows between them
//   section 34 (table) ──rows of an index──> section 41 (table), which meets it         one chain
//
// A chain is placed as a whole: where its groups are made is where they are read.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/placement/section_facts.h"
#include "program/program.h"

namespace diptych {

// Groups of a hash table, sorted rows, or those of an index; as expected.
struct ObjectFacts {
  int64_t rows = 0, bytes = 0;
  bool stays = true;  // where it was made; sorted rows go to host memory
};

struct PlacedSection {
  int32_t address = 0;  // of its Parallel
  size_t chain = 0;
  SectionFacts facts;
  // Of a table, its number among the program's sources, and what is read of it.
  std::optional<size_t> table;
  std::vector<TabletSpan> needed;
  std::vector<size_t> columns;
  std::vector<int64_t> bytes;  // of these
  // Whether auto asks devices for it: it has enough rows, or is in a chain with a table that has.
  bool may_leave_cpu = false;
  std::optional<size_t> reads;  // the object that it reads; nothing: a table, or rows that only the CPU reads
  std::vector<size_t> makes;    // objects that it makes or goes on making
  std::vector<size_t> meets;    // objects over which its rows meet indexes
};

struct ProgramFacts {
  uint64_t key = 0, lasting_key = 0;    // of the program (program_key.h)
  int64_t wanted = -1;                  // for so many rows of the result
  std::vector<PlacedSection> sections;  // in the order in which they run
  std::vector<ObjectFacts> objects;
  size_t chains = 0;
};

// Of how many bytes the chain's results, groups and sorted rows are expected to be, in powers of four: literals that
// let far more rows through make other work of the same program.
int size_class_of(const ProgramFacts& facts, size_t chain);

// No tablet is read. wanted: as find_facts().
ProgramFacts find_program_facts(const Program& program, int64_t wanted);

}  // namespace diptych
