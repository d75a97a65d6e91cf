// What one thread has in hands while it runs a section: the registers' values for one block of rows, and which rows are
// where.
//
//   tablet  |block 0|block 1|block 2|...        2048 rows each
//              |
//              v   active   rows at the address that is being executed
//                  valid    rows that sinks take (kept only in sections that can make rows valid again)
//                  pending  rows waiting at each jump target further down
//
// Registers share storage as register_places.h says. One that a Column opcode loads stays encoded until somebody reads
// it, and then only words with active rows are decoded. Everything here belongs to one thread.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/cpu/loops/loops.h"
#include "engine/cpu/text_arena.h"
#include "engine/rows/row_mask.h"
#include "kernel/kernel.h"
#include "program/program.h"
#include "tablet/aligned_buffer.h"

namespace diptych::cpu {

struct MatchPoint;
struct Section;
struct Step;
class GroupTable;
class RowIndex;
class SortRun;
class RowWriter;

// One column of the tablet at hand.
struct ColumnState {
  ColumnView view;
  const std::byte* codes = nullptr;  // of the block; readable up to the end of the last word
  const uint64_t* valid = nullptr;   // of the block; nullptr: no NULL
  AlignedBuffer tail;                // padded copy of the codes of a tablet's last, partial block
  AlignedBuffer tail_valid;
};

// One register: where its values for the block are.
struct Slot {
  Values values;
  const uint64_t* valid = nullptr;    // bit = 1: not NULL; nullptr: no NULL
  std::byte* storage = nullptr;       // at its place: block_rows values, 64 of a constant
  uint64_t* valid_storage = nullptr;  // there, too; nullptr: a constant
  PhysicalType physical = PhysicalType::Int32;
  int column = -1;            // not -1: loaded lazily from this column of the section
  bool codes_wanted = false;  // by Code: the dictionary's codes instead of the strings
  uint64_t decoded = 0;       // words whose values are in `values`
};

// The comparison of an encoded column with a constant, translated to codes for one tablet.
struct CodeComparison {
  enum class Kind : uint8_t { Never, Always, Less, Equal, Decode };
  int64_t tablet = -1;  // serial number of the tablet that it is for
  Kind kind = Kind::Decode;
  bool negated = false;
  CompareLoop loop = nullptr;
  alignas(64) std::byte bound[64 * 8];  // the constant as 64 codes
};

template <typename T>
inline const T& value_at(Values values, int row) {
  return reinterpret_cast<const T*>(static_cast<const std::byte*>(values.data) +
                                    static_cast<size_t>(row / 64) * values.word_bytes)[row % 64];
}

// Behind Matches that found several rows for one, another frame has the pairs: a block of them at a time, with copies
// of the registers that are read there.
class Frame {
 public:
  Frame(const Program& program, const Section& section);
  ~Frame();
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  // Rows [first_row, first_row + count) of the tablet are next; count <= block_rows and first_row a multiple of 64.
  void begin_tablet(const PinnedTablet& tablet);
  void begin_block(int64_t first_row, int count);
  // Runs the section's steps over the block.
  void run() { run_from(0); }

  const Program& program() const { return program_; }
  int words() const { return words_; }
  int rows() const { return rows_; }
  int64_t first_position() const { return first_position_; }
  int64_t tablet_serial() const { return tablet_serial_; }
  const RowMask& active() const { return active_; }
  const uint64_t* active_words() const { return active_.words; }

  // A register for reading: decodes what is still encoded and has active rows.
  const Slot& read(int number);
  // What keeps the strings of these registers, which are columns of the tablet at hand, alive; null: they are to be
  // copied by who needs them beyond the block.
  std::shared_ptr<const PinnedTablet> keeper_of_texts(int first, size_t count) const;
  // The column that a register is to be decoded from when it is read, where this is a whole number, a code more than a
  // base; null: nothing of the block is left to be decoded, or it is none.
  const ColumnState* undecoded_whole(int number) const;
  // A register as it is, encoded or not.
  Slot& slot(int number) { return slots_[number]; }
  const ColumnState& column(int number) const { return columns_[number]; }
  // A register for writing: `values` are its own storage, no NULLs.
  Slot& write(int number);
  // Sets the NULLs of `out` to those rows where a or b are NULL.
  void combine_nulls(Slot& out, const Slot& a, const Slot& b) const;
  // Own bits for `out`, all 1, to be changed.
  uint64_t* own_nulls(Slot& out) const;

