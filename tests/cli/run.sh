#!/bin/sh
# The command as a user meets it, but for derivatives: run.sh ABUT ARRAYS GOLDEN, see support.sh.
# shellcheck source=tests/cli/support.sh
. "$(dirname "$0")/support.sh"

# ---- help and version ----

run 0 --help
has stdout '^  abut contacts A B --poses P -o OUT.npz'
empty stderr --help
for command in devices field import simulate transition rollout-gradient compare film contacts gradient jvp jacobian closest ccd render; do
  run 0 $command --help
  has stdout "^usage: abut $command"
  has stdout "^  abut $command" # an example
  run 0 --help $command
  has stdout "^usage: abut $command"
  run 0 help $command
  has stdout "^usage: abut $command"
done
for command in gradcheck bench tune; do
  for words in "$command --help" "--help $command" "help $command"; do
    # shellcheck disable=SC2086 # two words
    dev run 0 $words
    has stdout "^usage: abut-dev $command"
    has stdout "^  abut-dev $command" # an example
  done
  usage "\`$command\` is a command of abut-dev, which \`meson compile -C build abut-dev\` builds (docs/testing.md)" $command
  usage "\`$command\` is a command of abut-dev, which \`meson compile -C build abut-dev\` builds (docs/testing.md)" help $command
done
dev run 0 --help
has stdout '^abut-dev [0-9]+\.[0-9]+\.[0-9]+: checks and measurements'
has stdout '^  abut-dev bench \[A B\|SCENE\] '
dev run 0 --version
has stdout '^abut-dev [0-9]+\.[0-9]+\.[0-9]+$'
run 0 help
has stdout '^  abut contacts A B --poses P -o OUT.npz'
run 2 help contacts film
run 2 help unknown
has stderr 'there is no command `unknown`'
run 0 field --help
has stdout '-o, --output FILE .*NAME\.body\.json, with'
run 0 render --help
for default in 'azimuth DEG .*\(34\.4\)' 'elevation DEG .*\(20\.1\)' 'width PIXELS .*\(render 900, film 640, on a sheet 320\)' \
  'height PIXELS .*\(render 700, film 480, on a sheet 240\)' 'zoom Z .*\(1\)' 'threshold T .*\(jacobian 0\.1, others 0\.05\)' \
  'index I .*\(0\)'; do
  has stdout "^ +--$default\$"
done
run 0 contacts -h
has stdout '--compact T'
run 0 --version
has stdout '^abut [0-9]+\.[0-9]+\.[0-9]+$'
has stdout '^models are imported by MuJoCo: '
run 0 devices --version
has stdout '^abut [0-9]'

# ---- devices ----

run 0 devices
has stdout '^index  name .* platform .* type .* float64 .* driver$'
has stdout '^[0-9]+ +host +abut +host +yes +1 '
empty stderr devices
run 0 devices --json
has stdout '"name": "host"'
has stdout '"default": true'
json_is_valid stdout

# ---- pairs ----

pairs_header=$header,pair
{
  echo '# the second pair has fewer contacts'
  echo 'cube.body.json, slab.body.json'
  echo
  echo "$PWD/slab.obj,point.obj # from anywhere"
} > pairs.csv
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n' > point.obj
{
  echo $pairs_header
  echo 0,0,0,0,0,0,0,0,0.4,0,0,0,1
  echo 0,0,0,0,0,0,0,0,0.98,0,0,0,0
  echo 0,0,0,0,0,0,0,0,1.5,0,0,0,1
  echo 1,2,3,0,0,0,1,2,3.98,0,0,0,0
} > mixed.csv
{ echo $header; sed -n '3p;5p' mixed.csv | sed 's/,0$//'; } > first.csv
{ echo $header; sed -n '2p;4p' mixed.csv | sed 's/,1$//'; } > second.csv
run 0 contacts --pairs pairs.csv --poses mixed.csv -o mixed.npz --device "$device" --smoothing sharp.json \
  --vertices all
has stdout '^4 poses of 2 pairs, up to [0-9]+ contacts a pose, [0-9]+ active in all'
run 0 contacts cube.body.json slab.body.json --poses first.csv -o first.npz --device "$device" \
  --smoothing sharp.json -q
run 0 contacts slab.obj point.obj --poses second.csv -o second.npz --device "$device" \
  --smoothing sharp.json -q --vertices all
array mixed.npz pair '{ wrong += $1 != NR % 2 } END { exit wrong || NR != 4 }'
"$arrays" show first.npz layout | head -n 1 > first
"$arrays" show second.npz layout | head -n 1 > second
"$arrays" show mixed.npz count > shown
cat second first second first > wanted
if cmp -s shown wanted; then pass; else fail "the counts are $(tr '\n' ' ' < shown)"; fi
"$arrays" show mixed.npz layout | sed -n '1p;12p' > shown
cat first second > wanted
if cmp -s shown wanted; then pass; else fail "the layouts are $(tr '\n' ' ' < shown)"; fi
wide_rows=$(cat first)
narrow_rows=$(cat second)
if [ "$wide_rows" -gt "$narrow_rows" ]; then pass; else fail 'both pairs are as wide'; fi
for name in d activity; do
  "$arrays" show mixed.npz $name > all
  "$arrays" show first.npz $name > first
  "$arrays" show second.npz $name > second
  { sed -n "$((wide_rows + 1)),$((2 * wide_rows))p" all
    sed -n "$((3 * wide_rows + 1)),$((4 * wide_rows))p" all; } > shown
  if cmp -s shown first; then pass; else fail "$name of the first pair differs"; fi
  { sed -n "1,${narrow_rows}p" all
    sed -n "$((2 * wide_rows + 1)),$((2 * wide_rows + narrow_rows))p" all; } > shown
  if cmp -s shown second; then pass; else fail "$name of the second pair differs"; fi
  sed -n "$((narrow_rows + 1)),${wide_rows}p" all | sort -u > shown
  if [ "$(cat shown)" = 0 ]; then pass; else fail "behind $name of the second pair is no 0"; fi
