#!/bin/sh
# gradient, jvp, jacobian and gradcheck as a user meets them: derivatives.sh ABUT ARRAYS GOLDEN, see
# support.sh.
# shellcheck disable=SC2016 # the marks are awk's own, and messages'
# shellcheck source=tests/cli/support.sh
. "$(dirname "$0")/support.sh"

# same FILE NAME OTHER NAME LIMIT: arrays, relative to the other's largest number
same() {
  if "$arrays" compare "$@" > numbers 2> stderr; then
    pass
  else
    fail "$2 of $1 is not $4 of $3 to $5: $(cat numbers)"
  fi
}
pair='cube.body.json slab.body.json --poses poses.csv --smoothing sharp.json'
on="--device $device"

# ---- against the golden answers, docs/spec.md, 9 ----

# Relative to the largest entry of an array.
case $wide in f64) limit=1e-7 ;; *) limit=1e-2 ;; esac
cases='box-on-box figure-gate figure-vertices-only grids-fine'
if [ -n "$usual" ]; then cases='box-on-box grids-fine'; fi
for name in $cases; do
  case=$golden/$name
  given="$case/a.body.json $case/b.body.json --poses $case/poses.npz $on --precision $wide -q"
  given="$given --smoothing $case/smoothing.json"
  # shellcheck disable=SC2086 # several words
  {
    run 0 gradient $given --mean-distance -o mean.npz
    empty stdout 'gradient -q'
    empty stderr 'gradient -q'
    run 0 gradient $given --reduce mean-distance -o reduced.npz
    run 0 gradient $given --cotangents "$case/cotangents.npz" -o vjp.npz
    run 0 jvp $given --tangents "$case/expected.npz" -o jvp.npz
    run 0 gradient $given --reduce energy -o energy.npz
  }
  for body in 1 2; do
    same mean.npz g$body "$case/expected.npz" mean_g$body $limit
    same vjp.npz g$body "$case/expected.npz" vjp_g$body $limit
    same reduced.npz g$body mean.npz g$body 0
  done
  for output in p d n activity; do
    same jvp.npz jvp_$output "$case/expected.npz" jvp_$output $limit
  done
  # shellcheck disable=SC2086 # several words
  run 0 contacts $given -o contacts.npz
  same energy.npz value contacts.npz energy 1e-6
  # The value of the mean distance: of all contacts of a pose.
  for file in contacts.npz mean.npz; do
    if [ $file = mean.npz ]; then key=value; else key=d; fi
    "$arrays" show $file $key > all_$key
  done
  if awk 'FILENAME == "all_d" { d[n++] = $1; next } { v[m++] = $1 } END {
      for (i = 0; i < n; i++) mean[int(i * m / n)] += d[i] * m / n
      for (i = 0; i < m; i++) { e = mean[i] - v[i]; bad += e * e > 1e-8 }
      exit bad || !m }' all_d all_value; then
    pass
  else
    fail "$name: value is not the mean of d"
  fi
done

# ---- what is written ----

# shellcheck disable=SC2086 # several words
{
  run 0 gradient $pair $on --reduce soft-minimum -o soft.npz
  has stdout '^3 poses, 304 contacts a pose, gradient of soft-minimum, largest entry [0-9.]+, [0-9.e-]+ s on .*, f32$'
  "$arrays" show soft.npz > stdout
  for line in 'g1 float32 3 6' 'g2 float32 3 6' 'value float32 3' 'status uint8 3' \
    'smoothing text'; do
    says stdout "$line"
  done
  if grep -q '^h1\|^soft ' stdout; then fail 'h1 or soft without being asked for'; else pass; fi
  run 0 contacts $pair $on -o contacts.npz -q
  same soft.npz value contacts.npz soft_minimum 0
  for name in distance soft-distance; do
    run 0 gradient $pair $on --reduce $name -o reduced.npz -q
    same reduced.npz value contacts.npz "$(echo $name | tr - _)" 0
  done
  run 0 gradient $pair $on --reduce soft-distance --temperature 0.01 -o warm.npz -q
  run 0 contacts $pair $on --temperature 0.01 -o warm_contacts.npz -q
  same warm.npz value warm_contacts.npz soft_distance 0
  # Poses that differ by one motion of both bodies have the same numbers, and moving both alike
  # changes nothing: the translation parts of an upright pose cancel.
  "$arrays" show soft.npz g1 > first
  "$arrays" show soft.npz g2 > second
}
if paste -d ' ' first second | awk 'NR <= 3 { e = $1 + $2; bad += e * e > 1e-10; big += $2 * $2 }
    END { exit bad || !(big > 0.5) }'; then pass; else fail 'translations do not cancel'; fi

