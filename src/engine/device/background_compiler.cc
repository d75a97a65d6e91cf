#include "engine/device/background_compiler.h"

#include <utility>

namespace diptych {

BackgroundCompiler::~BackgroundCompiler() {
  {
    std::lock_guard guard(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void BackgroundCompiler::ask(const std::string& text, const std::string& entry) {
  std::lock_guard guard(mutex_);
  if (!asked_.insert(std::hash<std::string>()(text)).second) return;
  jobs_.push_back({text, entry});
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  changed_.notify_all();
}

std::vector<std::string> BackgroundCompiler::take_failures() {
  std::lock_guard guard(mutex_);
  return std::exchange(failures_, {});
}

void BackgroundCompiler::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return jobs_.empty(); });
}

void BackgroundCompiler::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stops_ || !jobs_.empty(); });
    if (stops_) return;
    const Job job = jobs_.front();
    lock.unlock();
    run(job);
    lock.lock();
    jobs_.pop_front();
    changed_.notify_all();
  }
}

void BackgroundCompiler::run(const Job& job) {
  try {
    compile_(job.text, job.entry);
    std::lock_guard guard(mutex_);
    asked_.erase(std::hash<std::string>()(job.text));
  } catch (const std::exception& error) {
    // No statement waits for it: whoever runs next tells.
    std::lock_guard guard(mutex_);
    failures_.push_back(std::string("a kernel does not compile: ") + error.what());
  }
}

}  // namespace diptych
