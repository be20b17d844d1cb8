// Ingot's C++ interface: a thin layer over the C table of ingot.h, nothing else. C++20.
//
//   const auto model = ingot::api::Executable::load("mlp.ingot");
//   ingot::api::Session session(model);
//   session.set("x", ingot::api::Value::tensor<float>(pixels, {1, 784}));
//   session.run();
//   for (float p : session.output(0).elements<float>()) std::cout << p << '\n';
//
// Errors are thrown as ingot::api::Error. Executables and values may be shared between threads; a session belongs to
// one thread at a time.
#ifndef INGOT_INGOT_HPP
#define INGOT_INGOT_HPP

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ingot/ingot.h>

namespace ingot::api {

// The table; throws std::runtime_error where the library is older than this header.
inline const ingot_api& table() {
  static const ingot_api* const api = ingot_get_api(INGOT_API_VERSION);
  if (api == nullptr) throw std::runtime_error("the Ingot library is older than its header");
  return *api;
}

class Error : public std::runtime_error {
 public:
  Error(ingot_status status, std::string label, const std::string& message, std::string backtrace)
      : std::runtime_error(message), status_(status), label_(std::move(label)), backtrace_(std::move(backtrace)) {}
  // For PackedFuncs of the host.
  explicit Error(const std::string& message) : Error(INGOT_FOREIGN_ERROR, "ForeignError", message, "") {}

  ingot_status status() const noexcept { return status_; }
  const std::string& label() const noexcept { return label_; }  // "ShapeMismatch"
  const std::string& backtrace() const noexcept { return backtrace_; }

 private:
  ingot_status status_;
  std::string label_;
  std::string backtrace_;
};

// Throws what the C table returned.
inline void check(ingot_error* error) {
  if (error == nullptr) return;
  const std::unique_ptr<ingot_error, void (*)(ingot_error*)> owner(error, table().error_destroy);
  throw Error(table().error_status(error), table().error_label(error), table().error_message(error),
              table().error_backtrace(error));
}

template <typename T>
inline constexpr ingot_dtype kDTypeOf = INGOT_NO_DTYPE;
template <>
inline constexpr ingot_dtype kDTypeOf<bool> = INGOT_BOOL;
template <>
inline constexpr ingot_dtype kDTypeOf<int8_t> = INGOT_INT8;
template <>
inline constexpr ingot_dtype kDTypeOf<int16_t> = INGOT_INT16;
template <>
inline constexpr ingot_dtype kDTypeOf<int32_t> = INGOT_INT32;
template <>
inline constexpr ingot_dtype kDTypeOf<int64_t> = INGOT_INT64;
template <>
inline constexpr ingot_dtype kDTypeOf<uint8_t> = INGOT_UINT8;
template <>
inline constexpr ingot_dtype kDTypeOf<uint16_t> = INGOT_UINT16;
template <>
inline constexpr ingot_dtype kDTypeOf<uint32_t> = INGOT_UINT32;
template <>
inline constexpr ingot_dtype kDTypeOf<uint64_t> = INGOT_UINT64;
template <>
inline constexpr ingot_dtype kDTypeOf<float> = INGOT_FLOAT32;
template <>
inline constexpr ingot_dtype kDTypeOf<double> = INGOT_FLOAT64;

template <typename T>
concept Element = kDTypeOf<std::remove_cv_t<T>>
!= INGOT_NO_DTYPE;

// Dimensions and elements of a tensor, as long as its Value lives.
struct TensorView {
  ingot_dtype dtype = INGOT_NO_DTYPE;
  std::span<const int64_t> dims;
  const void* data = nullptr;

  size_t size() const {
    size_t count = 1;
    for (const int64_t dim : dims) count *= static_cast<size_t>(dim);
    return count;
  }
};

// An immutable value; copying shares it.
class Value {
 public:
  Value() = default;  // none: not to be asked for anything
  Value(const Value& other)
      : handle_(other.handle_ == nullptr ? nullptr : table().value_retain(other.handle_)), owned_(true) {}
  Value(Value&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), owned_(std::exchange(other.owned_, true)) {}
  Value& operator=(Value other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(owned_, other.owned_);
    return *this;
  }
  ~Value() {
    if (owned_ && handle_ != nullptr) table().value_destroy(handle_);
  }

