#!/bin/sh
# Closest points as a user meets them: closest.sh ABUT ARRAYS GOLDEN, see support.sh.
# With ABUT_SHARED, which names a folder beside the checkout, golden answers of that folder, too.
# shellcheck disable=SC2016 # the marks are awk's
# shellcheck source=tests/cli/support.sh
. "$(dirname "$0")/support.sh"

# closest ARGUMENTS...: without an error
closest() { run 0 closest "$@" --device "$device"; }
# near FILE NAME NUMBERS...: an array's numbers, to 1e-5
near() {
  file=$1 name=$2
  shift 2
  "$arrays" show "$file" "$name" > numbers 2> stderr
  if echo "$*" | awk '{ for (i = 1; i <= NF; i++) want[i] = $i; count = NF }
    END { while ((getline got < "numbers") > 0) { n++; if (n > count || (got - want[n])^2 > 1e-10) exit 1 }
          exit n != count }'; then
    pass
  else
    fail "$name of $file is not $*: $(tr '\n' ' ' < numbers)"
  fi
}
# shape FILE TEXT: an array's line
shape() {
  "$arrays" show "$1" > shown
  says shown "$2"
}

# ---- shapes of a file ----

cat > shapes.json << 'END'
[{"kind": "box", "numbers": [[0.5, 0.5, 0.5]]},
 {"kind": "sphere", "numbers": [0.25]},
 {"kind": "hull", "numbers": [[[-0.5, -0.5, -0.5], [0.5, -0.5, -0.5], [0, 0.5, -0.5], [0, 0, 0.5]]]},
 {"kind": "capsule", "numbers": [[0.1, 0.3]], "position": [0, 0, 1]}]
END
zero=0,0,0,1,0,0,0
# A box and a sphere apart, two spheres in each other, a hull over a box, a capsule over a sphere.
"$arrays" fill rows.npz one=4:w0,1,0,1 two=4:w1,1,2,3 pose1=4x7:$zero \
  pose2=4x7:2,0,0,1,0,0,0,0,0,-0.4,1,0,0,0,0.1,0,1.5,1,0,0,0,0,0,0,2,0,0,0
closest --shapes shapes.json --poses rows.npz -o rows.out.npz --precision "$wide"
has stdout '^4 poses of 4 shapes, least distance -0\.1 m, 0 not converged, 0 rejected, [0-9.e+-]+ s on .*, f(32|64)$'
empty stderr closest
near rows.out.npz d 1.25 -0.1 0.5 0.35
near rows.out.npz n 1 0 0 0 0 -1 0 0 1 0 0 1
near rows.out.npz status 0 0 0 0
"$arrays" show rows.out.npz p1 | head -n 6 > numbers
"$arrays" show rows.out.npz p2 | head -n 6 >> numbers
if awk 'BEGIN { split("0.5 0 0 0 0 -0.25 1.75 0 0 0 0 -0.15", want, " ") } ($1 - want[NR])^2 > 1e-10 { exit 1 }' numbers; then
  pass
else
  fail "witness points: $(tr '\n' ' ' < numbers)"
fi
array rows.out.npz gap '$1 < 0 || $1 > 1e-5 { exit 1 } END { exit NR != 4 }'
shape rows.out.npz "d $type 4"
shape rows.out.npz "n $type 4 3"
shape rows.out.npz "p1 $type 4 3"
shape rows.out.npz "p2 $type 4 3"
shape rows.out.npz "gap $type 4"
shape rows.out.npz 'status uint8 4'
shape rows.out.npz 'iterations uint32 4'
shape rows.out.npz 'simplex int32 4 4 2'
if grep -qE '^(one|two|smoothing)' shown; then fail 'more than was asked for'; else pass; fi
closest --shapes shapes.json --poses rows.npz -o rows32.npz --quiet
empty stdout -q
shape rows32.npz 'd float32 4'
near rows32.npz d 1.25 -0.1 0.5 0.35
# Whatever the chunks are, it is the same to the bit.
closest --shapes shapes.json --poses rows.npz -o chunks.npz --precision "$wide" --chunk 1 -q
for name in d n p1 p2 gap; do
  "$arrays" show rows.out.npz $name > first
  "$arrays" show chunks.npz $name > second
  if cmp -s first second; then pass; else fail "$name by chunks of 1 differs"; fi
done
closest --shapes shapes.json --poses rows.npz -o /dev/stdout
if [ "$(head -c 2 stdout)" = PK ]; then pass; else fail 'no .npz on standard output'; fi
closest --shapes shapes.json --poses rows.npz -o timed.npz --timeline timed
there timed.json
there timed.png

