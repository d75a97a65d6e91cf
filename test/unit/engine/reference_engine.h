// A row-at-a-time interpreter of programs, as plain as can be, to compare engines with. It knows the opcodes that
// random programs (random_program.h) are made of: one section over one table, ending in Result.
#pragma once

#include <set>
#include <vector>

#include "base/error.h"
#include "program/program.h"

namespace diptych::testing {

struct ReferenceOutcome {
  std::vector<std::vector<Value>> rows;
  std::set<SqlState> errors;  // that rows have raised; an engine then has to raise one of them
};

ReferenceOutcome run_by_reference(const Program& program, const std::vector<std::vector<Value>>& table);

}  // namespace diptych::testing