  // Copies the elements.
  template <Element T>
  static Value tensor(std::span<const T> elements, std::span<const int64_t> dims) {
    size_t count = 1;
    for (const int64_t dim : dims) count *= static_cast<size_t>(dim);
    if (count != elements.size()) throw std::invalid_argument("the number of elements is not that of the dimensions");
    return tensor(kDTypeOf<T>, elements.data(), dims);
  }
  template <Element T>
  static Value tensor(std::span<const T> elements, std::initializer_list<int64_t> dims) {
    return tensor(elements, std::span(dims.begin(), dims.size()));
  }
  static Value tensor(ingot_dtype dtype, const void* data, std::span<const int64_t> dims) {
    const ingot_tensor view{dtype, static_cast<uint32_t>(dims.size()), dims.data(), const_cast<void*>(data)};
    return make([&](ingot_value** value) { return table().value_from_tensor(&view, value); });
  }
  // Over memory of the caller, which must stay as it is until `release` is called.
  static Value wrap(ingot_dtype dtype, const void* data, std::span<const int64_t> dims,
                    std::function<void()> release = {}) {
    const ingot_tensor view{dtype, static_cast<uint32_t>(dims.size()), dims.data(), const_cast<void*>(data)};
    auto owner = std::make_unique<std::function<void()>>(std::move(release));
    const auto finish = [](void* context) {
      const std::unique_ptr<std::function<void()>> last(static_cast<std::function<void()>*>(context));
      if (*last) (*last)();
    };
    Value made =
        make([&](ingot_value** value) { return table().value_wrap_tensor(&view, owner.get(), finish, value); });
    static_cast<void>(owner.release());
    return made;
  }
  template <Element T>
  static Value scalar(T element) {
    return tensor(kDTypeOf<T>, &element, {});
  }
  static Value shape(std::span<const int64_t> dims) {
    return make([&](ingot_value** value) {
      return table().value_from_shape(dims.data(), static_cast<uint32_t>(dims.size()), value);
    });
  }
  static Value prim(int64_t number) {
    return make([&](ingot_value** value) { return table().value_from_prim_int(number, value); });
  }
  static Value prim_bool(bool truth) {
    return make([&](ingot_value** value) { return table().value_from_prim_bool(truth ? 1 : 0, value); });
  }
  static Value prim_float(double number) {
    return make([&](ingot_value** value) { return table().value_from_prim_float(number, value); });
  }
  static Value text(std::string_view text) {
    return make([&](ingot_value** value) { return table().value_from_text(text.data(), text.size(), value); });
  }
  static Value tuple(std::span<const Value> fields) {
    std::vector<const ingot_value*> handles;
    for (const Value& field : fields) handles.push_back(field.handle_);
    return make([&](ingot_value** value) { return table().value_from_tuple(handles.data(), handles.size(), value); });
  }
  // A PackedFunc: what it throws becomes a ForeignError of the program, or the Error's own code.
  using Function = std::function<Value(std::span<const Value> args)>;
  static Value function(const std::string& name, Function function);

  bool empty() const { return handle_ == nullptr; }
  ingot_kind kind() const { return handle_ == nullptr ? INGOT_NONE : table().value_kind(handle_); }
  ingot_dtype dtype() const { return handle_ == nullptr ? INGOT_NO_DTYPE : table().value_dtype(handle_); }

