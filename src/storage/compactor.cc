#include "storage/compactor.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "storage/statistics_renewal.h"
#include "storage/store_state.h"

namespace diptych {
namespace {

// A checkpoint makes writers wait for the disk twice.
constexpr int64_t most_unpublished_bytes = int64_t{64} << 20;
// Commits follow each other: what they delete is looked at together.
constexpr std::chrono::milliseconds pause{100};
constexpr std::chrono::milliseconds longest_pause{60'000};

int64_t bytes_of(const CompactedRun& run) {
  int64_t bytes = 0;
  for (const TabletHandle& tablet : run.tablets) bytes += tablet->pages().count * page_bytes;
  return bytes;
}

}  // namespace

// One compacts at a time. Errors: 57014, 55P03 while another one does.
class Compactor::Alone {
 public:
  Alone(Compactor& compactor, const Wait& wait) : turn_(compactor.turn_) { turn_.begin(wait.cancelled, wait.timeout); }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;
  ~Alone() { turn_.end(); }

 private:
  WriterTurn& turn_;
};

void Compactor::note_deletes() noexcept {
  const std::lock_guard guard(mutex_);
  if (!is_in_background_ || stops_) return;
  is_asked_ = true;
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { work(); });
    } catch (const std::system_error&) {
      // No thread: the next commit tries again.
    }
  }
  has_work_.notify_one();
}

void Compactor::set_in_background(bool in_background) {
  const std::lock_guard guard(mutex_);
  is_in_background_ = in_background;
}

void Compactor::stop() noexcept {
  {
    const std::lock_guard guard(mutex_);
    stops_ = true;
  }
  has_work_.notify_all();
  stopping_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Compactor::work() noexcept {
  std::chrono::milliseconds wait = pause;
  std::unique_lock guard(mutex_);
  while (!stops_) {
    has_work_.wait(guard, [this] { return stops_ || is_asked_; });
    if (stopping_.wait_for(guard, wait, [this] { return stops_.load(); })) return;
    if (!std::exchange(is_asked_, false) || !is_in_background_) continue;
    guard.unlock();
    const bool is_done = work_once();
    guard.lock();
    is_asked_ |= !is_done;
    wait = is_done ? pause : std::min(2 * wait, longest_pause);
  }
}

bool Compactor::work_once() noexcept {
  try {
    const Wait wait{&stops_, {}};
    const Alone alone(*this, wait);
    compact_all(wait);
    return true;
  } catch (const Error&) {
    // The tablets of before are as good; a statement that meets the reason says it.
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void Compactor::run(const std::atomic<bool>* cancelled, std::chrono::milliseconds timeout) {
  const Wait wait{cancelled, timeout};
  const Alone alone(*this, wait);
  compact_all(wait);
  write_checkpoint(wait);
}

void Compactor::compact_all(const Wait& wait) {
  for (const std::string& name : state_.current()->table_names()) {
    while (compact_one(name, CompactedPart::BeforeFragmentsAtEnd, wait)) {
    }
    compact_one(name, CompactedPart::All, wait);
    renew_statistics(name, wait);
    if (unpublished_bytes_ >= most_unpublished_bytes) write_checkpoint(wait);
  }
}

bool Compactor::compact_one(const std::string& table, CompactedPart part, const Wait& wait) {
  check_cancelled(wait.cancelled);
  const auto catalog = state_.current();
  const auto entry = catalog->tables().find(table);
  if (entry == catalog->tables().end()) return false;
  std::optional<CompactedRun> run = run_to_compact(entry->second, part);
  if (!run) return false;
  while (!write_run(state_.storage, *run, wait.cancelled)) {
    run->tablets.clear();
    const HeldTurn turn(state_, wait.cancelled, wait.timeout);  // settles the headers
  }
  if (!put(*run, wait)) return false;
  if (state_.storage.file) unpublished_bytes_ += bytes_of(*run);
  if (unpublished_bytes_ >= most_unpublished_bytes) write_checkpoint(wait);
  return true;
}

bool Compactor::put(const CompactedRun& run, const Wait& wait) {
  return change(run.table->state(), wait, [&](TableState& later) { return put_run(state_.storage, run, later); });
}

bool Compactor::change(const TableState& table, const Wait& wait, const std::function<bool(TableState&)>& work) {
  LoggedCommit made;
  {
    const HeldTurn turn(state_, wait.cancelled, wait.timeout);
    TableMap tables = state_.latest()->tables();
    const auto entry = tables.find(table.definition.name);
    if (entry == tables.end() || entry->second->state().dictionaries != table.dictionaries) return false;
    TableState state = entry->second->state();
    if (!work(state)) return false;
    entry->second = std::make_shared<TableView>(std::move(state));
    made = state_.put_tablets(std::move(tables));
  }
  state_.wait_for(made);
  return true;
}

void Compactor::renew_statistics(const std::string& table, const Wait& wait) {
  std::optional<StatisticsRenewal> renewal;
  TableState read;
  // The second time only what was added while the others were read.
  for (int times = 0; times < 2; ++times) {
    const auto catalog = state_.current();
    const auto entry = catalog->tables().find(table);
    if (entry == catalog->tables().end() || !is_out_of_date(entry->second->state())) return;
    if (times > 0 && entry->second->state().dictionaries != read.dictionaries) return;
    read = entry->second->state();
    if (!renewal) renewal.emplace(read);
    renewal->add(state_.storage, read, wait.cancelled);
  }
  change(read, wait, [&](TableState& later) {
    renewal->add(state_.storage, later, wait.cancelled);
    renewal->put(later);
    return true;
  });
}

void Compactor::write_checkpoint(const Wait& wait) {
  const HeldTurn turn(state_, wait.cancelled, wait.timeout);
  state_.write_checkpoint();
  unpublished_bytes_ = 0;
}

}  // namespace diptych
