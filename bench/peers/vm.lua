-- Lua's side of suite vm: the functions of bench/programs/vm.relax, on integers of 64 bits as there.
-- Answers `version` and `call NAME INTEGER...` of the protocol in bench/suites/vm.py.
local programs = {}

local function fib(n)
  if n < 2 then return n else return fib(n - 1) + fib(n - 2) end
end
programs.fib = fib

local function ackermann(m, n)
  if m == 0 then return n + 1
  elseif n == 0 then return ackermann(m - 1, 1)
  else return ackermann(m - 1, ackermann(m, n - 1)) end
end
programs.ackermann = ackermann

local function loop(n, sum)
  if n == 0 then return sum else return loop(n - 1, sum + n) end
end
programs.loop = loop

local odd
local function even_odd(n)
  if n == 0 then return true else return odd(n - 1) end
end
function odd(n)
  if n == 0 then return false else return even_odd(n - 1) end
end
programs.even_odd = even_odd

local function closure(n, sum)
  if n == 0 then return sum else
    local add = function(y) return y + n end
    return closure(n - 1, add(sum))
  end
end
programs.closure = closure

local function adder(n)
  return function(y) return y + n end
end
local function closure_return(n, sum)
  if n == 0 then return sum else
    local add = adder(n)
    return closure_return(n - 1, add(sum))
  end
end
programs.closure_return = closure_return

local function sum_of(pair) return pair[1] + pair[2] end
local function tuple(n, sum)
  if n == 0 then return sum else return tuple(n - 1, sum_of({n, sum})) end
end
programs.tuple = tuple

for line in io.lines() do
  local words = {}
  for word in line:gmatch("%S+") do words[#words + 1] = word end
  if words[1] == "quit" then break end
  if words[1] == "version" then
    print("ok lua " .. _VERSION:match("%S+$"))
  elseif words[1] == "call" and programs[words[2]] then
    local arguments = {}
    for i = 3, #words do arguments[#arguments + 1] = math.tointeger(words[i]) end
    local start = os.clock()
    local result = programs[words[2]](table.unpack(arguments))
    local time = os.clock() - start
    if type(result) == "boolean" then result = result and 1 or 0 end
    print(string.format("ok %d %.3f", result, time * 1e6))
  else
    print("error unknown command " .. line)
  end
  io.stdout:flush()
end