  TensorView tensor_view() const {
    ingot_tensor view{};
    check(table().value_tensor(handle_, &view));
    return {view.dtype, {view.dims, view.rank}, view.data};
  }
  // Of a tensor or shape.
  std::span<const int64_t> dims() const {
    if (kind() != INGOT_SHAPE) return tensor_view().dims;
    const int64_t* dims = nullptr;
    uint32_t rank = 0;
    check(table().value_shape(handle_, &dims, &rank));
    return {dims, rank};
  }
  // Of a tensor of this very dtype.
  template <Element T>
  std::span<const T> elements() const {
    const TensorView view = tensor_view();
    if (view.dtype != kDTypeOf<T>) throw std::invalid_argument("the tensor has another dtype");
    return {static_cast<const T*>(view.data), view.size()};
  }
  template <Element T>
  T item() const {
    const auto all = elements<T>();
    if (all.size() != 1) throw std::invalid_argument("the tensor has not one element");
    return all[0];
  }
  int64_t prim_int() const {
    int64_t number = 0;
    check(table().value_prim_int(handle_, &number));
    return number;
  }
  double prim_float() const {
    double number = 0;
    check(table().value_prim_float(handle_, &number));
    return number;
  }
  std::string_view text() const {
    const char* text = nullptr;
    size_t length = 0;
    check(table().value_text(handle_, &text, &length));
    return {text, length};
  }
  size_t tuple_size() const {
    size_t count = 0;
    check(table().value_tuple_size(handle_, &count));
    return count;
  }
  Value field(size_t index) const {
    return make([&](ingot_value** value) { return table().value_tuple_field(handle_, index, value); });
  }
  // "2x3xf32=1 2 3 4 5 6", of each tensor at most `limit` elements; 0: all.
  std::string to_string(size_t limit = 0) const {
    std::string text;
    if (handle_ == nullptr) return "none";
    check(table().value_print(handle_, limit, append, &text));
    return text;
  }

  // The C handle, which stays this value's.
  const ingot_value* handle() const { return handle_; }
  // Takes a C handle over.
  static Value adopt(ingot_value* handle) {
    Value value;
    value.handle_ = handle;
    return value;
  }
  // Shows a C handle that outlives the result; copies are owned.
  static Value borrow(const ingot_value* handle) {
    Value value = adopt(const_cast<ingot_value*>(handle));
    value.owned_ = false;
    return value;
  }
  ingot_value* release() {
    if (!owned_) *this = Value(*this);
    return std::exchange(handle_, nullptr);
  }

  // An ingot_text_sink that appends to the std::string `context`.
  static void append(void* context, const char* text, size_t length) {
    static_cast<std::string*>(context)->append(text, length);
  }

 private:
  template <typename Make>
  static Value make(const Make& make_value) {
    ingot_value* handle = nullptr;
    check(make_value(&handle));
    return adopt(handle);
  }

  ingot_value* handle_ = nullptr;
  bool owned_ = true;
};

namespace detail {

// The C side of a PackedFunc; `context` is a Value::Function.
inline ingot_error* call_function(void* context, const ingot_value* const* args, size_t count, ingot_value** result) {
  try {
    std::vector<Value> values;
    values.reserve(count);
    for (size_t i = 0; i < count; ++i) values.push_back(Value::borrow(args[i]));
    Value value = (*static_cast<Value::Function*>(context))(values);
    *result = value.release();
    return nullptr;
  } catch (const Error& error) {
    return table().error_create(error.status(), error.what());
  } catch (const std::exception& error) {
    return table().error_create(INGOT_FOREIGN_ERROR, error.what());
  } catch (...) {
    return table().error_create(INGOT_FOREIGN_ERROR, "an unknown exception");
  }
}

inline void destroy_function(void* context) {
  const std::unique_ptr<Value::Function> last(static_cast<Value::Function*>(context));
}

}  // namespace detail

inline Value Value::function(const std::string& name, Function function) {
  auto owner = std::make_unique<Function>(std::move(function));
  // From here on the library destroys it, also when it fails.
  return make([&](ingot_value** value) {
    return table().value_from_packed_func(name.c_str(), detail::call_function, owner.release(),
                                          detail::destroy_function, value);
  });
}

// How many primitives oneDNN keeps for the whole process; the library leaves that to its owner (ingot.h).
inline void set_primitive_cache_capacity(size_t primitives) { check(table().set_primitive_cache_capacity(primitives)); }

struct LoadOptions {
  bool copy = false;  // read the file instead of mapping it
  std::string cpu;    // at most this instruction set; empty: what the machine has
  bool jit = true;
  int threads = 1;
  std::string kernels;    // "reference", or empty for the best
  bool perf_map = false;  // name generated functions in /tmp/perf-PID.map
};

struct Param {
  std::string name;
  std::string info;  // "Tensor[(n, 784), float32]"
};

// An immutable, verified program. Copying shares it.
class Executable {
 public:
  static Executable load(const std::string& path, const LoadOptions& options = {}) {
    return make(options, [&](const ingot_load_options* o, ingot_executable** executable) {
      return table().load_file(path.c_str(), o, executable);
    });
  }
  static Executable load(std::span<const std::byte> bytes, const LoadOptions& options = {}) {
    return make(options, [&](const ingot_load_options* o, ingot_executable** executable) {
      return table().load_memory(bytes.data(), bytes.size(), o, executable);
    });
  }