# Two shapes need no one and two, and poses may be twists of a .csv.
cat > two.json << 'END'
[{"kind": "box", "numbers": [[0.5, 0.5, 0.5]]}, {"kind": "box", "numbers": [[2, 2, 0.5]], "radius": 0.1}]
END
closest --shapes two.json --poses poses.csv -o two.npz
has stdout '^3 poses of 2 shapes, least distance -0\.12 m, '
near two.npz d -0.12 0.4 -0.12
closest --shapes two.json --poses none.csv -o none.npz
has stderr '^abut: warning: none\.csv: holds no poses; what is written holds none either$'
has stdout '^0 poses of 2 shapes, 0 not converged'
shape none.npz 'd float32 0'

# ---- what became of rows ----

closest --shapes two.json --poses not-finite.csv -o bad.npz
says stderr 'abut: warning: poses that are not finite, or with a quaternion of length 0: 2 of 4, the first has index 1. Their rows are 0.'
has stdout ', 2 rejected, '
"$arrays" show bad.npz status > numbers
if [ "$(tr '\n' ' ' < numbers | cut -c1-6)" = '0 3 3 ' ]; then pass; else fail "status: $(cat numbers)"; fi
array bad.npz d 'NR == 1 && ($1 + 0.12)^2 > 1e-10 { exit 1 } (NR == 2 || NR == 3) && $1 != 0 { exit 1 }'
"$arrays" fill still.npz pose1=1x7:$zero pose2=1x7:0,0,1,0,0,0,0
closest --shapes two.json --poses still.npz -o still.out.npz
has stderr ' with a quaternion of length 0: 1 of 1, '
closest --shapes shapes.json --poses rows.npz -o cut.npz --cutoff 0.4
has stdout ', least distance -0\.1 m, 2 beyond the cutoff, 0 not converged'
near cut.npz status 4 0 4 0
array cut.npz d 'NR % 2 && $1 <= 0.4 { exit 1 }'
closest --shapes shapes.json --poses rows.npz -o cut.npz --cutoff -1
near cut.npz status 4 4 4 4
empty stderr --cutoff

# ---- bodies ----

closest cube.body.json slab.body.json --poses poses.csv -o hulls.npz
has stdout '^3 poses of 1 and 1 shapes, least distance -0\.02 m, 0 not converged, '
empty stderr 'closest of bodies'
near hulls.npz d -0.02 0.5 -0.02
near hulls.npz n 0 0 1 0 0 1 0 0 1
if "$arrays" show hulls.npz | grep -qE '^(one|two|smoothing)'; then fail 'more than was asked for'; else pass; fi
closest cube.body.json slab.body.json --poses poses.csv -o parts.npz --as polyhedra --precision "$wide"
near parts.npz d -0.02 0.5 -0.02
shape parts.npz 'one uint32 3'
shape parts.npz 'two uint32 3'
closest cube.body.json cube.body.json --poses poses.csv -o same.npz
near same.npz d -0.02 0.5 -0.02
# Of several shapes the nearest answers: two blobs, one of which takes away, and two more.
cat > blobs.body.json << 'END'
{"name": "blobs", "mesh": "cube.obj", "superquadrics": [
  {"axes": [0.1, 0.1, 0.1], "exponents": [1, 1], "position": [-1, 0, 0], "quaternion": [1, 0, 0, 0]},
  {"axes": [0.5, 0.5, 0.5], "exponents": [1, 1], "position": [0, 0, 0], "quaternion": [1, 0, 0, 0],
   "operation": "subtract"},
  {"axes": [0.2, 0.2, 0.2], "exponents": [1, 1], "position": [1, 0, 0], "quaternion": [1, 0, 0, 0]}]}
