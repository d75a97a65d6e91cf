#include "storage/group_commit.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "storage/store_state.h"
#include "storage/write_transaction.h"

namespace diptych {

std::chrono::milliseconds GroupCommit::Patience::time_left() const {
  if (timeout.count() == 0) return timeout;
  const auto passed = std::chrono::steady_clock::now() - start;
  return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(timeout - passed),
                  std::chrono::milliseconds(1));
}

bool GroupCommit::commit(uint64_t schema_version, const std::function<void(WriteTransaction&)>& change,
                         const std::atomic<bool>* cancelled, std::chrono::milliseconds timeout) {
  const Patience patience{cancelled, timeout, std::chrono::steady_clock::now()};
  Member member{.schema_version = schema_version, .change = change};
  if (!join(member)) wait(member, patience);
  if (member.leads) lead(member, patience);
  if (member.outcome == Outcome::IsToGoAlone) go_alone(member, patience);
  if (member.failure != nullptr) std::rethrow_exception(member.failure);
  return member.outcome == Outcome::IsCommitted;
}

bool GroupCommit::join(Member& member) {
  const std::lock_guard guard(mutex_);
  waiting_.push_back(&member);
  member.leads = !std::exchange(has_leader_, true);
  return member.leads;
}

void GroupCommit::wait(Member& member, const Patience& patience) {
  while (!member.woken.try_acquire_for(cancel_check_interval)) {
    try {
      check_cancelled(patience.cancelled);
      check_lock_timeout(patience.start, patience.timeout);
    } catch (...) {
      if (leave(member)) throw;
    }
  }
}

bool GroupCommit::leave(Member& member) {
  const std::lock_guard guard(mutex_);
  if (member.is_taken) return false;
  waiting_.remove(&member);
  if (!member.leads) return true;
  has_leader_ = !waiting_.empty();
  if (!has_leader_) return true;
  waiting_.front()->leads = true;
  waiting_.front()->woken.release();
  return true;
}

std::list<GroupCommit::Member*> GroupCommit::take_all() {
  std::list<Member*> members;
  const std::lock_guard guard(mutex_);
  members.swap(waiting_);
  for (Member* member : members) member->is_taken = true;
  has_leader_ = false;
  return members;
}

void GroupCommit::lead(Member& leader, const Patience& patience) {
  std::optional<StoredTransaction> transaction;
  try {
    transaction.emplace(state_, patience.cancelled, patience.time_left());
  } catch (...) {
    leave(leader);
    throw;
  }
  run(*transaction, take_all(), leader);
}

void GroupCommit::go_alone(Member& member, const Patience& patience) {
  member.outcome = Outcome::None;
  StoredTransaction transaction(state_, patience.cancelled, patience.time_left());
  run(transaction, {&member}, member);
}

void GroupCommit::run(StoredTransaction& transaction, const std::list<Member*>& members, const Member& leader) {
  std::optional<LoggedCommit> commit;
  try {
    make_changes(transaction, members);
    commit = transaction.commit_to_log();
  } catch (...) {
    if (members.size() == 1) throw;
  }
  std::exception_ptr failure;
  try {
    if (commit) state_.wait_for(*commit);
  } catch (...) {
    failure = std::current_exception();
  }
  for (Member* member : members) {
    if (member->outcome == Outcome::None) {
      member->outcome = commit ? Outcome::IsCommitted : Outcome::IsToGoAlone;
      member->failure = failure;
    }
    if (member != &leader) member->woken.release();  // and is gone
  }
}

void GroupCommit::make_changes(StoredTransaction& transaction, const std::list<Member*>& members) {
  const uint64_t schema_version = transaction.preview()->schema_version();
  for (Member* member : members) {
    if (member->schema_version == schema_version)
      member->change(transaction);
    else
      member->outcome = Outcome::HasOtherTables;
  }
}

}  // namespace diptych
