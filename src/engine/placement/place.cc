#include "engine/placement/place.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace diptych {
namespace {

constexpr Residency all_residencies[] = {Residency::Cached, Residency::Streamed, Residency::Mapped, Residency::Serial};

std::string milliseconds(double nanoseconds) { return fmt::format("{:.3f} ms", nanoseconds * 1e-6); }

// What sections of a chain take in one way, section by section.
class ChainPricer {
 public:
  ChainPricer(const PlacementQuestion& question, size_t chain) : question_(question), chain_(chain) {}

  double price_cpu(std::vector<SectionPlace>& places) const {
    double sum = 0;
    for (size_t i = 0; i < sections().size(); ++i) {
      if (sections()[i].chain != chain_) continue;
      places[i] = on_cpu(sections()[i]);
      sum += places[i].estimate_ns;
    }
    return sum;
  }

  // Nothing: it can't run so.
  std::optional<ChainWay> price(size_t device, Residency residency, std::vector<SectionPlace>& places) const {
    const LearntTime known = question_.learnt[chain_].known(device, residency);
    if (known.rest > 0) return std::nullopt;
    ChainWay way{device, residency};
    way.is_settled = true;
    std::vector<bool> is_there(question_.program.objects.size());
    bool any = false;
    for (size_t i = 0; i < sections().size(); ++i) {
      const PlacedSection& section = sections()[i];
      if (section.chain != chain_) continue;
      SectionPlace& place = places[i] = on_cpu(section);
      if (section.table && (section.may_leave_cpu || question_.is_asked_for)) {
        const bool is_placed = place_table(i, way, place);
        if (!is_placed && section.facts.rows >= least_device_rows) return std::nullopt;
      } else if (section.reads && is_there[*section.reads]) {
        place_object(section, device, place);
      }
      price_met(section, device, is_there, place);
      if (place.device) any = true;
      for (const size_t made : section.makes) is_there[made] = place.device.has_value();
      way.now_ns += place.estimate_ns;
      way.estimate_ns += place.settled_ns;
    }
    if (!any) return std::nullopt;
    way.settled_ns = way.estimate_ns * known.ratio;
    way.now_ns += way.settled_ns - way.estimate_ns;
    return way;
  }

 private:
  const std::vector<PlacedSection>& sections() const { return question_.program.sections; }

  SectionPlace on_cpu(const PlacedSection& section) const {
    SectionPlace place;
    const CostEstimate cost = estimate_cpu(section.facts, question_.host, question_.threads);
    place.estimate_ns = place.settled_ns = cost.total_ns();
    if (question_.host.is_measured) place.limit = cost.limit;
    return place;
  }

  bool place_table(size_t number, ChainWay& way, SectionPlace& place) const {
    const DeviceFacts& device = question_.devices[way.device];
    const SectionFacts& facts = sections()[number].facts;
    const SectionOnDevice& there = device.sections[number];
    if (!question_.is_asked_for && !may_run(facts, there, device, way.residency)) return false;
    place.device = way.device;
    place.residency = residency_of(facts, device, way.residency);
    const DeviceState settled = settled_state(facts, device.room);
    const CostEstimate now = estimate_device(facts, question_.host, device.calibration, place.residency, there.state);
    place.estimate_ns = now.total_ns();
    place.settled_ns = estimate_device(facts, question_.host, device.calibration, place.residency, settled).total_ns();
    place.limit = device.calibration.is_short ? 0 : now.limit;
    add_way_back(sections()[number], device, place);
    const bool is_there = place.residency == Residency::Serial ||
                          (place.residency == Residency::Cached ? there.state.cached_bytes >= settled.cached_bytes
                                                                : there.state.pinned_bytes >= settled.pinned_bytes);
    way.is_settled = way.is_settled && there.state.is_compiled && is_there;
    return true;
  }

  bool may_run(const SectionFacts& facts, const SectionOnDevice& there, const DeviceFacts& device,
               Residency residency) const {
    if (!there.can_run || (residency == Residency::Mapped && !device.can_map)) return false;
    // What was asked for is streamed where it has no room to stay.
    return residency == Residency::Serial || question_.residency == residency || fits(facts, residency, device.room);
  }