END
"$arrays" fill blobs.npz pose1=3x7:$zero pose2=3x7:4,0,0,1,0,0,0,-3,0,0,1,0,0,0,0,0,1,1,0,0,0
closest blobs.body.json blobs.body.json --poses blobs.npz -o blobs.out.npz --as superquadrics --precision "$wide"
has stdout '^3 poses of 2 and 2 shapes, '
says stderr 'abut: warning: blobs.body.json: 1 of 3 superquadrics are taken away, which is left out: what they hollow counts as full (contacts take it in)'
near blobs.out.npz d 1.7 0.7 0.6
near blobs.out.npz one 1 0 1
near blobs.out.npz two 0 1 1
near blobs.out.npz n 1 0 0 -1 0 0 0 0 1
# A bare mesh's hull is that of all its vertices, whether faces name them or not, and needs no field.
closest cube.obj slab.body.json --poses poses.csv -o bare.npz
empty stderr 'closest of a bare mesh'
near bare.npz d -0.02 0.5 -0.02
{ cat cube.obj; echo 'v 0 0 0.25'; } > cube-and-point.obj
{ cat cube.obj; echo 'v 0 0 1.5'; } > cube-and-apex.obj
closest cube-and-point.obj slab.obj --poses poses.csv -o bare.npz
near bare.npz d -0.02 0.5 -0.02
closest cube-and-apex.obj slab.obj --poses poses.csv -o bare.npz --precision "$wide"
"$arrays" show bare.npz d > first
closest cube.obj slab.obj --poses poses.csv -o bare.npz --precision "$wide"
"$arrays" show bare.npz d > second
if cmp -s first second; then fail 'a vertex without a face is left out'; else pass; fi
awk '$1 == "v" { $2 *= 1000; $3 *= 1000; $4 *= 1000 } { print }' cube.obj > cube-in-mm.obj
closest cube-in-mm.obj slab.body.json --poses poses.csv -o bare.npz
has stderr '^abut: warning: cube-in-mm\.obj: .* \(--scale 0\.001\)$'
closest cube-in-mm.obj slab.body.json --poses poses.csv -o bare.npz --scale 0.001
empty stderr 'closest of a mesh in millimetres'
near bare.npz d -0.02 0.5 -0.02

# ---- derivatives ----

closest --shapes shapes.json --poses rows.npz -o gumbel.npz --precision "$wide" --jacobian gumbel
has stdout ', derivatives by gumbel, 0 not converged'
shape gumbel.npz "jacobian_p1 $type 4 3 12"
shape gumbel.npz "jacobian_p2 $type 4 3 12"
shape gumbel.npz "jacobian_n $type 4 3 12"
shape gumbel.npz "jacobian_d $type 4 12"
for name in d n p1 p2; do
  "$arrays" show rows.out.npz $name > first
  "$arrays" show gumbel.npz $name > second
  if cmp -s first second; then pass; else fail "$name beside Jacobians differs"; fi
done
# d of a sphere beside a box's face: along the normal, and no turn of the sphere counts.
"$arrays" show gumbel.npz jacobian_d | head -n 12 > numbers
if [ "$(awk '{ printf "%.4f ", $1 + 0 }' numbers | sed 's/-0\.0000/0.0000/g')" = \
  '-1.0000 0.0000 0.0000 0.0000 0.0000 0.0000 1.0000 0.0000 0.0000 0.0000 0.0000 0.0000 ' ]; then
  pass
else
  fail "jacobian_d: $(tr '\n' ' ' < numbers)"
fi
# Two spheres are smooth: moving body 1 by tau turns the normal by -tau over the distance of the centres, 0.4.
"$arrays" fill spheres.npz one=1:w1 two=1:w1 pose1=1x7:$zero pose2=1x7:0,0,-0.4,1,0,0,0
closest --shapes shapes.json --poses spheres.npz -o exact.npz --precision "$wide" --jacobian exact
empty stderr 'exact of spheres'
"$arrays" show exact.npz jacobian_n > numbers
if awk 'NR == 1 && ($1 + 2.5)^2 > 1e-6 { exit 1 } NR == 7 && ($1 - 2.5)^2 > 1e-6 { exit 1 }' numbers; then
  pass
else
  fail "jacobian_n: $(tr '\n' ' ' < numbers)"
fi
closest --shapes shapes.json --poses rows.npz -o exact.npz --jacobian exact
has stderr '^abut: warning: poses at which a face or an edge is touched, which has no curvature: [0-9] of 4, the first has index 0\. It counts as 0; --jacobian gumbel and gaussian smooth it\.$'
array exact.npz status 'NR == 1 && $1 != 8 { exit 1 } NR == 2 && $1 != 0 { exit 1 }'
# Samples follow from the seed.
for method in gaussian zeroth; do
  for seed in 7 7 8; do
    closest --shapes shapes.json --poses rows.npz -o random.npz -q --jacobian $method --samples 5 --seed $seed
    "$arrays" show random.npz jacobian_p1 > "seed.$seed.new"
    if [ -e "seed.$seed" ] && ! cmp -s "seed.$seed" "seed.$seed.new"; then fail "$method of one seed differs"; else pass; fi
    mv "seed.$seed.new" "seed.$seed"
  done
  if cmp -s seed.7 seed.8; then fail "$method of two seeds is the same"; else pass; fi
  rm seed.7 seed.8