done
run 0 contacts --pairs pairs.csv --poses mixed.csv -o listed.npz --device "$device" --compact 0.1
has stderr '^abut: no --smoothing; fitted to the bodies. size, pair by pair \(--show-smoothing prints it\)$'
run 0 contacts --pairs pairs.csv --poses mixed.csv -o listed.npz --device "$device" --compact 0.1 \
  --show-smoothing -q
"$arrays" show listed.npz smoothing > stored.json
if cmp -s stderr stored.json; then pass; else fail 'the list of smoothing shown is not the stored one'; fi
array listed.npz compact_pose '$1 < last { wrong = 1 } { last = $1 } END { exit wrong || !NR }'
"$arrays" show listed.npz smoothing > stdout
json_is_valid stdout
run 0 contacts cube.body.json slab.body.json --poses mixed.csv -o warned.npz --device "$device" -q
has stderr '^abut: warning: the poses name pairs'
usage '`cube.obj` is one word too many: with --pairs, the list names the bodies' contacts cube.obj --pairs pairs.csv --poses mixed.csv -o no.npz
usage 'gradient has no option --pairs' gradient --pairs pairs.csv --poses mixed.csv -o no.npz
mixed='--poses mixed.csv -o no.npz -q'
wrong 'poses.csv: does not tell the pair of each pose, as an array or a last column `pair`' \
  contacts --pairs pairs.csv --poses poses.csv -o no.npz -q
echo cube.obj,slab.obj > one.csv
wrong 'mixed.csv:2: pair 1, counted from 0; one.csv names 1' contacts --pairs one.csv $mixed
"$arrays" fill mixed.npz s1=2x6:0 s2=2x6:w1 pair=2:w1
wrong "mixed.npz: array 'pair', row 0: pair 1, both counted from 0; one.csv names 1" contacts \
  --pairs one.csv --poses mixed.npz -o no.npz -q
run 0 contacts --pairs pairs.csv --poses mixed.npz -o whole.npz --device "$device" -q
array whole.npz pair '{ wrong += $1 != 1 } END { exit wrong || NR != 2 }'
"$arrays" fill mixed.npz s1=2x6:0 s2=2x6:w1 pair=2:w-1
wrong "mixed.npz: array 'pair': row 0, counted from 0: -1 is no index of a pair" contacts \
  --pairs one.csv --poses mixed.npz -o no.npz -q
wrong 'none.txt: No such file or directory' contacts --pairs none.txt $mixed
printf '\ncube.obj,slab.obj,cube.obj\n' > three.csv
wrong 'three.csv:2: 3 files, not the two of a pair' contacts --pairs three.csv $mixed
printf 'cube.obj,slab.obj\ncube.obj,missing.obj\n' > missing.csv
wrong 'missing.csv:2: missing.obj: No such file or directory' contacts --pairs missing.csv $mixed
printf 'cube.obj,slab.obj\ncube.obj,poses.csv\n' > strange.csv
run 2 contacts --pairs strange.csv $mixed --device "$device"
has stderr '^abut: strange\.csv:2: poses\.csv: '
wrong 'pairs.csv: is an input of this command too' contacts --pairs pairs.csv --poses mixed.csv \
  -o pairs.csv
cp slab.obj slab.npz
printf 'slab.npz,slab.obj\n' > itself.csv
wrong 'slab.npz: is an input of this command too' contacts --pairs itself.csv --poses mixed.csv \
  -o slab.npz
absent no.npz

# ---- contacts ----

run 0 contacts cube.body.json slab.body.json --poses poses.csv -o out.npz --device "$device"
has stdout '^3 poses, [0-9]+ contacts a pose, [0-9]+ active in all \(activity >= 0\.1\), least distance -0\.0[0-9]* m, [0-9.e-]+ s on .*, f32$'
says stderr "abut: no --smoothing; fitted to the bodies' size (--show-smoothing prints it)"
if [ "$(grep -c . stderr)" -eq 1 ]; then pass; else fail 'more than a line without being asked'; fi
there out.npz
"$arrays" show out.npz smoothing > stored.json
run 0 contacts cube.body.json slab.body.json --poses poses.csv -o out.npz --device "$device" \
  --show-smoothing
says stderr "abut: no --smoothing; fitted to the bodies' size:"
has stderr '^ "penetration": 0\.0'
grep -v '^abut:' stderr > printed.json
if cmp -s printed.json stored.json; then pass; else fail "printed smoothing is not the stored one"; fi
run 0 contacts cube.body.json slab.body.json --poses poses.csv -o out.npz --device "$device" \
  --show-smoothing --smoothing stored.json -q
if cmp -s stderr stored.json; then pass; else fail "the smoothing given is not the one shown"; fi
run 0 contacts cube.body.json slab.body.json --poses poses.csv -o again.npz --device "$device" \
  --smoothing stored.json
