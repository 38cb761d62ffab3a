#!/bin/sh
# Fields of bare meshes, by `field` and by the commands that take bodies: field.sh ABUT ARRAYS
# GOLDEN, see support.sh.
# shellcheck source=tests/cli/support.sh
. "$(dirname "$0")/support.sh"
export ABUT_CACHE_DIR="$folder/cache" # what is kept is this script's own

# ---- meshes: a box of 0.3 x 0.2 x 0.1 m in STL, and what may be wrong with it ----

# stl NAME SCALE KEEP TURN: triangles of the box of which the awk conditions on t, from 0, hold
stl() {
  awk -v k="$2" 'function v(i) {
      printf "vertex %.9g %.9g %.9g\n", k * (i % 2 ? 0.3 : 0), k * (int(i / 2) % 2 ? 0.2 : 0),
             k * (i > 3 ? 0.1 : 0) }
    BEGIN {
      print "solid"
      n = split("0 2 3 0 3 1 4 5 7 4 7 6 0 1 5 0 5 4 2 6 7 2 7 3 0 4 6 0 6 2 1 3 7 1 7 5", c, " ")
      for (t = 0; 3 * t < n; t++) if ('"$3"') {
        print "facet normal 0 0 0\nouter loop"
        v(c[3 * t + 1])
        if ('"$4"') { v(c[3 * t + 3]); v(c[3 * t + 2]) } else { v(c[3 * t + 2]); v(c[3 * t + 3]) }
        print "endloop\nendfacet"
      }
      print "endsolid"
    }' > "$1"
}
stl box.stl 1 1 0
stl inside-out.stl 1 1 1
stl one-turned.stl 1 1 't == 3'
stl open.stl 1 't > 1' 0
stl millimetres.stl 1000 1 0
stl speck.stl 1e-5 1 0
stl flat.stl 1 't < 2' 0

# ---- the command ----

run 0 field box.stl -o box.body.json
has stdout '^box\.stl: 12 faces, 12 triangles in flat faces merged, .*: [0-9]+ vertices, 12 edges; field of [0-9]+ cells.*, [0-9.]+ MiB$'
has stdout '^cells of [0-9.e-]+ m, the finest [0-9.e-]+ m; [0-9]+ blocks; diagonal 0\.3742 m, volume 0\.006 m\^3$'
has stdout '^error, % of the diagonal +median +95 % +largest$'
has stdout '^away from sharp edges +[0-9.e-]+ +[0-9.e-]+ +[0-9.e-]+$'
has stdout '^at sharp edges +- +[0-9.e-]+ +[0-9.e-]+$'
empty stderr 'field'
for file in box.body.json box.grid.npz box.contact.obj box.surface.obj; do there $file; done
json_is_valid box.body.json
"$arrays" show box.grid.npz > stdout
has stdout '^coefficients float(32|64) [0-9]+ [0-9]+ [0-9]+$'
says stdout 'origin float64 3'
if [ "$(grep -c '^l ' box.contact.obj)" -eq 12 ]; then pass; else fail 'not 12 edges'; fi
for file in body.json grid.npz contact.obj surface.obj; do cp box.$file before.$file; done
run 0 field box.stl -o box.body.json
has stdout '^box\.stl: .* MiB, kept from before$'
for file in body.json grid.npz contact.obj surface.obj; do
  if cmp -s box.$file before.$file; then pass; else fail "box.$file differs when kept"; fi
done
run 0 field box.stl -o box.body.json --no-cache
if grep -q 'kept' stdout; then fail 'it was kept'; else pass; fi
if cmp -s box.grid.npz before.grid.npz; then pass; else fail 'box.grid.npz differs when made anew'; fi
rm -rf cache
run 0 field -q box.stl -o=quiet.body.json --no-cache --cells 16 --tolerance 0.01 --vertices all --memory 64
empty stdout 'field -q'
empty stderr 'field -q'
absent cache
if [ "$(grep -c '^v ' quiet.contact.obj)" -eq 8 ]; then pass; else fail 'all are not 8 vertices'; fi

# ---- diagnostics, by name ----

