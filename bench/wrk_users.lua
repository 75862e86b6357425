-- wrk -t1 -c16 -d10s --latency -s bench/wrk_users.lua http://127.0.0.1:8080 -- 29858
-- GET /recommend of users 0 .. N-1 at random, N behind the two dashes. Whatever is not 200 is counted
-- by wrk as an error; the last line is for programs.
local users = 1000

function init(args)
  if args[1] then users = tonumber(args[1]) end
  math.randomseed(1)
end

function request()
  return wrk.format("GET", "/recommend?user=" .. math.random(0, users - 1) .. "&k=20")
end

function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format("requests/s %.0f  errors %d  p50 %.2f ms  p99 %.2f ms\n",
    summary.requests / summary.duration * 1e6,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
