#!/bin/sh
# Settings of speed as a user meets them: tune.sh ABUT ARRAYS GOLDEN, see support.sh.
# shellcheck source=tests/cli/support.sh
. "$(dirname "$0")/support.sh"
pair='cube.body.json slab.body.json --poses poses.csv'
unset XDG_CONFIG_HOME

# ---- measuring ----

# shellcheck disable=SC2086 # several words
dev run 0 tune $pair --device "$device" --seconds 5 -o tuned.json
empty stderr tune
has stdout '^lanes group items +scratch answers ready \[s\] +forward/s +gradient/s +ratio$'
has stdout '^ +[0-9]+ +[0-9]+ +[0-9]+ +[0-9.]+ MiB right .* 1\.00 as it is$'
has stdout '^tuned\.json: [0-9]+ lanes, work-groups of [0-9]+ and [0-9]+, [0-9.]+ MiB of scratch$'
has stdout "^It is used where the environment's ABUT_TUNING names it\.\$"
if grep -q wrong stdout; then fail 'a setting answers wrongly'; else pass; fi
json_is_valid tuned.json
has tuned.json '"precision": "f32"'
run 0 devices
if grep -q 'file' stdout; then fail 'a file is used that nothing names'; else pass; fi
export ABUT_TUNING=tuned.json
run 0 devices
has stdout '^[0-9]+ .* file, table: [^ ].*'
says stdout 'Settings of file tuned.json.'
run 0 devices --json
json_is_valid stdout
has stdout '"source": "file tuned\.json"'
for key in group items scratch_bytes; do
  wanted=$(sed -n "s/^ *\"$key\": \([0-9]*\),\{0,1\}\$/\1/p" tuned.json)
  grep -B 4 'file tuned' stdout > entry
  has entry "\"$key\": $wanted,?\$"
done
# shellcheck disable=SC2086 # several words
run 0 contacts $pair -o out.npz --device "$device" -q
there out.npz

# Once more into the same file, quietly, and for the other precision.
dev run 0 tune -q --seconds 1 --device "$device"
empty stdout 'tune -q'
empty stderr 'tune -q'
if [ "$(grep -c '"name"' tuned.json)" -eq 1 ]; then pass; else fail 'not one entry'; fi
if [ $wide = f64 ]; then
  dev run 0 tune --seconds 1 --device "$device" --precision f64
  if [ "$(grep -c '"name"' tuned.json)" -eq 2 ]; then pass; else fail 'not two entries'; fi
  if grep -q 'It is used where' stdout; then fail 'it is used'; else pass; fi
fi

# Every device that is named, one after the other; a part of one has its settings.
# shellcheck disable=SC2086 # several words
if [ "$device" = host ]; then
  dev run 0 tune $pair --device host --device host --seconds 1 -o several.json
  several=1
elif [ -z "$parts" ]; then
  dev run 0 tune $pair --device host --device "$device" --seconds 1 -o several.json
  several=2
else
  dev run 0 tune $pair --device "$device/1" --device host --device "$device" --seconds 1 -o several.json
  has stdout '^.* \[1 of [0-9]+ units, part 0\] .*, f32: '
  several=2
fi
has stdout '^host \(abut\), f32: '
for count in "$(grep -c ' as it is$' stdout)" "$(grep -c '"name"' several.json)"; do
  if [ "$count" -eq $several ]; then pass; else fail "$count devices, not $several"; fi
done
if [ "$device" = pocl ]; then
  # shellcheck disable=SC2086 # several words
  dev run 0 tune $pair --device all --seconds 1 -o all.json -q
  there all.json
fi
dev run 0 tune --seconds 1 --device "$device" --timeout 100 -q -o patient.json

# What follows is about files and words, and the same whatever is measured.
if [ "$device" != host ]; then
  finish
  exit
fi

# ---- the file is used, and others' entries are kept ----

name=$(sed -n 's/^ *"name": //p' tuned.json | head -n 1)
platform=$(sed -n 's/^ *"platform": //p' tuned.json | head -n 1)
cat > own.json << END
{"devices": [{"name": "elsewhere", "platform": "p", "precision": "f64", "lanes": 4, "group": 1,
              "items": 1, "scratch_bytes": 65536},
             {"name": $name "platform": $platform "precision": "f32", "lanes": 4,
              "group": 2, "items": 2, "scratch_bytes": 1048576}]}
END
export ABUT_TUNING=own.json
# shellcheck disable=SC2086 # two words
dev run 0 bench cube.obj slab.obj --batch 1 --device "$device" -q
if [ "$device" = host ]; then lanes=1; else lanes=4; fi
has stdout ", f32, $lanes lanes\$"
dev run 0 tune -q --seconds 1 --device "$device"
has own.json '"name": "elsewhere"'
has own.json '"scratch_bytes": 65536'
if [ "$(grep -c '"name"' own.json)" -eq 2 ]; then pass; else fail 'not two entries'; fi

