#!/bin/sh
# Meshes that Assimp reads, .glb, .gltf and .dae, held against the same as .obj: assimp.sh ABUT ARRAYS GOLDEN,
# see support.sh. Without Assimp in the build it sees that this is said, and is skipped.
# shellcheck disable=SC2016 # the marks are the messages' own
here=$(cd "$(dirname "$0")" && pwd) || exit 1
# shellcheck source=tests/cli/support.sh
. "$here/support.sh"
export ABUT_CACHE_DIR="$folder/cache" # what is kept is this script's own
python3 "$here/make_scenes.py" "$folder" || exit 1

# ---- what is refused with and without Assimp ----

echo > box.fbx
wrong 'box.fbx: a mesh ends with .obj, .stl, .ply or .off, or by Assimp with .glb, .gltf or .dae' \
  field box.fbx -o no.body.json
usage 'box.body.json: is no mesh; field takes .obj, .stl, .ply or .off, and by Assimp .glb, .gltf or .dae' \
  field box.body.json -o no.body.json
run 0 --version
if grep -q 'read by Assimp: none in this build' stdout; then
  for mesh in box.glb UPPER.GLB box.gltf box.dae cut.dae; do
    wrong "$mesh: this abut is built without Assimp, which reads .glb, .gltf and .dae (Debian: libassimp-dev, then meson setup -Dassimp=enabled); it reads .obj, .stl, .ply and .off" \
      field $mesh -o no.body.json
  done
  absent no.body.json
  finish || exit 1
  echo 'skipped: this build has no Assimp (-Dassimp, docs/install.md)'
  exit 77
fi
has stdout '^meshes of \.glb, \.gltf and \.dae are read by Assimp: [0-9.]+$'
run 0 field --help
has stdout '^Assimp that reads \.glb, \.gltf and \.dae here: [0-9.]+$'

# ---- what is read ----

# box_is FILE VOLUME X0 X1 Y0 Y1 Z0 Z1: no warning, and these bounds to float's rounding
box_is() {
  mesh=$1 volume=$2
  shift 2
  run 0 field --cells 16 --no-cache --vertices all "$mesh" -o made.body.json
  empty stderr "field $mesh"
  has stdout ", volume $volume m\\^3\$"
  if awk -v want="$*" 'BEGIN { split(want, w) }
      /^v / { for (k = 0; k < 3; k++) { x = $(k + 2)
          if (!n || x < low[k]) low[k] = x
          if (!n || x > high[k]) high[k] = x }
        n++ }
      END { for (k = 0; k < 3; k++) { a = low[k] - w[2 * k + 1]; b = high[k] - w[2 * k + 2]
          if (a * a > 1e-12 || b * b > 1e-12) exit 1 }
        exit n % 8 }' made.contact.obj; then
    pass
  else
    fail "$mesh: not the box $*"
  fi
  rm -f made.*
}
for mesh in box.obj box.glb UPPER.GLB box.gltf embedded.gltf box.dae; do
  box_is $mesh 0.006 0 0.3 0 0.2 0 0.1
done
box_is moved.glb 0.012 0.8 1 2 2.6 3 3.1 # a parent's place, turned; a child's scale
box_is mirror.glb 0.006 -0.3 0 0 0.2 0 0.1
box_is both.glb 0.012 0 1.3 -0.2 0.2 0 0.1 # two meshes, one mirrored
box_is millimetres.dae 0.006 0 0.3 0 0.2 0 0.1
box_is millimetres-moved.dae 0.006 0.5 0.8 0 0.2 0 0.1
box_is z-up.dae 0.006 0 0.3 0 0.2 0 0.1 # nothing is turned
box_is mirror.dae 0.006 0 0.3 0 0.2 -0.1 0

# ---- wherever meshes are read ----

for mesh in box.obj box.glb box.dae; do
  run 0 contacts -q $mesh cube.body.json --poses poses.csv -o $mesh.npz --device "$device"
done
for mesh in box.glb box.dae; do
  "$arrays" show box.obj.npz distance > first
  "$arrays" show $mesh.npz distance > second
  if paste first second | awk '{ d = $1 - $2; if (d * d > 1e-10) exit 1 }'; then
    pass
  else
    fail "distances of $mesh differ"
  fi
done
printf 'box.glb,cube.body.json\nbox.dae,box.gltf\n' > pairs.csv
{ echo $header,pair; sed -n 's/$/,0/;2p' poses.csv; sed -n 's/$/,1/;2p' poses.csv; } > pair-poses.csv
run 0 contacts -q --pairs pairs.csv --poses pair-poses.csv -o list.npz --device "$device"
cat > glb.body.json << 'END'
{"mesh": "box.glb", "superquadrics": [{"axes": [0.15, 0.1, 0.05], "exponents": [0.1, 0.1],
 "position": [0.15, 0.1, 0.05], "quaternion": [1, 0, 0, 0]}]}
