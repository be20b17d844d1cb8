#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace ingot::vm::api {

// Writes JSON text piece by piece, commas included:
//
//   JsonWriter json;
//   json.begin_object().key("name").value("main").key("dims").begin_array().value(3).end_array().end_object();
//   json.text();
class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name);
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(bool truth) { return raw(truth ? "true" : "false"); }
  JsonWriter& value(int64_t number) { return raw(std::to_string(number)); }
  JsonWriter& value(uint64_t number) { return raw(std::to_string(number)); }
  JsonWriter& value(uint32_t number) { return raw(std::to_string(number)); }
  JsonWriter& null() { return raw("null"); }

  const std::string& text() const { return text_; }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  JsonWriter& raw(std::string_view text);
  void separate();
  void quote(std::string_view text);

  std::string text_;
  bool first_ = true;
};

}  // namespace ingot::vm::api