# Quaternions: seven numbers a pose, and no row for the one without a rotation.
"$arrays" quaternions quaternions.npz
# shellcheck disable=SC2086 # several words
run 0 gradient cube.body.json slab.body.json --poses quaternions.npz --smoothing sharp.json $on \
  --mean-distance -o q.npz
says stderr 'abut: warning: poses with a quaternion of length 0: 1 of 3, the first has index 1. Their rows are NaN.'
array q.npz g2 '{ isnan = $1 ~ /nan/; bad += isnan != (NR > 7 && NR <= 14) }
  END { exit bad || NR != 21 }'
# Orthogonal to the quaternion, which is (1, 0, 0, 0) there.
array q.npz g2 'NR == 4 { bad = $1 * $1 > 1e-12 } END { exit bad != 0 }'

# --cotangents with one array, of d: as the mean distance, but for its factor.
"$arrays" fill d_bar.npz d_bar=3x304:1
# shellcheck disable=SC2086 # several words
{
  run 0 gradient $pair $on --cotangents d_bar.npz -o sum.npz -q --precision $wide
  run 0 gradient $pair $on --mean-distance -o mean.npz -q --precision $wide
}
# Whole numbers, as NumPy makes of ones without a point, are reals, too.
"$arrays" fill whole.npz d_bar=3x304:w1
# shellcheck disable=SC2086 # several words
run 0 gradient $pair $on --cotangents whole.npz -o whole_sum.npz -q --precision $wide
for g in g1 g2; do same whole_sum.npz $g sum.npz $g 0; done
"$arrays" show sum.npz > stdout
if grep -q '^value' stdout; then fail 'cotangents have no value'; else pass; fi
"$arrays" show sum.npz g2 > first
"$arrays" show mean.npz g2 > second
if paste -d ' ' first second |
  awk -v limit=$limit '{ e = $1 / 304 - $2; worst = e * e > worst ? e * e : worst
    big = $2 * $2 > big ? $2 * $2 : big }
    END { exit !(worst <= limit * limit * big && big > 0 && NR == 18) }'; then
  pass
else
  fail 'cotangents of 1 are not 304 means'
fi

# By shape: sums in double, each pose's, and what is refused.
# shellcheck disable=SC2086 # several words
{
  run 0 gradient $pair $on --reduce mean-distance --by shape -o shape.npz
  has stdout '^3 poses, 304 contacts a pose, gradient of mean-distance by shape, largest entry [0-9.e-]+, '
  "$arrays" show shape.npz > stdout
  for line in 'a_vertices float64 8 3' 'b_vertices float64 8 3' 'value float32 3' 'status uint8 3'; do
    says stdout "$line"
  done
  if grep -q '^g1' stdout; then fail 'g1 by shape'; else pass; fi
  run 0 gradient $pair $on --reduce mean-distance --by shape --each-pose -o rows.npz -q
  run 0 gradient $pair $on --cotangents d_bar.npz --by shape -o shape_sum.npz -q
  usage '--each-pose is of --by shape' gradient $pair --reduce energy --each-pose -o no.npz
  usage '--follow is of --by shape' gradient $pair --reduce energy --follow -o no.npz
  run 0 gradient $pair $on --reduce mean-distance --by shape --follow -o follow.npz -q
  usage '--by shape excludes --soft, --hessian and --full-hessian' \
    gradient $pair --reduce energy --by shape --hessian h.npz -o no.npz
  usage 'the soft distance has no gradient by shape' \
    gradient $pair --reduce soft-distance --by shape -o no.npz
  "$arrays" fill weight_bar.npz weight_bar=3x304:1
  run 2 gradient $pair $on --cotangents weight_bar.npz --by shape -o no.npz
  says stderr 'abut: weight_bar.npz: weight_bar has no gradient by shape'
}
"$arrays" show shape.npz a_vertices > first
"$arrays" show rows.npz a_vertices > second
"$arrays" show shape_sum.npz a_vertices > third
if paste -d ' ' first third | awk '{ e = $1 - $2 / 304; all += e * e; big += $1 * $1 }
    END { exit !(big > 0 && all < 1e-10 * big) || NR != 24 }' &&
  awk 'FILENAME == "second" { s[n++ % 24] += $1; next }
    { e = s[m++] - $1; all += e * e; big += $1 * $1 }
    END { exit !(all < 1e-20 * big) || n != 72 || m != 24 }' second first; then
  pass