empty stderr 'contacts --smoothing'
for name in p d n activity smoothing; do
  "$arrays" show out.npz $name > first
  "$arrays" show again.npz $name > second
  if cmp -s first second; then pass; else fail "$name differs with the stored smoothing"; fi
done

run 0 --quiet contacts cube.body.json slab.body.json --poses poses.csv --output=sharp.npz \
  --device "$device" --smoothing sharp.json --precision $wide
empty stdout 'contacts --quiet'
empty stderr 'contacts --quiet'
"$arrays" show sharp.npz > stdout
cp stdout shown
# 8 vertices of each body, 12 x 12 edge pairs twice
says stdout "p $type 3 304 3"
says stdout "d $type 3 304"
says stdout "n $type 3 304 3"
says stdout "activity $type 3 304"
says stdout 'status uint8 3'
says stdout 'layout uint32 11'
says stdout 'smoothing text'
array sharp.npz layout '
  BEGIN { split("304 8 8 12 12 0 8 16 160 144 144", want, " ") }
  { bad += $1 != want[NR] } END { exit bad || NR != 11 }'
array sharp.npz status '{ bad += $1 != 0 } END { exit bad || NR != 3 }'
# Corners 5 to 8 of the cube are its upper ones: 0.02 inside the slab, whose way out is downwards.
array sharp.npz d 'NR > 4 && NR <= 8 { e = $1 + 0.02; bad += e * e > 1e-12 } END { exit bad != 0 }'
array sharp.npz n 'NR > 12 && NR <= 24 { e = $1 + (NR % 3 == 0); bad += e * e > 1e-10 }
  END { exit bad != 0 }'
array sharp.npz activity 'NR > 4 && NR <= 8 { bad += $1 < 0.999 } END { exit bad != 0 }'
# The second pose is 0.5 apart: no vertex is active.
array sharp.npz activity 'NR > 304 && NR <= 304 + 16 { bad += $1 > 1e-9 } END { exit bad != 0 }'
# The third moves both bodies, so that the points move along.
array sharp.npz p 'NR <= 24 { p[NR] = $1 } NR > 1824 && NR <= 1848 {
  e = $1 - p[NR - 1824] - (NR - 1825) % 3 - 1; bad += e * e > 1e-11 } END { exit bad != 0 }'

# Of every pose: the least distance of its 16 vertices, a soft one at most that, the sum of all
# activities, and an energy that only contact makes.
for name in distance soft_distance minimum_distance soft_minimum energy activity_sum; do
  says shown "$name $type 3"
  "$arrays" show sharp.npz $name > all_$name
done
for name in d activity weight; do "$arrays" show sharp.npz $name > all_$name; done
if paste -d ' ' all_d all_weight | awk 'FNR == NR && NF == 2 { i = int((FNR - 1) / 304)
    if ($2 >= 0.5 && (!(i in least) || $1 < least[i])) least[i] = $1; next }
  { rows++; if ($1 != least[FNR - 1]) bad++ } END { exit bad || rows != 3 }' - all_distance; then
  pass
else
  fail 'distance is not the least d of what weighs'
fi
if awk 'FILENAME == "all_d" { i = int((FNR - 1) / 304)
    if ((FNR - 1) % 304 < 16 && (!(i in least) || $1 < least[i])) least[i] = $1; next }
  { rows++; if ($1 != least[FNR - 1]) bad++ } END { exit bad || rows != 3 }' \
  all_d all_minimum_distance; then pass; else fail 'minimum_distance is not the least d'; fi
if awk 'FILENAME == "all_activity" { sum[int((FNR - 1) / 304)] += $1; next }
  { rows++; e = $1 - sum[FNR - 1]; bad += e * e > 1e-8 } END { exit bad || rows != 3 }' \
  all_activity all_activity_sum; then pass; else fail 'activity_sum is not the sum'; fi
if paste -d ' ' all_soft_minimum all_minimum_distance |
  awk '{ bad += !($1 <= $2 + 1e-6) } END { exit bad || NR != 3 }'; then
  pass
else
  fail 'soft_minimum is above the minimum'
fi
array sharp.npz energy '{ bad += NR == 2 ? $1 * $1 > 1e-12 : !($1 > 0) } END { exit bad || NR != 3 }'

run 0 contacts cube.obj slab.obj --poses poses.csv -o mesh.npz --device "$device" -q --vertices all
"$arrays" show mesh.npz > stdout
says stdout 'd float32 3 64'
cp cube.obj 'a name.obj'
run 0 contacts 'a name.obj' slab.obj --poses poses.csv -o 'an output.npz' --device "$device" -q
there 'an output.npz'

for extra in '--chunk 1' '--chunk 2' '--lanes 1'; do
  # shellcheck disable=SC2086 # two words
  run 0 contacts cube.body.json slab.body.json --poses poses.csv -o split.npz -q $extra \
    --device "$device" --smoothing sharp.json --precision $wide
  "$arrays" show sharp.npz d > first
  "$arrays" show split.npz d > second
  if [ "$extra" = '--lanes 1' ]; then continue; fi
  if cmp -s first second; then pass; else fail "$extra changes d"; fi
done

run 0 contacts cube.body.json slab.body.json --poses none.csv -o none.npz --device "$device" -q
says stderr 'abut: warning: none.csv: holds no poses; what is written holds none either'
"$arrays" show none.npz > stdout
says stdout 'd float32 0 64'
says stdout 'status uint8 0'
run 0 contacts cube.body.json slab.body.json --poses none.csv -o none.npz --device "$device" -q \
  --compact 0.1
