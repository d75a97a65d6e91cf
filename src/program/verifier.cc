// The verifier: a program that passes can be run by any engine without further checks of its structure.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "program/operands.h"
#include "program/path_tree.h"
#include "program/program.h"
#include "program/row_set_lifetimes.h"

namespace diptych {

namespace {

// Which registers are written on every path to the address at hand, while a section is walked in order.
//
// One that a single opcode writes is written wherever every path passes that opcode. Where paths that each write a
// register meet, as those of CASE do, the meeting counts as one more place that writes it.
class WrittenRegisters {
 public:
  WrittenRegisters(const Program& program, int32_t parallel, int32_t converge)
      : program_(program),
        first_(parallel + 1),
        converge_(converge),
        paths_(static_cast<size_t>(converge - parallel)),
        writers_(program.registers.size()) {}

  // False: no path leads to the address.
  bool arrive(int32_t address) {
    address_ = address;
    if (!paths_.is_reached(address - first_)) return false;
    if (const auto jumps = jumps_.find(address); jumps != jumps_.end()) {
      if (comes_along_) jumps->second.push_back(address - 1);
      meet(address, jumps->second);
      jumps_.erase(jumps);
    }
    comes_along_ = false;
    return true;
  }
  void jump_to(int32_t target) {
    paths_.add_path(address_ - first_, target - first_);
    if (target < converge_) jumps_[target].push_back(address_);
  }
  void go_along() {
    paths_.add_path(address_ - first_, address_ + 1 - first_);
    comes_along_ = true;
  }
  bool is_written(int32_t number) const { return is_written_at(number, address_); }
  bool is_written_anywhere(int32_t number) const { return writers_[static_cast<size_t>(number)].last >= 0; }
  void write(int32_t number) { add_writer(number, address_); }

 private:
  struct Writers {
    int32_t last = -1;
    std::vector<int32_t> before;  // ascending
  };

  void add_writer(int32_t number, int32_t address) {
    Writers& writers = writers_[static_cast<size_t>(number)];
    if (writers.last >= 0) writers.before.push_back(writers.last);
    writers.last = address;
  }
  // The place that every path passes is mostly the last one before, or the first.
  bool is_written_at(int32_t number, int32_t address) const {
    const auto is_passed = [&](int32_t place) { return paths_.every_path_passes(address - first_, place - first_); };
    const Writers& writers = writers_[static_cast<size_t>(number)];
    if (writers.last < 0) return false;
    if (writers.last <= address && is_passed(writers.last)) return true;
    const auto end = std::upper_bound(writers.before.begin(), writers.before.end(), address);
    if (end == writers.before.begin()) return false;
    if (is_passed(writers.before.front())) return true;
    return std::any_of(std::make_reverse_iterator(end), writers.before.rend(), is_passed);
  }

  // What is written on all paths to a meeting, but not before they part, is written on the first path after that.
  void meet(int32_t address, const std::vector<int32_t>& from) {
    const int32_t parting = paths_.above(address - first_) + first_;
    for (int32_t at = from.front(); at != parting; at = paths_.above(at - first_) + first_) {
      std::vector<int32_t> candidates;
      if (const auto met = met_.find(at); met != met_.end()) candidates = met->second;
      const int32_t out = register_written(program_.instructions[static_cast<size_t>(at)]);
      if (out >= 0) candidates.push_back(out);
      for (const int32_t number : candidates) {
        if (is_written_at(number, address)) continue;
        if (!std::all_of(from.begin(), from.end(), [&](int32_t path) { return is_written_at(number, path); })) continue;
        add_writer(number, address);
        met_[address].push_back(number);
      }
    }
  }

  const Program& program_;
  const int32_t first_, converge_;
  PathTree paths_;
  std::vector<Writers> writers_;                           // by register
  std::map<int32_t, std::vector<int32_t>> jumps_;          // by target that is still to come: where jumps to it are
  bool comes_along_ = false;                               // from the address before
  std::unordered_map<int32_t, std::vector<int32_t>> met_;  // by address: registers that all paths meeting there wrote
  int32_t address_ = 0;
};

class Verifier {
 public:
  explicit Verifier(const Program& program) : program_(program), lifetimes_(program) {}

  void run() {
    const auto count = static_cast<int32_t>(program_.instructions.size());
    require(count > 0 && program_.instructions.back().opcode == Opcode::Finish, "a program ends in Finish");
    for (address_ = 0; address_ < count; ++address_) {
      check_objects(current());
      check_lifetimes(current());
      if (current().opcode == Opcode::Parallel) {
        check_section();
      } else {
        require(info_of(current().opcode).kind == OpcodeKind::Setup, "row opcodes stand inside a parallel section");
      }
    }
  }

