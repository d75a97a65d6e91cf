// What EXPLAIN tells, as one document; session/explain_keys.def has its keys.
//
//   profile, plan, program  ->  document  ->  JSON
//                                         ->  lines of text, by rules that know few keys
//
// so that neither form knows what the other does not.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "session/commands.h"
#include "session/statement.h"

namespace diptych {

// With all keys of the outermost level, null.
nlohmann::ordered_json empty_document();
// What was done with the rows of the query.
struct ChangeProfile {
  std::string kind, table;
  int64_t rows = 0;  // that were changed
  ChangeTimes times;
  int64_t commit_nanoseconds = 0;
};

// What a run of the query has told; rows: of its result. change: nothing: it was all that the statement does. query:
// null: there is none.
nlohmann::ordered_json describe_run(const ExecutionProfile& profile, int64_t rows,
                                    const std::optional<ChangeProfile>& change, const Statement* query,
                                    const TextTimes& times);

// Lines of text that tell the same:
//
//   section at 1: engine cpu, threads 2, rows in 1000, ...    an object: what it holds
//     time: total 0.120 ms, rows 0.100 ms, ...                an object in it
//
// Times are in ms, bytes in MB; what is null, and times of 0, are left out.
std::vector<std::string> lines_of(const nlohmann::ordered_json& document);

}  // namespace diptych
