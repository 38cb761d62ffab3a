#!/bin/sh
# Bodies of few superquadrics, by `decompose`: decompose.sh ABUT ARRAYS GOLDEN, see support.sh.
# shellcheck source=tests/cli/support.sh
. "$(dirname "$0")/support.sh"
export ABUT_CACHE_DIR="$folder/cache"

# ---- a box of 0.3 x 0.2 x 0.1 m; the same inside out; a sheet; one with a number that is none ----

box='v 0 0 0
v 0.3 0 0
v 0 0.2 0
v 0.3 0.2 0
v 0 0 0.1
v 0.3 0 0.1
v 0 0.2 0.1
v 0.3 0.2 0.1'
printf '%s\nf 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n' "$box" > box.obj
printf '%s\nf 2 4 3 1\nf 7 8 6 5\nf 5 6 2 1\nf 4 8 7 3\nf 3 7 5 1\nf 6 8 4 2\n' "$box" > inside-out.obj
printf '%s\nf 1 3 4 2\n' "$box" > sheet.obj
printf 'v 0 0 0\nv 1 0 0\nv 0 nan 0\nf 1 2 3\n' > nan.obj
printf 'v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 0.001\nv 1 0 0.001\nv 1 1 0.001\nv 0 1 0.001\nf 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n' > thin.obj

# ---- the command ----