else
  fail 'sums by shape are not those of rows, or of cotangents of 1'
fi

# Along shapes: a gradient as a direction, of all poses or of each, is the gradient times itself.
# shellcheck disable=SC2086 # several words
{
  run 0 gradient $pair $on --reduce mean-distance --by shape --each-pose -o rows64.npz -q --precision $wide
  run 0 gradient $pair $on --reduce mean-distance --by shape -o shape64.npz -q --precision $wide
  run 0 jvp $pair $on --tangents shape64.npz --by shape -o jvp_shape.npz --precision $wide
  has stdout '^3 poses, 304 contacts a pose, derivatives along tangents by shape, '
  if [ -s stderr ]; then fail "jvp by shape warns: $(cat stderr)"; else pass; fi
  run 0 jvp $pair $on --tangents rows64.npz --by shape --each-pose --follow -o jvp_rows.npz -q --precision $wide
  "$arrays" fill shape_and_pose.npz a_vertices=8x3:0.5 tangent1=6:0.5
  run 0 jvp $pair $on --tangents shape_and_pose.npz --by shape -o jvp_both.npz -q --precision $wide
  usage '--each-pose is of --by shape' jvp $pair --tangents one.npz --each-pose -o no.npz
  usage '--follow is of --by shape' jvp $pair --tangents one.npz --follow -o no.npz
  usage '--by shape excludes --soft' jvp $pair --tangents one.npz --by shape --soft s.json -o no.npz
  "$arrays" fill bad.npz a_vertices=8x2:1
  run 2 jvp $pair $on --tangents bad.npz --by shape -o no.npz
  says stderr "abut: bad.npz: array 'a_vertices': shape (8, 2), not (8, 3): the body's numbers"
  "$arrays" fill bad.npz a_vertices=8x3:nan
  run 2 jvp $pair $on --tangents bad.npz --by shape -o no.npz
  says stderr "abut: bad.npz: array 'a_vertices': number 0, counted from 0, is nan"
  "$arrays" fill bad.npz tangent1=6:1
  run 2 jvp $pair $on --tangents bad.npz --by shape -o no.npz
  says stderr "abut: bad.npz: holds no direction of a body's numbers, such as a_vertices or b_axes"
  "$arrays" fill bad.npz a_vertices=8x3:1 a_vertexes=8x3:1
  run 0 jvp $pair $on --tangents bad.npz --by shape -o some.npz -q
  says stderr "abut: warning: bad.npz: array 'a_vertexes' is no direction; it is left out"
}
"$arrays" show jvp_shape.npz jvp_d > first
"$arrays" show shape64.npz | sed -n 's/^\([ab]_[a-z_]*\) .*/\1/p' > names
while read -r name; do "$arrays" show shape64.npz "$name"; done < names > second
if awk 'FILENAME == "first" { pushed += $1 / 304; next }
    { pulled += $1 * $1 } END { e = pushed - pulled; exit !(pulled > 0 && e * e < 1e-8 * pulled * pulled) }' first second; then
  pass