"$arrays" show none.npz > stdout
says stdout 'compact_p float32 0 3'

# ---- poses that are not finite ----

run 0 contacts cube.body.json slab.body.json --poses not-finite.csv -o nan.npz --device "$device" \
  --smoothing sharp.json
says stderr 'abut: warning: poses that are not finite: 2 of 4, the first has index 1. Their rows are NaN.'
array nan.npz status '{ s = s $1 } END { exit s != "0110" }'
array nan.npz d '{ isnan = $1 ~ /nan/; bad += isnan != (NR > 304 && NR <= 912) }
  END { exit bad || NR != 1216 }'
run 0 contacts -q cube.body.json slab.body.json --poses not-finite.csv -o nan.npz --compact 0.5 \
  --device "$device" --smoothing sharp.json
says stderr 'abut: warning: poses that are not finite: 2 of 4, the first has index 1. They have no contacts in the list.'
array nan.npz compact_pose '{ bad += $1 == 1 || $1 == 2 } END { exit bad || NR == 0 }'

"$arrays" quaternions quaternions.npz
run 0 contacts cube.body.json slab.body.json --poses quaternions.npz -o q.npz -q \
  --device "$device" --smoothing sharp.json
says stderr 'abut: warning: poses with a quaternion of length 0: 1 of 3, the first has index 1. Their rows are NaN.'
array q.npz status '{ s = s $1 } END { exit s != "020" }'
array q.npz d 'NR > 4 && NR <= 8 { e = $1 + 0.02; bad += e * e > 1e-10 } END { exit bad != 0 }'

# ---- compact lists ----

run 0 contacts cube.body.json slab.body.json --poses poses.csv -o list.npz --compact 0.5 \
  --device "$device" --smoothing sharp.json --precision $wide
has stdout '\(activity >= 0\.5\)'
"$arrays" show list.npz > stdout
for name in p d n activity; do
  if grep -q "^$name " stdout; then fail "$name is there beside the list"; else pass; fi
done
has stdout '^compact_feature uint32 [0-9]+ 2$'
has stdout "^compact_p $type [0-9]+ 3\$"
array list.npz compact_threshold '{ bad += $1 != 0.5 } END { exit bad || NR != 1 }'
# It holds what the dense arrays say, in their order.
"$arrays" show sharp.npz activity |
  awk '$1 >= 0.5 { print int((NR - 1) / 304), (NR - 1) % 304, $1 }' > wanted
for name in pose slot activity; do "$arrays" show list.npz compact_$name > list_$name; done
paste -d ' ' list_pose list_slot list_activity > got
if [ -s wanted ] && cmp -s wanted got; then pass; else fail 'the list is not the dense arrays'; fi
array list.npz compact_feature 'NR <= 8 && NR % 2 { bad += $1 != 4 + (NR - 1) / 2 }
  NR <= 8 && NR % 2 == 0 { bad += $1 != 4294967295 } END { exit bad != 0 }'
# All contacts of 40 poses: more than the first guess.
{ echo $header; for i in 0 1 2 3; do for j in 0 1 2 3 4 5 6 7 8 9; do
  echo 0,0,0,0,0,0,0,0,0.98,0,0,0.$i$j; done; done; } > forty.csv
run 0 contacts cube.body.json slab.body.json --poses forty.csv -o all.npz --compact 0 \
  --device "$device" -q
"$arrays" show all.npz > stdout
says stdout 'compact_d float32 2560'

# ---- large calls ----

# Said before there is no memory for them, which a limit sees to; a sanitizer needs more itself.
if [ -n "$failing" ]; then
  { echo $header; awk 'BEGIN { for (i = 0; i < 500000; i++) print "0,0,0,0,0,0,0,0,1,0,0,0" }'; } \
    > many.csv
  (ulimit -v 3000000 && "$abut" contacts cube.body.json slab.body.json --poses many.csv -o no.npz \
    --device host -q --smoothing sharp.json) > stdout 2> stderr
  says stderr 'abut: warning: 500000 poses of 304 contacts each, with all pairs of 12 and 12 edges, 5.47 GB to write'
  rm many.csv
  # A ring of many edges, all of which are kept.
  awk 'BEGIN { n = 1500; for (i = 0; i < n; i++) { a = i * 6.283185307 / n
      print "v", cos(a), sin(a), 0; print "v", cos(a), sin(a), 1 }
    for (i = 0; i < n; i++) { k = (i + 1) % n
      print "f", 2 * i + 1, 2 * k + 1, 2 * k + 2, 2 * i + 2 } }' > ring.obj
  sed 's/cube\.obj/ring.obj/' cube.body.json > ring.body.json
  (ulimit -v 500000 && "$abut" contacts ring.body.json ring.body.json --poses poses.csv -o no.npz \
    --device host -q --smoothing sharp.json) > stdout 2> stderr
  says stderr 'abut: warning: 3 poses of 40506000 contacts each, with all pairs of 4500 and 4500 edges, 4.37 GB to write'
  absent no.npz
fi

# ---- render ----

run 0 render cube.body.json slab.body.json --poses poses.csv -o out.png --width 64 --height 48 \
  --device "$device"
has stdout '^pose 0 of 3, 64 x 48 pixels, .* s on '
if [ "$(head -c 4 out.png | tail -c 3)" = PNG ]; then pass; else fail 'out.png is no PNG'; fi
run 0 render cube.body.json slab.body.json --poses poses.csv -o other.png --width 64 --height 48 \
  --index 2 --azimuth -30 --elevation 60 --zoom 0.5 --no-contacts --threshold 0.2 \
  --smoothing sharp.json --device "$device" -q