# Settings of one module lie beside those of all, without lanes.
dev run 0 tune --module manifold --seconds 1 --device "$device"
has stdout '^own\.json: manifold, with '
has own.json '"module": "manifold"'
for key in name lanes; do
  expected=$([ $key = name ] && echo 3 || echo 2)
  if [ "$(grep -c "\"$key\"" own.json)" -eq "$expected" ]; then pass; else fail "$key"; fi
done
run 0 devices

# A setting that cannot run is no obstacle: 1024 work-items are more than some devices take.
cat > large.json << END
{"devices": [{"name": $name "platform": $platform "precision": "f32", "lanes": 1,
              "group": 1024, "items": 1024, "scratch_bytes": 65536}]}
END
ABUT_TUNING=large.json dev run 0 tune --seconds 1 --device "$device"
has stdout '^large\.json: '

# ---- the place of the file ----

unset ABUT_TUNING
XDG_CONFIG_HOME=$folder/new/config
export XDG_CONFIG_HOME
dev run 0 tune --seconds 1 --device "$device"
there new/config/abut/tuning.json
run 0 devices
says stdout "Settings of file $folder/new/config/abut/tuning.json."
unset XDG_CONFIG_HOME
HOME=$folder/home dev run 0 tune --seconds 1 --device "$device" -q
there home/.config/abut/tuning.json
export ABUT_TUNING=
dev usage 'there is no place for a file of settings: name one with -o' tune --device "$device"

# ---- what is wrong ----

dev usage 'tune needs two bodies, A and B, or neither' tune cube.obj
dev usage '`more` is one word too many' tune cube.obj slab.obj more
dev usage 'tune has no option --lanes' tune --lanes 4
dev usage 'tune has no option --json' tune --json
dev usage '--module witness: manifold is all that is measured' tune --module witness
dev usage '--seconds: `soon` is not a number' tune --seconds soon
dev usage '--seconds: 0 is not in 1 to 86400' tune --seconds 0
dev usage '--precision: `f16` is neither f32 nor f64' tune --precision f16
dev usage 'bench has no option --seconds' bench --seconds 3
missing='No such file or directory'
dev wrong "no.obj: $missing" tune no.obj cube.obj -o t.json
dev wrong "no.csv: $missing" tune --poses no.csv -o t.json
dev wrong 'none.csv: holds no poses' tune --poses none.csv -o t.json
dev run 2 tune --device 'no such device' -o t.json
dev run 2 tune --device "$device" --device toaster -o t.json
dev run 2 tune --device host/1 -o t.json
has stderr 'cannot be divided'
dev usage '--device names nothing' tune --device '' -o t.json
dev usage '--timeout: `soon` is not a number' tune --timeout soon -o t.json
dev usage '--timeout: 0 is not in 0.001 to 1e+06' tune --timeout 0 -o t.json
dev wrong 'sharp.json: is an input of this command too' tune --smoothing sharp.json -o sharp.json
dev run 1 tune -o nowhere/t.json
says stderr "abut-dev: nowhere/t.json: the folder nowhere/: $missing"
absent t.json
printf '{"devices": [\n {"name": "d",\n  "speed": 1}]}\n' > bad.json
cp bad.json before.json
export ABUT_TUNING=bad.json
# shellcheck disable=SC2086 # several words
for command in devices "contacts $pair -o no.npz" 'tune --seconds 1' 'bench --batch 1'; do
  case $command in devices) at= ;; *) at="--device $device" ;; esac
  case $command in tune* | bench*) of=dev ;; *) of= ;; esac
  $of wrong 'bad.json:3: devices[0].speed: no such key is known' $command $at
done
absent no.npz
export ABUT_TUNING=
dev run 2 tune --seconds 1 --device "$device" -o bad.json
has stderr '^abut-dev: bad\.json:3: '
if cmp -s bad.json before.json; then pass; else fail 'a malformed file was replaced'; fi

# A file size of 0 stands for a full disk.
mkdir full
cp own.json full/own.json
message=$( (ulimit -f 0 && "$abut-dev" tune -q --seconds 1 --device host -o full/own.json) 2>&1)
status=$?
echo "$message" > stderr
if [ $status -eq 1 ]; then pass; else fail "status $status on a full disk"; fi
has stderr '^abut-dev: full/own\.json: .'
if cmp -s own.json full/own.json; then pass; else fail 'a failed write touched the old file'; fi
no_leftovers full

finish