done
if [ "$wide" = f64 ]; then
  closest --shapes shapes.json --poses rows.npz -o finite.npz --precision f64 --jacobian finite
  # Two faces that lie parallel, as in a later row, have no one derivative.
  "$arrays" pick first.npz finite=finite.npz:jacobian_d:2 gumbel=gumbel.npz:jacobian_d:2
  if "$arrays" compare first.npz finite first.npz gumbel 1e-6 > compared; then
    pass
  else
    fail "d by differences: $(cat compared)"
  fi
fi
closest blobs.body.json blobs.body.json --poses blobs.npz -o blobs.out.npz --as superquadrics --jacobian exact
near blobs.out.npz one 1 0 1
shape blobs.out.npz 'jacobian_p1 float32 3 3 12'

# ---- golden answers ----

# golden_jacobian FILE PREFIX LIMIT: of poses that have derivatives and are not at touch, of each pose's largest
golden_jacobian() {
  "$arrays" show "$golden_closest/polytopes/expected.npz" derivatives > mask
  "$arrays" show "$golden_closest/polytopes/expected.npz" d > apart
  for name in p1 p2 n d; do
    "$arrays" show "$1" "jacobian_$name" > got
    "$arrays" show "$golden_closest/polytopes/expected.npz" "$2_$name" > want
    if paste got want | awk -v limit="$3" -v name=$name '
      BEGIN { width = name == "d" ? 12 : 36
              while ((getline good < "mask") > 0) { getline far < "apart"; use[n++] = good && far^2 > 1e-6 } }
      { row = int((NR - 1) / width); error = ($1 - $2)^2; size = $2^2
        if (error > e[row] + 0) e[row] = error
        if (size > s[row] + 0) s[row] = size }
      END { for (i = 0; i < n; i++) if (use[i]) { used++; if (!(e[i] + 0 <= limit^2 * s[i])) exit 1 }
            exit !used || NR != n * width }'; then
      pass
    else
      fail "jacobian_$name of $1 is not $2 of the answers"
    fi
  done
}

golden_closest=${ABUT_SHARED:+$ABUT_SHARED/golden-closest}
if [ -d "$golden_closest" ]; then
  for part in polytopes mixed awkward; do
    closest --shapes "$golden_closest/$part/shapes.json" --poses "$golden_closest/$part/inputs.npz" -o golden.npz \
      --precision "$wide"
    if "$arrays" compare golden.npz d "$golden_closest/$part/expected.npz" d 4e-6 > compared; then
      pass
    else
      fail "d of $part: $(cat compared)"
    fi
  done
  if [ "$wide" = f64 ]; then exact=1e-7; else exact=2e-2; fi
  polytopes="--shapes $golden_closest/polytopes/shapes.json --poses $golden_closest/polytopes/inputs.npz"
  # shellcheck disable=SC2086 # several words
  {
    closest $polytopes -o golden.npz --precision "$wide" --jacobian gumbel --temperature 0.1
    golden_jacobian golden.npz gumbel1 $exact
    closest $polytopes -o golden.npz --precision "$wide" --jacobian gumbel --temperature 0.1 --level 2
    golden_jacobian golden.npz gumbel2 $exact
    closest $polytopes -o golden.npz --precision "$wide" --jacobian gaussian --epsilon 0.1 --seed 12345
    golden_jacobian golden.npz gaussian $exact
  }
fi

# ---- what is refused ----

usage 'closest needs two bodies, A and B, or --shapes S.json' closest cube.obj --poses poses.csv -o no.npz
usage '`cube.obj` is one word too many: with --shapes, the file has all shapes' \
  closest cube.obj slab.obj --shapes two.json --poses poses.csv -o no.npz
usage '--as is of bodies, not of --shapes' closest --shapes two.json --as hull --poses poses.csv -o no.npz
usage '--as: there is no `boxes`; possible: hull, superquadrics, polyhedra' \
  closest cube.body.json slab.body.json --as boxes --poses poses.csv -o no.npz
usage 'closest needs --poses P' closest --shapes two.json -o no.npz
usage 'closest needs -o OUT.npz' closest --shapes two.json --poses poses.csv
usage '-o no.csv: closest writes files that end with .npz' closest --shapes two.json --poses poses.csv -o no.csv
usage '--cutoff: `far` is not a number' closest --shapes two.json --poses poses.csv -o no.npz --cutoff far
usage 'closest has no option --smoothing' \
  closest --shapes two.json --poses poses.csv -o no.npz --smoothing sharp.json
usage 'contacts has no option --shapes' \
  contacts cube.obj slab.obj --shapes two.json --poses poses.csv -o no.npz
usage 'closest has no option --vertices' \
  closest cube.obj slab.obj --poses poses.csv -o no.npz --vertices all
