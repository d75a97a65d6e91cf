// Turns one parallel section into a kernel's text. Private to the generator; section_kernel.h is what others see.
//
// A work-item takes R consecutive rows at a time. What the CPU engine does with words of 64 rows (engine/cpu/frame.h)
// it does with masks of R bits in registers:
//
//   active     rows at the address that is being executed
//   valid      rows that sinks take (only in sections that can make rows valid again)
//   pending_t  rows waiting at jump target t
//   r5[k]      register 5 of row k      v5   which rows of it are not NULL      t5   a truth value: bit k is row k's
//
// A tile is some steps of group_size * R rows of one tablet. A jump takes rows out of `active`; what follows stands in
// `if (active != 0) {`, so that a column behind a filter is only loaded where some row passed. All columns are loaded
// in such a block: items whose rows are all behind the tablet's end would read what is no column, or no memory at all.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/gpu/generator/aggregate_state.h"
#include "engine/gpu/generator/kernel_writer.h"
#include "engine/gpu/generator/scalar_text.h"
#include "engine/gpu/section_kernel.h"
#include "engine/rows/sort_key_layout.h"
#include "program/comparison.h"
#include "program/section_flow.h"

namespace diptych::gpu {

class SectionGenerator {
 public:
  SectionGenerator(const Program& program, int32_t address, const SectionShape& shape);
  SectionKernel generate();

 private:
  // Where the values of a register are.
  enum class Form : uint8_t {
    Unused,
    Constant,  // r5, the same for all rows
    Vector,    // r5[k]
    Truth,     // bits of t5
    Code,      // r5[k] is the code of a string in the dictionary of a column
    Place,     // r5[k] is a place or row of an index (generate_match.cc)
    Packed     // p5: a column's codes of a byte each, as they are stored; only comparisons with constants read it
  };
  struct Register {
    Form form = Form::Unused;
    size_t column = 0;  // of the section: Code
    bool is_null_constant = false;
    bool never_null = false;  // as its columns are stored
  };

  // Of a register's element: its type, and what stands behind the element's name, and behind that of one made for it.
  struct ElementPart {
    const char* type;
    size_t bytes;
    const char* member = "";
    const char* ending = "";
  };
  static std::vector<ElementPart> parts_of(PhysicalType physical);

  // Of a row that is kept (generate_compaction.cc): what it is there, which of row k of an item that is, and what it is
  // put into, of which type.
  struct KeptValue {
    const char* type;
    size_t bytes;
    std::string name, value, to, to_type;
  };

  // A part of the records of an index's rows, of those whose numbers a register has.
  struct LoadedPart {
    int32_t index, row;
    int part;
    bool late;
    std::string name;
    bool is_loaded = false;
  };

  const RegisterInfo& info(int32_t number) const { return program_.registers[static_cast<size_t>(number)]; }
  Register& reg(int32_t number) { return registers_[static_cast<size_t>(number)]; }
  const Instruction& at(int32_t address) const { return program_.instructions[static_cast<size_t>(address)]; }
  void refuse(std::string reason) {
    if (kernel_.unsupported.empty()) kernel_.unsupported = std::move(reason);
  }

  // ---- what the kernel is like (section_choices.cc)
  void check_size();
  bool makes_text(const Instruction& instruction) const;
  void find_filter();
  void choose_rows_per_thread();
  bool looks_in_tables() const;
  void choose_forms();
  void find_sink();

  // ---- the frame of the kernel (section_generator.cc)
  void write_body();
  void write_tablet_columns();
  void write_tiles_place();
  void write_passes();
  bool keeps_all_rows() const;
  void write_all_rows();
  void write_steps();
  bool write_filter_columns();
  bool is_filter_column(int32_t address) const;
  bool is_late(int32_t address) const;
  void declare_registers();
  void begin_instruction(int32_t address);
  int least_groups() const;
  bool has_costly_instruction() const;
  KernelText assemble();
  // The expression of a parameter's word.
  std::string word(KernelParameter::Kind kind, int32_t index = 0, int32_t part = 0);
  // Declares a value at the head of the kernel, once.
  void declare(const std::string& name, const std::string& declaration);
  void use_file(const std::string& file);
  void use_functions_of(const std::string& text);

