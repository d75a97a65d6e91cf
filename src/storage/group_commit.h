// Changes that need to see no rows, as INSERT of VALUES: who has one joins a group, whose first member waits for the
// turn to write, makes the changes of all who have come by then, and commits them as one: one tablet of their rows, one
// record in the log, and no thread to wake for each.
//
//   first           waits for the turn | makes the changes of all three, gives the turn on | waits for the disk
//   second, third          waits       |                      waits                        |       waits        | told
//   fourth                             |       is the first of the next group
//
// Where a change of a group fails, or its commit before it is in the log, nothing of the group has happened, and each
// member goes alone.
//
// Thread safety: commit() by many threads at once.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <mutex>
#include <semaphore>

#include "storage/store.h"

namespace diptych {

class StoredTransaction;
class StoreState;

class GroupCommit {
 public:
  // state: outlives it.
  explicit GroupCommit(StoreState& state) : state_(state) {}

  // As Store::commit_in_group().
  bool commit(uint64_t schema_version, const std::function<void(WriteTransaction&)>& change,
              const std::atomic<bool>* cancelled, std::chrono::milliseconds timeout);

 private:
  // Until when a thread waits.
  struct Patience {
    const std::atomic<bool>* cancelled;
    std::chrono::milliseconds timeout;
    std::chrono::steady_clock::time_point start;

    std::chrono::milliseconds time_left() const;  // at least one; 0: there is no limit
  };
  enum class Outcome : uint8_t { None, IsCommitted, HasOtherTables, IsToGoAlone };
  struct Member {
    const uint64_t schema_version;
    const std::function<void(WriteTransaction&)>& change;
    Outcome outcome = Outcome::None;
    std::exception_ptr failure = nullptr;  // of waiting for the disk
    bool leads = false;                    // guarded by the mutex, as the next one
    bool is_taken = false;                 // by who leads
    std::binary_semaphore woken{0};        // it leads, or is told
  };

  // Whether it leads; else somebody will take it.
  bool join(Member& member);
  // Until it leads or is told. Errors: 55P03, 57014; it is no member then.
  void wait(Member& member, const Patience& patience);
  // False: somebody has taken it.
  bool leave(Member& member);
  void lead(Member& leader, const Patience& patience);
  void go_alone(Member& member, const Patience& patience);
  std::list<Member*> take_all();
  // Makes the changes of all, commits them, and tells all but the leader. Errors: those of a leader that is alone,
  // but for waiting for the disk.
  void run(StoredTransaction& transaction, const std::list<Member*>& members, const Member& leader);
  // Those of other tables are left out. Errors: those of the changes.
  static void make_changes(StoredTransaction& transaction, const std::list<Member*>& members);

  StoreState& state_;
  std::mutex mutex_;
  bool has_leader_ = false;     // of those who wait
  std::list<Member*> waiting_;  // in the order in which they came, the leader among them
};

}  // namespace diptych
