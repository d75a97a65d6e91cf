// Aggregation: which states the hash table keeps for SQL's aggregates, the sinks that feed them, and the values made of
// them.
//
//   avg(x)            states SumInt64(x), Count(x)      value  sum * 10^shift / count
//   sum(x), avg(x)    share SumInt64(x)
//   count(DISTINCT x) a second hash table of (keys..., x), whose groups are then counted by key; where nothing else is
//                     asked of a group it keeps NULLs, and is the only one that rows come into
#pragma once

#include <memory>
#include <vector>

#include "bind/logical_operator.h"
#include "program/expression_compiler.h"

namespace diptych {

class AggregateCompiler {
 public:
  AggregateCompiler(ProgramBuilder& builder, ExpressionCompiler& expressions, const LogicalOperator& op);

  // Before the input's section: creates the hash tables.
  void create_tables();
  // Inside the input's section: the sinks.
  void feed(InputColumns& input);
  // After it: sections that bring distinct values into the main table, then the row set of its groups. The columns are
  // the keys, then the aggregates' values, for the section that the caller opens over it.
  int32_t make_groups();
  InputColumns group_columns();

 private:
  // One SQL aggregate in terms of the states it is computed from: positions in the main table, -1 when not used.
  // `other` is its value.
  struct Call {
    int sum = -1, count = -1, squares = -1, other = -1;
  };
  struct DistinctTable {
    int32_t hash;
    size_t call;
  };

  int32_t compile_keys(InputColumns& input, int32_t hash);
  void feed_call(size_t number, InputColumns& input, int32_t slot);
  void feed_distinct(size_t number, InputColumns& input);
  void feed_states(size_t number, int32_t argument, int32_t slot, bool shared);
  int state(AggregateState state, int32_t argument, const Type& type, int32_t slot, bool shared);
  void drain(const DistinctTable& table);
  AggregateState sum_state(int32_t argument) const;
  bool fits_registers(AggregateFunction function, int32_t argument) const;
  bool is_distinct(const BoundAggregate& call) const;
  // Estimated, of all groups together.
  int64_t distinct_values(const BoundAggregate& call) const;
  bool has_all_groups(const DistinctTable& distinct) const;

  int32_t value_of(size_t number, int32_t target);
  int32_t value_of_states(const Call& call, const BoundAggregate& aggregate);
  int32_t average(const Call& call, const Type& type);
  int32_t variance(const Call& call, const BoundAggregate& aggregate);
  int32_t exact_variance(const Call& call, bool sample, const Type& type, int32_t count);
  int32_t load_state(int position, const PhysicalType* physical = nullptr);
  HashTableInfo& table() { return builder_.program().hash_tables[hash_]; }

  ProgramBuilder& builder_;
  ExpressionCompiler& expressions_;
  const LogicalOperator& op_;
  int32_t hash_ = 0;
  int64_t row_bound_ = 0;
  std::vector<const Dictionary*> key_dictionaries_;
  std::vector<Call> calls_;
  std::vector<DistinctTable> distinct_tables_;
  struct SharedState {
    AggregateState state;
    int32_t argument;
    int position;
  };
  std::vector<SharedState> shared_;
};

// The string that a code of the dictionary stands for, in `target` or, when that is -1, in a new register.
int32_t look_up_text(ProgramBuilder& builder, int32_t code, const Dictionary& dictionary, bool nullable,
                     int32_t target);

// The columns `ids` of a cursor whose rows have the given registers' forms; strings may be codes of dictionaries
// (nullptr: not).
InputColumns cursor_columns(ProgramBuilder& builder, const std::vector<ColumnId>& ids,
                            const std::vector<RegisterInfo>& columns,
                            const std::vector<const Dictionary*>& code_columns);

}  // namespace diptych