else
  fail 'mean distances do not change along their gradient by its square'
fi

# Tangents for each pose, for all poses, of one body alone, and in one array.
"$arrays" fill each.npz tangent1=3x6:0.5 tangent2=3x6:0
"$arrays" fill one.npz tangent1=6:0.5
"$arrays" fill both.npz tangent=2x6:0.5
"$arrays" fill second.npz tangent2=6:0.5
# shellcheck disable=SC2086 # several words
for name in each one both second; do
  run 0 jvp $pair $on --tangents $name.npz -o jvp_$name.npz -q --precision $wide
  run 0 gradient $pair $on --reduce activity --hessian $name.npz -o h_$name.npz -q --precision $wide
done
"$arrays" show jvp_one.npz > stdout
says stdout "jvp_p $type 3 304 3"
says stdout "jvp_d $type 3 304"
says stdout "jvp_n $type 3 304 3"
says stdout "jvp_activity $type 3 304"
says stdout 'status uint8 3'
"$arrays" show h_one.npz > stdout
for line in "g1 $type 3 6" "h1 $type 3 6" "h2 $type 3 6" "value $type 3"; do says stdout "$line"; done
"$arrays" fill ones.npz tangent1=6:1
"$arrays" fill whole.npz tangent1=6:w1
# shellcheck disable=SC2086 # several words
for name in ones whole; do
  run 0 jvp $pair $on --tangents $name.npz -o jvp_$name.npz -q --precision $wide
done
for output in p d n activity; do same jvp_whole.npz jvp_$output jvp_ones.npz jvp_$output 0; done
for output in p d n activity; do same jvp_each.npz jvp_$output jvp_one.npz jvp_$output 0; done
for body in 1 2; do same h_each.npz h$body h_one.npz h$body 0; done
# Linear in the tangents.
for kind in 'jvp_ jvp_d' 'h_ h1'; do
  file=${kind% *} name=${kind#* }
  for part in one second both; do "$arrays" show "$file$part.npz" "$name" > $part; done
  if paste -d ' ' one second both |
    awk -v limit=$limit '{ e = $1 + $2 - $3; worst = e * e > worst ? e * e : worst
      for (i = 1; i <= 3; i++) big = $i * $i > big ? $i * $i : big }
      END { exit !(worst <= limit * limit * big && big > 0) }'; then
    pass
  else
    fail "$name is not linear in the tangents"
  fi
done

# The whole Hessian: with tangent2 = 0.5 the products are half the sum of its last six columns; one
# body's is a block of both bodies'.
# shellcheck disable=SC2086 # several words
for bodies in both 1 2; do
  run 0 gradient $pair $on --reduce activity --full-hessian $bodies -o whole_$bodies.npz -q \
    --precision $wide
done
"$arrays" show whole_both.npz > stdout
says stdout "hessian $type 3 12 12"
"$arrays" show whole_1.npz > stdout
for line in "hessian $type 3 6 6" "g1 $type 3 6" "g2 $type 3 6" "value $type 3"; do
  says stdout "$line"
done
"$arrays" show whole_both.npz hessian > both
for body in 1 2; do
  same whole_both.npz g$body h_one.npz g$body $limit
  "$arrays" show h_second.npz h$body > product
  "$arrays" show whole_$body.npz hessian > one
  if awk -v limit=$limit -v first=$((6 * body - 6)) '
      FILENAME == "both" { h[n++] = $1; next }
      FILENAME == "product" { pose = int(k / 6); row = first + k++ % 6; sum = 0
        for (i = 6; i < 12; i++) sum += h[(12 * pose + row) * 12 + i] / 2; other = $1 }
      FILENAME == "one" { pose = int(m / 36); row = first + int(m / 6) % 6
        sum = h[(12 * pose + row) * 12 + first + m++ % 6]; other = $1 }
      { e = sum - other; worst = e * e > worst ? e * e : worst
        big = other * other > big ? other * other : big }
      END { exit !(worst <= limit * limit * big && big > 0 && k == 18 && m == 108) }' \
      both product one; then
    pass
  else
    fail "the whole Hessian is not what --hessian and the one of body $body say"
  fi