  // ---- operands (generate_rows.cc)
  std::string operand(int32_t number);
  // The name of the offsets of the strings of a column's dictionary; that of the bytes has _bytes behind it.
  std::string dictionary(int32_t column);
  // Mask of the rows where a register is not NULL; all_rows where it never is.
  std::string known(int32_t number);
  static std::string both(const std::string& a, const std::string& b);
  std::string truth(int32_t number);

  // ---- opcodes (generate_rows.cc, generate_load.cc)
  void write_instruction(int32_t address);
  void write_scalar(int32_t address);
  // value: expression of row k; nulls: mask; live: rows whose errors count and for which a costly value is computed.
  void assign(int32_t out, const std::string& value, const std::string& nulls);
  void store_nulls(int32_t out, const std::string& nulls);
  void store_nulls_here(int32_t out, const std::string& nulls);
  void assign_truth(int32_t out, const std::string& value, const std::string& nulls);
  void write_comparison(int32_t address);
  void write_distinct(int32_t address);
  void write_logic(int32_t address);
  void write_in(int32_t address);
  void write_move(int32_t address);
  void write_jump(int32_t address);
  void take_jump(int32_t address, const std::string& taken);
  void write_invalid(int32_t address);
  std::string truth_of_rows(const ScalarText& text, const std::string& live, int32_t address);

  void write_constant(int32_t address);
  void write_column(int32_t address);
  void write_column_load(int32_t address);
  void write_codes(const ColumnShape& column, size_t index, int32_t out, PhysicalType physical);
  static std::string plain_as(const std::string& value, PhysicalType from, PhysicalType to);
  void write_plain(int32_t out, const ColumnShape& column, size_t index);
  void write_rowid(int32_t out);
  void write_lookup(int32_t address);
  std::string column_data(size_t index);

  // ---- rows of built indexes (generate_match.cc)
  const IndexShape* declare_index(int32_t index);
  void write_matches(int32_t address);
  void write_guesses();
  void write_found_places(int32_t address, const IndexShape& shape);
  void write_found_slots(int32_t address, const IndexShape& shape);
  void write_slot_search(int32_t address, const IndexShape& shape);
  void write_next_slot(const std::string& name);
  void write_key_hash(int32_t address);
  std::string key_word(int32_t number);
  std::string same_key(int32_t address, const IndexShape& shape);

  // ---- columns of their rows (generate_fetch.cc)
  // Null: the column is not in a record.
  const IndexShape::Field* field_of(const Instruction& fetch) const;
  void declare_parts(int32_t address, bool late);
  LoadedPart* find_part(const Instruction& fetch, int part, bool late);
  std::string found_row(const Instruction& fetch);
  void load_part(const Instruction& fetch, LoadedPart& part);
  std::vector<LoadedPart> declare_key_parts(const Instruction& matches, const IndexShape& shape);
  static std::string load_of(const std::string& rows, const std::string& row, int stride, int load_bytes,
                             const LoadedPart& part);
  static std::string part_word(const std::vector<LoadedPart>& parts, int load_bytes, int where);
  static std::string part_bits(const std::vector<LoadedPart>& parts, int load_bytes, int where, int width);
  // Only the second pass does it.
  bool is_put_off(int32_t address) const { return (ordered_ || is_partitioned()) && is_late(address); }
  void write_fetch(int32_t address);
  void write_fetch_field(int32_t address, const IndexShape::Field& field);
  static std::string field_value(PhysicalType physical, const std::string& bits, const std::string& upper,
                                 const std::string& low);
  void write_fetch_column(int32_t address);

