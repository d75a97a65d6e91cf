#include "engine/placement/choose.h"

#include <limits>
#include <vector>

#include "engine/placement/experience.h"

namespace diptych {
namespace {

// What takes least once settled. Columns on the device do not depend on what else the bus and the host do: others have
// to be faster by a tenth, if those are there.
size_t best_of(std::span<const Way> ways) {
  constexpr double margin = 0.9;
  size_t best = 0;
  std::optional<size_t> cached;
  for (size_t i = 0; i < ways.size(); ++i) {
    if (ways[i].settled_ns < ways[best].settled_ns) best = i;
    const bool is_cached = ways[i].residency == Residency::Cached;
    if (is_cached && (!cached || ways[i].settled_ns < ways[*cached].settled_ns)) cached = i;
  }
  return cached && ways[best].settled_ns > margin * ways[*cached].settled_ns ? *cached : best;
}

// Of the ways that need nothing moved or compiled; nothing: the CPU is faster than any.
std::optional<size_t> fastest_in_place(std::span<const Way> ways, double cpu_ns) {
  std::optional<size_t> fastest;
  double least_ns = cpu_ns;
  for (size_t i = 0; i < ways.size(); ++i) {
    if (!ways[i].is_settled || ways[i].now.total_ns() >= least_ns) continue;
    fastest = i;
    least_ns = ways[i].now.total_ns();
  }
  return fastest;
}

// What was chosen, or whose turn it is to be tried again.
std::optional<size_t> chosen_or_tried(int64_t decision, std::span<const Way> ways, std::optional<size_t> chosen,
                                      double cpu_ns) {
  std::vector<double> times_ns = {cpu_ns};
  for (const Way& way : ways)
    times_ns.push_back(way.is_settled ? way.settled_ns : std::numeric_limits<double>::infinity());
  const std::optional<size_t> turn = turn_of(decision, times_ns, chosen ? *chosen + 1 : 0);
  if (!turn) return chosen;
  return *turn == 0 ? std::nullopt : std::optional(*turn - 1);
}

}  // namespace

PlacementDecision choose(std::span<const Way> ways, double cpu_ns, int64_t decision) {
  PlacementDecision made;
  made.best = best_of(ways);
  const Way& best = ways[made.best];
  // What serves until the best is worth what it takes to have it.
  if (!best.is_settled) made.in_place = fastest_in_place(ways, cpu_ns);
  const double meanwhile_ns = made.in_place ? ways[*made.in_place].now.total_ns() : cpu_ns;
  made.regret_ns = best.regret_ns;
  const bool pays = device_pays(meanwhile_ns, best.now.total_ns(), best.settled_ns, made.regret_ns);
  const std::optional<size_t> usual = pays ? std::optional(made.best) : made.in_place;
  const bool is_usual = best.is_settled || (made.in_place && !pays);
  made.way = is_usual ? chosen_or_tried(decision, ways, usual, cpu_ns) : usual;
  made.is_trial = made.way != usual;
  return made;
}

}  // namespace diptych