# diagnosed FILE REGEX: warned of by `field` and by `contacts`, quiet or not, and of nothing else
diagnosed() {
  for quiet in '' -q; do
    run 0 field "$1" -o warned.body.json $quiet
    has stderr "^abut: warning: $1: $2"
    if [ "$(grep -c warning stderr)" -eq 1 ]; then pass; else fail "not one warning of $1"; fi
    run 0 contacts "$1" cube.body.json --poses poses.csv -o warned.npz --device "$device" $quiet
    has stderr "^abut: warning: $1: $2"
    if [ "$(grep -c warning stderr)" -eq 1 ]; then pass; else fail "not one warning of $1"; fi
  done
}
diagnosed inside-out.stl 'inside out: 1 of 1 shell with faces inwards was turned'
diagnosed one-turned.stl 'turned: 1 triangle ran against the neighbours, and was turned'
diagnosed open.stl "open: 1 hole was closed, the widest 0\.[0-9]+ m across"
diagnosed millimetres.stl "unit: the box's diagonal is 374\.2 m; if the file is in millimetres, scale it by 0\.001 \(--scale 0\.001\)$"
diagnosed speck.stl "small: the box's diagonal is 3\.742e-06 m"
run 2 contacts speck.stl speck.stl --poses poses.csv -o specks.npz --device "$device" -q
has stderr '^abut: speck\.stl, speck\.stl: bodies of 3\.74.*e-06 m are too small to fit a smoothing to'
absent specks.npz
stl tiny.stl 0.01 1 0
stl little.stl 6e-4 1 0 # just too small for a smoothing of its own
diagnosed little.stl "small: the box's diagonal is 0\.0002245 m"
# A body file whose mesh is in millimetres, and its primitives are not.
stl metres.stl 1 1 0
for mesh in metres millimetres; do
  echo "{\"mesh\": \"$mesh.stl\", \"superquadrics\": [{\"axes\": [0.15, 0.1, 0.05], \"exponents\": [0.1, 0.1],
    \"position\": [0.15, 0.1, 0.05], \"quaternion\": [1, 0, 0, 0]}]}" > $mesh.body.json
done
run 0 contacts metres.body.json cube.body.json --poses poses.csv -o fits.npz --device "$device" -q
empty stderr 'a mesh that fits'
run 0 contacts millimetres.body.json cube.body.json --poses poses.csv -o misfit.npz --device "$device" -q
has stderr "^abut: warning: millimetres\.body\.json: misfit: half of the mesh's vertices are [0-9.]+ m and more off"
run 0 field millimetres.stl -o scaled.body.json --scale 0.001
empty stderr 'field --scale'
has stdout '; diagonal 0\.3742 m, volume 0\.006 m\^3$'
# A field that is off by more than contacts with a much smaller body count; not with one of like size.
run 0 contacts "$golden/airplane-drill/a.obj" tiny.stl --poses poses.csv -o tiny.npz --device "$device" -q
has stderr '^abut: warning: .*/a\.obj: its field is off by up to [0-9.e-]+ m at 95 % of the surface, more than the [0-9.e-]+ m'
if [ "$(grep -c 'a\.obj: its field is off' stderr)" -eq 1 ]; then pass; else fail 'it is said more than once'; fi
run 0 contacts "$golden/airplane-drill/a.obj" box.stl --poses poses.csv -o like.npz --device "$device" -q
if grep 'its field is off' stderr; then fail 'warned of bare meshes of like size'; else pass; fi
# A mesh that encloses nothing is refused, and nothing is left.
run 2 field flat.stl -o flat.body.json
has stderr '^abut: flat\.stl: '
run 2 contacts flat.stl cube.body.json --poses poses.csv -o flat.npz --device "$device"
has stderr '^abut: flat\.stl: '
for file in flat.body.json flat.grid.npz flat.contact.obj flat.surface.obj flat.npz; do absent $file; done

# ---- bare meshes of other commands ----

run 0 contacts box.stl cube.body.json --poses poses.csv -o bare.npz --device "$device"
has stderr '^abut: box\.stl: 12 faces, .*: [0-9]+ vertices, 12 edges; field of '
has stdout '^3 poses, '
if [ "$(grep -c . stderr)" -eq 2 ]; then pass; else fail 'not two lines'; fi
run 0 contacts -q box.stl cube.body.json --poses poses.csv -o bare.npz --device "$device"
empty stderr 'contacts -q'
run 0 contacts box.body.json cube.body.json --poses poses.csv -o written.npz --device "$device" -q
for name in p d n activity; do
  "$arrays" show bare.npz $name > first
  "$arrays" show written.npz $name > second
  if cmp -s first second; then pass; else fail "$name of the body file differs"; fi
done
# The body file keeps the mesh, with which it collides in time.
{ echo $header; echo 0,0,2,0.1,0.2,0.3,0,0,0,0,0,0; echo 0,0,2,0,0,0,0,0,0,0,0,0; } > from.csv
{ echo $header; echo 0,0,0,0.1,0.2,0.3,0,0,0,0,0,0; echo 0,3,2,0,0,0,0,0,0,0,0,0; } > to.csv
run 0 ccd box.stl cube.body.json --from from.csv --to to.csv -o bare.npz --device "$device" -q
run 0 ccd box.body.json cube.body.json --from from.csv --to to.csv -o written.npz --device "$device" -q
for name in toi status candidates; do
  "$arrays" show bare.npz $name > first
  "$arrays" show written.npz $name > second
  if cmp -s first second; then pass; else fail "$name of the body file differs"; fi
