// The ten queries of the seed (bakks/virginian, src/test/queries.h), odd ones the float twins of the even ones.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace diptych::bench {

struct Query {
  std::string_view name;
  std::string_view sql;
  size_t columns;  // of the result; the first is id
  bool floats;     // whether the others are float32, else int32

  // The aggregate over the same filter: how many rows, and the sum of each column of the result but id.
  std::string totals_sql() const {
    constexpr std::string_view head = "select id, ";
    const size_t from = sql.find(" from ");
    std::string text = "select count(*)";
    for (size_t at = head.size(); at < from;) {
      const size_t end = std::min(sql.find(", ", at), from);
      text.append(", sum(").append(sql.substr(at, end - at)).append(")");
      at = end + 2;
    }
    return text.append(sql.substr(from));
  }
};

inline constexpr auto queries = std::to_array<Query>({
    {"q0", "select id, uniformi, normali5 from test where uniformi > 60 and normali5 < 0", 3, false},
    {"q1", "select id, uniformf, normalf5 from test where uniformf > 60.0 and normalf5 < 0.0", 3, true},
    {"q2", "select id, uniformi, normali5 from test where uniformi > -60 and normali5 < 5", 3, false},
    {"q3", "select id, uniformf, normalf5 from test where uniformf > -60.0 and normalf5 < 5.0", 3, true},
    {"q4", "select id, uniformi, normali20 from test where (normali20 + 40) > (uniformi - 10)", 3, false},
    {"q5", "select id, uniformf, normalf20 from test where (normalf20 + 40.0) > (uniformf - 10.0)", 3, true},
    {"q6", "select id, normali5, normali20 from test where normali5 * normali20 >= -5 and normali5 * normali20 <= 5", 3,
     false},
    {"q7",
     "select id, normalf5, normalf20 from test where normalf5 * normalf20 >= -5.0 and normalf5 * normalf20 <= 5.0", 3,
     true},
    {"q8",
     "select id, uniformi, normali5, normali20 from test where uniformi >= -1 and uniformi <= 1 or "
     "normali5 >= -1 and normali5 <= 1 or normali20 >= -1 and normali20 <= 1",
     4, false},
    {"q9",
     "select id, uniformf, normalf5, normalf20 from test where uniformf >= -1.0 and uniformf <= 1.0 or "
     "normalf5 >= -1.0 and normalf5 <= 1.0 or normalf20 >= -1.0 and normalf20 <= 1.0",
     4, true},
});

inline constexpr size_t most_columns = 4;

}  // namespace diptych::bench
