//===- Status.h - Results without exceptions --------------------*- C++ -*-===//
//
// Every fallible function of the runtime returns a Status or an Expected<T>.
// Nothing throws across these interfaces, so that callers may be built with
// -fno-exceptions. A message reads `<file or field>: <rule>, but got <fact>`.
//
//===----------------------------------------------------------------------===//
#ifndef RUNTIME_INCLUDE_K2RT_STATUS_H
#define RUNTIME_INCLUDE_K2RT_STATUS_H

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace k2rt {

/// What kind of failure it was; a tool's exit code follows from it.
enum class StatusCode {
  Ok = 0,
  Input = 1,  ///< a file, field or argument is not acceptable
  Device = 2, ///< the device faulted while it executed
};

class [[nodiscard]] Status {
public:
  Status() = default;
  static Status input(std::string message) {
    return Status(StatusCode::Input, std::move(message));
  }
  static Status device(std::string message) {
    return Status(StatusCode::Device, std::move(message));
  }

  bool ok() const { return code_ == StatusCode::Ok; }
  /// True on failure: `if (Status s = f(); s.failed()) return s;`
  bool failed() const { return !ok(); }
  StatusCode code() const { return code_; }
  const std::string &message() const { return message_; }

  /// The same failure with `context: ` before its message.
  Status within(const std::string &context) const {
    return ok() ? *this : Status(code_, context + ": " + message_);
  }

private:
  Status(StatusCode code, std::string message)
      : code_(code), message_(std::move(message)) {}

  StatusCode code_ = StatusCode::Ok;
  std::string message_;
};

/// A value, or the Status that says why there is none.
template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : value_(std::move(value)) {}
  Expected(Status status) : status_(std::move(status)) {
    assert(status_.failed() && "an Expected without value needs a failure");
  }

  explicit operator bool() const { return value_.has_value(); }
  bool failed() const { return !value_.has_value(); }
  const Status &status() const { return status_; }

  T &operator*() {
    assert(value_ && "dereferenced an Expected that failed");
    return *value_;
  }
  const T &operator*() const {
    assert(value_ && "dereferenced an Expected that failed");
    return *value_;
  }
  T *operator->() { return &**this; }
  const T *operator->() const { return &**this; }

private:
  std::optional<T> value_;
  Status status_;
};

} // namespace k2rt

#endif // RUNTIME_INCLUDE_K2RT_STATUS_H
