#include "engine/device/background_compiler.h"

#include <algorithm>
#include <system_error>

namespace diptych {
namespace {

std::string told(const std::string& reason) { return "a kernel does not compile: " + reason; }

}  // namespace

BackgroundCompiler::~BackgroundCompiler() {
  {
    std::lock_guard guard(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void BackgroundCompiler::ask(const KernelText& kernel, Asker asker) {
  std::lock_guard guard(mutex_);
  const auto [found, is_new] = known_.try_emplace(kernel.hash());
  Known& known = found->second;
  const bool is_told = known.asker == Asker::Nobody;
  if (is_new || asker == Asker::Nobody) known.asker = asker;
  if (!is_new) {
    if (known.state == State::Failed && asker == Asker::Nobody && !is_told) failures_.push_back(told(known.reason));
    return;
  }
  jobs_.push_back(kernel);
  start_thread();
  changed_.notify_all();
}

// Where there is no thread to be had, nothing is compiled before it is needed.
void BackgroundCompiler::start_thread() {
  const auto threads = static_cast<int>(threads_.size());
  if (threads == most_threads_ || threads - running_ >= static_cast<int>(jobs_.size())) return;
  try {
    threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    if (!threads_.empty()) return;
    known_.erase(jobs_.back().hash());
    jobs_.pop_back();
  }
}

void BackgroundCompiler::take(const KernelText& kernel) {
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(kernel.hash());
  if (known == known_.end() || known->second.state != State::Waiting) return;
  // Nobody is told of a failure then but the caller.
  known_.erase(known);
  std::erase_if(jobs_, [&](const KernelText& job) { return job.hash() == kernel.hash(); });
  changed_.notify_all();
}

std::vector<std::string> BackgroundCompiler::take_failures() {
  std::lock_guard guard(mutex_);
  return std::exchange(failures_, {});
}

void BackgroundCompiler::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return jobs_.empty() && running_ == 0; });
}

void BackgroundCompiler::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stops_ || !jobs_.empty(); });
    if (stops_) return;
    const KernelText job = std::move(jobs_.front());
    jobs_.pop_front();
    known_[job.hash()].state = State::Running;
    ++running_;
    lock.unlock();
    run(job);
    lock.lock();
    --running_;
    changed_.notify_all();
  }
}

void BackgroundCompiler::run(const KernelText& job) {
  try {
    compile_(job);
    std::lock_guard guard(mutex_);
    known_.erase(job.hash());
  } catch (const std::exception& error) {
    std::lock_guard guard(mutex_);
    Known& known = known_[job.hash()];
    known.state = State::Failed;
    known.reason = error.what();
    if (known.asker == Asker::Nobody) failures_.push_back(told(known.reason));
  }
}

}  // namespace diptych
