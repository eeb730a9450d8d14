#include "runtime/ptxsim/ThreadPool.h"

using namespace ptxsim;

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex);
    quit = true;
  }
  wake.notify_all();
  for (std::thread &t : workers)
    t.join();
}

void ThreadPool::run(unsigned n, const std::function<void()> &newJob) {
  if (n <= 1)
    return newJob();
  while (workers.size() + 1 < n)
    workers.emplace_back(&ThreadPool::work, this, unsigned(workers.size()));
  {
    std::lock_guard lock(mutex);
    job = &newJob;
    wanted = running = n - 1;
    ++round;
  }
  wake.notify_all();
  newJob();
  std::unique_lock lock(mutex);
  done.wait(lock, [this] { return running == 0; });
  job = nullptr;
}

void ThreadPool::work(unsigned index) {
  uint64_t seen = 0;
  std::unique_lock lock(mutex);
  for (;;) {
    wake.wait(lock,
              [&] { return quit || (job && round != seen && index < wanted); });
    if (quit)
      return;
    seen = round;
    const std::function<void()> *mine = job;
    lock.unlock();
    (*mine)();
    lock.lock();
    if (--running == 0)
      done.notify_one();
  }
}
