// EXPLAIN as JSON: its keys are those that are documented, all of them; times add up; what was done where is counted.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "session/explain_json.h"
#include "session/opencl_database.h"

namespace diptych {
namespace {

using nlohmann::json;
using testing::explain_json;
using testing::run_text;

struct Key {
  std::string path, kind;
};
const std::vector<Key> documented = {
#define DIPTYCH_EXPLAIN_KEY(path, kind, documentation) {path, kind},
#include "session/explain_keys.def"
#undef DIPTYCH_EXPLAIN_KEY
};

// All paths in a document, [] for the elements of arrays of objects, with the values that were found there.
void collect(const std::string& path, const json& value, std::multimap<std::string, json>& found) {
  if (!path.empty() && !path.ends_with("[]")) found.emplace(path, value);
  if (value.is_object())
    for (const auto& [key, inner] : value.items()) collect(path.empty() ? key : path + "." + key, inner, found);
  if (value.is_array())
    for (const json& element : value)
      if (element.is_object()) collect(path + "[]", element, found);
}

bool is_of(const std::string& kind, const json& value) {
  if (kind.ends_with("?")) return value.is_null() || is_of(kind.substr(0, kind.size() - 1), value);
  if (kind == "object") return value.is_object();
  if (kind == "array") return value.is_array();
  if (kind == "array of text") return value.is_array() && value.at(0).is_string();
  if (kind == "text") return value.is_string() && !value.get<std::string>().empty();
  if (kind == "bytes a second") return value.is_number() && value >= 0;
  return value.is_number_integer() && value >= 0;  // integer, bytes, nanoseconds
}

// Every key is there wherever what holds it is, of the kind that is documented, and no other is.
void expect_documented(const json& document) {
  std::multimap<std::string, json> found;
  collect("", document, found);
  std::set<std::string> paths;
  for (const Key& key : documented) {
    paths.insert(key.path);
    const size_t dot = key.path.rfind('.');
    size_t holders = 1;
    if (dot != std::string::npos) {
      const std::string holder = key.path.substr(0, dot);
      const bool is_array = holder.ends_with("[]");
      holders = 0;
      const auto [first, last] = found.equal_range(is_array ? holder.substr(0, holder.size() - 2) : holder);
      for (auto at = first; at != last; ++at) holders += is_array ? at->second.size() : at->second.is_object();
    }
    EXPECT_EQ(found.count(key.path), holders) << key.path;
    const auto [first, last] = found.equal_range(key.path);
    for (auto at = first; at != last; ++at) EXPECT_TRUE(is_of(key.kind, at->second)) << key.path << ": " << at->second;
  }
  for (const auto& [path, value] : found) EXPECT_TRUE(paths.contains(path)) << path << " is not documented";
}

int64_t sum_of(const json& times, const std::string& without) {
  int64_t sum = 0;
  for (const auto& [key, value] : times.items())
    if (key != without) sum += value.get<int64_t>();
  return sum;
}

// Sections that are not shared add up to the nanosecond; what lies between sections is not measured twice.
void expect_accounted(const json& run) {
  for (const json& section : run["sections"])
    EXPECT_EQ(sum_of(section["time"], "total_ns"), section["time"]["total_ns"].get<int64_t>()) << section;
  EXPECT_EQ(sum_of(run["time"], "total_ns"), run["time"]["total_ns"].get<int64_t>());
  EXPECT_LE(sum_of(run["run_time"], ""), run["time"]["run_ns"].get<int64_t>());
}

const std::string make_explained_table =
    "CREATE TABLE t AS SELECT i, i % 7 k, (i % 50021)::bigint * 7919 % 500009 m, 'name ' || i % 11 e, 'long ' || i h "
    "FROM generate_series(1, 100000) g(i)";

// A query of each kind, and what its operations are.
struct Kind {
  std::string query;
  std::vector<std::string> operations;  // kind form on the CPU, kind form on a device
};
const std::vector<Kind> kinds = {
    {"SELECT i, e FROM t WHERE k = 3", {}},
    {"SELECT i, e FROM t WHERE k = 3 LIMIT 5", {}},
    {"SELECT count(*), sum(m) FROM t WHERE k < 5", {"groups total / groups total"}},
    {"SELECT k, count(*) FROM t GROUP BY k", {"groups dense / groups shared"}},
    {"SELECT m, count(*) FROM t GROUP BY m HAVING count(*) > 1", {"groups runs / groups partitioned"}},
    {"SELECT DISTINCT e, k FROM t", {"groups dense / groups shared"}},
    {"SELECT h, i FROM t ORDER BY m DESC, i", {"sort runs / sort radix"}},
    {"SELECT m, count(*) FROM t GROUP BY m ORDER BY 2 DESC, 1 LIMIT 4",
     {"groups runs / groups partitioned", "sort runs / sort top"}},
};

class Explain : public ::testing::Test {
 protected:
  Explain() {
    run_text(connection, "SET tablet_rows = 4096");
    run_text(connection, "SET device = cpu");
    run_text(connection, "SET threads = 2");  // of more, each may find that its groups fit one table
    run_text(connection, make_explained_table);
  }

