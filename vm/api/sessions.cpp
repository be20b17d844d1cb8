#include <algorithm>

#include "runtime/checks/faults.h"
#include "runtime/object/objects.h"
#include "vm/api/border.h"
#include "vm/api/entries.h"

namespace ingot::vm::api {
namespace {

using Line = void (*)(void* context, const char* line);

std::function<void(std::string_view)> line_sink(Line sink, void* context) {
  if (sink == nullptr) return {};
  return [sink, context](std::string_view text) { sink(context, std::string(text).c_str()); };
}

RunOptions run_options(const ingot_run_options* given) {
  const ingot_run_options options = read_options(given);
  RunOptions result;
  result.instruction_budget = options.instruction_budget;
  result.deadline = std::chrono::nanoseconds(
      static_cast<int64_t>(std::min<uint64_t>(options.deadline_ns, static_cast<uint64_t>(INT64_MAX / 2))));
  result.memory_limit = options.memory_limit;
  if (options.frame_limit != 0) result.frame_limit = options.frame_limit;
  if (options.cancel != nullptr) result.cancel = options.cancel->token;
  return result;
}

SessionOptions session_options(const ingot_session_options* given) {
  const ingot_session_options options = read_options(given);
  SessionOptions result;
  if (options.allow != nullptr) {
    std::set<std::string> names(options.allow, options.allow + options.allow_count);
    result.allow = std::move(names);
  }
  result.log = line_sink(options.log, options.sink_context);
  result.print = line_sink(options.print, options.sink_context);
  return result;
}

uint32_t find_function(const ingot_session& session, const char* name) {
  const Executable& executable = *session.session->executable();
  const std::string_view wanted = &required(name, "function");
  const auto index = executable.find(wanted);
  if (index) return *index;
  fail_function(wanted, exported_names(executable.program()));
}

ingot_session::Inputs& inputs_of(ingot_session& session, uint32_t function) {
  const auto found = std::find_if(session.inputs.begin(), session.inputs.end(),
                                  [&](const auto& inputs) { return inputs.function == function; });
  if (found != session.inputs.end()) return *found;
  const size_t params = session.session->executable()->program().functions[function].params;
  session.inputs.push_back({function, std::vector<Value>(params), std::vector<bool>(params)});
  return session.inputs.back();
}

void expect_complete(const Function& function, const ingot_session::Inputs& inputs) {
  for (size_t i = 0; i < inputs.set.size(); ++i) {
    if (inputs.set[i]) continue;
    const std::string name = i < function.param_names.size() ? "%" + function.param_names[i] : std::to_string(i);
    fail(ErrorCode::InvalidArgument, "@{}: input {} was not set; it is {}", function.name, name,
         i < function.signature->fields.size() ? to_text(function.signature->fields[i]) : "any value");
  }
}

const Value& result_of(const ingot_session& session) {
  if (!session.has_result) fail(ErrorCode::InvalidArgument, "there is no result: the session has not run, or failed");
  return session.result;
}

std::span<const Slot> fields_of(const Value& tuple) { return std::as_const(*tuple.get<TupleObject>()).fields(); }

}  // namespace

ingot_error* session_create(ingot_executable* executable, const ingot_session_options* given, ingot_session** session) {
  return guarded([&] {
    required(session, "session");
    SessionOptions options = session_options(given);
    auto handle = std::make_unique<ingot_session>();
    handle->session = Session::create(required(executable, "executable").executable, std::move(options));
    *session = handle.release();
  });
}

ingot_error* session_register(ingot_session* session, const char* name, ingot_packed_func function, void* context,
                              void (*destroy_context)(void*)) {
  return guarded([&] {
    PackedFunction wrapped = wrap_packed_func(function, context, destroy_context);
    required(session, "session").session->register_function(&required(name, "name"), std::move(wrapped));
  });
}

void session_destroy(ingot_session* session) { std::unique_ptr<ingot_session>(session).reset(); }

ingot_error* session_trim(ingot_session* session) {
  return guarded([&] { required(session, "session").session->trim(); });
}

ingot_error* session_memory(const ingot_session* session, ingot_memory* memory) {
  return guarded([&] {
    const MemoryStatistics statistics = required(session, "session").session->memory();
    required(memory, "memory") = {statistics.in_use, statistics.peak, statistics.kept};
  });
}

ingot_error* set_input(ingot_session* session, const char* function, size_t param, const ingot_value* value) {
  return guarded([&] {
    ingot_session& s = required(session, "session");
    ingot_session::Inputs& inputs = inputs_of(s, find_function(s, function));
    if (param >= inputs.values.size())
      fail(ErrorCode::ArityMismatch, "@{} has {} parameters, there is no number {}", function, inputs.values.size(),
           param);
    inputs.values[param] = keep(required(value, "value"));
    inputs.set[param] = true;
  });
}

ingot_error* run(ingot_session* session, const char* function, const ingot_run_options* options) {
  return guarded([&] {
    ingot_session& s = required(session, "session");
    const uint32_t index = find_function(s, function);
    const ingot_session::Inputs& inputs = inputs_of(s, index);
    expect_complete(s.session->executable()->program().functions[index], inputs);
    s.has_result = false;
    s.session->recycle(std::move(s.result));
    s.result = s.session->run(index, inputs.values, run_options(options));
    s.has_result = true;
  });
}

ingot_error* output_count(ingot_session* session, size_t* count) {
  return guarded([&] {
    const Value& value = result_of(required(session, "session"));
    required(count, "count") = value.kind() == Kind::Tuple ? fields_of(value).size() : 1;
  });
}

ingot_error* output(ingot_session* session, size_t index, ingot_value** value) {
  return guarded([&] {
    const Value& all = result_of(required(session, "session"));
    required(value, "value");
    const size_t count = all.kind() == Kind::Tuple ? fields_of(all).size() : 1;
    if (index >= count) fail(ErrorCode::IndexOutOfRange, "output {} was asked for, there are {}", index, count);
    *value = hand_out(all.kind() == Kind::Tuple ? Value::copy_of(fields_of(all)[index]) : all);
  });
}

ingot_error* result(ingot_session* session, ingot_value** value) {
  return guarded([&] { required(value, "value"), *value = hand_out(result_of(required(session, "session"))); });
}

ingot_error* call(ingot_session* session, const ingot_value* function, const ingot_value* const* args, size_t count,
                  const ingot_run_options* options, ingot_value** result) {
  return guarded([&] {
    required(result, "result");
    std::vector<Value> values;
    for (size_t i = 0; i < count; ++i) values.push_back(keep(required(args[i], "argument")));
    const Value callee = keep(required(function, "function"));
    *result = hand_out(required(session, "session").session->call(callee, values, run_options(options)));
  });
}

ingot_cancel_token* cancel_token_create(void) {
  ingot_cancel_token* token = nullptr;
  ingot_error* error = guarded([&] { token = std::make_unique<ingot_cancel_token>().release(); });
  if (error != nullptr) destroy_error(error);
  return token;
}

void cancel(ingot_cancel_token* token) { token->token->cancel(); }
void cancel_token_reset(ingot_cancel_token* token) { token->token->reset(); }
void cancel_token_destroy(ingot_cancel_token* token) { std::unique_ptr<ingot_cancel_token>(token).reset(); }

}  // namespace ingot::vm::api