  // The exported functions.
  std::vector<std::string> functions() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < table().function_count(get()); ++i) names.emplace_back(table().function_name(get(), i));
    return names;
  }
  std::string signature(std::string_view function) const {
    return table().function_signature(get(), index_of(function));
  }
  std::vector<Param> params(std::string_view function) const {
    const size_t index = index_of(function);
    std::vector<Param> params;
    for (size_t i = 0; i < table().param_count(get(), index); ++i)
      params.push_back({table().param_name(get(), index, i), table().param_info(get(), index, i)});
    return params;
  }
  // JSON; `dims`: "n=128,m=3".
  std::string describe(const std::string& dims = "") const {
    std::string text;
    check(table().executable_describe(get(), dims.c_str(), Value::append, &text));
    return text;
  }
  ingot_executable* get() const { return handle_.get(); }

 private:
  template <typename Load>
  static Executable make(const LoadOptions& options, const Load& load_it) {
    ingot_load_options o{};
    o.size = sizeof o;
    o.copy = options.copy;
    o.cpu = options.cpu.empty() ? nullptr : options.cpu.c_str();
    o.no_jit = !options.jit;
    o.threads = options.threads;
    o.kernels = options.kernels.empty() ? nullptr : options.kernels.c_str();
    o.perf_map = options.perf_map;
    ingot_executable* handle = nullptr;
    check(load_it(&o, &handle));
    Executable executable;
    executable.handle_ = {handle, table().executable_destroy};
    return executable;
  }
  size_t index_of(std::string_view function) const {
    for (size_t i = 0; i < table().function_count(get()); ++i)
      if (function == table().function_name(get(), i)) return i;
    std::string names;
    for (const std::string& name : functions()) names += (names.empty() ? "@" : ", @") + name;
    throw Error(INGOT_INVALID_ARGUMENT, "InvalidArgument",
                "there is no function @" + std::string(function) + "; the executable exports " +
                    (names.empty() ? "none" : names),
                "");
  }

  std::shared_ptr<ingot_executable> handle_;
};

// Asks runs on other threads to stop. Copying shares it.
class CancelToken {
 public:
  CancelToken() : handle_(table().cancel_token_create(), table().cancel_token_destroy) {}
  void cancel() { table().cancel(handle_.get()); }
  void reset() { table().cancel_token_reset(handle_.get()); }
  ingot_cancel_token* get() const { return handle_.get(); }

 private:
  std::shared_ptr<ingot_cancel_token> handle_;
};

struct RunOptions {
  uint64_t instruction_budget = 0;       // 0: no limit
  std::chrono::nanoseconds deadline{0};  // from the start of the run; 0: none
  size_t memory_limit = 0;               // bytes of this session; 0: none
  size_t frame_limit = 0;                // bytes of frames; 0: 1 GiB
  std::optional<CancelToken> cancel;
};

struct SessionOptions {
  // Names of PackedFuncs that the program may call besides ingot.*; none given: all that are registered.
  std::optional<std::vector<std::string>> allow;
  std::function<void(std::string_view)> log;    // ingot.log
  std::function<void(std::string_view)> print;  // ingot.print
};

