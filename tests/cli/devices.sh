#!/bin/sh
# Several devices, parts of devices, timelines, timeouts. devices.sh ABUT ARRAYS GOLDEN
# [FAILING]
. "$(dirname "$0")/support.sh"

base="contacts cube.body.json slab.body.json --poses poses.csv --smoothing sharp.json -q"

# shellcheck disable=SC2086 # words
run 0 $base -o one.npz --device "$device"
"$arrays" show one.npz d > first
# Host paths are threads, of which there may be several; a device has one place, as have its parts, if it has any.
if [ "$device" = host ]; then
  two='--device host --device host' three="--device host --device host --device host --chunk 1"
elif [ -z "$parts" ]; then
  two="--device $device" three="--device $device --chunk 1"
else
  two="--device $device --device $device/1.0" three="--device $device --device $device/1 --chunk 1"
fi
for several in "$two" "$three"; do
  # shellcheck disable=SC2086 # words
  run 0 $base -o several.npz $several --timeline shared
  "$arrays" show several.npz d > second
  if cmp -s first second; then pass; else fail "$several changes d"; fi
  json_is_valid shared.json
  there shared.png
  for phase in upload compute download; do
    has shared.json "\"cat\":\"$phase\",\"ph\":\"X\""
  done
done
# Microseconds to three places at most, and of each device its platform.
if grep -oE '"(ts|dur)":[0-9.e+-]+' shared.json | grep -qvE ':[0-9]+(\.[0-9]{1,3})?$'; then
  fail 'a time of shared.json has more digits than it knows'
else
  pass
fi
has shared.json '"process_name".*"name":"[^"]+ \([^"]+\)"'
case $several in *"--chunk 1") # a chunk for each of the three poses
  if [ "$(grep -o '"cat":"compute","ph":"X"' shared.json | grep -c .)" -eq 3 ]; then
    pass
  else
    fail "three poses in chunks of one are not three spans"
  fi ;;
esac
# shellcheck disable=SC2086 # words
run 0 $base -o name.npz --device "$device" --timeline named.json
there named.json
there named.png
# A timeline's files are no input, and not the other output.
cp cube.body.json kept.json
for clash in cube.body cube.body.json sharp; do
  # shellcheck disable=SC2086 # words
  run 2 $base -o no.npz --device "$device" --timeline $clash
done
if cmp -s cube.body.json kept.json; then pass; else fail 'a timeline took the place of a body'; fi
# shellcheck disable=SC2086 # words
run 2 $base -o both.json --device "$device" --timeline both
# shellcheck disable=SC2086 # words
run 1 $base -o no.npz --device "$device" --timeline no-such-folder/t
absent no.npz
# shellcheck disable=SC2086 # words
run 0 gradient cube.body.json slab.body.json --poses poses.csv --mean-distance -o g.npz -q \
  $two --timeline g
there g.png

# Words that name no device, or no part of one.
# shellcheck disable=SC2086 # words
{
  wrong 'no device is called "toaster"; `abut devices` lists them' $base -o no.npz \
    --device "$device" --device toaster
  run 2 $base -o no.npz --device "$device/0"
  run 2 $base -o no.npz --device "$device/1.900"
  run 2 $base -o no.npz --device "$device/100000"
  run 2 $base -o no.npz --device "$device" --timeout 0
  run 2 $base -o no.npz --device "$device" --timeout soon
  run 0 $base -o slow.npz --device "$device" --timeout 1000
}
# shellcheck disable=SC2086 # words
{
  usage '--device names nothing' $base -o no.npz --device ''
  usage '--device names nothing' $base -o no.npz --device= --device "$device"
  usage '--timeline names nothing' $base -o no.npz --device "$device" --timeline ''
}
absent no.npz
# 64 at most.
many="--device $device"
for _ in 1 2 3 4 5 6; do many="$many $many"; done
if [ "$device" = host ]; then
  # shellcheck disable=SC2086 # words
  run 0 $base -o many.npz $many --chunk 1
  "$arrays" show many.npz d > second
  if cmp -s first second; then pass; else fail '64 devices change d'; fi
fi
# shellcheck disable=SC2086 # words
run 2 $base -o no.npz $many --device "$device"
says stderr 'abut: --device is given more than 64 times'

if [ "$device" = pocl ]; then
  for twice in '--device pocl --device portable' '--device pocl/1.0 --device pocl/1' \
    '--device all --device pocl'; do
    # shellcheck disable=SC2086 # words
    run 2 $base -o no.npz $twice
    has stderr '^abut: .*device [0-9]+ \(.*\) is named twice in one context$'
  done
  # shellcheck disable=SC2086 # words
  run 2 $base -o no.npz --device pocl/99999
  has stderr '^abut: device .* cannot be divided into parts of 99999 compute units: it has [0-9]+$'
  # shellcheck disable=SC2086 # words
  run 2 $base -o no.npz --device pocl/1.900
  has stderr '^abut: device .* has no part 900: parts of 1 units are [0-9]+, from 0$'
  # shellcheck disable=SC2086 # words
  run 0 $base -o parts.npz --device pocl/1
  "$arrays" show parts.npz d > second
  if cmp -s first second; then pass; else fail "parts of PoCL change d"; fi
  # shellcheck disable=SC2086 # words
  run 0 $base -o parts.npz --device pocl/1.0 --device host
