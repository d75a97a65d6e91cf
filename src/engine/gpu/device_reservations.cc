#include "engine/gpu/device_reservations.h"

#include <limits>
#include <utility>

#include "base/error.h"

namespace diptych::gpu {
namespace {

using Clock = std::chrono::steady_clock;

// A section that plans with an eighth has batches that still keep a device busy.
constexpr int64_t floor_part = 8;
// Of the limit that stays free when a section enters beside others.
constexpr int64_t free_part = 8;
constexpr auto look_again = std::chrono::milliseconds(10);
// A section that goes on with another's rows begins some microseconds later.
constexpr auto until_back = std::chrono::milliseconds(5);

// What comes back wants its room in one piece.
bool has_piece(Device& device, int64_t bytes) {
  const auto number = device.try_reserve(bytes, Device::Kept::Stays);
  if (!number) return false;
  const DeviceReservation given_back(device, *number, 0);
  return true;
}

}  // namespace

DeviceReservations::Place::Place(DeviceReservations& all, Grant grant)
    : all_(all), is_alone_(grant.number == 0), bytes_(grant.bytes), reserved_(all.device_, grant.number, grant.room) {}

DeviceReservations::Place::~Place() {
  // Before the memory is free: nobody is to take it in between.
  if (comes_back_) {
    std::lock_guard guard(all_.mutex_);
    all_.owed_.push_back({std::this_thread::get_id(), bytes_, Clock::now() + until_back});
  }
  reserved_.replace(0, 0);
  std::lock_guard guard(all_.mutex_);
  --all_.inside_;
  ++all_.left_;
  if (is_alone_) all_.is_one_alone_ = false;
  all_.changed_.notify_all();
}

bool DeviceReservations::Place::try_grow(const Wish& wish) {
  if (is_alone_ || room() >= all_.device_.memory_limit() || all_.has_waiting()) return false;
  const auto grant = all_.find_room(wish, 2 * room(), Kept::Stays);
  if (!grant) return false;
  reserved_.replace(grant->number, grant->room);
  bytes_ = grant->bytes;
  return true;
}

DeviceReservations::Company DeviceReservations::company(size_t waiting) {
  const auto now = Clock::now();
  std::erase_if(owed_, [&](const Owed& owed) { return owed.until < now || owed.thread == std::this_thread::get_id(); });
  Company others{.inside = inside_, .waits = line_.size() > waiting, .may_come_back = !owed_.empty()};
  for (const Owed& owed : owed_) others.owed += owed.bytes;
  return others;
}

std::optional<DeviceReservations::Grant> DeviceReservations::find_room(const Wish& wish, int64_t at_least, Kept kept,
                                                                       int64_t left) const {
  const int64_t limit = device_.memory_limit();
  int64_t refused = std::numeric_limits<int64_t>::max();
  for (int64_t room = limit; room >= at_least; room /= 2) {
    const int64_t bytes = wish(room);
    if (bytes >= refused) continue;
    refused = bytes;
    if (left > 0) {
      const DeviceMemoryUse use = device_.memory_use();
      if (bytes > limit - use.used_bytes - use.set_aside_bytes - left) continue;
    }
    if (const auto number = device_.try_reserve(bytes, kept)) {
      if (left == 0 || has_piece(device_, limit / free_part)) return Grant{*number, room, bytes};
      const DeviceReservation given_back(device_, *number, 0);
    }
  }
  return std::nullopt;
}

std::optional<DeviceReservations::Grant> DeviceReservations::take(const Wish& wish, const Company& others,
                                                                  bool is_patient) const {
  const int64_t limit = device_.memory_limit(), least = limit / floor_part;
  if (others.inside > 0) {
    if (is_patient) return find_room(wish, limit, Kept::Stays, limit / free_part + others.owed);
    if (auto grant = find_room(wish, least, Kept::Stays)) return grant;
    return find_room(wish, least, Kept::GivesWay);
  }
  // Nobody is to be waited for but who comes back; but those who wait want their columns, too.
  if (is_patient && others.may_come_back) return find_room(wish, limit, Kept::Stays, others.owed);
  if (others.waits)
    if (auto grant = find_room(wish, least, Kept::Stays)) return grant;
  return take_alone(wish, is_patient);
}

std::optional<DeviceReservations::Grant> DeviceReservations::take_alone(const Wish& wish, bool is_patient) const {
  const int64_t limit = device_.memory_limit();
  if (auto grant = find_room(wish, limit / floor_part, Kept::GivesWay)) return grant;
  if (is_patient && wish(limit / floor_part) <= limit) return std::nullopt;
  return Grant{0, limit};
}

// With the mutex. Others may have come in since room was found.
std::unique_ptr<DeviceReservations::Place> DeviceReservations::let_in(const std::optional<Grant>& grant) {
  if (!grant) return nullptr;
  if (is_one_alone_ || (grant->number == 0 && inside_ > 0)) {
    const DeviceReservation given_back(device_, grant->number, 0);
    return nullptr;
  }
  ++inside_;
  is_one_alone_ = grant->number == 0;
  return std::unique_ptr<Place>(new Place(*this, *grant));
}

std::unique_ptr<DeviceReservations::Place> DeviceReservations::enter(const Wish& wish,
                                                                     const std::atomic<bool>* cancelled) {
  std::unique_lock guard(mutex_);
  struct InLine {
    DeviceReservations& all;
    Line::iterator at;
    ~InLine() {
      all.line_.erase(at);
      all.changed_.notify_all();
    }
  } const mine{*this, line_.insert(line_.end(), false)};
  auto since = Clock::now();  // it is its turn, and nobody has left
  int64_t left = left_;
  for (;;) {
    const bool is_first = mine.at == line_.begin() && !is_one_alone_;
    if (!is_first || left != left_) since = Clock::now();
    left = left_;
    if (is_first) {
      const Company others = company(1);
      const bool is_patient = Clock::now() - since < patience_;
      std::optional<Grant> grant;
      guard.unlock();
      try {
        grant = take(wish, others, is_patient);
      } catch (...) {
        guard.lock();
        throw;
      }
      guard.lock();
      if (auto place = let_in(grant)) return place;
      *mine.at = true;
      // What gave way for nothing is left alone for as long again.
      if (!is_patient) since = Clock::now();
    }
    changed_.wait_for(guard, look_again);
    if (cancelled != nullptr && cancelled->load(std::memory_order_relaxed))
      throw Error(SqlState::query_canceled, "cancelled on request");
  }
}

std::unique_ptr<DeviceReservations::Place> DeviceReservations::enter_at_once(const Wish& wish) {
  std::unique_lock guard(mutex_);
  if (is_one_alone_ || !line_.empty()) return nullptr;
  const Company others = company(0);
  guard.unlock();
  // By itself it takes what it finds beside its columns.
  const auto grant = others.inside > 0 || others.may_come_back ? take(wish, others, true) : take_alone(wish, false);
  guard.lock();
  return let_in(grant);
}

std::unique_ptr<DeviceReservations::Place> DeviceReservations::try_enter(const Wish& wish) {
  std::unique_lock guard(mutex_);
  const Company others = company(0);
  if (is_one_alone_) return nullptr;
  guard.unlock();
  // What others have kept there is wanted again: rather than its place, rows move to the host.
  const bool has_others = others.inside > 0 || others.waits;
  const auto grant =
      has_others ? find_room(wish, device_.memory_limit() / floor_part, Kept::Stays) : take_alone(wish, false);
  guard.lock();
  return let_in(grant);
}

bool DeviceReservations::has_waiting() const {
  std::lock_guard guard(mutex_);
  return !line_.empty() && (line_.front() || is_one_alone_);
}

}  // namespace diptych::gpu
