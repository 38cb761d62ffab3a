# shellcheck shell=sh
# shellcheck disable=SC2034 # what the scripts use
# What the scripts of this folder share; they source it with ABUT ARRAYS GOLDEN [FAILING] as
# arguments.
#
# ABUT is the command, with abut-dev beside it, ARRAYS the helper of arrays.c, GOLDEN the folder of golden answers, FAILING
# the library of failing.c. Computes
# on $ABUT_TEST_DEVICE, else the host. Goes to an empty folder, which is removed at the end, and
# leaves two bodies, poses and a smoothing there.
set -u
abut=$1
arrays=$2
golden=$3
failing=${4:-}
device=${ABUT_TEST_DEVICE:-host}
usual=${ABUT_TEST_USUAL:-} # not empty in the usual run: a share of what the long run takes whole
[ "${ABUT_TEST_ALL:-}" != 1 ] || usual=
sanitized=${ABUT_TEST_SANITIZED:-} # not empty under sanitizers: fewer numbers through the same code
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
case $abut in /*) ;; *) abut=$PWD/$abut ;; esac
case $arrays in /*) ;; *) arrays=$PWD/$arrays ;; esac
case $failing in /* | "") ;; *) failing=$PWD/$failing ;; esac
case $golden in /*) ;; *) golden=$PWD/$golden ;; esac
cd "$folder" || exit 1
unset POSIXLY_CORRECT
export ABUT_TUNING= # no settings of the user's own
if [ "$device" = host ]; then
  mkdir vendors
  export OCL_ICD_VENDORS="$folder/vendors"
fi
# try DEVICE WORD...: some contacts on a device
try() { "$abut" contacts "$golden/box-on-box/a.body.json" "$golden/box-on-box/b.body.json" --poses "$golden/box-on-box/poses.npz" -o /dev/null -q --device "$@" 2>&1; }
if try "$device" | grep -q 'no device is'; then
  echo "there is no device $device"
  exit 77
fi
passed=0
failed=0
# The widest reals that the device has.
# The host path has both.
if try "$device" --precision f64 > probe || [ "$device" = host ]; then
  wide=f64 type=float64 both=f32,f64
else
  wide=f32 type=float32 both=f32,f32
fi

# Empty where the device cannot be divided into parts, as GPUs cannot.
parts=1
if try "$device/1" | grep -q 'cannot be divided$'; then
  parts=
fi

pass() { passed=$((passed + 1)); }
fail() {
  failed=$((failed + 1))
  echo "FAILED: $*"
  sed 's/^/  stdout: /' stdout
  sed 's/^/  stderr: /' stderr
}
# dev CHECK ARGUMENTS...: run, usage or wrong, of abut-dev
program=abut
dev() {
  program='abut-dev'
  "$@"
  program=abut
}
# run STATUS ARGUMENTS...: the first time that it compiles a program, PoCL writes how often its compiler warned.
run() {
  expected=$1
  shift
  "${abut%abut}$program" "$@" > stdout 2> said < /dev/null
  status=$?
  sed '/^[0-9][0-9]* warnings\{0,1\} generated\.$/d' said > stderr
  if [ $status -eq "$expected" ]; then pass; else fail "status $status, not $expected: $program $*"; fi
}
# says FILE TEXT: the whole line is in the file
says() { if grep -qxF -- "$2" "$1"; then pass; else fail "$1 lacks the line: $2"; fi; }
# has FILE REGEX
has() { if grep -qE -- "$2" "$1"; then pass; else fail "$1 lacks: $2"; fi; }
empty() { if [ -s "$1" ]; then fail "$1 is not empty after: $2"; else pass; fi; }
there() { if [ -s "$1" ]; then pass; else fail "$1 is not there"; fi; }
absent() { if [ -e "$1" ]; then fail "$1 is there"; else pass; fi; }
# usage TEXT ARGUMENTS...: exit status 2, the text, a hint to the help, nothing on stdout
usage() {
  text=$1
  shift
  run 2 "$@"
  says stderr "$program: $text"
  has stderr "^\`$program .*--help\` says more\.\$"
  empty stdout "$program $*"
}
# wrong TEXT ARGUMENTS...: exit status 2 and the text alone on the last line
wrong() {
  text=$1
  shift
  run 2 "$@"
  says stderr "$program: $text"
  empty stdout "$program $*"
}
# array FILE NAME AWK: the program reads the numbers, one a line, and exits with 0 if they are right
array() {
  if "$arrays" show "$1" "$2" > numbers 2> stderr && awk "$3" numbers; then
    pass
  else
    fail "$2 of $1 is wrong: $(tr '\n' ' ' < numbers | cut -c1-300)"
  fi
}
json_is_valid() {
  if command -v python3 > python_path; then
    if python3 -m json.tool < "$1" > pretty 2> stderr; then pass; else fail "$1 is not JSON"; fi
  fi
}
# in a folder of its own: what an interrupted write left behind
no_leftovers() {
  for left in "$1"/.abut*; do
    if [ -e "$left" ]; then fail "$left was left behind"; else pass; fi
  done
}

# ---- bodies: a cube of 1 m, and above it a slab that its corners press into ----

box() { # NAME HALF_X HALF_Y HALF_Z
  awk -v x="$2" -v y="$3" -v z="$4" 'BEGIN {
    for (i = 0; i < 8; i++)
      print "v", (i % 2 ? x : -x), (int(i / 2) % 2 ? y : -y), (i > 3 ? z : -z)
    print "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6"
  }' > "$1.obj"
  cat > "$1.body.json" << END
{"name": "$1", "mesh": "$1.obj",
 "polyhedra": [{"planes": [[1, 0, 0, $2, 0, 0], [-1, 0, 0, -$2, 0, 0],
                           [0, 1, 0, 0, $3, 0], [0, -1, 0, 0, -$3, 0],
                           [0, 0, 1, 0, 0, $4], [0, 0, -1, 0, 0, -$4]]}]}
END
}
box cube 0.5 0.5 0.5
box slab 2 2 0.5
header=r1x,r1y,r1z,w1x,w1y,w1z,r2x,r2y,r2z,w2x,w2y,w2z
{
  echo $header
  echo 0,0,0,0,0,0,0,0,0.98,0,0,0
  echo 0,0,0,0,0,0,0,0,1.5,0,0,0
  echo 1,2,3,0,0,0,1,2,3.98,0,0,0
} > poses.csv
{
  echo $header
  echo 0,0,0,0,0,0,0,0,0.98,0,0,0
  echo 0,0,nan,0,0,0,0,0,0.98,0,0,0
  echo 0,0,0,0,0,0,0,0,0.98,0,0,inf
  echo 0,0,0,0,0,0,1e300,0,0.98,0,0,0
} > not-finite.csv
echo $header > none.csv
cat > sharp.json << END
{"length": 1, "union": 1e-4, "plane": 1e-4, "normal": 1e-12, "penetration": 1e-3, "neighbour": 0.01,
 "clash": 0.1, "sign": 0.1, "sort": 0.01, "clip": 0.1, "minimum": 0.1, "compare": 0.1,
 "ridge": 0.01, "distance": 1e-10, "trace": 0, "inside": false, "select": "softsort",
 "edge_edge": true, "two_sided": true, "edges": [0, 0], "vertices": [0, 0]}
END

# How many checks passed; the script's last word.
finish() {
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}
