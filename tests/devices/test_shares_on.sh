#!/usr/bin/env bash
# Devices of every platform there is in one context: test_shares_on.sh PRECISION TEST_SHARES_KINDS
#
# PoCL, rusticl (Mesa's OpenCL on llvmpipe) and Intel's CPU runtime (in the folder that
# ABUT_INTEL_OPENCL names, or in a Python environment that holds intel-opencl-rt), without those
# that are absent, by name. Exit status 77 where fewer than two are there.
set -euo pipefail

precision=$1 test_shares_kinds=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/vendors"
there=0

take() { # PATTERN WHAT
  local icd
  icd=$(find /etc/OpenCL/vendors /usr/share/OpenCL/vendors -name "$1" 2>/dev/null |
    head -n 1 || true)
  if [ -n "$icd" ]; then
    cp "$icd" "$scratch/vendors/"
    there=$((there + 1))
  else
    echo "without $2"
  fi
}

intel=
for folder in "${ABUT_INTEL_OPENCL:-}" "${ABUT_INTEL_OPENCL:-}/lib" "${VIRTUAL_ENV:-}/lib" \
  /opt/intel/lib /opt/intel/oneapi/compiler/latest/lib; do
  if [ -z "$intel" ] && [ -e "$folder/libintelocl.so" ]; then
    intel=$folder
  fi
done
if [ -n "$intel" ]; then
  echo "$intel/libintelocl.so" >"$scratch/vendors/intel.icd"
  export LD_LIBRARY_PATH=$intel${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  there=$((there + 1))
else
  echo "without Intel's CPU runtime, which is not in ABUT_INTEL_OPENCL"
fi
take 'pocl*.icd' "PoCL, which is not installed (Debian: pocl-opencl-icd)"
take 'rusticl*.icd' "rusticl, which is not installed (Debian: mesa-opencl-icd)"
if [ "$there" -lt 2 ]; then
  echo "not run: devices of fewer than two platforms"
  exit 77
fi
# llvmpipe compiles 16 lanes of all derivatives for a quarter of an hour
export OCL_ICD_VENDORS=$scratch/vendors RUSTICL_ENABLE=llvmpipe
export ABUT_TEST_KINDS=all ABUT_TEST_LANES=1
"$test_shares_kinds" "$precision"
