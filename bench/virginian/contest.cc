#include "contest.h"

#include <fmt/format.h>

#include <iostream>
#include <limits>

#include "turns.h"

namespace diptych::bench {

namespace {

constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

class ContestRun {
 public:
  explicit ContestRun(Contest& contest) : contest_(contest) {}

  void run(size_t query) {
    std::vector<Run> runs;
    first_digest_.reset();
    first_totals_.reset();
    for (Contestant& contestant : contest_.contestants) {
      runs.push_back(takes_part(contestant, query) ? run_of(contestant, query) : Run());
    }
    contest_.result_rows.push_back(first_digest_   ? first_digest_->rows()
                                   : first_totals_ ? static_cast<uint64_t>(first_totals_->rows)
                                                   : 0);
    const std::vector<double> seconds = measure_in_turns(runs, contest_.repetitions);
    for (size_t i = 0; i < runs.size(); ++i) {
      contest_.figures[i].seconds.push_back(seconds[i]);
      look_inside(contest_.contestants[i], query, runs[i] != nullptr, contest_.figures[i]);
    }
  }

 private:
  bool takes_part(Contestant& contestant, size_t query) {
    try {
      contestant.system->configure(contestant.configuration);
      if (agrees(contestant, query)) return true;
      note(contestant, query, "another result");
    } catch (const std::exception& error) {
      note(contestant, query, error.what());
    }
    return false;
  }

  bool agrees(Contestant& contestant, size_t query) {
    if (contest_.form == Form::Rows) {
      const Digest digest = contestant.system->digest(query);
      if (!first_digest_) first_digest_ = digest;
      return digest == *first_digest_;
    }
    const Totals totals = contestant.totals_system->totals(query);
    if (!first_totals_) first_totals_ = totals;
    return agree(totals, *first_totals_, queries[query].floats);
  }

  Run run_of(Contestant& contestant, size_t query) {
    return [&contestant, query, form = contest_.form] {
      contestant.system->configure(contestant.configuration);
      return form == Form::Rows ? contestant.system->run(query) : contestant.totals_system->run_totals(query);
    };
  }

  // What EXPLAIN ANALYZE says of the runs on a device, and that they were there by the kernels asked for.
  void look_inside(Contestant& contestant, size_t query, bool took_part, Figures& figures) {
    std::vector<double> device_seconds;
    SectionReport section;
    const bool ran_there = took_part && contestant.is_on_device();
    for (int i = 0; ran_there && i < contest_.repetitions; ++i) {
      contestant.system->configure(contestant.configuration);
      section = contestant.diptych->analyze(contest_.form == Form::Rows ? std::string(queries[query].sql)
                                                                        : queries[query].totals_sql());
      device_seconds.push_back(section.device_seconds);
    }
    figures.device_seconds.push_back(median(std::move(device_seconds)));
    figures.bytes_read.push_back(section.bytes_read > 0 ? section.bytes_read : not_measured);
    if (!section.fallback.empty()) {
      note(contestant, query, "ran on the CPU: " + section.fallback);
    } else if (ran_there && contestant.diptych->has_interpreter() &&
               !section.engine.ends_with(contestant.configuration.gpu_engine)) {
      note(contestant, query, "ran by " + section.engine);
    }
  }

  void note(const Contestant& contestant, size_t query, const std::string& what) {
    contest_.problems.push_back(fmt::format("{}{}, {}: {}", queries[query].name,
                                            contest_.form == Form::Totals ? " totals" : "", contestant.name, what));
  }

  Contest& contest_;
  std::optional<Digest> first_digest_;
  std::optional<Totals> first_totals_;
};

}  // namespace

Contest run_contest(Form form, const std::vector<Contestant>& contestants, size_t rows, int repetitions) {
  Contest contest{form, rows, repetitions, {}, {}, {}, {}};
  for (const Contestant& contestant : contestants) {
    if (form == Form::Rows || contestant.totals_system != nullptr) contest.contestants.push_back(contestant);
  }
  contest.figures.resize(contest.contestants.size());
  ContestRun run(contest);
  for (size_t query = 0; query < queries.size(); ++query) {
    std::cerr << queries[query].name << ' ' << std::flush;
    run.run(query);
  }
  std::cerr << '\n';
  return contest;
}

}  // namespace diptych::bench
