#include "session/explain_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "plan/plan_text.h"

namespace diptych {

using nlohmann::ordered_json;

namespace {

ordered_json text_or_null(const std::string& text) { return text.empty() ? ordered_json() : ordered_json(text); }
template <typename Number>
ordered_json positive_or_null(Number number) {
  return number > 0 ? ordered_json(number) : ordered_json();
}

ordered_json describe_time(const SectionProfile& section) {
  ordered_json time = {{"total_ns", section.total_nanoseconds}};
  for (size_t i = 0; i < time_part_count; ++i)
    time[std::string(time_part_names[i]) + "_ns"] = section.parts.nanoseconds[i];
  return time;
}

ordered_json describe_device(const SectionProfile& section) {
  if (section.kernel.empty() && section.work.waits == 0) return {};
  return {{"kernel_ns", section.kernel_nanoseconds},
          {"kernel_origin", text_or_null(section.kernel_origin)},
          {"batches", section.batches},
          {"launches", section.work.launches},
          {"waits", section.work.waits},
          {"wait_ns", section.work.wait_nanoseconds}};
}

ordered_json describe_bus(const QueueWork& work) {
  if (!work.moves_bytes()) return {};
  return {{"to_device_bytes", work.bytes_to_device},
          {"to_host_bytes", work.bytes_to_host},
          {"read_in_place_bytes", work.bytes_read_in_place},
          {"written_in_place_bytes", work.bytes_written_in_place}};
}

ordered_json describe_joins(const SectionProfile& section) {
  ordered_json joins = ordered_json::array();
  for (const JoinProfile& join : section.joins)
    joins.push_back(
        {{"address", join.address}, {"rows", join.rows}, {"estimated_rows", positive_or_null(join.estimated_rows)}});
  return joins;
}

ordered_json describe_section(const SectionProfile& section) {
  const double seconds = static_cast<double>(section.nanoseconds) * 1e-9;
  const bool is_shared = section.rows_on_cpu > 0;
  return {{"address", section.address},
          {"engine", section.engine},
          {"kernel", text_or_null(section.kernel)},
          {"residency", text_or_null(section.residency)},
          {"threads", section.threads},
          {"rows_in", section.rows_in},
          {"estimated_rows_in", positive_or_null(section.estimated_rows_in)},
          {"rows_out", section.rows_out},
          {"estimated_rows_out", positive_or_null(section.estimated_rows_out)},
          {"rows_on_cpu", is_shared ? ordered_json(section.rows_on_cpu) : ordered_json()},
          {"tablets", section.tablets},
          {"tablets_skipped", section.tablets_skipped},
          {"passes", section.passes},
          {"read_bytes", section.bytes_read},
          {"rate_bytes_per_second", seconds > 0 ? static_cast<double>(section.bytes_read) / seconds : 0},
          {"limit_bytes_per_second", positive_or_null(section.limit)},
          {"run_ns", section.nanoseconds},
          {"estimate_ns", positive_or_null(section.estimate_nanoseconds)},
          {"why", text_or_null(section.why)},
          {"fallback", text_or_null(section.fallback)},
          {"joins", describe_joins(section)},
          {"time", describe_time(section)},
          {"device", describe_device(section)},
          {"bus", describe_bus(section.work)}};
}

ordered_json describe_device(const OperationProfile& operation) {
  if (operation.work.launches == 0) return {};
  return {{"kernel_ns", operation.kernel_nanoseconds},
          {"launches", operation.work.launches},
          {"waits", operation.work.waits},
          {"wait_ns", operation.work.wait_nanoseconds}};
}

ordered_json describe_operation(const OperationProfile& operation) {
  const FormProfile& form = operation.form;
  const auto of_partitions = [&](int64_t number) {
    return form.partition_bits > 0 ? ordered_json(number) : ordered_json();
  };
  return {{"address", operation.address},
          {"kind", operation.what},
          {"form", form.form},
          {"parts", form.parts},
          {"rows", operation.rows},
          {"estimated_rows", positive_or_null(operation.estimated_rows)},
          {"partition_bits", of_partitions(form.partition_bits)},
          {"slice_rows", of_partitions(form.slice_rows)},
          {"state_rows", of_partitions(form.state_rows)},
          {"passes", of_partitions(form.passes)},
          {"device", describe_device(operation)},
          {"total_ns", operation.nanoseconds}};
}

ordered_json describe_memory(const ExecutionProfile& profile) {
  ordered_json devices = ordered_json::array();
  for (const DeviceBytes& bytes : profile.devices)
    devices.push_back({{"device", bytes.device},
                       {"used_bytes", bytes.used},
                       {"peak_bytes", bytes.peak},
                       {"pinned_bytes", bytes.pinned}});
  return {{"host_peak_bytes", profile.peak_bytes}, {"spilled_bytes", profile.spilled_bytes}, {"devices", devices}};
}

ordered_json describe_run_time(const ExecutionProfile& profile) {
  int64_t sections = 0, operations = 0;
  for (const SectionProfile& section : profile.sections) sections += section.total_nanoseconds;
  for (const OperationProfile& operation : profile.operations) operations += operation.nanoseconds;
  return {{"prepare_ns", profile.prepare_nanoseconds},
          {"sections_ns", sections},
          {"operations_ns", operations},
          {"finish_ns", profile.finish_nanoseconds},
          {"release_ns", profile.release_nanoseconds}};
}

ordered_json describe_change(const std::optional<ChangeProfile>& change) {
  if (!change) return {};
  return {{"kind", change->kind},
          {"table", change->table},
          {"rows", change->rows},
          {"erase_ns", change->times.erase_nanoseconds},
          {"store_ns", change->times.store_nanoseconds},
          {"commit_ns", change->commit_nanoseconds}};
}

int64_t total_of(const std::optional<ChangeProfile>& change) {
  if (!change) return 0;
  return change->times.erase_nanoseconds + change->times.store_nanoseconds + change->commit_nanoseconds;
}

ordered_json describe_stages(const Statement* query, const std::optional<ChangeProfile>& change,
                             const TextTimes& times) {
  ordered_json time = {{"total_ns", 0}};
  int64_t total = 0;
  for (size_t i = 0; i < stage_count; ++i) {
    const auto stage = static_cast<Stage>(i);
    int64_t nanoseconds = query != nullptr ? query->nanoseconds(stage) : 0;
    // The query within was parsed and bound with EXPLAIN.
    if (stage == Stage::Parse) nanoseconds = times.parse_nanoseconds;
    if (stage == Stage::Bind) nanoseconds += times.bind_nanoseconds;
    time[std::string(name_of(stage)) + "_ns"] = nanoseconds;
    total += nanoseconds;
  }
  time["change_ns"] = total_of(change);
  time["total_ns"] = total + total_of(change);
  return time;
}

const char* words_for(Reused reused) {
  switch (reused) {
    case Reused::Nothing: break;
    case Reused::Plan: return "plan";
    case Reused::PlanAndProgram: return "plan and program";
  }
  return "nothing";
}

// ---- text

bool ends_with(std::string& name, std::string_view ending) {
  if (!name.ends_with(ending)) return false;
  name.resize(name.size() - ending.size());
  return true;
}

// A key with its value, in the unit that the key names.
std::string figure(std::string name, const ordered_json& value) {
  std::string text;
  if (ends_with(name, "_ns"))
    text = fmt::format("{:.3f} ms", value.get<double>() * 1e-6);
  else if (ends_with(name, "_bytes_per_second"))
    text = fmt::format("{:.2f} GB/s", value.get<double>() * 1e-9);
  else if (ends_with(name, "_bytes"))
    text = fmt::format("{:.2f} MB", value.get<double>() * 1e-6);
  else
    text = value.is_string() ? value.get<std::string>() : value.dump();
  std::replace(name.begin(), name.end(), '_', ' ');
  return name + " " + text;
}

bool is_shown(const std::string& name, const ordered_json& value) {
  return !value.is_structured() && !value.is_null() && name != "address" && !(name.ends_with("_ns") && value == 0);
}

// The object in a line, and those in it in lines below, indented.
void add_object(const std::string& indent, std::string name, const ordered_json& object,
                std::vector<std::string>& lines) {
  std::replace(name.begin(), name.end(), '_', ' ');
  if (object.contains("address")) name += fmt::format(" at {}", object["address"].get<int64_t>());
  std::vector<std::string> figures;
  for (const auto& [key, value] : object.items())
    if (is_shown(key, value)) figures.push_back(figure(key, value));
  lines.push_back(fmt::format("{}{}: {}", indent, name, fmt::join(figures, ", ")));
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) add_object(indent + "  ", key, value, lines);
    if (!value.is_array()) continue;
    for (const ordered_json& element : value) add_object(indent + "  ", key.substr(0, key.size() - 1), element, lines);
  }
}

