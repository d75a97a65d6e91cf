#include "engine/gpu/sort/device_sort.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "engine/gpu/sort/key_fields.h"
#include "engine/gpu/sort/pair_sort.h"
#include "engine/gpu/sort/row_select.h"
#include "engine/gpu/when_done.h"

namespace diptych::gpu {
namespace {

using Words = std::span<const DeviceAddress>;

// What dk_sort_keys does with the row numbers.
enum class Numbers : uint64_t { Read = 0, Write = 1, None = 2 };

void make_keys(const SortKernels& kernels, Queue& queue, Words words, const SortKey& key, int64_t rows,
               DeviceAddress keys, DeviceAddress numbers, Numbers use) {
  std::vector<uint64_t> parameters = {static_cast<uint64_t>(rows), keys.value, numbers.value,
                                      static_cast<uint64_t>(use), key.fields.size()};
  for (const KeyField& field : key.fields) {
    parameters.insert(parameters.end(),
                      {words[field.word].value, static_cast<uint64_t>(field.shift), static_cast<uint64_t>(field.bits)});
  }
  kernels.launch(queue, "dk_sort_keys", kernels.groups_for(rows), parameters);
}

// For each word, the bits that are not the same in all rows.
std::vector<uint64_t> varying_bits(Device& device, const SortKernels& kernels, Queue& queue, Words words,
                                   int64_t rows) {
  if (words.empty()) return {};
  const int64_t groups = kernels.groups_for(rows);
  const DeviceBuffer buffer = device.allocate(static_cast<int64_t>(words.size()) * groups * 16, "sorting");
  std::vector<uint64_t> results(words.size() * static_cast<size_t>(groups) * 2);
  const WhenDone when_done{queue};
  for (size_t word = 0; word < words.size(); ++word) {
    const DeviceAddress to = buffer.address() + static_cast<int64_t>(word) * groups * 16;
    kernels.launch(queue, "dk_sort_bits", groups, {static_cast<uint64_t>(rows), words[word].value, to.value});
  }
  queue.copy_to_host(results.data(), buffer.address(), buffer.bytes());
  queue.synchronize();
  std::vector<uint64_t> varying(words.size());
  for (size_t word = 0; word < words.size(); ++word) {
    uint64_t ones = 0, zeros = 0;
    for (int64_t group = 0; group < groups; ++group) {
      const size_t at = 2 * (word * static_cast<size_t>(groups) + static_cast<size_t>(group));
      ones |= results[at];
      zeros |= results[at + 1];
    }
    varying[word] = ones & zeros;
  }
  return varying;
}

// Selecting costs a few passes over all rows; sorting all costs several times as many.
bool worth_selecting(int64_t rows, int64_t limit) { return rows >= 32768 && limit <= rows / 8; }

}  // namespace

DeviceSort::DeviceSort(Device& device, const CubLibrary* cub)
    : device_(device), kernels_(device), cub_(device.info().api == DeviceApi::Cuda ? cub : nullptr) {}

DeviceBuffer DeviceSort::sort(Queue& queue, const SortInput& input, int64_t limit,
                              const std::function<void()>& check_cancelled) const {
  if (input.rows > most_rows) throw Error(SqlState::program_limit_exceeded, "a device can't sort so many rows");
  if (input.rows == 0 || limit == 0) return {};
  if (input.texts.empty()) return sort_words(queue, input.words, input.rows, limit).numbers;
  const auto by_words = [&](Words words, int64_t rows, int64_t wanted) {
    return sort_words(queue, words, rows, wanted);
  };
  return TextSort(device_, kernels_, queue, by_words, check_cancelled)
      .sort(input.words, input.texts, input.rows, limit);
}

SelectedRows DeviceSort::sort_words(Queue& queue, Words words, int64_t rows, int64_t limit) const {
  const std::vector<SortKey> keys = pack_keys(varying_bits(device_, kernels_, queue, words, rows));
  const bool select = !keys.empty() && limit > 0 && worth_selecting(rows, limit);
  SelectedRows selected;
  if (select) {
    const DeviceBuffer first_keys = device_.allocate(rows * 8, "sort keys");
    const WhenDone when_done{queue};
    make_keys(kernels_, queue, words, keys.front(), rows, first_keys.address(), {}, Numbers::None);
    selected = select_least(device_, kernels_, queue, first_keys.address(), rows, keys.front().bits, limit);
    rows = selected.rows;
  }
  PairSort pairs(device_, kernels_, cub_, rows, std::move(selected.numbers));
  const WhenDone when_done{queue};
  if (keys.empty()) make_keys(kernels_, queue, words, {}, rows, pairs.keys(), pairs.values(), Numbers::Write);
  bool numbered = select;
  for (size_t key = keys.size(); key-- > 0; numbered = true) {
    make_keys(kernels_, queue, words, keys[key], rows, pairs.keys(), pairs.values(),
              numbered ? Numbers::Read : Numbers::Write);
    pairs.sort(queue, keys[key].bits);
  }
  queue.synchronize();
  return {pairs.take_values(), rows};
}

void DeviceSort::add_kernels(bool has_texts, int64_t limit, std::vector<KernelText>& always,
                             std::vector<KernelText>& sometimes) const {
  const auto add = [](std::vector<KernelText>& to, std::initializer_list<const char*> entries) {
    for (const char* entry : entries) to.push_back(SortKernels::text_of(entry));
  };
  add(always, {"dk_sort_bits", "dk_sort_keys"});
  if (cub_ == nullptr) add(always, {"dk_radix_count", "dk_run_scan", "dk_radix_scatter"});
  if (limit > 0) add(sometimes, {"dk_select_count", "dk_select_tally", "dk_run_scan", "dk_select_rows"});
  if (!has_texts) return;
  add(always, {"dk_tie_mark", "dk_tie_tally", "dk_run_scan"});
  add(sometimes, {"dk_tie_rows", "dk_text_words", "dk_gather_8", "dk_tie_place"});
}

void DeviceSort::gather(Queue& queue, int element_bytes, DeviceAddress from, DeviceAddress order, int64_t rows,
                        DeviceAddress to) const {
  if (rows == 0) return;
  kernels_.launch(queue, gather_entry(element_bytes), kernels_.groups_for(rows),
                  {static_cast<uint64_t>(rows), order.value, from.value, to.value});
}

}  // namespace diptych::gpu