done

# --soft changes derivatives, and no values.
sed 's/"penetration": 1e-3/"penetration": 5e-2/' sharp.json > soft.json
# shellcheck disable=SC2086 # several words
{
  run 0 gradient $pair $on --reduce activity -o hard.npz -q
  run 0 gradient $pair $on --reduce activity --soft soft.json -o softer.npz -q
  run 0 jvp $pair $on --tangents one.npz --soft soft.json -o softer_jvp.npz -q
}
same softer.npz value hard.npz value 0
if "$arrays" compare softer.npz g2 hard.npz g2 1e-3 > numbers; then
  fail '--soft changes no gradient'
else
  pass
fi
"$arrays" show softer.npz > stdout
says stdout 'soft text'
if "$arrays" show softer.npz soft | grep -q '"penetration": 0.05'; then
  pass
else
  fail 'soft is not --soft'
fi
sed 's/"two_sided": true/"two_sided": false/' sharp.json > other.json
# shellcheck disable=SC2086 # several words
run 2 gradient $pair $on --mean-distance --soft other.json -o no.npz
has stderr '^abut: the pair for derivatives keeps '
absent no.npz

# ---- Jacobian blocks ----

# shellcheck disable=SC2086 # several words
{
  run 0 jacobian $pair $on --threshold 0.5 -o blocks.npz --precision $wide
  has stdout '\(activity >= 0\.5\)'
  run 0 contacts $pair $on --compact 0.5 -o list.npz --precision $wide -q
  run 0 jacobian $pair $on --threshold 0.5 -o chunk.npz --precision $wide --chunk 2 -q
  run 0 jacobian $pair $on -o default.npz -q
}
for name in compact_p compact_d compact_n compact_activity; do
  same blocks.npz $name list.npz $name 0
done
same chunk.npz jacobian blocks.npz jacobian 0
"$arrays" show blocks.npz > stdout
has stdout "^jacobian $type [0-9]+ 8 12\$"
array default.npz compact_threshold '{ bad += $1 != 0.1 } END { exit bad || NR != 1 }'
# Along tangents of one body the blocks say what jvp says of the same contacts: rows of 12 numbers,
# of which the first six are body 1's; d is the fourth of eight.
"$arrays" show blocks.npz jacobian > rows
"$arrays" show jvp_one.npz jvp_d > along
for name in pose slot; do "$arrays" show blocks.npz compact_$name > list_$name; done
if paste -d ' ' list_pose list_slot | awk '
    FILENAME == "rows" { row = int((FNR - 1) / 12); if (row % 8 == 3 && (FNR - 1) % 12 < 6)
      sum[int(row / 8)] += $1 / 2; next }
    FILENAME == "along" { along[FNR - 1] = $1; next }
    { e = sum[rows++] - along[304 * $1 + $2]; bad += e * e > 1e-10 }
    END { exit bad || !rows }' rows along -; then
  pass
else
  fail 'blocks are not what jvp says'
fi
# All contacts of 40 poses: more than the first guess.
{ echo $header; for i in 0 1 2 3; do for j in 0 1 2 3 4 5 6 7 8 9; do
  echo 0,0,0,0,0,0,0,0,0.98,0,0,0.$i$j; done; done; } > forty.csv
# shellcheck disable=SC2086 # several words
run 0 jacobian cube.body.json slab.body.json --poses forty.csv -o all.npz --threshold 0 $on -q \
  --smoothing sharp.json
"$arrays" show all.npz > stdout
says stdout 'jacobian float32 12160 8 12'

# ---- no poses, poses that are not finite ----

