#!/bin/sh
# Collision in time as a user meets it: ccd.sh ABUT ARRAYS GOLDEN, see support.sh.
# shellcheck disable=SC2016 # the marks are awk's
# shellcheck source=tests/cli/support.sh
. "$(dirname "$0")/support.sh"

golden_ccd=$golden/../golden-ccd

# ccd ARGUMENTS...: two meshes, without an error
ccd() { run 0 ccd "$@" --device "$device"; }
# shape FILE TEXT: an array's line
shape() {
  "$arrays" show "$1" > shown
  says shown "$2"
}
# row NUMBERS WIDTH I: row I of numbers, one a line, with commas between them
row() { awk -v width="$2" -v i="$3" 'int((NR - 1) / width) == i { printf "%s%s", (n++ ? "," : ""), $1 }' "$1"; }
# within NAME LIMIT [LEAST]: of `got` and `want`, numbers one a line, by the largest of want, or LEAST where that is larger
within() {
  if paste got want | awk -v limit="$2" -v least="${3:-0}" 'BEGIN { most = least^2 }
    { e = ($1 - $2)^2; if (e > worst) worst = e; if ($2^2 > most) most = $2^2; bad += NF != 2 }
    END { exit bad || !NR || !(worst <= limit^2 * most) }'; then
    pass
  else
    fail "$1: $(tr '\n' ' ' < got), not $(tr '\n' ' ' < want)"
  fi
}

# ---- two boxes that meet ----

poses_header=x1,y1,z1,qw1,qx1,qy1,qz1,x2,y2,z2,qw2,qx2,qy2,qz2
cat > from.csv << END
$poses_header
0,0,0,1,0,0,0,0,0,2,1,0,0,0
0,0,0,1,0,0,0,0,0,2,1,0,0,0
0,0,0,1,0,0,0,0,0,0.5,1,0,0,0
END
cat > to.csv << END
$poses_header
0,0,0,1,0,0,0,0,0,0,1,0,0,0
0,0,0,1,0,0,0,5,0,2,1,0,0,0
0,0,0,1,0,0,0,0,0,0.6,1,0,0,0
END
ccd cube.obj slab.body.json --from from.csv --to to.csv --separation 0.1 -o boxes.npz --precision "$wide"
has stdout '^3 poses: 1 free, 1 hit, 0 at the limit, 1 within, 0 rejected, least time 0, [0-9.e+-]+ s on .*, f(32|64)$'
empty stderr ccd
array boxes.npz toi 'NR == 1 && !($1 > 0.4499 && $1 <= 0.45) { exit 1 } NR == 2 && $1 != 1 { exit 1 } NR == 3 && $1 != 0 { exit 1 } END { exit NR != 3 }'
array boxes.npz status '$1 != (NR == 1 ? 1 : NR == 2 ? 0 : 3) { exit 1 }'
array boxes.npz kind 'NR == 1 && !($1 >= 0 && $1 <= 2) { exit 1 } NR == 2 && $1 != -1 { exit 1 }'
"$arrays" show boxes.npz n | head -n 3 > got
printf '0\n0\n-1\n' > want
within 'the normal' 1e-5
"$arrays" show boxes.npz p_a | sed -n 3p > got
"$arrays" show boxes.npz p_b | sed -n 3p >> got
printf '0.5\n0.6\n' > want
within 'nearest points' 1e-3
shape boxes.npz "toi $type 3"
shape boxes.npz 'status uint8 3'
shape boxes.npz 'kind int32 3'
shape boxes.npz 'feature_a uint32 3'
shape boxes.npz 'feature_b uint32 3'
shape boxes.npz "p_a $type 3 3"
shape boxes.npz "p_b $type 3 3"
shape boxes.npz "n $type 3 3"
shape boxes.npz 'candidates uint32 3'
if grep -qE '^(dtoi|smoothing)' shown; then fail 'more than was asked for'; else pass; fi
ccd cube.obj slab.obj --from from.csv --to to.csv --keep 0.1 -o keep.npz -q --precision "$wide"
empty stdout -q
array keep.npz toi 'NR == 1 && !($1 > 0.4499 && $1 <= 0.4501) { exit 1 }'
# A mesh in millimetres, at the same numbers.
awk '$1 == "v" { $2 *= 1000; $3 *= 1000; $4 *= 1000 } { print }' cube.obj > cube-in-mm.obj
ccd cube-in-mm.obj slab.obj --from from.csv --to to.csv --separation 0.1 -o bare.npz
has stderr '^abut: warning: cube-in-mm\.obj: .* \(--scale 0\.001\)$'
ccd cube-in-mm.obj slab.body.json --from from.csv --to to.csv --separation 0.1 -o bare.npz --scale 0.001 --precision "$wide"
empty stderr 'a mesh in millimetres'
"$arrays" show boxes.npz toi > want
"$arrays" show bare.npz toi > got
within 'a mesh in millimetres' 1e-5
# Whatever the chunks are, it is the same to the bit.
ccd cube.obj slab.body.json --from from.csv --to to.csv --separation 0.1 -o chunks.npz --precision "$wide" --chunk 1 -q
for name in toi status kind feature_a feature_b p_a p_b n candidates; do
  "$arrays" show boxes.npz $name > first
  "$arrays" show chunks.npz $name > second
  if cmp -s first second; then pass; else fail "$name by chunks of 1 differs"; fi
