#!/bin/sh
# Collision in time as a user meets it: ccd.sh ABUT ARRAYS GOLDEN, see support.sh.
# With ABUT_SHARED, which names a folder beside the checkout, the benchmark's queries of that folder, too.
# shellcheck disable=SC2016 # the marks are awk's
# shellcheck source=tests/cli/support.sh
. "$(dirname "$0")/support.sh"

golden_ccd=$golden/../golden-ccd

# ccd ARGUMENTS...: two meshes, without an error; queries ARGUMENTS...: a file of queries
ccd() { run 0 ccd "$@" --device "$device"; }
queries() { run 0 ccd-queries "$@" --device "$device"; }
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
    i=$((i + 1))
  done
}
golden_pairs f32 1e-4 1e-2 2e-2
if [ "$wide" = f64 ]; then golden_pairs f64 1e-8 1e-5 1e-5; fi

# ---- golden answers of queries ----

# golden_queries PRECISION: never later than what is true, nor earlier than rounding may be
golden_queries() {
  queries "$golden_ccd/queries.npz" --precision "$1" -o golden.npz
  empty stderr "golden queries in $1"
  has stdout '^queries +226$'
  has stdout '^false_negatives +0$'
  for name in status toi_hi "early_$1"; do "$arrays" show "$golden_ccd/queries.npz" "$name" > "want.$name"; done
  "$arrays" show golden.npz status > got.status
  "$arrays" show golden.npz toi > got.toi
  if paste got.status got.toi want.status want.toi_hi "want.early_$1" | awk '
    function number(x) { return x == "inf" ? 1e300 : x + 0 }
    { status = $1 % 8; toi = number($2); true = $3; late = number($4); early = number($5)
      if (true == 3 || true == 4) good = status == true && toi == 0
      else if (true == 0) good = status == 0 || ((status == 1 || status == 2) && early <= toi && early < 1e300)
      else good = ((status == 1 || status == 2) && toi <= late && (status == 2 || toi >= early)) || (status == 3 && early == 0)
      if (!good) { print "query " NR - 1 ": " $0; bad++ } }
    END { exit bad || NR != 226 }' > complaints; then
    pass
  else
    fail "golden queries in $1: $(cat complaints)"
  fi
}
golden_queries f32
if [ "$wide" = f64 ]; then golden_queries f64; fi
shape golden.npz 'status uint8 226'
shape golden.npz "toi $type 226"
shape golden.npz 'iterations uint32 226 2'
has stdout '^true_hits +[1-9][0-9]*$'
has stdout '^iterations +mean [0-9.]+, most [0-9]+$'
has stdout '^microseconds_median +[0-9.e+]+$'
has stdout '^microseconds_mean +[0-9.e+]+$'
has stdout "^by certified on .*, $wide\$"
queries "$golden_ccd/queries.npz" --precision "$wide" --method additive --iterations 100
has stdout '^false_negatives +0$'
has stdout '^by additive on '
queries "$golden_ccd/queries.npz" --json -q
json_is_valid stdout
has stdout '^ *"queries": 226,$'
has stdout '^ *"false_negatives": 0,$'
queries "$golden_ccd/queries.npz" -o /dev/stdout
if [ "$(head -c 2 stdout)" = PK ]; then pass; else fail 'no .npz on standard output'; fi
# Without the truth, and with numbers that float rounds.
"$arrays" fill own.npz kind=2:w2,3 X0=2x4x3:0.1,0.2,1,1,0,0,-1,1,0,-1,-1,0 X1=2x4x3:0.1,0.2,-1,1,0,0,-1,1,0,-1,-1,0
queries own.npz -o own.out.npz
has stdout '^true_hits +unknown$'
queries own.npz --json
has stdout '^ *"true_hits": null,$'
array own.out.npz status 'NR == 1 && $1 != 1 { exit 1 }'
array own.out.npz toi 'NR == 1 && !($1 > 0.499 && $1 <= 0.5) { exit 1 }'
"$arrays" fill empty.npz kind=0:w0 X0=0x4x3:0 X1=0x4x3:0
queries empty.npz
says stderr 'abut: warning: empty.npz: holds no queries'
has stdout '^queries +0$'
# What is wrong with a query is its own fault.
"$arrays" fill negative.npz kind=2:w2 X0=2x4x3:0,0,1,1,0,0,-1,1,0,-1,-1,0 X1=2x4x3:0,0,1,1,0,0,-1,1,0,-1,-1,0 xi=2:-1,0
queries negative.npz -o negative.out.npz
has stdout '^rejected +1$'
array negative.out.npz status '$1 != (NR == 1 ? 4 : 0) { exit 1 }'
"$arrays" fill infinite.npz kind=1:w2 X0=1x4x3:inf X1=1x4x3:0
queries infinite.npz
has stdout '^rejected +1$'