empty stdout 'render -q'
empty stderr 'render -q'
if cmp -s out.png other.png; then fail 'the view changes nothing'; else pass; fi
wrong 'poses.csv: there is no pose 3; it holds 3, from 0 on' \
  render cube.body.json slab.body.json --poses poses.csv -o no.png --index 3
wrong 'none.csv: holds no poses' render cube.body.json slab.body.json --poses none.csv -o no.png
run 2 render cube.body.json slab.body.json --poses not-finite.csv -o no.png --index 1 -q \
  --device "$device"
has stderr '^abut: .*finite'
absent no.png
# Finite, though beyond float: drawn from very far away, not refused.
run 0 render cube.body.json slab.body.json --poses not-finite.csv -o far.png --index 3 -q \
  --width 32 --height 32 --device "$device" --smoothing sharp.json
there far.png

# Others around the pair: each in its place, by whichever spelling; `same` pictures are equal to the byte.
also() {
  out=$1
  shift
  run 0 render cube.body.json slab.body.json --poses poses.csv --width 64 --height 48 --smoothing sharp.json \
    --device "$device" -q "$@" -o "$out"
  empty stderr "render $*"
}
same() { if cmp -s "$1" "$2"; then pass; else fail "$1 and $2 are two pictures"; fi; }
different() { if cmp -s "$1" "$2"; then fail "$1 and $2 are one picture"; else pass; fi; }
also alone.png
also one.png --also cube.body.json:0,3,0
different alone.png one.png
also other.png --also=cube.body.json:0.0,+3,0e0,2,0,0,0
same one.png other.png
also two.png --also cube.body.json:0,3,0 --also slab.body.json:0,0,-2
different one.png two.png
also other.png --also slab.obj:0,0,-2 --also cube.body.json:0,3,0
different two.png other.png # colours are by their order
also at.png --also cube.body.json
also other.png --also cube.body.json:0,0,0
same at.png other.png
mkdir a:1,2,3
cp cube.body.json cube.obj a:1,2,3
also other.png --also a:1,2,3/cube.body.json
also other.png --also a:1,2,3/cube.body.json:0,3,0
different at.png other.png
rm -r a:1,2,3
run 0 render cube.body.json slab.body.json --poses poses.csv -o other.png --width 64 --height 48 --smoothing sharp.json \
  --device "$device" --also slab.obj:0,3,0 --cells 16
has stderr '^abut: slab\.obj: 6 faces.*; field of 16 cells'
forms='a pose is x,y,z or x,y,z,qw,qx,qy,qz'
with='render cube.body.json slab.body.json --poses poses.csv -o no.png --also'
for word in '1,2:2 numbers' '1:1 number' '1,2,3,4:4 numbers' '1,2,3,4,5,6:6 numbers' '1,2,3,4,5,6,7,8:8 numbers'; do
  usage "--also: \`slab.obj:${word%:*}\`: ${word#*:} behind the last colon; $forms" $with "slab.obj:${word%:*}"
done
usage "--also: \`slab.obj:1,x,3\`: \`x\` is not a number; $forms" $with slab.obj:1,x,3
usage "--also: \`slab.obj:1,2,nan\`: \`nan\` is not a number; $forms" $with slab.obj:1,2,nan
usage "--also: \`slab.obj:1,2,1e999\`: \`1e999\` is not a number; $forms" $with slab.obj:1,2,1e999
usage "--also: \`slab.obj:1,2, 3\`: \` 3\` is not a number; $forms" $with 'slab.obj:1,2, 3'
usage "--also: \`slab.obj:\`: \`\` is not a number; $forms" $with slab.obj:
usage '--also: `slab.obj:1,2,3,0,0,0,0`: the quaternion has length 0' $with slab.obj:1,2,3,0,0,0,0
usage '--also: `:1,2,3` names no body' $with :1,2,3
usage '--also names nothing' $with ''
wrong 'nowhere.obj: No such file or directory' $with nowhere.obj:1,2,3
wrong 'nowhere.obj: No such file or directory' $with nowhere.obj
wrong 'folder:x/nowhere.obj: No such file or directory' $with folder:x/nowhere.obj
printf '{"mesh": 3}' > bad.body.json
run 2 $with bad.body.json:0,0,1 -q --device "$device"
has stderr '^abut: bad\.body\.json:?.*'
absent no.png
usage 'contacts has no option --also' contacts cube.body.json slab.body.json --poses poses.csv -o no.npz \
  --also cube.body.json
cp one.png kept.png
wrong 'one.png: is an input of this command too' render cube.body.json slab.body.json --poses poses.csv -o one.png \
  --also one.png:0,0,1
same one.png kept.png
usage '--cells is for bare meshes, of which none is given' $with cube.body.json:0,0,1 --cells 16
has_said=$("$abut" render --help | grep -c 'x,y,z,qw,qx,qy,qz')
if [ "$has_said" -eq 1 ]; then pass; else fail 'render --help does not say what a pose is'; fi

# ---- bench ----

bodies='cube.body.json slab.body.json'
dev run 0 bench --json --batch 1 --what forward --device "$device" --variant vertices-only
json_is_valid stdout
for key in device precision variant what batch contacts seconds_median seconds_min poses_per_s; do
  has stdout "\"$key\": "