done
ccd cube.obj slab.obj --from from.csv --to to.csv --separation 0.1 --gradient -o slopes.npz --precision "$wide"
shape slopes.npz "dtoi_a $type 3 12"
shape slopes.npz "dtoi_b $type 3 12"
# Moving the slab up by tau at time 1 alone: the hit at 0.45 of 2 m, so by 0.45 / 2 a metre.
"$arrays" show slopes.npz dtoi_b | sed -n '3p; 9p' > got
printf '0.275\n0.225\n' > want
within 'derivatives' 1e-3
array slopes.npz dtoi_a 'NR > 12 && $1 != 0 { exit 1 }'
ccd cube.obj cube.obj --from poses.csv --to poses.csv --motion arc --center1 0.1,0,0 --center2 0,-.5,1e-2 --iterations 20 \
  --tolerance 1e-4 -o still.npz
has stdout '^3 poses: '
# What the tolerance is without the option, and less, may be said.
ccd cube.obj slab.obj --from from.csv --to to.csv --tolerance 0 -o zero.npz
ccd cube.obj slab.obj --from from.csv --to to.csv --tolerance 1e-9 -o least.npz
ccd cube.obj slab.obj --from from.csv --to to.csv -o /dev/stdout
if [ "$(head -c 2 stdout)" = PK ]; then pass; else fail 'no .npz on standard output'; fi
ccd cube.obj slab.obj --from from.csv --to to.csv -o timed.npz --timeline timed
there timed.json
there timed.png
ccd cube.obj slab.obj --from none.csv --to none.csv -o none.npz
says stderr 'abut: warning: none.csv: holds no poses; what is written holds none either'
has stdout '^0 poses: 0 free, '
shape none.npz 'toi float32 0'
ccd cube.obj slab.obj --from not-finite.csv --to not-finite.csv -o bad.npz
says stderr 'abut: warning: poses that are not finite, or too far out, or with a quaternion of length 0: 3 of 4, the first has index 1. Their times are 0.'
has stdout ', 3 rejected, '
array bad.npz status '(NR > 1) != ($1 == 4) { exit 1 }'

# ---- golden answers of meshes ----

for i in 0 1 2 3; do
  "$arrays" show "$golden_ccd/rigid.npz" "vertices$i" | awk '{ printf "%s%s", NR % 3 == 1 ? "v " : " ", $1 } NR % 3 == 0 { print "" }' > "mesh$i.obj"
  "$arrays" show "$golden_ccd/rigid.npz" "faces$i" | awk '{ printf "%s%d", NR % 3 == 1 ? "f " : " ", $1 + 1 } NR % 3 == 0 { print "" }' >> "mesh$i.obj"
done
for name in body_a body_b a0 a1 b0 b1 xi arc status toi smooth normal dtoi_a dtoi_b; do
  "$arrays" show "$golden_ccd/rigid.npz" $name > "rigid.$name"
done
one() { row "rigid.$1" 1 "$i"; }
# golden_slopes BODY LIMIT: of row i, which is smooth
golden_slopes() {
  row "rigid.dtoi_$1" 12 "$i" | tr ',' '\n' > want
  echo >> want
  "$arrays" show rigid.npz "dtoi_$1" > got
  within "dtoi_$1 of row $i" "$2" 1
}
# golden_pairs PRECISION EARLY SLOPE NORMAL: all of them, and by how much they may differ
golden_pairs() {
  i=0
  while [ $i -lt "$(wc -l < rigid.toi)" ]; do
    motion=linear
    if [ "$(one arc)" = 1 ]; then motion=arc; fi
    "$arrays" fill p0.npz "pose1=1x7:$(row rigid.a0 7 $i)" "pose2=1x7:$(row rigid.b0 7 $i)"
    "$arrays" fill p1.npz "pose1=1x7:$(row rigid.a1 7 $i)" "pose2=1x7:$(row rigid.b1 7 $i)"
    ccd "mesh$(one body_a).obj" "mesh$(one body_b).obj" --from p0.npz --to p1.npz --motion $motion --separation "$(one xi)" \
      --gradient --precision "$1" -o rigid.npz
    array rigid.npz toi "!(\$1 <= $(one toi) + 1e-11 && \$1 >= $(one toi) - $2) { exit 1 }"
    array rigid.npz status "\$1 % 8 != $(one status) { exit 1 }"
    if [ "$(one smooth)" = 1 ]; then
      row rigid.normal 3 $i | tr ',' '\n' > want
      echo >> want
      "$arrays" show rigid.npz n > got
      within "the normal of row $i" "$4"
      golden_slopes a "$3"
      golden_slopes b "$3"
    fi
    i=$((i + every))
  done
}
if [ -n "$usual" ]; then every=8; else every=1; fi # so many of the rows
golden_pairs f32 1e-4 1e-2 2e-2
if [ "$wide" = f64 ]; then golden_pairs f64 1e-8 1e-5 1e-5; fi