# ---- rational numbers ----

# A point that falls through a triangle at the third of the way, and one that stays above it by 1e-40.
triangle=$(printf '1,1,0,1,0,1,1\n-1,1,1,1,0,1,1\n-1,1,-1,1,0,1,1')
other=$(echo "$triangle" | sed 's/1$/0/')
cat > pt.csv << END
0,7,0,1,1,3,1
$triangle
 0 , 1, 0,1,-2,3,1
$triangle

0,1,0,1,1,10000000000000000000000000000000000000000,0
$other
0,1,0,1,1,10000000000000000000000000000000000000000,0
$other
END
mkdir -p some/vertex-face some/edge-edge
sed 's/$/\r/' pt.csv > some/vertex-face/pt.csv
queries pt.csv --kind pt --precision "$wide" -o pt.npz
empty stderr 'queries of a .csv'
has stdout '^queries +2$'
has stdout '^true_hits +1$'
has stdout '^false_negatives +0$'
array pt.npz status 'NR == 1 && $1 != 1 { exit 1 }'
array pt.npz toi 'NR == 1 && !($1 > 0.33333 && $1 < 0.33334) { exit 1 }'
queries some/vertex-face/pt.csv --precision "$wide" -o path.npz
"$arrays" show pt.npz toi > first
"$arrays" show path.npz toi > second
if cmp -s first second; then pass; else fail 'the kind of the path differs'; fi
cp pt.csv some/edge-edge/pt.csv
queries some/edge-edge/pt.csv --kind pt
says stderr 'abut: warning: some/edge-edge/pt.csv: its path says edge-edge; --kind pt is taken'
sed '1,8s/1$/0/; 9,17s/0$/1/' pt.csv > liar.csv
queries liar.csv --kind pt --precision "$wide"
has stdout '^false_positives +1$'
# Queries may be of numbers that float cannot hold.
sed 's/^0,7,0,1,1,3,1/0,7,0,1,1000000000000000000000000000000000000000,1,1/' pt.csv > far.csv
if [ "$wide" = f64 ]; then queries far.csv --kind pt --precision f64; fi

benchmark=${ABUT_SHARED:+$ABUT_SHARED/data/ccd-queries}
if [ -d "$benchmark" ]; then
  for precision in f32 "$wide"; do
    for file in "$benchmark"/*/*/*.csv; do
      queries "$file" --precision $precision
      cat stdout >> "benchmark.$precision"
    done
    has "benchmark.$precision" '^true_hits +[1-9]'
    if awk -v most="$([ $precision = f64 ] && echo 1 || echo 929)" '{ sum[$1] += $2 }
      END { exit sum["queries"] != 929 || sum["false_negatives"] || sum["false_positives"] > most || sum["rejected"] }' "benchmark.$precision"; then
      pass
    else
      fail "the benchmark's queries in $precision: $(awk '{ sum[$1] += $2 } END { for (s in sum) print s, sum[s] }' "benchmark.$precision")"
    fi
  done
fi

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

usage 'ccd-queries needs a file of queries' ccd-queries
usage '`pt.csv` is one word too many' ccd-queries pt.csv pt.csv
usage 'cube.obj: queries end with .csv or .npz' ccd-queries cube.obj
usage '--kind: there is no `vf`; possible: pt, ee' ccd-queries pt.csv --kind vf
usage '--kind is of a .csv; an .npz has the kind of each query' ccd-queries own.npz --kind pt
usage '--method: there is no `exact`; possible: certified, additive' ccd-queries own.npz --method exact
usage '--precision: `f16` is neither f32 nor f64' ccd-queries own.npz --precision f16
usage '-o no.csv: ccd-queries writes files that end with .npz' ccd-queries own.npz -o no.csv
wrong 'pt.csv: neither --kind nor one of the folders vertex-face and edge-edge in its path says of which kind the queries are' \
  ccd-queries pt.csv
