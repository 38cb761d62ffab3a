#!/usr/bin/env bash
# Golden answers on a device beside the default ones: golden_on.sh WHERE PRECISION TEST_GOLDEN FOLDER...
#
# WHERE is rusticl (Mesa's OpenCL on llvmpipe), intel (Intel's CPU runtime, in the folder that
# ABUT_INTEL_OPENCL names, or in a Python environment that holds intel-opencl-rt) or oclgrind (an
# interpreter that reports races, uninitialised values and wrong calls; a report is a failure).
# Exit status 77 with a line that names what is absent.
set -euo pipefail

where=$1 precision=$2 test_golden=$3
shift 3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

skip() {
  echo "not run: $*"
  exit 77
}

run_rusticl() {
  local icd
  icd=$(find /etc/OpenCL/vendors /usr/share/OpenCL/vendors -name 'rusticl*.icd' 2>/dev/null |
    head -n 1 || true) # a folder that is absent is not an error
  [ -n "$icd" ] || skip "rusticl is not installed (Debian: mesa-opencl-icd)"
  mkdir "$scratch/vendors"
  cp "$icd" "$scratch/vendors/"
  export OCL_ICD_VENDORS=$scratch/vendors RUSTICL_ENABLE=llvmpipe ABUT_TEST_DEVICE=rusticl
  export ABUT_TEST_LANES=1 # llvmpipe compiles 16 lanes of all derivatives for a quarter of an hour
  export ABUT_TEST_SOME=1  # and each context's anew
  "$test_golden" "$precision" "$@"
}

intel_folder() {
  local folder
  for folder in "${ABUT_INTEL_OPENCL:-}" "${ABUT_INTEL_OPENCL:-}/lib" "${VIRTUAL_ENV:-}/lib" \
    /opt/intel/lib /opt/intel/oneapi/compiler/latest/lib; do
    if [ -e "$folder/libintelocl.so" ]; then
      echo "$folder"
      return
    fi
  done
}

run_intel() {
  local folder
  folder=$(intel_folder)
  [ -n "$folder" ] ||
    skip "Intel's CPU runtime is not in ABUT_INTEL_OPENCL (pip install intel-opencl-rt)"
  mkdir "$scratch/vendors"
  echo "$folder/libintelocl.so" >"$scratch/vendors/intel.icd"
  export OCL_ICD_VENDORS=$scratch/vendors ABUT_TEST_DEVICE=intel
  LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$test_golden" "$precision" "$@"
}

# Without -cl-opt-disable clang's inliner leaves llvm.experimental.noalias.scope.decl in the kernels,
# which oclgrind's interpreter of that LLVM does not know.
run_oclgrind() {
  command -v oclgrind >/dev/null || skip "oclgrind is not installed (Debian: oclgrind)"
  local log=$scratch/reports status=0
  unset ABUT_SHARED # more cases would take minutes here, and so would derivatives
  export ABUT_TEST_VALUES_ONLY=1
  ABUT_TEST_DEVICE=oclgrind oclgrind --build-options -cl-opt-disable --check-api --uninitialized \
    --data-races --max-errors 20 --log "$log" "$test_golden" "$precision" "$@" || status=$?
  if [ -s "$log" ]; then
    echo "oclgrind reports:"
    head -n 200 "$log"
    return 1
  fi
  return "$status"
}

"run_$where" "$@"