  Residency residency_of(const SectionFacts& facts, const DeviceFacts& device, Residency asked_for) const {
    if (!question_.is_asked_for || question_.residency) return asked_for;
    return best_residency(facts, question_.host, device.calibration, device.room, device.can_map);
  }

  // The section reads what was made on the device, where it stays unless it is little.
  void place_object(const PlacedSection& section, size_t number, SectionPlace& place) const {
    const DeviceFacts& device = question_.devices[number];
    const ObjectFacts& object = question_.program.objects[*section.reads];
    if (!object.stays) return;  // whoever made it has brought it to the host
    if (object.rows < least_kept_rows) {
      place.estimate_ns += way_back_ns(object, device);
      place.settled_ns = place.estimate_ns;
      return;
    }
    const DeviceState there{section.facts.bytes, 0, true};
    const CostEstimate cost =
        estimate_device(section.facts, question_.host, device.calibration, Residency::Cached, there);
    place.device = number;
    place.estimate_ns = place.settled_ns = cost.total_ns();
    place.limit = device.calibration.is_short ? 0 : cost.limit;
    add_way_back(section, device, place);
  }

  // Rows of indexes that are elsewhere come over the bus, and the index is built anew.
  void price_met(const PlacedSection& section, size_t number, const std::vector<bool>& is_there,
                 SectionPlace& place) const {
    const DeviceFacts& device = question_.devices[number];
    for (const size_t met : section.meets) {
      const ObjectFacts& object = question_.program.objects[met];
      if (place.device.has_value() == is_there[met]) continue;
      const double moving_ns = way_back_ns(object, device);
      place.estimate_ns += moving_ns;
      place.settled_ns += moving_ns;
    }
  }

  // Sorted rows go to the host.
  void add_way_back(const PlacedSection& section, const DeviceFacts& device, SectionPlace& place) const {
    for (const size_t made : section.makes) {
      const ObjectFacts& object = question_.program.objects[made];
      if (object.stays) continue;
      place.estimate_ns += way_back_ns(object, device);
      place.settled_ns += way_back_ns(object, device);
    }
  }

  double way_back_ns(const ObjectFacts& object, const DeviceFacts& device) const {
    constexpr double ns_per_second = 1e9;
    return static_cast<double>(object.bytes) / device.calibration.to_host_pinned * ns_per_second +
           device.calibration.launch_ns;
  }