wrong 'nowhere.csv: No such file or directory' ccd-queries nowhere.csv --kind pt
cp own.npz input.npz
wrong 'input.npz: is an input of this command too' ccd-queries input.npz -o input.npz
if cmp -s own.npz input.npz; then pass; else fail 'the queries are written over'; fi
# malformed SED TEXT: what an edit of pt.csv is refused with
malformed() {
  sed "$1" pt.csv > malformed.csv
  wrong "malformed.csv$2" ccd-queries malformed.csv --kind pt -o no.npz
}
malformed '2s/,[01]$//' ':2: 6 columns, not the 7 of a vertex: numerator and denominator of x, y and z, and 0 or 1'
malformed '3s/$/,1/' ':3: 8 columns, not the 7 of a vertex: numerator and denominator of x, y and z, and 0 or 1'
malformed '1s/.*/0/' ':1: 1 column, not the 7 of a vertex: numerator and denominator of x, y and z, and 0 or 1'
malformed '2s/^1/inf/' ":2: column 1: 'inf' is not a whole number"
malformed '2s/^1/1e3/' ":2: column 1: '1e3' is not a whole number"
malformed '2s/^1//' ":2: column 1: '' is not a whole number"
malformed '2s/^1,1/1,0/' ":2: column 2: '0' is not a whole number above 0, as denominators are"
malformed '2s/^1,1/1,-1/' ":2: column 2: '-1' is not a whole number above 0, as denominators are"
malformed '4s/1$/2/' ":4: column 7: '2' is neither 0, free, nor 1, a hit"
malformed '4s/1$/0/' ':4: column 7: 0, but 1 in line 1 of the same query'
malformed '17d' ':10: the last query has 7 lines, not the 8 of four vertices at two times'
malformed d ': holds no queries'
wrong 'far.csv:1: columns 5 and 6: the quotient is beyond float32; try --precision f64' \
  ccd-queries far.csv --kind pt --precision f32 -o no.npz
# arrays_of TEXT NAME=SHAPE:VALUE...: what an .npz is refused with
arrays_of() {
  text=$1
  shift
  rm -f wrong.npz
  "$arrays" fill wrong.npz "$@"
  wrong "wrong.npz: $text" ccd-queries wrong.npz -o no.npz
}
arrays_of "array 'kind' is missing" X0=1x4x3:0 X1=1x4x3:0
arrays_of "array 'kind' is not of shape (N,)" kind=1x1:w0 X0=1x4x3:0 X1=1x4x3:0
arrays_of "array 'X1' is missing" kind=1:w0 X0=1x4x3:0
arrays_of "array 'X0': shape (2, 4, 3), not (1, 4, 3): a row a query" kind=1:w0 X0=2x4x3:0 X1=1x4x3:0
arrays_of "array 'xi': shape (2,), not (1,): a row a query" kind=1:w0 X0=1x4x3:0 X1=1x4x3:0 xi=2:0
arrays_of "array 'kind': row 1, counted from 0: 4 is not one of 0 to 3" kind=2:w0,4 X0=2x4x3:0 X1=2x4x3:0
arrays_of "array 'status': row 0, counted from 0: -1 is not one of 0 to 4" kind=1:w0 X0=1x4x3:0 X1=1x4x3:0 status=1:w-1
arrays_of "array 'X0': row 0, counted from 0: 1e+39 is beyond float32; --precision f64 takes it" \
  kind=1:w0 X0=1x4x3:1e39 X1=1x4x3:0
cp pt.csv text.npz
run 2 ccd-queries text.npz -o no.npz
has stderr '^abut: text\.npz: not an \.npz archive'
absent no.npz
absent no.csv
no_leftovers .

finish
