#!/bin/sh
# What the command makes of bodies of primitives, by `remesh`: inspect.sh ABUT ARRAYS GOLDEN, see support.sh.
# shellcheck source=tests/cli/support.sh
. "$(dirname "$0")/support.sh"

cat > ball.body.json << 'END'
{"name": "ball", "mesh": "ball.obj",
 "superquadrics": [{"axes": [0.5, 0.4, 0.3], "exponents": [1, 1], "position": [0, 0, 0], "quaternion": [1, 0, 0, 0]}]}
END
printf 'v 0.5 0 0\nv 0 0.4 0\nv 0 0 0.3\nf 1 2 3\n' > ball.obj

# ---- remesh ----

run 0 remesh ball.body.json --vertices 40 -o new.body.json --device "$device"
has stdout '^new\.body\.json: 40 vertices, 76 faces, 114 edges; genus 0$'
has stdout '^triangles: mean quality 0\.9[0-9]+, least 0\.[0-9]+$'
has stdout "^off the field's surface, % of the diagonal of 1\.4[0-9]+ m: [0-9.]+ on average, [0-9.]+ at most; volume kept 0\.[89][0-9]+$"
empty stderr 'remesh'
json_is_valid new.body.json
has new.body.json '"mesh": "new\.contact\.obj"'
has new.body.json '"union": 0\.00'
if [ "$(grep -c '^v ' new.contact.obj)" -eq 40 ] && [ "$(grep -c '^f ' new.contact.obj)" -eq 76 ]; then
  pass
else
  fail 'new.contact.obj is another mesh'
fi
run 0 remesh new.body.json --json --vertices 12 -o small.obj --smoothing sharp.json --device "$device"
if [ "$(grep -c '^v ' small.obj)" -eq 12 ]; then pass; else fail 'not 12 vertices'; fi
json_is_valid stdout
has stdout '"genus": 0,'
run 0 contacts new.body.json slab.body.json --poses poses.csv -o contacts.npz --device "$device"

usage 'remesh needs a body' remesh -o x.obj
usage 'remesh needs -o NAME.body.json' remesh ball.body.json
usage 'cube.obj: is no body file; remesh takes .body.json (`abut field` makes contact meshes of bare meshes)' \
  remesh cube.obj -o x.obj
usage '-o x.png: remesh writes files that end with .body.json or .obj' remesh ball.body.json -o x.png
usage '--vertices: 7 is not in 8 to 65536' remesh ball.body.json --vertices 7 -o x.obj
run 2 remesh none.body.json -o x.obj
wrong 'ball.body.json: is an input of this command too' remesh ball.body.json -o ball.body.json
wrong 'ball.obj: is the mesh of ball.body.json, an input of this command' remesh ball.body.json -o ball.obj

finish