  const PlacementQuestion& question_;
  const size_t chain_;
};

struct PricedWay {
  ChainWay way;
  std::vector<SectionPlace> places;
};

// What takes nearly as long by another way stays where it is: times differ from run to run, and a wrong change costs
// more than a small gain is worth. Of the other's time:
constexpr double margin = 0.9;

// What takes least once settled. Columns on the device do not depend on what else the bus and the host do: others have
// to be faster by a margin, if those are there.
const ChainWay& best_of(std::span<const PricedWay> ways) {
  const ChainWay *best = &ways.front().way, *cached = nullptr;
  for (const auto& [way, places] : ways) {
    if (way.settled_ns < best->settled_ns) best = &way;
    const bool is_cached = way.residency == Residency::Cached;
    if (is_cached && (cached == nullptr || way.settled_ns < cached->settled_ns)) cached = &way;
  }
  return cached != nullptr && best->settled_ns > margin * cached->settled_ns ? *cached : *best;
}

// Of the ways that need nothing moved or compiled; null: none is faster than the CPU by a margin.
const ChainWay* fastest_in_place(std::span<const PricedWay> ways, double cpu_ns) {
  const ChainWay* fastest = nullptr;
  double least_ns = margin * cpu_ns;
  for (const auto& [way, places] : ways) {
    if (!way.is_settled || way.now_ns >= least_ns) continue;
    fastest = &way;
    least_ns = way.now_ns;
  }
  return fastest;
}

// Whether to move in now: at once where that is faster, else when not having done so would have paid for it by now. It
// costs at most twice of whatever was right in hindsight, the bound of the ski-rental problem (Karlin, Manasse, Rudolph
// and Sleator 1988, on snoopy caching).
void choose(std::span<const PricedWay> ways, const RentPaid& rent, bool tells_why, ChainPlace& made) {
  const ChainWay& best = best_of(ways);
  // What serves until the best is worth what it takes to have it.
  const ChainWay* in_place = best.is_settled ? nullptr : fastest_in_place(ways, made.cpu_ns);
  const double meanwhile_ns = in_place != nullptr ? in_place->now_ns : made.cpu_ns;
  const double most_ns = in_place != nullptr ? meanwhile_ns : margin * meanwhile_ns;
  const double price_ns = best.now_ns - best.settled_ns;
  const double lost_ns =
      std::max(0.0, rent.ns - static_cast<double>(rent.runs) * best.settled_ns) + meanwhile_ns - best.settled_ns;
  const bool is_faster_now = best.now_ns < most_ns, is_worth_it = best.settled_ns < most_ns;
  const bool is_chosen = is_faster_now || (is_worth_it && lost_ns >= price_ns);
  made.best = best;
  made.pays_rent = !is_chosen && !best.is_settled;
  if (is_chosen)
    made.way = best;
  else if (in_place != nullptr)
    made.way = *in_place;
  made.chosen_ns = made.way ? made.way->now_ns : made.cpu_ns;
  if (!tells_why) return;
  const auto name = [](const ChainWay& way) { return name_of(way.residency); };
  made.why = fmt::format("{}: {} now, {} once settled; CPU: {}", name(best), milliseconds(best.now_ns),
                         milliseconds(best.settled_ns), milliseconds(made.cpu_ns));
  if (in_place != nullptr)
    made.why += fmt::format("; in place: {}, {}", name(*in_place), milliseconds(in_place->now_ns));
  if (is_faster_now || !is_worth_it) return;
  made.why += fmt::format("; {} {}, runs elsewhere have lost {}", is_chosen ? "moved there for" : "moving there costs",
                          milliseconds(price_ns), milliseconds(lost_ns));
}

// What takes so many times as long as was expected of it may have been learnt from literals that leave other rows.
constexpr double most_over = 1.5;

// What is not chosen and may take up to so many times as long is tried now and then. What few runs have shown to take
// longer, of which the first found caches cold, may do so too, if its estimate says that.
constexpr double most_trial = 2, most_far_trial = 8;
constexpr int64_t few_runs = 4;

bool is_worth_a_trial(const LearntTime& known, double ns, double estimate_ns, double chosen_ns) {
  if (ns <= most_trial * chosen_ns) return true;
  return known.runs < few_runs && estimate_ns <= most_trial * chosen_ns && ns <= most_far_trial * chosen_ns;
}

// Puts the way in the place of the chosen one that needs nothing first and was run longest ago, or last, where its
// trial is at hand, if that may be the better one.
void try_another(std::span<const PricedWay> ways, const LearntChain& learnt, ChainPlace& made) {
  const std::optional<ChainWay> chosen = made.way;
  const auto comes_before = [&](int64_t run, int64_t other) {
    return learnt.trials.is_at_hand() ? run > other : run < other;
  };
  int64_t next = 0;  // when the way was run that is taken
  if (chosen && is_worth_a_trial(learnt.cpu, made.cpu_ns, made.cpu_estimate_ns, made.chosen_ns)) {
    made.way.reset();
    made.is_trial = true;
    next = learnt.cpu.last_run;
  }
  for (const auto& [way, places] : ways) {
    const bool is_chosen = chosen && chosen->device == way.device && chosen->residency == way.residency;
    const LearntTime known = learnt.known(way.device, way.residency);
    if (is_chosen || !way.is_settled || !is_worth_a_trial(known, way.now_ns, way.estimate_ns, made.chosen_ns)) continue;
    if (made.is_trial && !comes_before(known.last_run, next)) continue;
    made.way = way;
    made.is_trial = true;
    next = known.last_run;
  }
}

class ChainPlacer {
 public:
  ChainPlacer(const PlacementQuestion& question, size_t chain, Placement& placement)
      : question_(question), chain_(chain), pricer_(question, chain), placement_(placement) {}