// Runs functions of one executable, one at a time.
class Session {
 public:
  explicit Session(const Executable& executable, SessionOptions options = {})
      : executable_(executable), sinks_(std::make_unique<SessionOptions>(std::move(options))) {
    ingot_session_options o{};
    o.size = sizeof o;
    std::vector<const char*> names;
    if (sinks_->allow) {
      for (const std::string& name : *sinks_->allow) names.push_back(name.c_str());
      names.push_back(nullptr);
      o.allow = names.data();
      o.allow_count = names.size() - 1;
    }
    if (sinks_->log) o.log = [](void* c, const char* line) { static_cast<SessionOptions*>(c)->log(line); };
    if (sinks_->print) o.print = [](void* c, const char* line) { static_cast<SessionOptions*>(c)->print(line); };
    o.sink_context = sinks_.get();
    ingot_session* handle = nullptr;
    check(table().session_create(executable_.get(), &o, &handle));
    handle_ = {handle, table().session_destroy};
  }

  // A PackedFunc that the program may call by this name. Arguments live as long as the call; copies may be kept.
  void add(const std::string& name, Value::Function function) {
    auto owner = std::make_unique<Value::Function>(std::move(function));
    check(table().session_register(get(), name.c_str(), detail::call_function, owner.release(),
                                   detail::destroy_function));
  }

  // An argument of the next runs of `function`, by position or by name without sigil.
  void set(size_t param, const Value& value, const std::string& function = "main") {
    check(table().set_input(get(), function.c_str(), param, value.handle()));
  }
  void set(std::string_view param, const Value& value, const std::string& function = "main") {
    const std::vector<Param> params = executable_.params(function);
    for (size_t i = 0; i < params.size(); ++i)
      if (params[i].name == param) return set(i, value, function);
    std::string names;
    for (const Param& known : params) names += (names.empty() ? "" : ", ") + known.name;
    throw Error(
        INGOT_INVALID_ARGUMENT, "InvalidArgument",
        "@" + function + " has no parameter " + std::string(param) + "; it has " + (names.empty() ? "none" : names),
        "");
  }
  void run(const std::string& function = "main", const RunOptions& options = {}) {
    const ingot_run_options o = to_c(options);
    check(table().run(get(), function.c_str(), &o));
  }
  // Of the last run; a tuple gives one output per field.
  size_t output_count() const {
    size_t count = 0;
    check(table().output_count(get(), &count));
    return count;
  }
  Value output(size_t index) const {
    ingot_value* value = nullptr;
    check(table().output(get(), index, &value));
    return Value::adopt(value);
  }
  Value result() const {
    ingot_value* value = nullptr;
    check(table().result(get(), &value));
    return Value::adopt(value);
  }
  // Calls a closure or PackedFunc value.
  Value call(const Value& function, std::span<const Value> args, const RunOptions& options = {}) {
    std::vector<const ingot_value*> handles;
    for (const Value& arg : args) handles.push_back(arg.handle());
    const ingot_run_options o = to_c(options);
    ingot_value* result = nullptr;
    check(table().call(get(), function.handle(), handles.data(), handles.size(), &o, &result));
    return Value::adopt(result);
  }
  ingot_memory memory() const {
    ingot_memory memory{};
    check(table().session_memory(get(), &memory));
    return memory;
  }
  // Gives what is kept for the next run back to the system.
  void trim() { check(table().session_trim(get())); }
  ingot_session* get() const { return handle_.get(); }

 private:
  static ingot_run_options to_c(const RunOptions& options) {
    ingot_run_options o{};
    o.size = sizeof o;
    o.instruction_budget = options.instruction_budget;
    o.deadline_ns = static_cast<uint64_t>(options.deadline.count());
    o.memory_limit = options.memory_limit;
    o.frame_limit = options.frame_limit;
    o.cancel = options.cancel ? options.cancel->get() : nullptr;
    return o;
  }

  Executable executable_;
  std::unique_ptr<SessionOptions> sinks_;
  std::unique_ptr<ingot_session, void (*)(ingot_session*)> handle_{nullptr, nullptr};
};

}  // namespace ingot::api
#endif
