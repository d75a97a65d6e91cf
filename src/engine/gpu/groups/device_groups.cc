#include "engine/gpu/groups/device_groups.h"

#include <algorithm>
#include <iterator>

#include "engine/gpu/groups/group_columns.h"

namespace diptych::gpu {
namespace {

constexpr const char* form_changed = "groups were numbered before the memory limit changed, or now";

}  // namespace

void DeviceGroups::add(const GroupPlan& plan, GroupWords words) {
  if (partitioned_) throw Error(SqlState::system_error, form_changed);
  if (!numbered_) numbered_.emplace(program_, plan, context_.budget);
  numbered_->add(std::move(words));
  ++parts_;
}

void DeviceGroups::add(int32_t hash_table, std::vector<PartialWords> totals) {
  totals_of_ = hash_table;
  std::move(totals.begin(), totals.end(), std::back_inserter(totals_));
  ++parts_;
}

void DeviceGroups::add(PartitionedGroups&& groups, const std::vector<const Dictionary*>& dictionaries) {
  if (numbered_) throw Error(SqlState::system_error, form_changed);
  if (!partitioned_) {
    dictionaries_ = dictionaries;
    partitioned_.emplace(engine_, groups.plan(), program_.hash_tables[static_cast<size_t>(groups.plan().hash_table)],
                         context_);
  }
  partitioned_->add(std::move(groups));
}

void DeviceGroups::move_to_host() {
  if (!partitioned_) return;
  std::unique_ptr<Queue> queue = engine_.take_queue(nullptr);
  partitioned_->move_to_host(*queue);
  engine_.give_back(std::move(queue));
}

std::shared_ptr<const RowSet> DeviceGroups::close() {
  if (totals_of_ >= 0) return combine_totals(program_, totals_of_, totals_);
  if (numbered_) return numbered_->finish();
  const DeviceReservations::Wish wish = [this](int64_t room) { return partitioned_->finish_bytes(room); };
  auto place = engine_.reservations().try_enter(wish);
  if (!place) {
    move_to_host();
    place = engine_.reservations().enter(wish, context_.cancelled);
  }
  std::unique_ptr<Queue> queue = engine_.take_queue(nullptr);
  auto rows = finish_partitioned(engine_, *queue, program_, *partitioned_, dictionaries_, context_.budget);
  engine_.give_back(std::move(queue));
  return rows;
}

FormProfile DeviceGroups::form() const {
  if (partitioned_) return partitioned_->form();
  FormProfile form;
  form.form = numbered_ ? numbered_->form() : "total";
  form.parts = parts_;
  return form;
}

std::shared_ptr<const RowSet> finish_partitioned(GpuEngine& engine, Queue& queue, const Program& program,
                                                 PartitionedGroups& groups,
                                                 const std::vector<const Dictionary*>& dictionaries,
                                                 MemoryBudget* budget) {
  const GroupPlan& plan = groups.plan();
  const HashTableInfo& table = program.hash_tables[static_cast<size_t>(plan.hash_table)];
  auto rows = make_group_set(engine, plan, table, dictionaries, budget);
  groups.finish(queue, *rows);
  return rows;
}

}  // namespace diptych::gpu
