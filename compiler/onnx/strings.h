#pragma once
#include "compiler/onnx/node.h"

// Strings that an operator only moves: it is converted for the places of its elements, and the strings are taken from
// the places that come out. So whatever moves integers moves strings.
namespace ingot::onnx_import {

// Has the node an operand of strings that it does nothing with but to move them?
bool moves_strings(const Node& node);
// What `convert` makes of the node. TypeError where it would compute with strings.
Results convert_places(const Node& node, Convert convert);

}  // namespace ingot::onnx_import
