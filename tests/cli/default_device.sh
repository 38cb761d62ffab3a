#!/bin/sh
# Commands without --device: no driver at all, and a device that builds nothing. default_device.sh
# ABUT ARRAYS GOLDEN [FAILING]
. "$(dirname "$0")/support.sh"

base="contacts cube.body.json slab.body.json --poses poses.csv --smoothing sharp.json"
driver="abut: warning: no OpenCL device is there, so that the host path computes, which is slow: \
install an OpenCL driver such as PoCL (Debian's package pocl-opencl-icd)"

lacks_driver() { if grep -qF 'OpenCL driver' stderr; then fail "$1 speaks of drivers"; else pass; fi; }

# shellcheck disable=SC2086 # words
run 0 $base -o named.npz -q --device host
lacks_driver 'a command whose device is named'
"$arrays" show named.npz d > first

if [ "$device" = host ]; then # for which no driver is there
  # shellcheck disable=SC2086 # words
  run 0 $base -o default.npz -q
  says stderr "$driver"
  "$arrays" show default.npz d > second
  if cmp -s first second; then pass; else fail 'the default is not the host path'; fi
  run 0 render cube.body.json slab.body.json --poses poses.csv --smoothing sharp.json \
    -o default.png -q
  says stderr "$driver"
  run 0 devices
  empty stderr devices
  has stdout '^No OpenCL device is there: an OpenCL driver .*pocl-opencl-icd\) makes .*\.$'
  run 0 devices --json
  empty stderr 'devices --json'
  json_is_valid stdout
  run 0 --help
  lacks_driver 'the help'
  finish
  exit
fi

icd=$(find /etc/OpenCL/vendors /usr/share/OpenCL/vendors -name 'pocl*.icd' 2> /dev/null | head -n 1)
if [ -z "$failing" ] || [ -z "$icd" ]; then
  echo 'not run: devices that fail; no pocl*.icd in the folders of vendors, or nothing to preload'
  finish
  exit
fi
mkdir pocl
cp "$icd" pocl/
export OCL_ICD_VENDORS="$folder/pocl" ABUT_TEST_BUILD=1 POCL_DEVICES='pthread pthread'
run 0 devices
lacks_driver 'a list of devices'
cause='the kernels do not build: CL_BUILD_PROGRAM_FAILURE: reason 1'

# one_warning REGEX: the only one, in one line
one_warning() {
  has stderr "^abut: warning: device .* $cause; $1\$"
  if [ "$(grep -c . stderr)" -eq 1 ]; then pass; else fail 'not one line'; fi
}
near() {
  "$arrays" show "$1" d > second
  if paste first second | awk '{ x = $1 - $2; if (x > 1e-4 || x < -1e-4) exit 1 }'; then pass; else
    fail "$1 differs"
  fi
}

export LD_PRELOAD="$failing"
# shellcheck disable=SC2086 # words
{
  run 0 $base -o second.npz # the second of PoCL's
  one_warning '.* computes instead'
  if grep -q 'host computes' stderr; then fail 'the host path computes'; else pass; fi
  has stdout ' s on .*, f32$'
  export POCL_DEVICES=pthread
  run 0 $base -o third.npz
  one_warning 'host computes instead'
  has stdout ' s on host, f32$'
  run 0 $base -o fourth.npz -q --device 0 # named: the host path, and more of the log
  has stderr '^abut: warning: .* failed \(.*CL_BUILD_PROGRAM_FAILURE\); host has done its share$'
  says stderr '  reason 4'
  dev run 1 bench cube.body.json slab.body.json --poses poses.csv --batch 4 # the host is not timed
  says stderr 'reason 1'
}
unset LD_PRELOAD
for file in second third fourth; do near $file.npz; done
finish