device="--device ${ABUT_TEST_DEVICE:-host}"
# shellcheck disable=SC2086
{
run 0 decompose box.obj --primitives 1 --export box.csv -o box.body.json $device
has stdout '^box\.obj: 6 faces: 1 superquadric, union 0\.00299[0-9]* m \(0\.8 % of the diagonal\), [0-9.e-]+ s on .+$'
has stdout '^IoU 0\.9[0-9]+, coverage [01]\.[0-9]+, precision [01]\.[0-9]+; Chamfer [0-9.]+ %, Hausdorff [0-9.]+ % of the diagonal$'
has stdout '^largest uncovered part [0-9.e-]+ % of the volume, surplus [0-9.e-]+ %, [0-9.e-]+ % of the surface beyond 1 %; smallest axis 0\.0[0-9]+ m, [0-9] exponents? at a bound$'
has stdout '^depth by the field over that in the mesh: 1\.[0-9]+ in the median, 95 % below [0-9.]+, at most [0-9.]+ at \(0\.[0-9]+, 0\.[0-9]+, 0\.[0-9]+\)$'
has stdout '^box\.body\.json: 300 vertices, 596 faces, 894 edges; genus 0$'
has stdout '^triangles: mean quality 0\.[89][0-9]+, least 0\.[0-9]+$'
has stdout "^off the field's surface, % of the diagonal of 0\.3[0-9]+ m: 0\.[0-9]+ on average, [0-9.]+ at most; volume kept 0\.9[0-9]+$"
has stdout '^box\.csv: 1 row of 11 numbers; they are to be joined with --union 0\.008, which tables do not tell$'
empty stderr 'decompose'
for file in box.body.json box.contact.obj box.surface.obj; do there $file; done
json_is_valid box.body.json
has box.body.json '"union": 0\.00299'
run 0 decompose box.obj --primitives 1 -q -o again.body.json $device
empty stdout 'decompose -q'
if cmp -s box.contact.obj again.contact.obj; then pass; else fail 'again.contact.obj differs'; fi
if [ "$(grep -v '"name"\|"mesh"\|"surface"' box.body.json)" = "$(grep -v '"name"\|"mesh"\|"surface"' again.body.json)" ]; then pass; else fail 'again.body.json differs'; fi
run 0 decompose box.obj --error 0.1 --max-primitives 2 --scale 1000 --json -o large.body.json $device
has stderr 'box\.obj: unit: the box.s diagonal is 374\.[0-9] m; if the file is in millimetres, scale it by 0\.001 \(--scale 0\.001\)'
json_is_valid stdout
has stdout '"end": "done"'
has stdout '"primitives": 1'
has stdout '"diagonal": 374\.'
has stdout '"contact_mesh": \{'
has stdout '"hausdorff_percent": [0-9.]+,'
for key in decomposing measuring whole; do has stdout "\"$key\": [0-9.]+"; done
has stdout '"volume_kept": 0\.9'
has stdout '"largest_surplus": [0-9.e-]+,'
has stdout '"depth_ratio_median": [0-9.]+,'
has stdout '"depth_ratio_most_at": \['
# Of a box there is nothing to take away; it is a polyhedron.
run 0 decompose box.obj --primitives 1 --family auto --json -o auto.body.json $device
for figure in '"primitives": 1' '"subtracted": 0' '"polyhedra": 1' '"planes": 6'; do has stdout "$figure,"; done
json_is_valid auto.body.json
has auto.body.json '"polyhedra": \['
run 0 inspect auto.body.json --json $device
has stdout '"polyhedra": 1,'
# The vertices lie on the surface of the body.
run 0 decompose box.obj --primitives 1 --vertices 40 -q -o few.body.json $device
if [ "$(grep -c '^v ' few.contact.obj)" -eq 40 ] && [ "$(grep -c '^f ' few.contact.obj)" -eq 76 ]; then pass; else fail 'few.contact.obj is another mesh'; fi
run 0 inspect few.body.json --json $device
has stdout '"vertices": 40'
has stdout '"off_most_percent": [0-9.]+e-'
# Its closed contact mesh is filled by a density, and swept.
cat > few.scene.json << 'END'
{"timestep": 0.005, "sweep": true, "links": [{"bodies": [{"box": [1, 1, 0.1]}]},
  {"position": [0, 0, 0.4], "joint": {"type": "free"}, "density": 500, "bodies": [{"file": "few.body.json"}]}],
 "pairs": [{"a": 1, "b": 0}]}
END
run 0 simulate few.scene.json --steps 2 -o few.npz --device host
# One closed mesh cannot cover two boxes.
{ printf '%s\n' "$box"; printf '%s\n' "$box" | sed 's/^v 0 /v 0.6 /; s/^v 0\.3 /v 0.9 /'; grep '^f ' box.obj
  sed -n 's/^f //p' box.obj | while read -r a b c d; do echo "f $((a + 8)) $((b + 8)) $((c + 8)) $((d + 8))"; done; } > two.obj
run 0 decompose two.obj --primitives 2 --json -o two.body.json $device
has stderr "two\.obj: no contact mesh on the body's surface: 50 % of the volume is in pieces of it beside the largest \(1\); the input's skin of about 1,000 vertices is written"
has stdout '"contact_mesh": null'
if grep -q '^v 0\.[6-9]' two.contact.obj && grep -q '^v 0\.[0-3]' two.contact.obj; then pass; else fail 'two.contact.obj has one box'; fi
# One primitive for two bodies, and a table of such a one: what is far from its mesh is warned about.
run 0 decompose two.obj --primitives 1 --export poor.csv -q -o poor.body.json $device
has stderr 'two\.obj: poor fit: with 1 primitive the IoU is 0\.[0-7][0-9], below 0\.8, and [0-9]+ % of the mesh is covered \(more --primitives, or --error E '
run 0 decompose --import poor.csv two.obj -q $device
has stderr 'poor\.csv: poor fit: with 1 primitive the IoU is 0\.[0-7][0-9], below 0\.8'
empty stdout 'decompose --import -q'
# Of a plate depths are wrong, by a fit, by a table, and for inspect, which tells how many primitives there are.
sed 's/^v \(.*\) 0\.1$/v \1 0.02/' box.obj > plate.obj
run 0 decompose plate.obj --primitives 1 --export plate.csv -q -o plate.body.json $device
has stderr 'plate\.obj: depths within the body are [0-9.]+ times those in the mesh in the median'
run 0 decompose --import plate.csv --union 0.008 plate.obj $device
has stderr 'plate\.csv: depths within the body are [0-9.]+ times those in the mesh in the median'
run 0 inspect plate.body.json plate.obj -o plate.html $device
has stderr 'plate\.body\.json: depths within the body are [0-9.]+ times those in the mesh in the median'
has stdout '^1 primitive; '
has plate.html 'class="warn">Depths within the body are [0-9.]+ times'
# Without its lid: what is over the hole counts for no distance.
sed '/^f 5 6 8 7$/d' box.obj > open.obj
run 0 decompose open.obj --primitives 1 -o open.body.json $device
has stderr 'open\.obj: open: 1 hole was closed'
has stdout "^[0-9.]+ % of the field's surface is over holes of the mesh that were closed, and counts for no distance\$"
run 0 inspect open.body.json open.obj --json $device
has stdout '"over_holes": 0\.[2-3]'
run 0 decompose inside-out.obj --primitives 1 -q -o turned.body.json $device
has stderr 'inside-out\.obj: inside out: 1 shell was turned'
run 0 decompose box.obj --error 0.001 --max-primitives 1 -q -o one.body.json $device
has stderr 'box\.obj: error not reached: 1 - IoU is 0\.0[0-9]+ of the samples with 1 primitive \('

# ---- tables of other programs ----

if [ "$(tr -cd ',\n' < box.csv)" = ',,,,,,,,,,' ]; then pass; else fail 'box.csv has other columns'; fi
run 0 decompose --import box.csv --union 0.008 box.obj $device
has stdout '^box\.csv: 1 superquadric, union 0\.003[0-9]* m \(0\.8 % of the diagonal\)$'
has stdout '^IoU 0\.9[0-9]+, coverage [01]\.[0-9]+, precision [01]\.[0-9]+; Chamfer [0-9.]+ %, Hausdorff [0-9.]+ % of the diagonal$'
empty stderr 'decompose --import'
# Two balls, as text of blanks, in millimetres: a table of what has no mesh.
printf '# e1 e2 a (3) angles (3) t (3)\n1 1 100 100 100 0 0 0 0 0 0\n1 1 100 100 100 0.5 0 0 %s 0 0\n' 150 > near.txt
sed 's/ 150 / 900 /' near.txt > far.txt
run 0 decompose --import near.txt --scale 0.001 --export near.npy --vertices 20 --json -o near.body.json $device
json_is_valid stdout
has stdout '"primitives": 2'
has stdout '"union": 0\.00[0-9]+'
has stdout '"contact_mesh": \{'
if grep -q '"iou"' stdout; then fail 'a table without a mesh has an IoU'; else pass; fi
run 0 decompose --import near.npy --export near.csv
has near.csv '^1,1,0\.1,0\.1,0\.1,0\.(5|49999|50000)[0-9]*,-?0,0,0\.15,0,0$'
run 0 decompose --import near.body.json --export again.txt
has again.txt '^1 1 0\.1 0\.1 0\.1 0\.(5|49999|50000)[0-9]* -?0 0 0\.15 0 0$'
run 0 decompose --import far.txt --export far.csv -q
has stderr 'far\.txt: unit: .*\(--scale 0\.001\)'

# ---- what is refused ----

run 2 decompose sheet.obj --primitives 1 -o no.body.json $device
has stderr 'sheet\.obj: .*enclose'
run 2 decompose thin.obj --primitives 1 -o no.body.json $device
has stderr 'thin\.obj: the mesh encloses [0-9]+ of the [0-9]+ cells .*make a grid of it by abut field'
run 2 decompose nan.obj --primitives 1 -o no.body.json $device
has stderr 'nan\.obj:3: '
}
run 2 decompose box.body.json --primitives 1 -o no.body.json
has stderr 'box\.body\.json: is no mesh; decompose takes \.obj, \.stl, \.ply or \.off'
run 2 decompose box.obj
has stderr 'decompose needs -o NAME\.body\.json'
run 2 decompose box.obj -o no.npz
has stderr 'decompose writes files that end with \.body\.json'
run 2 decompose box.obj --primitives 1 --vertices 7 -o no.body.json
has stderr '\-\-vertices: 7 is not in 8 to 65536'
run 2 decompose box.obj --primitives 65 -o no.body.json
has stderr '\-\-primitives'
run 2 decompose box.obj --primitives 3 --error 0.1 -o no.body.json
has stderr '\-\-error and --max-primitives do not go with it'
run 2 decompose box.obj --family both -o no.body.json
has stderr '\-\-family: .both. is neither sq nor auto'
run 2 decompose box.obj --family auto --export no.csv -o no.body.json
has stderr '\-\-export: tables cannot say what is taken away and what polyhedra there are'
run 2 decompose --import box.csv --family sq -o no.body.json
has stderr '\-\-family is for meshes that are fitted'
run 2 decompose box.obj --union 1 -o no.body.json
has stderr '\-\-union'
printf '1,1,1,1,1,0,0,0,0,0,0\n1,1,1,0,1,0,0,0,0,0,0\n' > flat.csv
run 2 decompose --import flat.csv -o no.body.json
has stderr 'flat\.csv:2: column 4: half axis y is 0 m, not in \[1e-06, 1e\+06\]'
printf '1 1 1 1 1 0 0 0 0 0\n' > short.txt
run 2 decompose --import short.txt -o no.body.json
has stderr 'short\.txt:1: 10 columns, not the 11 of a superquadric'
run 2 decompose --import near.txt --primitives 3 -o no.body.json
has stderr '\-\-primitives is for meshes that are fitted'
run 2 decompose --import near.txt
has stderr 'needs -o NAME\.body\.json, --export TABLE or a mesh'
run 2 decompose --import near.txt box.obj again.obj -o no.body.json
has stderr 'again\.obj. is one word too many'
run 2 decompose --import missing.csv -o no.body.json
has stderr 'missing\.csv: No such file'
run 2 decompose box.obj --primitives 1 --export no.mat -o no.body.json
has stderr '\-\-export no\.mat: tables end with \.csv, \.txt or \.npy'
run 2 decompose --import near.txt --export near.txt
has stderr 'near\.txt: is an input of this command too'
cp box.obj no.contact.obj
run 2 decompose no.contact.obj --primitives 1 -o no.body.json
has stderr 'no\.contact\.obj: is an input of this command too'
for file in no.body.json; do if [ -e $file ]; then fail "$file was written"; else pass; fi; done
run 2 decompose missing.obj -o no.body.json
has stderr 'missing\.obj: No such file'

finish