# ---- what is refused ----

boxes='cube.obj slab.obj --from from.csv --to to.csv'
usage 'ccd needs two meshes, A and B' ccd cube.obj --from from.csv --to to.csv -o no.npz
usage '`slab.obj` is one word too many' ccd cube.obj slab.obj slab.obj --from from.csv --to to.csv -o no.npz
usage 'ccd needs --from P0' ccd cube.obj slab.obj --to to.csv -o no.npz
usage 'ccd needs --to P1' ccd cube.obj slab.obj --from from.csv -o no.npz
# shellcheck disable=SC2086 # several words
{
  usage 'ccd needs -o OUT.npz' ccd $boxes
  usage '-o no.csv: ccd writes files that end with .npz' ccd $boxes -o no.csv
  usage '--separation: -1 is not in 0 to 1e+09' ccd $boxes -o no.npz --separation -1
  usage '--separation: `inf` is not a number' ccd $boxes -o no.npz --separation inf
  usage '--keep: 1 is not in 0 to 0.999' ccd $boxes -o no.npz --keep 1
  usage '--tolerance: -1e-9 is not in 0 to 1e+09' ccd $boxes -o no.npz --tolerance -1e-9
  usage '--iterations: 0 is not in 1 to 1000000' ccd $boxes -o no.npz --iterations 0
  usage '--motion: there is no `screw`; possible: linear, arc' ccd $boxes -o no.npz --motion screw
  usage '--center1 is of --motion arc' ccd $boxes -o no.npz --center1 0,0,0
  usage '--center2 is of --motion arc' ccd $boxes -o no.npz --motion linear --center2 0,0,0
  usage '--center1: `0,0` is not 3 numbers' ccd $boxes -o no.npz --motion arc --center1 0,0
  usage '--center2: `0,0,0,0` is not 3 numbers' ccd $boxes -o no.npz --motion arc --center2 0,0,0,0
  usage '--center1: `z` is not a number' ccd $boxes -o no.npz --motion arc --center1 0,0,z
  usage 'ccd has no option --poses' ccd $boxes -o no.npz --poses poses.csv
  usage 'ccd has no option --json' ccd $boxes -o no.npz --json
  run 1 ccd $boxes -o nowhere/no.npz --device "$device"
}
wrong 'to.csv: holds 3 poses, but none.csv 0' ccd cube.obj slab.obj --from none.csv --to to.csv -o no.npz
wrong 'poses.csv: holds twists, but from.csv positions and quaternions' \
  ccd cube.obj slab.obj --from from.csv --to poses.csv -o no.npz
wrong 'nowhere.csv: No such file or directory' ccd cube.obj slab.obj --from from.csv --to nowhere.csv -o no.npz
wrong 'nowhere.obj: No such file or directory' ccd cube.obj nowhere.obj --from from.csv --to to.csv -o no.npz
printf '%s\n0,0,0,1,0,0,0,0,0,2,1,0,0\n' $poses_header > narrow.csv
wrong 'narrow.csv:2: 13 columns, not the 14 of the header' ccd cube.obj slab.obj --from narrow.csv --to to.csv -o no.npz
"$arrays" fill input.npz "pose1=1x7:0,0,0,1,0,0,0" "pose2=1x7:0,0,2,1,0,0,0"
cp input.npz before.npz
wrong 'input.npz: is an input of this command too' ccd cube.obj slab.obj --from input.npz --to input.npz -o input.npz
if cmp -s input.npz before.npz; then pass; else fail 'the poses are written over'; fi
printf 'v 0 0 0\nv 1 zero 0\n' > bad.obj
run 2 ccd cube.obj bad.obj --from from.csv --to to.csv -o no.npz --device "$device"
has stderr '^abut: bad\.obj:2: '
printf 'v 0 0 0\nv 1 0 0\nv 0 2e6 0\nf 1 2 3\n' > huge.obj
run 2 ccd cube.obj huge.obj --from from.csv --to to.csv -o no.npz --device "$device"
has stderr '^abut: huge\.obj: '

absent no.npz
absent no.csv
no_leftovers .

finish
