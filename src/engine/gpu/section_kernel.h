// What the generator makes of one parallel section: a kernel's text, and what the host has to put into its parameters.
//
//   section  +  shape of its columns  ->  SectionKernel { text, parameters, sinks }
//
// The text depends on the program and on how the columns are stored (widths, NULLs, frames), never on values: literals,
// addresses and row counts are parameters, so that statements of one shape share a kernel.
//
// A tablet is described to kernels by words in device memory:
//
//   rows | first tile | position of the first row | rows before it |, then for each column of the section
//   data | validity or 0 | base | factor | width | heap |
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/device/kernel_text.h"
#include "engine/gpu/generator/group_plan.h"
#include "program/program.h"
#include "tablet/column_view.h"

namespace diptych::gpu {

inline constexpr size_t tablet_words = 4;
inline constexpr size_t column_words = 6;
inline constexpr int group_size = 256;
// Of kernels that partition rows, where a device runs such groups well: the fewer groups, the fewer places that are
// written to at a time.
inline constexpr int large_group_size = 1024;
// A group of the grid goes through a tile in at most so many steps.
inline constexpr int most_steps = 16;

// How a column of the section is stored in all tablets that it reads.
struct ColumnShape {
  size_t column = 0;  // of the cursor
  Encoding encoding = Encoding::FrameOfReference;
  PhysicalType physical = PhysicalType::Int32;
  int width = 0;             // bytes of a code or value; -1: differs from tablet to tablet
  bool has_nulls = false;    // some tablet has a validity bitmap
  bool unit_factor = false;  // codes count in steps of 1 everywhere
  bool mixed = false;        // strings: Heap in some tablets, codes of the dictionary in others
  bool operator==(const ColumnShape&) const = default;
};

// How an index of the program is built, which rows of the section meet.
struct IndexShape {
  int32_t index = 0;                 // of the program
  bool has_keys = true;              // else every row is met by all of its rows
  bool is_dense = false;             // found by the key itself, else by its hash
  bool is_unique = true;             // no two of its rows have the same keys, or one of them will do
  bool is_guessed = false;           // ... which a kernel that meets it has to make sure of
  bool is_full = false;              // every place of a dense index has a row, as far as is known before it is built
  bool is_direct = false;            // a place has the record of its row, which else lies where the row's number says
  bool is_fetched = false;           // some section reads columns of its rows
  bool has_filter = false;           // that is asked before its hash table
  bool has_long_lists = false;       // some of its keys have more than most_own_matches rows
  std::vector<bool> has_nulls = {};  // by column of its row set
  // Of its rows' records (join/index_record.h); 0: there are none, and columns are read where the row set has them.
  int record_bytes = 0;       // from one to the next
  int record_load_bytes = 0;  // that are loaded at once
  struct Field {
    int width = 0;      // bytes; 0: it is not there
    int at = 0;         // in the record
    int null_bit = -1;  // of the record, counted from its first byte: set where the value is there; -1: it always is
    bool operator==(const Field&) const = default;
  };
  std::vector<Field> fields = {};  // by column of the row set
  // Of a table: its rows' keys, which where they are unique are the beginning of the records.
  int key_bytes = 0;
  int key_load_bytes = 0;
  std::vector<Field> key_fields = {};  // by key
  bool operator==(const IndexShape&) const = default;
};

struct SectionShape {
  std::vector<ColumnShape> columns;                   // those that the section reads, ascending
  std::vector<IndexShape> indexes;                    // those that its rows meet and that are on the device
  std::string unsupported;                            // why no kernel can read them; empty: one can
  int64_t most_dense_bytes = most_dense_group_bytes;  // that an array of numbered groups may take
  bool has_large_groups = false;                      // of the device: it runs groups of large_group_size
  bool operator==(const SectionShape&) const = default;
  const ColumnShape& of(size_t cursor_column) const;
  size_t index_of(size_t cursor_column) const;
  // Null: it is not on the device.
  const IndexShape* built(int32_t index) const;
};

// A row that meets more of an index is shared out by a second launch: a team goes through as many in 8 turns.
inline constexpr int64_t most_own_matches = 1024;

// What the words of a kernel's parameters say of rows that meet more: see LongRows.
enum class LongRowPart : int32_t { List, Room, IsSharing };

// What a word of a kernel's parameters says of an index, as BuiltIndex has it. From FirstColumn on: of each column of
// its row set the address of the values, of strings that of their offsets; that of the validity bits, that of the
// strings' bytes, and what is added to a record's field.
enum class IndexPart : int32_t {
  Control,
  Bits,
  Slots,
  Span,
  Low,
  Keys,
  RowBits,
  Filter,
  FilterBits,
  Starts,
  Rows,
  Records,
  FirstColumn
};
inline constexpr int32_t index_column_parts = 4;

// What a word of the kernel's parameters is.
struct KernelParameter {
  enum class Kind : uint8_t {
    Tablets,         // address of the descriptions
    TabletCount,     //
    TileCount,       //
    TilesPerTablet,  // 0: differs, search
    StepsPerTile,    //
    Control,         // address of ControlBlock
    ControlReport,   // address of the one that the host reads
    TileStatus,      // address of a zeroed word per tile, for ordered output
    Capacity,        // rows that the output columns have room for
    LineMask,        // rows of 4 bytes in a line of where they are written, less one
    Output,          // address of output column `index`
    OutputNulls,     // address of its NULL bytes (1: not NULL)
    SortWord,        // address of word `index` of the rows' sort keys
    Constant,        // what the opcode at address `index` loads, word `part` (0, 1; of text: address, length)
    LookupEntries,   // address of the entries of lookup table `index`: values, or offsets of strings
    LookupBytes,     // address of what tells NULLs (values) or of the strings
    Dictionary,      // address of offsets of the strings of column `index` of the section
    DictionaryBytes,
    SortBound,        // of key `index` of the row set, part 0: the value that sorts first; 1: the code of NULL
    DictionaryRanks,  // address of where its strings stand among each other, by code
    SetValues,        // address of the sorted values of set `index`, or offsets of its strings
    SetBytes,
    SetCount,
    Partials,  // address of the aggregate states of every group of the grid
    Group,     // of the groups of hash table `index`: what GroupPart `part` says
    Index,     // of index `index`: what IndexPart `part` says
    LongRows,  // of rows that a second launch shares out: what LongRowPart `part` says
    RowMasks,  // address of a byte for each step of a work-item: which of its rows the first pass has found
    TextRoom,  // address of the room for strings that the kernel makes
    TextRoomBytes,
    Stop,     // address of a word that is not 0 as soon as the host wants the kernel to end
    Section,  // address of the words that the interpreter runs
  };
  Kind kind;
  int32_t index = 0;
  int32_t part = 0;
};

// Why no kernel runs a section, whatever its columns are.
inline constexpr const char* meets_an_index = "rows that meet those of an index that is not on the device";
inline constexpr const char* appends_cut = "rows for a row set that is not sorted, of which some are left out";

// In device memory, zeroed before a launch. The last group to be done copies rows_out, failure and text_bytes to where
// the host reads them; the others are the kernel's own.
struct ControlBlock {
  uint64_t next_tile = 0;
  uint64_t rows_out = 0;    // rows that reached the last sink (in a Result section: rows of output)
  uint64_t failure = 0;     // a dk_error in the lower half, the address of its opcode + 1 above; 0: none
  uint64_t text_bytes = 0;  // of strings that the kernel made, or would have with more room
  uint64_t groups_done = 0;
  uint64_t never = 0;  // the word of KernelParameter::Kind::Stop of a launch that nobody watches: stays 0
};

// A column of rows that a sink writes: of results or of rows to be sorted.
struct OutputColumn {
  int32_t register_number = 0;
  PhysicalType physical = PhysicalType::Int32;  // as written
  bool nullable = false;
  int32_t dictionary_column = -1;  // strings as codes of the dictionary of this column of the section
  // Other strings are written as where they are; see kernel/device/text_row.h.
  bool is_text_row() const { return physical == PhysicalType::Text && dictionary_column < 0; }
  int width() const { return dictionary_column >= 0 ? 4 : width_bytes(physical); }
};

// A sort key of which a word has the first 8 bytes only.
struct SortText {
  size_t word;
  size_t output;  // where the strings are, as rows of kernel/device/text_row.h
  bool descending;
};

// A word of an interpreted section that is known at a launch: a parameter's, and so much more.
struct SectionWord {
  size_t index = 0;
  KernelParameter parameter;
  uint64_t offset = 0;
};

struct SectionKernel {
  KernelText source;
  size_t library_bytes = 0;  // of the text: what it has from src/kernel, and the definitions before that
  std::vector<KernelParameter> parameters;
  // Of the interpreter: the section that it runs. A generated kernel has none.
  std::vector<uint64_t> section;
  std::vector<SectionWord> section_words;
  bool is_interpreted() const { return !section.empty(); }
  int rows_per_thread = 4;
  int most_steps = 16;           // of a tile
  int new_texts = 0;             // instructions that make strings
  bool repeats = false;          // a row may reach the sinks several times
  bool shares_rows = false;      // a second launch goes through the rows that meet very many
  bool can_be_stopped = false;   // it looks at the word that the host may set, and then leaves pairs out
  bool stages_rows = false;      // those for partitions are put in order in shared memory, which launches ask for
  bool notes_rows = false;       // the first of two passes notes for the second which rows reach the sinks
  bool adds_noted_rows = false;  // ... one by one, to none
  int items = group_size;        // of a work-group
  int step_rows() const { return rows_per_thread * items; }

  enum class Sink : uint8_t { Result, Totals, Groups, Sort, Rows } sink = Sink::Result;
  std::vector<OutputColumn> outputs;  // Result, Sort, Rows
  int32_t hash_table = -1;            // Totals; Groups: of totals beside them, if partial_words > 0
  std::vector<GroupPlan> groups;      // Groups: of each other hash table
  size_t partial_words = 0;           // of one group of the grid
  int32_t row_set = -1;               // Sort, Rows
  size_t sort_words = 0;              // Sort: u64 words of each row beside the outputs
  std::vector<SortText> sort_texts;   // Sort: keys that are strings of no dictionary, in their order
  // Rows in the order of the input.
  bool writes_rows() const { return sink == Sink::Result || sink == Sink::Sort || sink == Sink::Rows; }

  std::string unsupported;  // why there is no kernel; empty: there is
};

// Of the section behind the Parallel at `address`.
SectionKernel generate_section(const Program& program, int32_t address, const SectionShape& shape);

}  // namespace diptych::gpu