  void run() {
    ChainPlace& made = placement_.chains[chain_];
    made.cpu_estimate_ns = pricer_.price_cpu(placement_.sections);
    made.chosen_ns = made.cpu_ns = made.cpu_estimate_ns * question_.learnt[chain_].cpu.ratio;
    if (question_.is_asked_for) return run_asked(made);
    made.why = "short on the CPU";
    if (made.cpu_ns < least_device_ns) return;
    // Runs until devices are found count, too.
    made.pays_rent = question_.devices.empty();
    made.why = question_.no_device;
    if (question_.devices.empty()) return;
    const std::vector<PricedWay> ways = find_ways();
    made.why = question_.no_device.empty() ? "no device can run it" : question_.no_device;
    if (ways.empty()) return;
    const LearntChain& learnt = question_.learnt[chain_];
    choose(ways, learnt.rent, question_.tells_why, made);
    const bool is_moving = made.way && !made.way->is_settled;
    if (learnt.trials.is_due() && !made.pays_rent && !is_moving) try_another(ways, learnt, made);
    if (question_.tells_why)
      made.why = question_.devices[made.best->device].name + " " + made.why + (made.is_trial ? "; tried again" : "");
    if (!made.way) return;
    for (const auto& [way, places] : ways)
      if (way.device == made.way->device && way.residency == made.way->residency) take(places);
  }

 private:
  void run_asked(ChainPlace& made) {
    std::vector<SectionPlace> places = placement_.sections;
    made.way = pricer_.price(0, question_.residency.value_or(Residency::Cached), places);
    made.why = question_.residency ? "asked for" : "device asked for, the best residency that fits it";
    take(places);
  }

  std::vector<PricedWay> find_ways() const {
    std::vector<PricedWay> ways;
    for (size_t device = 0; device < question_.devices.size(); ++device) {
      for (const Residency residency : all_residencies) {
        if (question_.residency && question_.residency != residency) continue;
        std::vector<SectionPlace> places = placement_.sections;
        if (const auto way = pricer_.price(device, residency, places)) ways.push_back({*way, std::move(places)});
      }
    }
    return ways;
  }

  void take(const std::vector<SectionPlace>& places) {
    for (size_t i = 0; i < places.size(); ++i)
      if (question_.program.sections[i].chain == chain_) placement_.sections[i] = places[i];
  }

  const PlacementQuestion& question_;
  const size_t chain_;
  const ChainPricer pricer_;
  Placement& placement_;
};

}  // namespace

double expected_cpu_ns(const PlacementQuestion& question) {
  std::vector<SectionPlace> places(question.program.sections.size());
  double sum = 0;
  for (size_t chain = 0; chain < question.program.chains; ++chain)
    sum += ChainPricer(question, chain).price_cpu(places) * question.learnt[chain].cpu.ratio;
  return sum;
}

Placement place(const PlacementQuestion& question) {
  Placement placement;
  placement.sections.resize(question.program.sections.size());
  placement.chains.resize(question.program.chains);
  for (size_t chain = 0; chain < question.program.chains; ++chain) {
    ChainPlacer(question, chain, placement).run();
    ChainPlace& made = placement.chains[chain];
    const LearntChain& learnt = question.learnt[chain];
    made.is_known = (made.way ? learnt.known(made.way->device, made.way->residency) : learnt.cpu).runs >= few_runs;
  }
  return placement;
}

bool is_as_expected(const ChainPlace& placed, double ns) {
  return (!placed.way && ns < least_device_ns) || ns <= most_over * placed.chosen_ns;
}

void learn(const ChainPlace& placed, double ns, bool is_usual, LearntChain& chain) {
  pass_rests(chain);
  ++chain.runs;
  note_trial(chain.trials, placed.is_trial, ns < placed.chosen_ns);
  double usual_ns = ns;
  LearntTime& way = placed.way ? chain.of(placed.way->device, placed.way->residency) : chain.cpu;
  way.last_run = chain.runs;
  if (is_usual && (!placed.way || placed.way->is_settled)) {
    const double estimate_ns = placed.way ? placed.way->estimate_ns : placed.cpu_estimate_ns;
    add_run(way, ns, estimate_ns);
    usual_ns = estimate_ns * way.ratio;
  }
  if (!placed.pays_rent) {
    if (placed.best) chain.rent = {};
    return;
  }
  chain.rent.ns += usual_ns;
  ++chain.rent.runs;
  // So far nothing is lost.
  if (placed.best && chain.rent.ns < static_cast<double>(chain.rent.runs) * placed.best->settled_ns) chain.rent = {};
}

}  // namespace diptych