 private:
  const Instruction& current() const { return program_.instructions[address_]; }

  void require(bool holds, std::string_view rule) const {
    if (holds) return;
    throw Error(SqlState::internal_error, fmt::format("program invalid at address {}: {}", address_, rule));
  }

  // Every operand that names an object names one that is there.
  void check_objects(const Instruction& instruction) const {
    const OpcodeInfo& info = info_of(instruction.opcode);
    for (int i = 0; i < 3; ++i) {
      const std::string_view role = info.operands[i];
      const int32_t value = operand(instruction, i);
      const auto within = [&](size_t size) {
        if (value >= 0 && static_cast<size_t>(value) < size) return;
        require(false, fmt::format("operand p{} ({}) exists", i + 1, role));
      };
      if (role == "out" || role == "in") within(program_.registers.size());
      if (role == "cursor") within(program_.cursors.size());
      if (role == "source") within(program_.sources.size());
      if (role == "hash") within(program_.hash_tables.size());
      if (role == "rowset") within(program_.row_sets.size());
      if (role == "index") within(program_.indexes.size());
      if (role == "lookup") within(program_.lookups.size());
      if (role == "set") within(program_.sets.size());
      if (role == "type") within(program_.types.size());
      if (role == "in?" && value != -1) within(program_.registers.size());
    }
    for_each_register_read(program_, instruction, [&](int32_t index) {
      require(index >= 0 && static_cast<size_t>(index) < program_.registers.size(), "registers read exist");
    });
  }

  void check_lifetimes(const Instruction& instruction) {
    const std::string_view broken = lifetimes_.apply(instruction);
    require(broken.empty(), broken);
  }

  // One section: from the Parallel at address_ to its Converge, where address_ is left.
  void check_section() {
    const int32_t converge = current().p3;
    const CursorInfo& cursor = program_.cursors[current().p1];
    require(converge > address_ && converge < static_cast<int32_t>(program_.instructions.size()) &&
                program_.instructions[converge].opcode == Opcode::Converge,
            "Parallel names its Converge");
    WrittenRegisters written(program_, address_, converge);
    int32_t farthest = 0;  // that a jump goes to, short of Converge
    read_only_.assign(program_.registers.size(), false);
    for (++address_; address_ < converge; ++address_) {
      const Instruction& instruction = current();
      require(info_of(instruction.opcode).kind != OpcodeKind::Setup, "setup opcodes stand outside parallel sections");
      check_objects(instruction);
      check_lifetimes(instruction);
      if (!written.arrive(address_)) continue;  // no row gets here
      check_row_opcode(instruction, cursor, written);
      const int32_t target = jump_target(instruction);
      if (target >= 0) {
        require(target > address_ && target <= converge, "jumps go forward and stay in the section");
        written.jump_to(target);
        if (target < converge) farthest = std::max(farthest, target);
      }
      if (instruction.opcode == Opcode::Matches) {
        require(farthest <= address_, "jumps over Matches go to Converge");
        for (size_t i = 0; i < read_only_.size(); ++i)
          read_only_[i] = written.is_written_anywhere(static_cast<int32_t>(i));
        read_only_[static_cast<size_t>(instruction.p1)] = false;
      }
      if (instruction.opcode != Opcode::Jump) written.go_along();
    }
  }

  void check_row_opcode(const Instruction& instruction, const CursorInfo& cursor, WrittenRegisters& written) const {
    for_each_register_read(program_, instruction, [&](int32_t index) {
      require(written.is_written(index), "registers are written before they are read");
    });
    if (instruction.opcode == Opcode::Column || instruction.opcode == Opcode::Code)
      require(instruction.p2 >= 0 && static_cast<size_t>(instruction.p2) < cursor.columns.size(), "the column exists");
    const int32_t out = register_written(instruction);
    if (out < 0) return;
    require(!read_only_[static_cast<size_t>(out)], "registers from before Matches are only read");
    const bool is_move = instruction.opcode == Opcode::Move;
    require(is_move || !written.is_written_anywhere(out), "a register is written once, but for Move");
    if (is_move)
      require(program_.registers[out].physical == program_.registers[instruction.p2].physical,
              "Move keeps the physical type");
    written.write(out);
  }

  const Program& program_;
  RowSetLifetimes lifetimes_;
  std::vector<bool> read_only_;  // of the section: registers written before its last Matches
  int32_t address_ = 0;
};

}  // namespace

void verify(const Program& program) { Verifier(program).run(); }

}  // namespace diptych