  // ---- pairs of rows (generate_pairs.cc)
  bool meets_several(int32_t address) const;
  void find_pairs();
  bool repeats() const { return first_pairs_ < flow_.end; }
  bool all_pairs_reach_sink(int32_t address) const;
  std::vector<int32_t> registers_across(int32_t address) const;
  bool is_late_register(int32_t number) const;
  void use_stage(int width);
  void declare_lines(int32_t out);
  bool may_be_stopped() const;
  void open_pairs(int32_t address);
  void write_pairs(int32_t address);
  void write_moved(int32_t out, const std::string& type, const std::string& from, const std::string& to);
  void write_moved_mask(int32_t out, const std::string& from, const std::string& to);
  std::string element_type(int32_t number) const;
  void write_moved_register(int32_t out, int32_t number);
  void write_taken_register(int32_t out, int32_t number);
  void check_shared_memory();
  std::string row_number() const;
  void write_scattered(const ColumnShape& column, size_t index, int32_t out, PhysicalType physical);
  void write_scattered_nulls(int32_t out, size_t index);

  // ---- rows that meet very many, shared out by a second launch (generate_long_rows.cc)
  bool may_share_rows() const;
  void declare_long_rows();
  std::string grid_group() const;
  std::string grid_groups() const;
  std::string goes_on() const;
  void write_long_row();
  void write_own_matches(int32_t out);

  // ---- rows that are left, close together (generate_compaction.cc)
  void find_compaction();
  bool compacts() const { return compacts_at_ < flow_.end; }
  std::vector<KeptValue> kept_values(int32_t address);
  void open_compacted(int32_t address);
  void close_compacted();

  // ---- strings (generate_text.cc)
  void write_text_column(int32_t out, const ColumnShape& column, size_t index);
  // Of an opcode whose result has to be written somewhere.
  void write_new_text(int32_t address, const ScalarText& text, const std::string& nulls);
  // The string of row k of a register as a sink writes it.
  std::string text_row(int32_t number);

  // ---- sinks (generate_sinks.cc)
  void write_sink(int32_t address);
  void write_result(int32_t address);
  void add_output(int32_t number, PhysicalType physical);
  void open_rows(int least);
  void close_rows();
  void write_put(const OutputColumn& column, size_t number);
  std::string decoded(const ColumnShape& column, size_t index, const std::string& code, PhysicalType physical) const;
  void write_append(int32_t address);  // this and the next two: generate_sort.cc
  void write_sort_words(const Instruction& instruction, const RowSetInfo& row_set);
  void write_sort_key(SortKeyPlace place, int32_t key, int32_t number);
  void write_aggregate(int32_t address);
  void write_exact(int32_t argument, const StatesLayout& layout, const StateLayout& state);
  void write_update(int32_t address, StateKind kind, bool squares, const std::string& name);
  void write_extreme(int32_t argument, const StateLayout& state, const std::string& name);
  void declare_totals();
  void write_totals_end();

  // ---- comparisons of codes as they are stored (generate_packed.cc)
  void choose_packed();
  // Of the section, whose codes of a byte each a register holds; -1: it holds something else.
  int32_t column_of_byte_codes(int32_t number) const;
  // The register of such a column that a comparison at the address compares with a constant; -1: there is none.
  int32_t compared_column(int32_t address) const;
  bool is_packed(int32_t address) const;
  Comparison column_is(int32_t address) const;
  void write_code_bounds(int32_t address);
  std::string packed_truth(int32_t address) const;

  // ---- results of columns as they are stored (generate_gather.cc)
  void choose_gathering();
  int32_t column_of_output(int32_t number) const;
  void find_kept_columns();
  void declare_kept_rows();
  void write_masks();
  void write_gathering();
  void write_gathered_rows(const std::string& count, const std::string& base, bool kept);
  std::string stored_code(size_t column, const std::string& row) const;
  void write_gathered_value(size_t number, bool kept);
  void write_gathered_store(size_t number);

  // ---- groups (generate_groups.cc)
  GroupPlan& group_plan(int32_t hash_table);
  GroupPlan planned_groups(int32_t address, size_t shared_words) const;
  void plan_group_tables();
  bool are_totals(int32_t number) const;
  void find_counting(GroupPlan& plan, int32_t address);
  std::string group_word(const GroupPlan& plan, GroupPart part, size_t index = 0);
  void declare_group_table(const GroupPlan& plan);
  void declare_entries(const GroupPlan& plan);
  void declare_group_registers();
  template <typename Write>
  void for_each_place(const GroupPlan& plan, int32_t group, const Write& write);
  void write_group(int32_t address);
  std::string group_states(const GroupPlan& plan, int32_t group);
  void write_group_numbered(int32_t address, const GroupPlan& plan);
  void write_group_aggregate(int32_t address);
  void write_groups_end();
  void write_replicas_end(const GroupPlan& plan);
  void write_entries_end(const GroupPlan& plan);

