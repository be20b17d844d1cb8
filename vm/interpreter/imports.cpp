#include "vm/interpreter/imports.h"

#include "runtime/registry/host_functions.h"

namespace ingot::vm {

void resolve_imports(Machine& m) {
  const SessionOptions& options = m.options;
  const HostFunctions host{&options.registry, options.allow ? &*options.allow : nullptr, options.log, options.print};
  m.imports.clear();
  for (const Import& import : m.executable->program().imports) {
    ResolvedFunction found = host.resolve(import.name, import.writes);
    m.imports.push_back({std::move(found.function), !import.writes.empty(), std::move(found.refusal)});
  }
}

}  // namespace ingot::vm