# shellcheck disable=SC2086 # several words
{
  none='cube.body.json slab.body.json --poses none.csv'
  run 0 gradient $none $on --mean-distance -o none.npz -q
  says stderr 'abut: warning: none.csv: holds no poses; what is written holds none either'
  "$arrays" show none.npz > stdout
  says stdout 'g1 float32 0 6'
  run 0 jvp $none $on --tangents one.npz -o none.npz -q
  run 0 jacobian $none $on -o none.npz -q
  dev wrong 'none.csv: holds no poses that can be checked' gradcheck $none --device host -q
  odd='cube.body.json slab.body.json --poses not-finite.csv --smoothing sharp.json'
  run 0 gradient $odd $on --reduce energy -o odd.npz -q
  array odd.npz g1 '{ isnan = $1 ~ /nan/; bad += isnan != (NR > 6 && NR <= 18) }
    END { exit bad || NR != 24 }'
  run 0 jvp $odd $on --tangents one.npz -o odd.npz -q
  array odd.npz status '{ s = s $1 } END { exit s != "0110" }'
  run 0 jacobian $odd $on -o odd.npz
  says stderr 'abut: warning: poses that are not finite: 2 of 4, the first has index 1. They have no contacts in the list.'
}

# ---- gradcheck: always in float64 ----

# shellcheck disable=SC2086 # several words
if [ $wide = f64 ]; then
  assets=$golden/../../assets
  # The host is slow: few poses there.
  most=20
  if [ "$device" = host ]; then most=1; fi
  awk -v most=$most 'BEGIN { srand(5)
    print "r1x,r1y,r1z,w1x,w1y,w1z,r2x,r2y,r2z,w2x,w2y,w2z"
    for (i = 0; i < most; i++) { printf "0.01,0.02,0.03,0.1,0.2,0.3"
      for (k = 0; k < 6; k++) printf ",%.6f", (rand() - 0.5) * (k < 3 ? 0.3 : 2)
      print "" } }' > check.csv
  # The usual run takes bodies of fewer contacts.
  checked="$assets/figure.body.json $assets/part.body.json"
  if [ -n "$usual" ]; then
    flat=$golden/figure-vertices-only
    checked="$flat/a.body.json $flat/b.body.json --smoothing $flat/smoothing.json"
  fi
  dev run 0 gradcheck $checked --poses check.csv $on
  has stdout '^(1 of 1|16 of 20) poses, [0-9]+ contacts a pose, float64 on '
  has stdout '^steps h, h/2, h/4 .* h = [0-9.e-]+ m or [0-9.e-]+ rad'
  for name in 'jvp of p' 'jvp of activity' 'vjp of n' 'gradient of energy' \
    'Hessian of soft-minimum' 'Jacobian blocks'; do
    has stdout "^$name +.* ok *\$"
  done
  if [ "$(grep -c ' ok *$' stdout)" -eq 23 ]; then pass; else fail 'not 23 are right'; fi
  # Grids whose derivatives are continuous to the second: the library's numbers, by the command's same steps.
  if [ -z "$sanitized" ]; then
    fine=$golden/grids-fine
    if [ -n "$usual" ]; then some=check.csv; else some=$fine/poses.npz; fi
    dev run 0 gradcheck $fine/a.body.json $fine/b.body.json --poses $some --smoothing $fine/smoothing.json $on
    if [ "$(grep -c ' ok *$' stdout)" -eq 23 ]; then pass; else fail 'not 23 are right of grids'; fi
  fi
  # Rows come as they are done: who has read the first ones is gone when the last are written.
  { "$abut-dev" gradcheck $checked --poses check.csv $on -q \
      2> stderr; echo $? > ended; } | head -n 6 > stdout
  has stdout '^vjp of p '
  if [ "$(cat ended)" -ne 0 ]; then pass; else fail 'all rows are written at once'; fi
  "$arrays" turned turned.npz
  # Poses as quaternions, one of them none; a step by hand.
  sed 's/: 1e-[34]/: 1e-2/' sharp.json > blunt.json
  dev run 0 gradcheck cube.body.json slab.body.json --poses turned.npz --smoothing blunt.json $on \
    --all --step 1e-3
  says stderr 'abut-dev: warning: poses with a quaternion of length 0: 1 of 3, the first has index 1. They are left out.'
  has stdout '^2 of 3 poses, '
  has stdout 'h = 0\.001 m or '
  # Where nothing is smooth at the scale of the steps, nothing is confirmed.
  if [ -n "$sanitized$usual" ]; then head -n 2 poses.csv > first.csv; else cp poses.csv first.csv; fi
  dev run 1 gradcheck cube.body.json slab.body.json --poses first.csv --smoothing sharp.json $on --step 10
  has stdout ' NOT SMOOTH'
  has stderr '^abut-dev: [0-9]+ of 23 derivatives are not confirmed$'