done
run 0 contacts box.stl box.stl --poses poses.csv -o same.npz --device "$device"
if [ "$(grep -c '^abut: box' stderr)" -eq 1 ]; then pass; else fail 'one mesh is told of twice'; fi
run 0 contacts box.stl cube.body.json --poses poses.csv -o few.npz --device "$device" --vertices all --cells 16
has stderr '^abut: box\.stl: .*: 8 vertices, 12 edges; field of 16 cells'
printf 'open.stl,cube.body.json\nopen.stl,box.stl\n' > open.csv
{ echo $header,pair; sed -n 's/$/,0/;2p' poses.csv; sed -n 's/$/,1/;2p' poses.csv; } > open-poses.csv
run 0 contacts --pairs open.csv --poses open-poses.csv -o list.npz --device "$device" --scale 2
has stderr '^abut: warning: open\.stl: open: 1 hole was closed'
if [ "$(grep -c 'open\.stl: [0-9]* faces' stderr)" -eq 1 ]; then pass; else fail 'it is read twice'; fi
run 0 render box.stl cube.body.json --poses poses.csv -o box.png --width 64 --height 48 --device "$device"
there box.png

# ---- what is refused ----

usage 'field needs a mesh' field -o no.body.json
usage 'field needs -o NAME.body.json' field box.stl
usage '`open.stl` is one word too many' field box.stl open.stl -o no.body.json
usage '-o no.json: field writes files that end with .body.json' field box.stl -o no.json
usage '-o .body.json: field writes files that end with .body.json' field box.stl -o .body.json
usage '-o /dev/null: field writes files that end with .body.json' field box.stl -o /dev/null
usage '-o -: name a file' field box.stl -o -
usage 'box.body.json: is no mesh; field takes .obj, .stl, .ply or .off, and by Assimp .glb, .gltf or .dae' field box.body.json -o no.body.json
usage '--cells: 7 is not in 8 to 128' field box.stl -o no.body.json --cells 7
usage '--cells: `x` is not a whole number from 0 on' contacts box.stl box.stl --poses poses.csv -o no.npz --cells x
usage '--vertices: 7 is not in 8 to 16777216' field box.stl -o no.body.json --vertices 7
usage '--vertices: `some` is not a whole number from 0 on' field box.stl -o no.body.json --vertices some
usage '--tolerance: 1 is not in 1e-05 to 0.1' field box.stl -o no.body.json --tolerance 1
usage '--scale: 0 is not in 1e-09 to 1e+09' field box.stl -o no.body.json --scale 0
usage '--memory: 0 is not in 1 to 1048576' field box.stl -o no.body.json --memory 0
usage 'contacts has no option --tolerance' contacts box.stl box.stl --poses poses.csv -o no.npz --tolerance 0.01
usage '--scale is for bare meshes, of which none is given' contacts cube.body.json slab.body.json \
  --poses poses.csv -o no.npz --scale 0.001
dev usage '--vertices is for bare meshes, of which none is given' bench --vertices 8
wrong 'none.stl: No such file or directory' field none.stl -o no.body.json
run 1 field box.stl -o nowhere/no.body.json
has stderr '^abut: nowhere/no\.body\.json: the folder nowhere/: '
mkdir taken.grid.npz
run 1 field box.stl -o taken.body.json
says stderr 'abut: taken.grid.npz: exists and is not a regular file'
# The mesh is not written over, by whichever of the names.
cp box.contact.obj own.contact.obj
cp own.contact.obj before.obj
wrong 'own.contact.obj: is an input of this command too' field own.contact.obj -o own.body.json
if cmp -s own.contact.obj before.obj; then pass; else fail 'the mesh is written over'; fi
cp box.stl own.surface.obj
wrong 'own.surface.obj: is an input of this command too' field own.surface.obj -o own.body.json
# A surface that is missing, one without faces, and one that is another body's.
sed 's/"surface": .*/"surface": "millimetres.stl"/' box.body.json > other.body.json
run 0 contacts other.body.json cube.body.json --poses poses.csv -o other.npz --device "$device" -q
has stderr '^abut: warning: other\.body\.json: misfit: '
sed 's/box.surface/none.surface/' box.body.json > lost.body.json
wrong 'lost.body.json: its surface, none.surface.obj: No such file or directory' contacts lost.body.json cube.body.json \
  --poses poses.csv -o no.npz --device "$device"
sed 's/box.surface/box.contact/' box.body.json > bare.body.json
wrong 'box.contact.obj: holds no faces, and bare.body.json names it as its surface' contacts bare.body.json \
  cube.body.json --poses poses.csv -o no.npz --device "$device"
printf 'v 0 0 0\nv 1 0 0\nl 1 2\n' > lines.obj
run 2 field lines.obj -o no.body.json
has stderr '^abut: lines\.obj: holds no faces'
mkdir full
message=$( (ulimit -f 0 && "$abut" field box.stl -o full/box.body.json) 2>&1)
status=$?
echo "$message" > stderr
if [ $status -eq 1 ]; then pass; else fail "status $status on a full disk"; fi
has stderr '^abut: full/box\.[a-z.]+: .'
no_leftovers full
for file in full/box.body.json full/box.grid.npz full/box.contact.obj full/box.surface.obj no.body.json no.npz; do
  absent $file
done

finish