void add_texts(const ordered_json& texts, std::vector<std::string>& lines) {
  for (const ordered_json& text : texts) lines.push_back(text.get<std::string>());
}

}  // namespace

ordered_json empty_document() {
  return {{"version", 1}, {"plan", nullptr}, {"program", nullptr}, {"kernels", nullptr}, {"run", nullptr}};
}

ordered_json describe_run(const ExecutionProfile& profile, int64_t rows, const std::optional<ChangeProfile>& change,
                          const Statement* query, const TextTimes& times) {
  ordered_json sections = ordered_json::array(), operations = ordered_json::array();
  for (const SectionProfile& section : profile.sections) sections.push_back(describe_section(section));
  for (const OperationProfile& operation : profile.operations) operations.push_back(describe_operation(operation));
  return {{"rows", rows},
          {"reused", words_for(query != nullptr ? query->reused() : Reused::Nothing)},
          {"sections", std::move(sections)},
          {"operations", std::move(operations)},
          {"change", describe_change(change)},
          {"memory", describe_memory(profile)},
          {"run_time", describe_run_time(profile)},
          {"time", describe_stages(query, change, times)}};
}

std::vector<std::string> lines_of(const ordered_json& document) {
  std::vector<std::string> lines;
  for (const ordered_json& op : document["plan"])
    lines.push_back(
        OperatorLine{op["level"].get<int64_t>(), op["operator"].get<std::string>(), op["estimated_rows"].get<int64_t>()}
            .drawn());
  if (!lines.empty()) lines.emplace_back();
  add_texts(document["program"], lines);
  add_texts(document["kernels"], lines);
  if (document["run"].is_null()) return lines;
  lines.emplace_back();
  add_object("", "run", document["run"], lines);
  return lines;
}

}  // namespace diptych