else
  dev run 2 gradcheck $pair $on
  has stderr '^abut-dev: .* has no float64$'
fi

# ---- usage and input ----

# shellcheck disable=SC2086 # several words
{
  one_of='gradient needs one of --reduce NAME, --mean-distance and --cotangents C.npz'
  usage "$one_of" gradient $pair -o no.npz
  usage "$one_of" gradient $pair -o no.npz --mean-distance --reduce energy
  usage "$one_of" gradient $pair -o no.npz --mean-distance --cotangents d_bar.npz
  usage '--reduce: there is no `least`; possible: mean-distance, activity, energy, soft-minimum, distance, soft-distance' \
    gradient $pair -o no.npz --reduce least
  usage '--temperature is of --reduce soft-distance' \
    gradient $pair -o no.npz --reduce distance --temperature 0.1
  usage '--temperature: 0 is not in 1e-12 to 1e+09' \
    gradient $pair -o no.npz --reduce soft-distance --temperature 0
  usage '--hessian is of a reduction, not of --cotangents' \
    gradient $pair -o no.npz --cotangents d_bar.npz --hessian one.npz
  usage '--hessian and --soft exclude each other' \
    gradient $pair -o no.npz --mean-distance --hessian one.npz --soft soft.json
  usage '--full-hessian: there is no `3`; possible: both, 1, 2' \
    gradient $pair -o no.npz --mean-distance --full-hessian 3
  usage '--full-hessian is of a reduction, not of --cotangents' \
    gradient $pair -o no.npz --cotangents d_bar.npz --full-hessian 1
  usage '--full-hessian excludes --hessian and --soft' \
    gradient $pair -o no.npz --mean-distance --full-hessian 1 --soft soft.json
  usage '--full-hessian excludes --hessian and --soft' \
    gradient $pair -o no.npz --mean-distance --full-hessian 1 --hessian one.npz
  usage 'gradient needs two bodies, A and B' gradient cube.obj --poses poses.csv --mean-distance
  usage 'gradient needs --poses P' gradient cube.obj slab.obj --mean-distance -o no.npz
  usage 'gradient needs -o OUT.npz' gradient $pair --mean-distance
  usage 'jvp needs --tangents T.npz' jvp $pair -o no.npz
  usage 'jvp needs -o OUT.npz' jvp $pair --tangents one.npz
  usage 'jacobian needs -o OUT.npz' jacobian $pair
  dev usage 'gradcheck needs two bodies, A and B, or a scene' gradcheck
  dev usage 'gradcheck needs --poses P' gradcheck cube.obj slab.obj
  dev usage 'gradcheck has no option --precision' gradcheck $pair --precision f32
  usage 'contacts has no option --tangents' contacts $pair -o no.npz --tangents one.npz
  dev usage '--step: 0 is not in 1e-12 to 1e+09' gradcheck $pair --step 0
  usage '--threshold: 2 is not in 0 to 1' jacobian $pair -o no.npz --threshold 2

  missing='No such file or directory'
  wrong "missing.npz: $missing" gradient $pair -o no.npz --cotangents missing.npz
  wrong "missing.npz: $missing" gradient $pair -o no.npz --mean-distance --hessian missing.npz
  wrong "missing.npz: $missing" jvp $pair -o no.npz --tangents missing.npz
  wrong "missing.json: $missing" jvp $pair -o no.npz --tangents one.npz --soft missing.json
  run 2 gradient $pair -o no.npz --cotangents poses.csv
  has stderr '^abut: poses\.csv: .'
}
# refused TEXT COMMAND NAME=SHAPE:VALUE...: the text behind the name of the file of these arrays
refused() {
  text=$1
  case $2 in
    --cotangents) command='gradient --cotangents' ;;
    --tangents) command='jvp --tangents' ;;
    --hessian) command='gradient --mean-distance --hessian' ;;
  esac
  shift 2
  "$arrays" fill bad.npz "$@"
  # shellcheck disable=SC2086 # several words
  wrong "bad.npz: $text" $command bad.npz $pair $on -q -o no.npz
}
refused 'holds none of p_bar, d_bar, n_bar, activity_bar, weight_bar' --cotangents bar=3x304:1
refused "array 'd_bar': shape (3, 300), not (3, 304): 3 poses of 304 contacts" \
  --cotangents d_bar=3x300:1
