#ifndef RUNTIME_PTXSIM_THREADPOOL_H
#define RUNTIME_PTXSIM_THREADPOOL_H

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ptxsim {

/// Host threads that all run the same job: launches are too short to start
/// threads for each.
class ThreadPool {
public:
  /// The caller of run() is one of the threads; the others start when they are
  /// first needed.
  explicit ThreadPool(unsigned threads) : threads(threads) {}
  ~ThreadPool();
  unsigned size() const { return threads; }
  /// Runs `job` on `n` threads at the same time and returns when all have
  /// finished. The job does not throw.
  void run(unsigned n, const std::function<void()> &job);

private:
  void work(unsigned index);
  unsigned threads;
  std::vector<std::thread> workers;
  std::mutex mutex;
  std::condition_variable wake, done;
  const std::function<void()> *job = nullptr;
  unsigned wanted = 0, running = 0;
  uint64_t round = 0;
  bool quit = false;
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_THREADPOOL_H