else
  # shellcheck disable=SC2086 # words
  run 2 $base -o no.npz --device host/1
  has stderr 'cannot be divided'
fi

# Devices fail in the middle: who did the work is named, in the warning and in the last line.
if [ "$device" = pocl ] && [ -n "$failing" ]; then
  bodies='cube.body.json slab.body.json --smoothing sharp.json'
  awk -v header=$header 'BEGIN {
    print header
    for (i = 0; i < 400; i++) print "0,0,0,0,0,0,0,0," 0.9 + i * 1e-4 ",0,0,0"
  }' > many.csv
  name=$("$abut" devices | sed -n 's/^[0-9]* *\(.*[^ ]\)  *Portable Computing.*/\1/p' | head -n 1)
  several='--device pocl --device pocl/1.0'
  export ABUT_TEST_LARGE=100 ABUT_TEST_FAILURES=1000000 LD_PRELOAD="$failing"
  # shellcheck disable=SC2086 # words
  {
    run 0 contacts $bodies --poses many.csv -o failed.npz $several --timeline failed
    has stderr '^abut: warning: device .* failed \(.*CL_INVALID_COMMAND_QUEUE\); host has done its share$'
    has stdout ' s on host, f32$'
    run 0 gradient $bodies --poses many.csv --mean-distance -o failed.npz $several
    has stdout ' s on host, f32$'
    run 0 render $bodies --poses many.csv -o failed.png $several
    has stdout ' host$' # the first rays of a device, few, may have been drawn by it
    dev run 1 bench $bodies --poses many.csv --batch 400 --device pocl
    has stderr '^abut-dev: warning: device .* failed \(.*CL_INVALID_COMMAND_QUEUE\)$'
    ABUT_TEST_FAILURES=1 # what the other does is no measurement of both
    dev run 1 bench $bodies --poses many.csv --batch 400 $several
    says stderr 'abut-dev: not all of the devices that were to be timed work'
    has stderr '^abut-dev: warning: device .* failed \(.*CL_INVALID_COMMAND_QUEUE\); .* its share$'
    # The second program is that of adjoints; the first lines of the compiler's are given.
    ABUT_TEST_FAILURES=0
    export ABUT_TEST_BUILD=2
    run 0 gradient $bodies --poses poses.csv --mean-distance -o failed.npz --device pocl
    has stderr '^abut: warning: .* failed \(.*CL_BUILD_PROGRAM_FAILURE\); host has done its share$'
    says stderr '  reason 1'
    says stderr '  reason 4'
    if grep -q 'reason 5' stderr; then fail 'the whole log is printed'; else pass; fi
    ABUT_TEST_BUILD=1 # the only device's first, and no host to stand in
    dev run 1 bench $bodies --poses poses.csv --batch 4 --device pocl
    says stderr 'reason 10'
    unset ABUT_TEST_BUILD
    export ABUT_TEST_NAME="caf$(printf '\303\251 \001')"
    run 0 contacts $bodies --poses many.csv -o named.npz --device 0 --timeline strange
    json_is_valid strange.json
    there strange.png
    unset ABUT_TEST_NAME
    export ABUT_TEST_SILENT=1
    run 0 devices
    has stdout '^Unusable: device [0-9]+ \(.*\) does not say what it is: CL_OUT_OF_RESOURCES\.$'
    has stdout '^[0-9]+ +host .*table: the host path'
    run 0 devices --json
    json_is_valid stdout
    has stdout '"settings": null'
    has stdout '"unusable": "device [0-9]+ \(.*\) does not say what it is: CL_OUT_OF_RESOURCES"'
    unset ABUT_TEST_SILENT
    export ABUT_TEST_FAILURES=1
    run 0 contacts $bodies --poses many.csv -o failed.npz $several
  }
  unset LD_PRELOAD
  if [ "$(grep -c '^abut: warning: device .* failed' stderr)" -eq 1 ]; then pass; else
    fail 'not one device failed'
  fi
  grep '^abut: warning: device ' stderr | sed 's/.*; //' > sharer
  has sharer ' has done its share$'
  if grep -q '^host ' sharer; then fail 'the host path stood in'; else pass; fi
  if grep -q ' on .*host' stdout; then fail 'the host path is named'; else pass; fi
  # shellcheck disable=SC2086 # words
  run 0 render $bodies --poses many.csv -o drawn.png $several
  sed 's/.* s on //; s/ + /\n/g' stdout > drawers
  if grep -qF "$name" drawers && ! grep -qvF "$name" drawers; then pass; else
    fail "not drawn by parts of $name alone"
  fi
fi
finish