refused "array 'p_bar': shape (3, 304), not (3, 304, 3): 3 poses of 304 contacts" \
  --cotangents d_bar=3x304:1 p_bar=3x304:1
refused "array 'n_bar': shape (912,), not (3, 304, 3): 3 poses of 304 contacts" --cotangents n_bar=912:1
refused "array 'activity_bar': number 0, counted from 0, is nan" --cotangents activity_bar=3x304:nan
refused "array 'd_bar': number 0, counted from 0, is inf" --cotangents d_bar=3x304:inf
refused "array 'd_bar': 1e+300 is beyond float32; --precision f64 takes it" --cotangents d_bar=3x304:1e300
refused "array 'd_bar': a text, not numbers" --cotangents d_bar=9:text
for option in --tangents --hessian; do
  refused 'holds neither tangent1, tangent2 nor tangent' "$option" s1=6:1 s2=6:1
  refused 'holds both tangent and tangent1 or tangent2' "$option" tangent=2x6:1 tangent2=6:1
  refused "array 'tangent1': shape (7,), neither (3, 6) nor (6,)" "$option" tangent1=7:1
  refused "array 'tangent2': shape (4, 6), neither (3, 6) nor (6,)" "$option" tangent1=6:1 tangent2=4x6:1
  refused "array 'tangent': shape (3, 6), not (2, 6)" "$option" tangent=3x6:1
  refused "array 'tangent1': number 0, counted from 0, is nan" "$option" tangent1=6:nan
  refused "array 'tangent2': a text, not numbers" "$option" tangent2=6:text
done
absent no.npz
"$arrays" fill more.npz d_bar=3x304:1 dbar=3x304:1
# shellcheck disable=SC2086 # several words
run 0 gradient $pair $on -q -o more_out.npz --cotangents more.npz
says stderr "abut: warning: more.npz: array 'dbar' is no cotangent; it is left out"

# ---- output ----

mkdir full locked
# shellcheck disable=SC2086 # several words
{
  run 1 gradient $pair --mean-distance -o full
  says stderr 'abut: full: exists and is not a regular file'
  run 1 jvp $pair --tangents one.npz -o nowhere/out.npz
  has stderr '^abut: nowhere/out\.npz: the folder nowhere/: '
  for command in 'gradient --mean-distance' 'jvp --tangents one.npz' jacobian; do
    message=$( (ulimit -f 0 && "$abut" -q $command $pair -o full/out.npz --device host) 2>&1)
    status=$?
    echo "$message" > stderr
    if [ $status -eq 1 ]; then pass; else fail "status $status on a full disk: $command"; fi
    has stderr '^abut: full/out\.npz: .'
  done
  # An output that is an input.
  cp one.npz input.npz
  wrong 'input.npz: is an input of this command too' jvp $pair --tangents input.npz -o input.npz
  wrong './input.npz: is an input of this command too' \
    gradient $pair --mean-distance --hessian input.npz -o ./input.npz
  if cmp -s one.npz input.npz; then pass; else fail 'an input was written to'; fi
  chmod a-w locked
  if ! touch locked/file 2> /dev/null; then
    run 1 gradient $pair --mean-distance -o locked/out.npz
    has stderr '^abut: locked/out\.npz: .'
  fi
  chmod u+w locked
}
absent full/out.npz
no_leftovers full

finish