END
run 0 contacts -q glb.body.json cube.body.json --poses poses.csv -o named.npz --device "$device"
empty stderr 'a body file that names a .glb'
for mesh in box.obj box.glb; do
  cat > $mesh.scene.json << END
{"timestep": 0.002,
 "links": [{"name": "floor", "bodies": [{"plane": [2, 2]}]},
           {"name": "box", "position": [0, 0, 0.01], "joint": {"type": "free"}, "density": 500,
            "bodies": [{"file": "$mesh"}]}],
 "pairs": [{"a": "box", "b": "floor"}]}
END
  run 0 simulate -q $mesh.scene.json --steps 5 -o $mesh.states.npz --device "$device"
  "$arrays" show $mesh.states.npz q > $mesh.q 2> stderr
done
if [ -s box.glb.q ] && paste box.obj.q box.glb.q | awk '{ d = $1 - $2; if (d * d > 1e-10) exit 1 }'; then
  pass
else
  fail 'a scene of a .glb moves otherwise than of the .obj'
fi

# ---- what is refused ----

wrong 'none.glb: No such file or directory' field none.glb -o no.body.json
wrong 'empty.glb: is empty' field empty.glb -o no.body.json
wrong 'empty.dae: is empty' field empty.dae -o no.body.json
for mesh in garbage.glb garbage.gltf garbage.dae cut.glb header.glb cut.dae short.gltf; do
  run 2 field $mesh -o no.body.json
  has stderr "^abut: $mesh: Assimp [0-9.]+ does not read it: ."
done
run 2 field lost.gltf -o no.body.json
has stderr '^abut: lost\.gltf: Assimp [0-9.]+ does not read it: .*nowhere\.bin'
for mesh in lines.glb nodes.glb; do
  run 2 field $mesh -o no.body.json
  has stderr "^abut: $mesh: it holds no triangles, as Assimp [0-9.]+ reads it\$"
done
run 2 field faceless.dae -o no.body.json
has stderr '^abut: faceless\.dae: '
for mesh in nan.glb infinite.glb unit.dae; do
  run 2 field $mesh -o no.body.json
  has stderr "^abut: $mesh: a vertex is not finite, as Assimp [0-9.]+ reads it\$"
done
mkdir folder.glb
run 2 field folder.glb -o no.body.json
has stderr '^abut: folder\.glb: '
run 2 contacts box.glb cut.glb --poses poses.csv -o no.npz --device "$device"
has stderr '^abut: cut\.glb: '

# ---- the program that reads them ----

# reader TEXT: stands in for it
reader() { printf '#!/bin/sh\n%s\n' "$1" > reader && chmod +x reader; }
export ABUT_MESH_READER=./reader
reader 'kill -SEGV $$'
run 2 field box.glb -o no.body.json
has stderr '^abut: box\.glb: Assimp [0-9.]+ crashed while it read it \(Segmentation fault\)$'
reader 'kill -KILL $$'
run 2 field box.glb -o no.body.json
has stderr '^abut: box\.glb: Assimp [0-9.]+ was ended while it read it \(Killed\)$'
reader 'echo no library >&2; exit 127'
wrong 'box.glb: its reader, ./reader, ended with status 127: no library' field box.glb -o no.body.json
reader 'exit 3'
wrong 'box.glb: its reader, ./reader, ended with status 3 and no mesh' field box.glb -o no.body.json
reader 'echo nonsense'
wrong 'box.glb: its reader ended without a mesh' field box.glb -o no.body.json
reader 'printf "a\001b\n" >&2; exit 2'
wrong 'box.glb: a b' field box.glb -o no.body.json
ABUT_MESH_READER=./nowhere
run 2 field box.glb -o no.body.json
has stderr '^abut: box\.glb: its reader, \./nowhere, cannot be run: '
unset ABUT_MESH_READER
# A caller that wants to know of no child, or has no standard input.
if (trap '' CHLD; "$abut" field -q box.glb -o made.body.json) > stdout 2> stderr; then pass; else fail 'SIGCHLD'; fi
if "$abut" field -q box.dae -o made.body.json <&- > stdout 2> stderr; then pass; else fail 'no stdin'; fi
for file in no.body.json no.grid.npz no.contact.obj no.npz; do absent $file; done

finish