done
has stdout '"contacts": 648'
if grep -q ratio_to_forward stdout && ! grep -q '"ratio_to_forward": 1.0' stdout; then
  fail 'forward is not equal to itself'
else
  pass
fi
if [ -z "$usual" ]; then # each row takes half a second
  dev run 0 bench --batch 1 --variant one-sided --lanes 1 --device "$device"
  has stdout ', 1 lanes$'
  # shellcheck disable=SC2086 # two words
  dev run 0 bench $bodies --batch 1,3 --variant full,vertices-only,one-sided --device "$device" -q
  has stdout '^full +forward +1 +64 '
  has stdout '^vertices-only +forward +3 +16 '
  has stdout '^one-sided +forward +1 +8 '
  empty stderr 'bench -q'
  # shellcheck disable=SC2086 # two words
  dev run 0 bench $bodies --batch 2,3 --what vjp,forward,mean-gradient,jvp,hessian,list,list-vjp,jacobian,full-hessian --device "$device" -q
  has stdout 'poses/s x forward$'
  for what in vjp mean-gradient jvp hessian list list-vjp jacobian full-hessian; do has stdout "^full +$what +2 +64 .* [0-9]+\.[0-9][0-9]\$"; done
  has stdout '^full +forward +3 +64 .* 1\.00$'
  # shellcheck disable=SC2086 # two words
  dev run 0 bench $bodies --batch 2 --what list --apart 0.5 --device "$device" -q
  has stdout '^full +list +2 +64 '
  has stdout '^ +[0-9.]+ entries a pose, of activity 0\.001 or more$'
  # shellcheck disable=SC2086 # two words
  dev run 0 bench $bodies --batch 3 --what list,forward --device "$device" -q --json --poses poses.csv \
    --smoothing sharp.json
  json_is_valid stdout
  if [ "$(grep -c '"entries_per_pose": ' stdout)" -eq 1 ]; then pass; else fail 'not one number of entries'; fi
  has stdout '"threshold": 0\.001'
  listed=$(sed -n 's/.*"entries_per_pose": \([0-9.]*\).*/\1/p' stdout)
  run 0 contacts cube.body.json slab.body.json --poses poses.csv -o entries.npz --compact 0.001 \
    --device "$device" --smoothing sharp.json -q
  "$arrays" show entries.npz compact_d | awk -v listed="$listed" \
    'END { e = NR - 3 * listed; exit !(NR > 0 && e * e < 1e-6) }'
  status=$?
  if [ $status -eq 0 ]; then pass; else fail "bench lists $listed a pose"; fi
fi
dev usage '--apart: 2000 is not in -1000 to 1000' bench --apart 2000
dev usage '--apart makes poses: give it without --poses' bench --apart 0 --poses poses.csv
if [ -z "$usual" ]; then
  # shellcheck disable=SC2086 # two words
  dev run 0 bench $bodies --batch 2 --what jvp --device "$device" -q
  has stdout '^full +jvp +2 +64 .* -$'
  # shellcheck disable=SC2086 # two words
  dev run 0 bench $bodies --batch 2 --what vjp,forward --json --device "$device" -q --precision $wide
  json_is_valid stdout
  if [ "$(grep -c '"ratio_to_forward"' stdout)" -eq 2 ]; then pass; else fail 'not two ratios'; fi
  dev run 0 bench cube.obj slab.obj --json --batch 2 --device "$device" --poses poses.csv \
    --smoothing sharp.json --precision $both --vertices all
  has stdout "\"precision\": \"$wide\""
  has stdout '"contacts": 304'
  if [ "$(grep -c '"poses_per_s"' stdout)" -eq 2 ]; then pass; else fail 'not two results'; fi
fi
dev wrong 'none.csv: holds no poses' bench --poses none.csv

# ---- usage ----

