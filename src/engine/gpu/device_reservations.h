// Who works on a device: many at once, as long as there is memory for what all of them can't do without.
//
//   wish      what a section takes that plans with so much memory: all of the limit, a half, a quarter, an eighth
//   place     from when it is let in: so much is set aside for it, and it plans with that much
//
//   A |--- all of the limit ---------|
//   B |--- all of the limit ----------------------------|
//   C    waits for all of the limit .|--- all of the limit ---|
//   D       waits, behind C ..........  waits .... |--- a quarter, which is left ----|
//
// The least of a wish is its floor. First come, first served; whoever waits has nothing on the device, or moves it to
// the host first, so that those who are inside are done some time. Beside others a section waits a while for all that
// it wishes, since work in small parts takes longer than waiting and columns that are there are wanted again. An eighth
// of the limit stays free then, for columns that others still bring, for what they take beyond their places, and for
// those who go on with rows that they have there. Only when nobody has left for a while it takes less, and the place of
// columns that nobody reads. Beyond its place a section asks for memory without waiting; what it does not get changes
// its form (batches, groups in host memory).
//
// A statement whose next section reads what this one leaves on the device comes back at once: until then, and no longer
// than some milliseconds, those who wait leave it as much as it has given back.
//
// One whose floor is not there although nobody is inside is let in all the same, with nothing set aside and with nobody
// beside it: it takes what it finds.
//
// Thread safety: all members may be called by many threads at once; a Place is the thread's that has it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "engine/device/device.h"

namespace diptych::gpu {

class DeviceReservations {
 public:
  static constexpr std::chrono::milliseconds usual_patience{500};
  // The device outlives it. patience: without anybody leaving, before a section takes less than it wishes, beside
  // others; and, with nobody inside, before it takes what it finds, since rows of statements that wait behind it may
  // have the memory and are about to leave.
  explicit DeviceReservations(Device& device, std::chrono::nanoseconds patience = usual_patience)
      : device_(device), patience_(patience) {}

  // Bytes that it takes to plan with so many.
  using Wish = std::function<int64_t(int64_t room)>;

  class Place {
   public:
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place();
    // Bytes to plan with.
    int64_t room() const { return reserved_.room(); }
    // Asks for what the wish takes with more room, if there is some by now and nobody waits for it. True: room() is
    // more.
    bool try_grow(const Wish& wish);
    // This thread's next section goes on with what this one leaves on the device.
    void comes_back() { comes_back_ = true; }

   private:
    friend class DeviceReservations;
    struct Grant {
      uint64_t number = 0;  // of the reservation; 0: nothing is set aside, and nobody else is let in
      int64_t room = 0;
      int64_t bytes = 0;  // that are set aside
    };
    Place(DeviceReservations& all, Grant grant);

    DeviceReservations& all_;
    const bool is_alone_;
    bool comes_back_ = false;
    int64_t bytes_;
    DeviceReservation reserved_;
  };

  // For whoever has nothing on the device. cancelled: looked at while it waits; null: waits as long as it takes.
  // Errors: 57014.
  std::unique_ptr<Place> enter(const Wish& wish, const std::atomic<bool>* cancelled);
  // The same, where it need not wait. Null: it would have to.
  std::unique_ptr<Place> enter_at_once(const Wish& wish);
  // For a statement that has rows there already: it passes those that wait, since it is done the sooner. Null: others
  // would have to leave before.
  std::unique_ptr<Place> try_enter(const Wish& wish);
  bool has_waiting() const;

 private:
  using Line = std::list<bool>;  // in the order in which they came; true: there was no room
  using Grant = Place::Grant;
  using Kept = Device::Kept;

  // What those who come back are left.
  struct Owed {
    std::thread::id thread;
    int64_t bytes = 0;
    std::chrono::steady_clock::time_point until;
  };
  // Who else there is, as far as it matters for a place.
  struct Company {
    int inside = 0;
    bool waits = false, may_come_back = false;
    int64_t owed = 0;  // bytes
  };

  // With the mutex. waiting: of the line, those who are not counted.
  Company company(size_t waiting);
  // The most that there is, and at least so much, where `left` bytes are free beside it.
  std::optional<Grant> find_room(const Wish& wish, int64_t at_least, Kept kept, int64_t left = 0) const;
  // Without the mutex, since drivers may take their time.
  std::optional<Grant> take(const Wish& wish, const Company& others, bool is_patient) const;
  std::optional<Grant> take_alone(const Wish& wish, bool is_patient) const;
  std::unique_ptr<Place> let_in(const std::optional<Grant>& grant);

  Device& device_;
  const std::chrono::nanoseconds patience_;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  Line line_;
  int inside_ = 0;
  int64_t left_ = 0;  // places that have ended
  bool is_one_alone_ = false;
  std::vector<Owed> owed_;
};

}  // namespace diptych::gpu