  // Gives all rows of the step's register its constant.
  void fill_constant(const Step& step);
  // Loads the step's column into storage of the register's own.
  void load_column(const Step& step);
  // The same behind Matches, where the frame may have pairs.
  void bring_column(const Step& step);
  // The rows meet those of the step's index: each goes on with the one that it has met, or the steps behind run for all
  // pairs.
  void match(const Step& step);
  // The active rows of `taken` leave for the target of the step.
  void jump(const RowMask& taken, const Step& step);
  void invalidate(const Step& step);
  // Active and valid rows.
  RowMask sinking() const;

  TextArena& arena() { return arena_; }
  CodeComparison& code_comparison(int number) { return *comparisons_[number]; }

  // Set by the run for sinks; indexed as in the program.
  std::vector<GroupTable*> groups;
  std::vector<SortRun*> sort_runs;      // of row sets that are sorted, ...
  std::vector<RowWriter*> row_writers;  // ... and of others
  RowWriter* result = nullptr;
  std::vector<const RowIndex*> indexes;  // as in the program
  // Keeps the tablet at hand for those who refer to its strings; null: they copy them.
  std::shared_ptr<const PinnedTablet> keeper;
  // Asked between blocks of pairs whether more are wanted; it may throw.
  std::function<bool()> wants_more;
  // Rows that took part in the last sink so far.
  int64_t rows_out = 0;
  // Pairs that each Matches has found so far.
  std::vector<int64_t> pairs_out;
  // Position of the block's first row in the order of the input: morsel, then row.
  int64_t order = 0;

 private:
  void lay_out_registers();
  void initialise_constants();
  void fill_values(const Step& step, int rows);
  void materialise(Slot& slot);
  void bind_column(Slot& slot);
  void arrive(const Step& step);
  void drop_invalid();
  void run_from(int32_t first_step);

  // ---- frame_pairs.cc
  struct Pairs;
  void run_pairs(const Step& step, const RowIndex& index, const RowMask& rows);
  Frame& frame_of_pairs(size_t match);
  bool run_block(Frame& pairs, const MatchPoint& point, int count);
  void begin_pairs(Frame& from, const MatchPoint& point, const Pairs& pairs, int count);
  void gather(Frame& from, int number);

  const Program& program_;
  const Section& section_;
  std::vector<Slot> slots_;
  std::vector<ColumnState> columns_;
  std::vector<int> column_slots_;  // those that are loaded lazily
  AlignedBuffer storage_;          // of all registers
  std::vector<std::unique_ptr<CodeComparison>> comparisons_;
  std::vector<RowMask> pending_;
  std::vector<bool> waiting_;  // by target: rows are pending there
  TextArena arena_;
  RowMask active_, valid_;
  bool any_active_ = false;
  std::shared_ptr<Pairs> pairs_;  // that the rows at hand have met; shared, since Pairs is not complete here
  // Of a block's frame, for all: frames for the pairs behind each Matches, made when one is needed.
  std::vector<std::unique_ptr<Frame>> frames_;
  Frame* root_ = this;                   // the block's
  Frame* from_ = nullptr;                // of the rows that have met others; null: the block's
  const uint16_t* from_rows_ = nullptr;  // which row of it each pair has
  int rows_ = 0, words_ = 0;
  int64_t first_row_ = 0, first_position_ = 0, tablet_position_ = 0, tablet_serial_ = 0;
};

}  // namespace diptych::cpu