pair='cube.body.json slab.body.json --poses poses.csv'
usage 'which command? devices, field, remesh, inspect, decompose, import, simulate, transition, rollout-gradient, compare, film, contacts, suggest, gradient, jvp, jacobian, merge, closest, ccd, render or view'
dev usage 'which command? gradcheck, bench or tune'
dev usage 'there is no command `contacts`' contacts
usage 'there is no command `contact`' contact cube.obj slab.obj
usage 'option --frobnicate is unknown or ambiguous' contacts --frobnicate
usage 'option --p is unknown or ambiguous' contacts --p
usage 'there is no option -x' contacts -x
usage '--poses is given twice' contacts --poses poses.csv --poses poses.csv
usage '--output is given twice' contacts -o a.npz cube.obj --output=b.npz
usage 'contacts has no option --batch' contacts --batch 3
usage 'devices has no option --poses' devices --poses poses.csv
usage '--quiet takes no value' devices --quiet=yes
usage '--poses needs a value' contacts cube.obj slab.obj --poses
usage '-o needs a value' contacts cube.obj slab.obj -o
usage '`here` is one word too many' devices here
usage 'contacts needs two bodies, A and B' contacts cube.obj --poses poses.csv -o no.npz
usage 'contacts needs --poses P' contacts cube.obj slab.obj -o no.npz
usage 'render needs --poses P' render cube.obj slab.obj -o no.png
usage 'render needs two bodies, A and B' render
dev usage 'bench needs two bodies, A and B, a scene, or none' bench cube.obj
# shellcheck disable=SC2086 # several words
{
  usage 'contacts needs -o OUT.npz' contacts $pair
  usage 'render needs -o OUT.png' render $pair
  usage '`more` is one word too many' contacts $pair more -o no.npz
  usage '--precision: `f16` is neither f32 nor f64' contacts $pair -o no.npz --precision f16
  usage '--compact: `0.1x` is not a number' contacts $pair -o no.npz --compact 0.1x
  usage '--compact: `` is not a number' contacts $pair -o no.npz --compact ''
  usage '--compact: `nan` is not a number' contacts $pair -o no.npz --compact nan
  usage '--compact: `0x1` is not a number' contacts $pair -o no.npz --compact 0x1
  usage '--compact: 1.5 is not in 0 to 1' contacts $pair -o no.npz --compact 1.5
  usage '--chunk: `1 ` is not a whole number from 0 on' contacts $pair -o no.npz --chunk '1 '
  usage '--chunk: 0 is not in 1 to 4294967295' contacts $pair -o no.npz --chunk 0
  usage '--index: `-1` is not a whole number from 0 on' render $pair -o no.png --index -1
  usage '--index: `99999999999999999999` is not a whole number from 0 on' \
    render $pair -o no.png --index 99999999999999999999
  usage '--width: 0 is not in 1 to 16384' render $pair -o no.png --width 0
  usage '--zoom: 0 is not in 0.001 to 1000' render $pair -o no.png --zoom 0
  usage '--azimuth: `north` is not a number' render $pair -o no.png --azimuth north
}
dev usage '--what: there is no `jacobi`; possible: forward, mean-gradient, vjp, jvp, hessian, list, list-vjp, jacobian, full-hessian' bench --what jacobi
dev usage '--variant: there is no `ful`; possible: full, vertices-only, one-sided' bench --variant ful
dev usage '--precision: there is no `f16`; possible: f32, f64' bench --precision f32,f16
dev usage '--batch: `` is not a whole number from 0 on' bench --batch 1,,2
dev usage '--batch: `1.5` is not a whole number from 0 on' bench --batch 1.5
dev usage '--batch: 0 is not in 1 to 2147483648' bench --batch 0

# ---- input ----

missing='No such file or directory'
# shellcheck disable=SC2086 # several words
{
  wrong "no.obj: $missing" contacts no.obj slab.obj --poses poses.csv -o no.npz
  wrong "no.csv: $missing" contacts cube.obj slab.obj --poses no.csv -o no.npz
  wrong "no.json: $missing" contacts $pair -o no.npz --smoothing no.json
  run 2 contacts $pair -o no.npz --device 'no such device'
  has stderr '^abut: no device is called "no such device"; `abut devices` lists them$'
  run 2 contacts $pair -o no.npz --device 4294967295
  if [ $wide = f32 ]; then
    run 2 contacts $pair -o no.npz --device "$device" --precision f64
    has stderr '^abut: .* has no float64$'
  fi
  run 2 contacts $pair -o no.npz --lanes 3 --device "$device"
  has stderr '^abut: .*lane'
}
printf '{"name": "bad",\n "mesh": "cube.obj",\n "polyhedra": 3}\n' > bad.body.json
run 2 contacts bad.body.json slab.obj --poses poses.csv -o no.npz --device "$device"
has stderr '^abut: bad\.body\.json:3: .'
printf 'v 0 0 0\nv 1 0 0\nv 0 1 x\nf 1 2 3\n' > bad.obj
run 2 contacts cube.obj bad.obj --poses poses.csv -o no.npz --device "$device"
has stderr '^abut: bad\.obj:3: .'
printf '%s\n1,2,3\n' $header > bad.csv
run 2 contacts cube.obj slab.obj --poses bad.csv -o no.npz
has stderr '^abut: bad\.csv:2: .'
sed 's/"ridge"/"rigid"/' sharp.json > bad.json
# shellcheck disable=SC2086 # several words
run 2 contacts $pair -o no.npz --smoothing bad.json --device "$device"
has stderr '^abut: bad\.json:[0-9]+: .'
cp poses.csv poses.txt
run 2 contacts cube.obj slab.obj --poses poses.txt -o no.npz
has stderr '^abut: poses\.txt: .'
absent no.npz

# ---- output ----

mkdir full
# shellcheck disable=SC2086 # several words
{
  run 1 contacts $pair -o nowhere/out.npz
  says stderr "abut: nowhere/out.npz: the folder nowhere/: $missing"
  run 1 render $pair -o nowhere/out.png
  run 1 contacts $pair -o full
  says stderr 'abut: full: exists and is not a regular file'
  run 1 render $pair -o full/
  run 1 contacts $pair -o ''
  # A file size of 0 stands for a full disk.
  for command in 'contacts -o full/out.npz' 'render --width 64 --height 48 -o full/out.png'; do
    message=$( (ulimit -f 0 && "$abut" -q $command $pair --device host) 2>&1)
    status=$?
    echo "$message" > stderr
    if [ $status -eq 1 ]; then pass; else fail "status $status on a full disk: $command"; fi
    has stderr '^abut: full/out\.[npzg]+: .'
  done
}
absent full/out.npz
absent full/out.png
no_leftovers full
echo before > kept.npz
(ulimit -f 0 && "$abut" -q contacts cube.body.json slab.body.json --poses poses.csv \
  -o kept.npz --device host) 2> /dev/null
if [ "$(cat kept.npz)" = before ]; then pass; else fail 'a failed write touched the old file'; fi
# The mesh that a body file names is an input, too.
cp cube.obj before.obj
wrong 'cube.obj: is the mesh of cube.body.json, an input of this command' contacts \
  cube.body.json slab.obj --poses poses.csv -o cube.obj --device "$device"