  Database database{":memory:"};
  Connection connection{database};
};

TEST_F(Explain, DocumentsHaveTheKeysThatAreDocumented) {
  for (const Kind& kind : kinds) {
    SCOPED_TRACE(kind.query);
    expect_documented(explain_json(connection, kind.query, "FORMAT JSON"));
    expect_documented(explain_json(connection, kind.query));
    expect_documented(explain_json(connection, kind.query, "KERNEL, FORMAT JSON"));
  }
  expect_documented(explain_json(connection, "SELECT count(*) FROM t JOIN t u USING (k) WHERE t.i < 10"));
  expect_documented(explain_json(connection, "SELECT 1"));
  expect_documented(explain_json(connection, "SELECT i FROM t LIMIT 0"));
  expect_documented(explain_json(connection, "UPDATE t SET k = k + 1 WHERE i < 10"));
  for (const char* options : {"FORMAT JSON", "KERNEL, FORMAT JSON", "ANALYZE, FORMAT JSON"})
    expect_documented(explain_json(connection, "DELETE FROM t", options));
}

// What stands above the plan of the query, and what was done with its rows.
TEST_F(Explain, ChangesAreMadeAndAccountedFor) {
  struct Case {
    const char *statement, *line, *kind;
    int64_t rows, left;  // rows of the table afterwards
  };
  run_text(connection, "CREATE TABLE changed AS SELECT i, k, m FROM t");
  for (const Case& one :
       {Case{"UPDATE changed SET m = 0, k = k + 1 WHERE i <= 50", "Update changed [k, m]", "update", 50, 100000},
        Case{"DELETE FROM changed WHERE i > 90000", "Delete from changed", "delete", 10000, 90000},
        Case{"INSERT INTO changed SELECT i, k, m FROM t", "Insert into changed", "insert", 100000, 190000},
        Case{"CREATE TABLE made AS SELECT i FROM t", "Create table made", "create", 100000, 190000},
        Case{"DELETE FROM changed", "Delete all rows of changed", "delete", 190000, 0}}) {
    SCOPED_TRACE(one.statement);
    const json plan = explain_json(connection, one.statement, "FORMAT JSON")["plan"];
    EXPECT_EQ(plan[0]["operator"], one.line);
    EXPECT_EQ(plan.back()["level"], plan.size() - 1);
    const json run = explain_json(connection, one.statement)["run"], &change = run["change"];
    EXPECT_EQ(change["kind"], one.kind);
    EXPECT_EQ(change["table"], one.kind == std::string("create") ? "made" : "changed");
    EXPECT_EQ(change["rows"], one.rows);
    int64_t total = 0;
    for (const char* part : {"erase_ns", "store_ns", "commit_ns"}) total += change[part].get<int64_t>();
    EXPECT_EQ(run["time"]["change_ns"], total);
    expect_accounted(run);
    EXPECT_EQ(explain_json(connection, "SELECT i FROM changed")["run"]["rows"], one.left);
  }
  EXPECT_TRUE(explain_json(connection, "SELECT count(*) FROM changed")["run"]["change"].is_null());
}

TEST_F(Explain, APreparedChangeIsMadeInEachRun) {
  Statement update(connection, "EXPLAIN ANALYZE UPDATE t SET m = m + $1 WHERE i = 1");
  update.parameter_types();
  update.bind_parameter(0, Value::bigint(5));
  for (int i = 0; i < 3; ++i) {
    connection.start_statement();
    update.run();
  }
  connection.start_statement();
  const auto rows = Statement(connection, "SELECT m FROM t WHERE i = 1").run();
  EXPECT_EQ(read_values(*rows).at(0), Value::bigint(7919 + 15));
}

TEST_F(Explain, WhatIsNotAskedForIsNull) {
  const json plan = explain_json(connection, kinds[3].query, "FORMAT JSON");
  EXPECT_EQ(plan["version"], 1);
  EXPECT_TRUE(plan["run"].is_null());
  EXPECT_TRUE(plan["kernels"].is_null());
  EXPECT_EQ(plan["plan"].back()["level"], plan["plan"].size() - 1);
  EXPECT_EQ(plan["plan"].back()["operator"], "Scan t [k] (100000 rows)");
  const json kernels = explain_json(connection, kinds[3].query, "KERNEL, FORMAT JSON");
  EXPECT_TRUE(kernels["plan"].is_null());
  EXPECT_GT(kernels["kernels"].size(), 10U);
}

TEST_F(Explain, TheCpuSaysWhatItDid) {
  for (const Kind& kind : kinds) {
    SCOPED_TRACE(kind.query);
    const json run = explain_json(connection, kind.query)["run"];
    expect_accounted(run);
    ASSERT_EQ(run["operations"].size(), kind.operations.size());
    for (size_t i = 0; i < kind.operations.size(); ++i) {
      const json& operation = run["operations"][i];
      const std::string form = testing::text_of(operation["kind"]) + " " + testing::text_of(operation["form"]);
      EXPECT_TRUE(kind.operations[i].starts_with(form + " /")) << form;
      EXPECT_GE(operation["parts"], 1);
    }
    for (const json& section : run["sections"]) {
      EXPECT_EQ(section["engine"], "cpu");
      EXPECT_TRUE(section["device"].is_null());
      EXPECT_TRUE(section["bus"].is_null());
      EXPECT_GT(section["time"]["rows_ns"], 0);
    }
  }
  // Groups that one thread's table holds.
  const json few = explain_json(connection, "SELECT m, count(*) FROM t WHERE m < 5000 GROUP BY m")["run"]["operations"];
  ASSERT_EQ(few.size(), 1U);
  EXPECT_EQ(few[0]["form"], "table");
  const json first = testing::first_section(connection, "SELECT i FROM t WHERE i > 50000");
  EXPECT_EQ(first["rows_out"], 50000);
  EXPECT_GT(first["tablets_skipped"], 0);
}

// Both for rows of an index that many rows share, and for those of a unique one.
TEST_F(Explain, EstimatesStandBesideWhatWasFound) {
  run_text(connection, "CREATE TABLE days AS SELECT i FROM generate_series(1, 100) g(i)");
  const std::string query = "SELECT t.e, count(*) FROM t JOIN days ON t.k = days.i GROUP BY 1";
  const json document = explain_json(connection, query);
  for (const json& op : document["plan"]) EXPECT_GE(op["estimated_rows"], 1) << op;
  const json& run = document["run"];
  const json &build = run["operations"].at(0), &join = run["sections"].at(1)["joins"].at(0);
  EXPECT_EQ(build["kind"], "build");
  EXPECT_EQ(build["rows"], 100);
  EXPECT_EQ(build["estimated_rows"], 100);
  EXPECT_EQ(join["rows"], 85715);  // k = 0 meets nothing
  EXPECT_EQ(join["estimated_rows"], run["sections"].at(1)["estimated_rows_out"]);
  EXPECT_EQ(run["sections"].at(1)["rows_out"], 85715);
  EXPECT_EQ(run["operations"].at(1)["kind"], "groups");
  EXPECT_EQ(run["operations"].at(1)["estimated_rows"], 11);
  const std::string all = "SELECT count(*) FROM t JOIN t u ON t.k = u.k WHERE t.i <= 70 AND u.i <= 7000";
  EXPECT_EQ(explain_json(connection, all)["run"]["sections"].at(1)["joins"].at(0)["rows"], 70 * 1000);
  const std::string text = run_text(connection, "EXPLAIN ANALYZE " + query);
  EXPECT_NE(text.find("    join at "), std::string::npos) << text;
}

// Of a section over table t by its number among those of the query.
int64_t skipped(Connection& connection, const std::string& query, size_t section) {
  const json run = explain_json(connection, query)["run"];
  return run["sections"].at(section)["tablets_skipped"].get<int64_t>();
}

TEST_F(Explain, TabletsWithoutAKeyOfAJoinAreSkipped) {
  const auto tablets = [&](const std::string& query, size_t section) {
    return explain_json(connection, query)["run"]["sections"].at(section)["tablets"].get<int64_t>();
  };
  run_text(connection, "CREATE TABLE near AS SELECT i + 70000 AS k, i % 3 AS l FROM generate_series(1, 100) AS g(i)");
  run_text(connection, "CREATE TABLE ends AS SELECT i * 99990 + 1 AS k FROM generate_series(0, 1) AS g(i)");
  const std::string join = "SELECT count(*) FROM t JOIN ";
  const int64_t all = tablets("SELECT count(i) FROM t", 0);
  ASSERT_GT(all, 3);
  // By the bounds of dense keys, of those that stand in a table, and between keys.
  EXPECT_EQ(tablets(join + "near ON t.i = near.k", 1), 1);
  EXPECT_EQ(tablets(join + "near ON t.i = near.k AND t.k = near.l", 1), 1);
  EXPECT_EQ(tablets(join + "ends ON t.i = ends.k", 1), 2);
  EXPECT_EQ(skipped(connection, join + "ends ON t.i = ends.k", 1), all - 2);
  // Of an expression nothing is known.
  EXPECT_EQ(tablets(join + "near ON t.i + 1 = near.k", 1), all);
}

TEST_F(Explain, NothingIsReadForAJoinWithNoRows) {
  run_text(connection, "CREATE TABLE few AS SELECT i AS k FROM generate_series(1, 100) AS g(i)");
  const std::string none = "(SELECT k FROM few WHERE k > 200) AS n";
  // Of all shapes: a key, an expression, no key; and build sides that come later.
  for (const std::string on : {"t.i = n.k", "t.i + 1 = n.k", "true"}) {
    const json run = explain_json(connection, "SELECT sum(t.i) FROM t JOIN " + none + " ON " + on)["run"];
    EXPECT_EQ(run["sections"].at(1)["tablets"], 0) << on;
  }
  const std::string later = "SELECT t.i FROM t JOIN few ON few.k = t.i JOIN " + none + " ON n.k = t.m";
  const json run = explain_json(connection, later)["run"];
  EXPECT_EQ(run["rows"], 0);
  ASSERT_EQ(run["sections"].size(), 3U);
  // The first one finds that there are no rows.
  EXPECT_EQ(run["sections"][1]["tablets"], 0) << run["sections"][1];
  EXPECT_EQ(run["sections"][2]["tablets"], 0) << run["sections"][2];
}

// Also in what the plan calls groups and sort keys that have no name of their own.
TEST_F(Explain, ParametersAreShownAsTheirValues) {
  Statement statement(connection,
                      "EXPLAIN (FORMAT JSON) SELECT count(*) FROM t GROUP BY k + $1 ORDER BY k + $1, count(*) * $2 "
                      "LIMIT $3");
  ASSERT_EQ(statement.parameter_types().size(), 3U);
  for (size_t i = 0; i < 3; ++i) statement.bind_parameter(i, Value::integer(static_cast<int32_t>(41 + i)));
  std::string lines;
  const json document = json::parse(read_values(*statement.run()).at(0).to_text());
  for (const json& op : document["plan"]) lines += op["operator"].get<std::string>() + "\n";
  for (const char* part : {"Top 43 by (k + 41)", "(count * 42)", "Aggregate by [(k + 41)]"})
    EXPECT_NE(lines.find(part), std::string::npos) << part << " in\n" << lines;
  EXPECT_EQ(lines.find('$'), std::string::npos) << lines;
}

// Both forms are of one document.
TEST_F(Explain, TextSaysWhatJsonDoes) {
  const std::string text = run_text(connection, "EXPLAIN ANALYZE " + kinds[7].query);
  const json document = explain_json(connection, kinds[7].query);
  for (const json& op : document["plan"]) EXPECT_NE(text.find(op["operator"].get<std::string>()), std::string::npos);
  for (const json& line : document["program"]) EXPECT_NE(text.find(line.get<std::string>()), std::string::npos);
  for (const char* part :
       {"run: rows 4", "section at ", "engine cpu, threads ",
        "rows in 100000, estimated rows in 100000, rows out 100000", "kind groups, form runs, parts ",
        "kind sort, form runs", "  memory: host peak ", "  run time: ", "  time: total "})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  EXPECT_EQ(text.find("null"), std::string::npos) << text;
}

// A long query, of which only what lies between two readings of the clock has no name.
TEST_F(Explain, NearlyAllOfTheTimeHasAName) {
  for (const char* query : {"SELECT m % 20011, h, count(*) FROM t GROUP BY 1, 2 ORDER BY 2", "SELECT h, e FROM t"}) {
    double named = 0;
    // The best of three: a thread may be stopped between two readings.
    for (int i = 0; i < 3; ++i) {
      const json run = explain_json(connection, query)["run"];
      named = std::max(named, static_cast<double>(sum_of(run["run_time"], "")) / run["time"]["run_ns"].get<double>());
    }
    EXPECT_GE(named, 0.95) << query;
  }
}

TEST_F(Explain, TimesAreThoseOfTheLastRun) {
  Statement statement(connection, "EXPLAIN (ANALYZE, FORMAT JSON) SELECT count(*) FROM t");
  std::vector<int64_t> times;
  for (int i = 0; i < 10; ++i) {
    connection.start_statement();
    const json run = json::parse(read_values(*statement.run()).at(0).to_text())["run"];
    times.push_back(run["time"]["bind_ns"]);
  }
  EXPECT_FALSE(std::is_sorted(times.begin(), times.end())) << "they add up";
}

using ExplainOnDevice = testing::OpenClDatabaseTest;

TEST_F(ExplainOnDevice, DevicesSayWhatTheyDid) {
  run_text(connection, make_explained_table);
  set(connection, {"device = opencl", "gpu_engine = generated", "fallback = error"});
  for (const char* residency : {"cached", "mapped", "streamed", "serial"}) {
    if (!has(residency)) continue;
    run_text(connection, std::string("SET residency = ") + residency);
    for (const Kind& kind : kinds) {
      SCOPED_TRACE(std::string(residency) + ": " + kind.query);
      const json document = explain_json(connection, kind.query);
      expect_documented(document);
      const json& run = document["run"];
      expect_accounted(run);
      ASSERT_EQ(run["operations"].size(), kind.operations.size());
      for (size_t i = 0; i < kind.operations.size(); ++i) {
        const json& operation = run["operations"][i];
        const std::string form = testing::text_of(operation["kind"]) + " " + testing::text_of(operation["form"]);
        EXPECT_TRUE(kind.operations[i].ends_with("/ " + form)) << form;
        EXPECT_EQ(operation["partition_bits"].is_null(), operation["form"] != "partitioned");
      }
      const json& section = run["sections"][0];
      EXPECT_EQ(section["engine"], "opencl:0");
      EXPECT_EQ(section["kernel"], "generated");
      EXPECT_EQ(section["residency"], residency);
      EXPECT_GE(section["device"]["launches"], section["device"]["batches"]);
      EXPECT_GE(section["device"]["waits"], 1);
      EXPECT_LE(section["time"]["wait_ns"], section["time"]["total_ns"]);
      EXPECT_EQ(run["memory"]["devices"][0]["device"], "opencl:0");
    }
  }
}

// Nobody has to look whether keys repeat that are proven unique, or that statistics say are.
TEST_F(ExplainOnDevice, AnIndexIsWaitedForWhereItsKeysRepeat) {
  run_text(connection, make_explained_table);
  for (const auto& [key, waits] : {std::pair("i", 0), std::pair("i / 2", 1)}) {
    run_text(connection, "DROP TABLE IF EXISTS d");
    run_text(connection, "CREATE TABLE d(k integer, v integer)");
    run_text(connection, std::string("INSERT INTO d SELECT ") + key + ", i * 10 FROM generate_series(0, 9) g(i)");
    set(connection, {"device = opencl", "gpu_engine = generated", "fallback = error"});
    const json run = explain_json(connection, "SELECT sum(v), count(*) FROM t JOIN d ON t.k = d.k")["run"];
    const json& build = run["operations"][0];
    EXPECT_EQ(build["kind"], "build");
    EXPECT_EQ(build["form"], "dense");
    EXPECT_GE(build["device"]["launches"], 1);
    EXPECT_GT(build["device"]["kernel_ns"], 0);
    EXPECT_EQ(build["device"]["waits"], waits);
  }
}

// Statistics can't tell 99,999 keys of 100,000 rows from as many.
TEST_F(ExplainOnDevice, AWrongGuessOfKeysTakesASecondPass) {
  run_text(connection, make_explained_table);
  run_text(connection, "CREATE TABLE d(k integer, v integer)");
  run_text(connection,
           "INSERT INTO d SELECT CASE i WHEN 777 THEN 5 ELSE i END, i FROM generate_series(1, 100000) g(i)");
  set(connection, {"device = opencl", "gpu_engine = generated", "fallback = error"});
  const json run = explain_json(connection, "SELECT sum(v), count(*) FROM t JOIN d ON t.k = d.k")["run"];
  EXPECT_EQ(run["operations"][0]["device"]["waits"], 0);
  EXPECT_EQ(run["sections"][0]["passes"], 1);
  EXPECT_EQ(run["sections"][1]["passes"], 2);
}

TEST_F(ExplainOnDevice, BytesOverTheBusAreCounted) {
  run_text(connection, make_explained_table);
  set(connection, {"device = opencl", "gpu_engine = generated", "fallback = error"});
  const std::string query = "SELECT i FROM t WHERE k = 3 OR i < 0";
  const auto section = [&](const char* residency) {
    run_text(connection, std::string("SET residency = ") + residency);
    return testing::first_section(connection, query);
  };
  const json cached = section("cached"), again = section("cached"), streamed = section("streamed");
  const int64_t read = cached["read_bytes"], result = cached["rows_out"].get<int64_t>() * 4;
  EXPECT_GT(result, 0);
  EXPECT_GE(cached["bus"]["to_device_bytes"], read);
  EXPECT_GE(cached["bus"]["to_host_bytes"], result);
  EXPECT_LT(again["bus"]["to_device_bytes"], read) << "the columns are there";
  EXPECT_GE(streamed["bus"]["to_device_bytes"], read);
  EXPECT_EQ(streamed["bus"]["read_in_place_bytes"], 0);
  if (!has("mapped")) GTEST_SKIP() << "no kernel of this device reads host memory";
  // Kernels read the columns and write the rows where they are.
  const json mapped = section("mapped");
  EXPECT_LT(mapped["bus"]["to_device_bytes"], read);
  EXPECT_GE(mapped["bus"]["read_in_place_bytes"], read);
  EXPECT_EQ(mapped["bus"]["written_in_place_bytes"], result);
}

// A partition with half of the rows is cut into slices, whose groups meet again.
TEST_F(ExplainOnDevice, GroupsOfSeveralSlicesAreMerged) {
  run_text(connection, make_explained_table);
  const std::string query = "SELECT CASE WHEN i % 2 = 0 THEN 3 ELSE m END g, count(*) FROM t GROUP BY 1";
  const json on_cpu = explain_json(connection, query)["run"]["operations"][0];
  set(connection, {"device = opencl", "gpu_engine = generated", "fallback = error", "residency = cached"});
  const json run = explain_json(connection, query)["run"];
  const json& groups = run["operations"][0];
  EXPECT_EQ(groups["form"], "partitioned");
  EXPECT_EQ(groups["rows"], on_cpu["rows"]);
  EXPECT_GT(groups["state_rows"], 1);
  EXPECT_LE(groups["slice_rows"], 8192);
  EXPECT_GE(groups["partition_bits"], 4);
  EXPECT_GT(run["sections"][0]["time"]["merge_ns"], 0);
}

// Both threads' parts are told of.
TEST_F(ExplainOnDevice, ASharedSectionSaysWhoTookWhat) {
  run_text(connection, make_explained_table);
  set(connection, {"device = opencl", "gpu_engine = generated", "fallback = error", "residency = streamed",
                   "threads = 2", "share_tablets = on"});
  const json document = explain_json(connection, kinds[2].query);
  expect_documented(document);
  const json& section = document["run"]["sections"][0];
  EXPECT_EQ(section["engine"], "opencl:0");
  EXPECT_EQ(section["rows_in"], 100000);
  EXPECT_GT(section["time"]["rows_ns"], 0) << "the CPU's threads";
  EXPECT_GT(section["time"]["turn_ns"], 0) << "the device's thread";
  EXPECT_GE(sum_of(section["time"], "total_ns"), section["time"]["total_ns"].get<int64_t>());
  EXPECT_LE(sum_of(document["run"]["run_time"], ""), document["run"]["time"]["run_ns"].get<int64_t>());
}

// Groups stay on the device; few of them are read by the CPU, which is told of its section.
TEST_F(ExplainOnDevice, GroupsThatTheCpuReadsAreCopied) {
  run_text(connection, make_explained_table);
  set(connection, {"device = opencl", "gpu_engine = generated", "fallback = error", "residency = cached"});
  const json run =
      explain_json(connection, "SELECT m % 3001 g, e, count(*) FROM t GROUP BY m % 3001, e, h LIKE '%1'")["run"];
  ASSERT_EQ(run["operations"][0]["form"], "partitioned") << run;
  const int64_t groups = run["operations"][0]["rows"];
  const json& second = run["sections"][1];
  EXPECT_EQ(second["rows_in"], groups);
  EXPECT_GT(second["bus"]["to_host_bytes"], groups * 4) << second;
}

}  // namespace
}  // namespace diptych