  // ---- groups of any number (generate_partitions.cc)
  void lay_out_row(GroupPlan& plan, int32_t address);
  void declare_partitions(const GroupPlan& plan);
  bool may_stage_rows(const GroupPlan& plan) const;
  void declare_stage(const GroupPlan& plan);
  void write_stage(const GroupPlan& plan);
  void declare_flags(const GroupPlan& plan);
  void write_row_partition(int32_t address, const GroupPlan& plan);
  void write_group_counted(int32_t address, const GroupPlan& plan);
  void write_flag(const GroupPlan& plan, size_t number, const std::string& rows);
  void write_partition_rows();
  bool may_note_rows() const;
  void write_noted_rows();
  void write_noted_end();
  void write_key_words(int32_t key, const GroupPlan& plan, size_t number);
  void write_row_words(int32_t address, const GroupPlan& plan);
  void write_argument_words(const GroupPlan& plan, const GroupRowLayout::Argument& argument);
  static std::string rows_with_argument(const GroupPlan& plan, const GroupRowLayout::Argument& argument);
  void write_counts_end(const GroupPlan& plan);
  bool is_partitioned() const;
  bool groups() const { return kernel_.sink == SectionKernel::Sink::Groups; }
  std::string sinking() const { return flow_.tracks_validity ? "(active & valid)" : "active"; }

  const Program& program_;
  const int32_t address_;
  const SectionShape& shape_;
  const SectionFlow flow_;
  SectionKernel kernel_;
  KernelWriter body_{1};
  std::vector<Register> registers_;
  std::vector<bool> filters_;               // by register: it decides which rows the sink takes
  std::vector<bool> early_;                 // by register: the first pass over the rows needs it
  int32_t first_rare_ = 0;                  // address behind which few rows are expected to be left
  int32_t first_pairs_ = 0;                 // address of the first Matches of which rows meet several each, or the end
  int32_t last_pairs_ = -1;                 // ... and of the last
  int32_t compacts_at_ = 0;                 // address of the Matches whose rows are put close together, or the end
  std::vector<LoadedPart> loaded_parts_;    // that can be seen where the text is being written
  std::vector<LoadedPart> key_parts_;       // of the keys of the table that is being searched
  int parts_ = 0;                           // that have been declared
  int most_kept_rows_ = 0;                  // of an item, of which all may be kept in a step
  bool is_scattered_ = false;               // what is being written is of rows that lie anywhere in the tablet
  int32_t totals_ = -1;                     // hash table whose one group the work-items keep; -1: none
  size_t depth_ = 0;                        // of the text of a step, or of a turn of pairs
  int stage_width_ = 0;                     // bytes of an element of the stage
  std::vector<std::string> heads_;          // declarations before the loop over tiles
  std::map<std::string, size_t> declared_;  // name -> its head
  std::vector<std::string> files_;          // of src/kernel that the text needs
  bool gathers_ = false;                    // the result's columns are fetched row by row where they are stored
  std::vector<size_t> kept_columns_;        // of the section: their codes of rows that passed stay in shared memory
  int kept_rows_ = 0;                       // of each team
  bool is_light_ = false;                   // its rows take no more than most_register_words
  bool ordered_ = false;                    // the sink writes rows, in a second pass: in their order,
  bool in_any_order_ = false;               // unless they are rows of an index alone
};

inline constexpr const char* all_rows = "DK_ALL_ROWS";
// The first of two passes counts rows for partitions, the second takes them.
inline constexpr const char* second_pass = "(pass == 0 ? 0U : DK_ALL_ROWS)";

// The unsigned type of so many bytes, 1, 4, 8 or 16.
std::string word_type(int width);

}  // namespace diptych::gpu