sed 's/cube\.obj/cube.npz/' cube.body.json > named.body.json
cp cube.obj cube.npz
printf 'named.body.json,slab.obj\n' > named.csv
wrong 'cube.npz: is the mesh of named.body.json, an input of this command' contacts \
  --pairs named.csv --poses mixed.csv -o cube.npz --device "$device"
if cmp -s cube.obj before.obj; then pass; else fail 'an output replaced the mesh of an input'; fi
# An output that is an input, also by another name.
cp poses.csv input.csv
ln -s input.csv linked.csv
for name in input.csv ./input.csv linked.csv; do
  wrong "$name: is an input of this command too" contacts cube.obj slab.obj --poses input.csv \
    -o $name --device "$device"
  if cmp -s input.csv poses.csv; then pass; else fail "-o $name touched the input"; fi
done
# What a command writes ends as it should, which is found before anything else is done.
# shellcheck disable=SC2086 # several words
{
  usage '-o out.npy: contacts writes files that end with .npz' contacts $pair -o out.npy
  usage '-o out: jvp writes files that end with .npz' jvp $pair --tangents poses.csv -o out
  usage '-o .npz: gradient writes files that end with .npz' gradient $pair --mean-distance -o .npz
  usage '-o out.npz: render writes files that end with .png' render $pair -o out.npz
  usage '-o out.png: jacobian writes files that end with .npz' jacobian $pair -o out.png
  dev usage '-o out.npz: tune writes files that end with .json' tune -o out.npz
  usage '-o -: name a file; standard output is /dev/stdout' contacts $pair -o -
  usage '-o -: name a file; standard output is /dev/stdout' render $pair -o=-
  dev usage '-o -: name a file' tune -o -
  dev usage '-o /dev/null: tune writes files that end with .json' tune -o /dev/null
}
absent out.npy
absent out
absent -
# As --output=FILE is; of two words the second is the whole name.
# shellcheck disable=SC2086 # several words
{
  run 0 contacts $pair -q -o=equals.npz --device host
  there equals.npz
  run 0 contacts $pair -qo=grouped.npz --device host
  there grouped.npz
  run 0 contacts $pair -q -o '=named.npz' --device host
  there '=named.npz'
}
# Devices and pipes are written in place, and nothing else goes to standard output then.
# shellcheck disable=SC2086 # several words
{
  run 0 contacts $pair -o /dev/null --device host
  has stdout '^3 poses, '
  run 0 render $pair -o /dev/null --width 64 --height 48 --device host
  if [ -c /dev/null ]; then pass; else fail '/dev/null is no device any more'; fi
  run 0 contacts $pair -o piped.npz --device host
  mkfifo pipe
  for output in pipe /dev/stdout; do
    rm -f copy.npz
    case $output in
      pipe) cat pipe > copy.npz & "$abut" contacts $pair -o pipe -q --device host ;;
      *) "$abut" contacts $pair -o /dev/stdout --device host 2> stderr | cat > copy.npz ;;
    esac
    wait
    if cmp -s piped.npz copy.npz; then pass; else fail "through $output come other bytes"; fi
  done
  "$abut" contacts $pair -o /dev/stdout -q --device host > straight.npz
  if cmp -s piped.npz straight.npz; then pass; else fail 'standard output gets other bytes'; fi
}

# ---- signals ----

# While an output is written, with files that have no name meanwhile and with others.
if [ -n "$failing" ]; then
  mkdir ended
  if [ -n "$usual" ]; then signals=15; else signals='1 2 15'; fi
  for named in '' yes; do
    for number in $signals; do
      for command in contacts 'render --width 64 --height 48'; do
        case $command in contacts) ending=npz ;; *) ending=png ;; esac
        echo before > ended/old.$ending
        for name in new old; do
          # shellcheck disable=SC2086 # several words
          ABUT_TEST_SIGNAL=$number ${named:+env ABUT_TEST_NAMED=1} env LD_PRELOAD="$failing" \
            "$abut" $command $pair -q --device host -o ended/$name.$ending > stdout 2> stderr
          status=$?
          if [ $status -eq $((128 + number)) ]; then pass; else fail "signal $number ends with $status"; fi
        done
        absent ended/new.$ending
        if [ "$(cat ended/old.$ending)" = before ]; then pass; else fail "signal $number: another old.$ending"; fi
        no_leftovers ended
      done
    done
  done
  if [ "$(find ended -type f | grep -c .)" -eq 2 ]; then pass; else fail "ended holds $(ls -A ended)"; fi
  # What ignores a signal goes on ignoring it.
  # shellcheck disable=SC2086 # several words
  (trap '' HUP && ABUT_TEST_SIGNAL=1 LD_PRELOAD="$failing" "$abut" contacts $pair -q --device host \
    -o ended/kept.npz) > stdout 2> stderr
  there ended/kept.npz
fi

if [ -c /dev/full ]; then
  "$abut" contacts cube.body.json slab.body.json --poses poses.csv -o /dev/full --device host -q \
    > stdout 2> stderr
  status=$?
  if [ $status -eq 1 ]; then pass; else fail "status $status with a full device"; fi
  has stderr '^abut: /dev/full: .*No space left'
  "$abut" devices > /dev/full 2> stderr
  status=$?
  if [ $status -eq 1 ]; then pass; else fail "status $status with a full standard output"; fi
  has stderr '^abut: standard output: '
fi

finish