usage '--scale is for bare meshes, of which none is given' \
  closest --shapes two.json --poses poses.csv -o no.npz --scale 2
usage '--jacobian: there is no `softmax`; possible: exact, gumbel, gaussian, zeroth, finite' \
  closest --shapes two.json --poses poses.csv -o no.npz --jacobian softmax
usage '--jacobian finite needs --precision f64: in f32 nothing is left of differences' \
  closest --shapes two.json --poses poses.csv -o no.npz --jacobian finite
usage '--temperature: 0 is not in 1e-06 to 1000' \
  closest --shapes two.json --poses poses.csv -o no.npz --jacobian gumbel --temperature 0
usage '--temperature is of --jacobian gumbel' \
  closest --shapes two.json --poses poses.csv -o no.npz --jacobian gaussian --temperature 0.1
usage '--level is of --jacobian gumbel' closest --shapes two.json --poses poses.csv -o no.npz --level 1
usage '--level: 17 is not in 0 to 16' \
  closest --shapes two.json --poses poses.csv -o no.npz --jacobian gumbel --level 17
usage '--samples: 0 is not in 1 to 65536' \
  closest --shapes two.json --poses poses.csv -o no.npz --jacobian zeroth --samples 0
usage '--seed: `-1` is not a whole number from 0 on' \
  closest --shapes two.json --poses poses.csv -o no.npz --jacobian zeroth --seed -1
usage '--epsilon is of --jacobian gaussian, zeroth and finite' \
  closest --shapes two.json --poses poses.csv -o no.npz --jacobian exact --epsilon 0.1
wrong 'nowhere.json: No such file or directory' closest --shapes nowhere.json --poses poses.csv -o no.npz
cp rows.npz input.npz
wrong 'input.npz: is an input of this command too' closest --shapes shapes.json --poses input.npz -o input.npz
if cmp -s rows.npz input.npz; then pass; else fail 'the poses are written over'; fi
wrong 'poses.csv: holds neither one nor two, which say which shapes its poses are of, and shapes.json holds 4 shapes, not two' \
  closest --shapes shapes.json --poses poses.csv -o no.npz --device "$device"
"$arrays" fill far.npz one=2:w0 two=2:w1,4 pose1=2x7:$zero pose2=2x7:$zero
wrong "far.npz: array 'two': row 1, counted from 0: there is no shape 4; shapes.json holds 4, from 0 on" \
  closest --shapes shapes.json --poses far.npz -o no.npz --device "$device"
"$arrays" fill below.npz one=2:w-1 two=2:w1 pose1=2x7:$zero pose2=2x7:$zero
wrong "below.npz: array 'one': row 0, counted from 0: -1 is no index of a shape" \
  closest --shapes shapes.json --poses below.npz -o no.npz --device "$device"
"$arrays" fill reals.npz one=2:0 two=2:w1 pose1=2x7:$zero pose2=2x7:$zero
wrong "reals.npz: array 'one': dtype float64, not uint8, uint32, int32 or int64" \
  closest --shapes shapes.json --poses reals.npz -o no.npz --device "$device"
"$arrays" fill short.npz one=2:w0 two=1:w1 pose1=2x7:$zero pose2=2x7:$zero
wrong "short.npz: array 'two': not of shape (N,) of the 2 poses" \
  closest --shapes shapes.json --poses short.npz -o no.npz --device "$device"
"$arrays" fill half.npz one=2:w0 pose1=2x7:$zero pose2=2x7:$zero
wrong "half.npz: array 'two' is missing" closest --shapes shapes.json --poses half.npz -o no.npz --device "$device"
echo '[{"kind": "egg", "numbers": [1]}]' > egg.json
run 2 closest --shapes egg.json --poses rows.npz -o no.npz --device "$device"
has stderr '^abut: egg\.json:1: '
wrong 'cube.body.json: has no superquadrics that add' \
  closest cube.body.json slab.body.json --as superquadrics --poses poses.csv -o no.npz --device "$device"
wrong 'cube.obj: a mesh has no polyhedra, only a NAME.body.json has' \
  closest slab.body.json cube.obj --as polyhedra --poses poses.csv -o no.npz --device "$device"
printf 'v 0 0 0\nv 1 zero 0\n' > bad.obj
run 2 closest cube.obj bad.obj --poses poses.csv -o no.npz --device "$device"
has stderr '^abut: bad\.obj:2: '
run 1 closest --shapes two.json --poses poses.csv -o nowhere/no.npz --device "$device"
absent no.npz
absent no.csv
no_leftovers .

finish
