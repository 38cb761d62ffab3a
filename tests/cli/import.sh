#!/bin/sh
# Models of MuJoCo's and of URDF as scenes: import.sh ABUT ARRAYS GOLDEN FAILING, see support.sh. It is skipped where neither
# $ABUT_PYTHON nor python3 has MuJoCo.
# shellcheck disable=SC2016 # the marks are the messages' own
here=$(cd "$(dirname "$0")" && pwd) || exit 1
# shellcheck source=tests/cli/support.sh
. "$here/support.sh"
models=$here/models

# ---- what is refused with and without MuJoCo ----

usage 'import needs a model' import -o no.scene.json
usage 'import needs -o NAME.scene.json' import "$models/arm.xml"
usage '`b.xml` is one word too many' import "$models/arm.xml" b.xml -o no.scene.json
usage '-o no.json: import writes files that end with .scene.json' import "$models/arm.xml" -o no.json
usage '-o .scene.json: import writes files that end with .scene.json' import "$models/arm.xml" \
  -o .scene.json
usage '-o -: name a file' import "$models/arm.xml" -o -
usage 'import has no option --poses' import "$models/arm.xml" -o no.scene.json --poses poses.csv
wrong 'none.xml: No such file or directory' import none.xml -o no.scene.json
cp "$models/arm.xml" own.scene.json
wrong 'own.scene.json: is an input of this command too' import own.scene.json -o own.scene.json
if cmp -s own.scene.json "$models/arm.xml"; then pass; else fail 'the model is written over'; fi
# Python that is not there, and Python without its packages.
printf '%s\n' '#!/bin/sh' 'exec python3 -I -S "$@"' > bare
chmod +x bare
for named in ./nowhere ./bare; do
  ABUT_PYTHON=$named "$abut" import "$models/arm.xml" -o arm.scene.json > stdout 2> stderr
  status=$?
  if [ $status -eq 2 ] && [ "$(grep -c '' stderr)" -eq 1 ]; then pass; else fail "status $status by $named: $(cat stderr)"; fi
  has stderr '^abut: import needs Python with the package `mujoco`, and .*: .*ABUT_PYTHON=PYTHON names another \(docs/import\.md\)$'
  absent arm.scene.json
  ABUT_PYTHON=$named "$abut" --version > stdout 2> stderr
  has stdout "^models are imported by MuJoCo: none that $named finds \(docs/import\.md\)$"
  empty stderr "--version by $named"
done
"$abut" import "$models/arm.xml" -o arm.scene.json > stdout 2> stderr
status=$?
if grep -q 'needs Python with the package' stderr; then
  finish || exit 1
  echo "skipped: ${ABUT_PYTHON:-python3} has no MuJoCo (pip install mujoco, docs/import.md)"
  exit 77
fi

# ---- models ----

if [ $status -eq 0 ]; then pass; else fail "status $status of the arm"; fi
has stdout '/arm\.xml: 8 links, 8 bodies, 6 actuators, 22 pairs \(22 automatic\), by MuJoCo [0-9.]+; nothing left out$'
empty stderr 'import of the arm'
run 0 import "$models/humanoid.xml" -o humanoid.scene.json
has stdout ': 15 links, 13 bodies, 11 actuators, 58 pairs \(58 automatic\), by MuJoCo [0-9.]+; 1 warning$'
has stderr '^abut: warning: geom `floor`: a plane without end becomes one of [0-9]+ m by [0-9]+ m$'
run 0 import -q "$models/humanoid.xml" -o humanoid-listed.scene.json --list-pairs
run 0 import -q "$models/hand.xml" -o hand-listed.scene.json --list-pairs
run 0 import -q "$models/hand.xml" -o hand.scene.json
empty stdout 'import -q'
says stderr 'abut: warning: 1 geom that touches nothing is left out (contype and conaffinity 0)'
says stderr 'abut: warning: joint `thumb_push`: ref 0.004 stays in q, but approximate weights of rows are those at q = 0'
says stderr 'abut: warning: actuator `bend`: the control'\''s range 0 to 1.6 is left out'
says stderr 'abut: warning: actuator `pull`: left out with its control: only actuators of joints are taken'
says stderr 'abut: warning: actuator `turn`: left out with its control: it is neither a motor, a position nor a velocity actuator without state'
says stderr 'abut: warning: geom `index_1`: condim 4 becomes 3'
says stderr 'abut: warning: pair 1: friction is 2 in all directions, not 1 in one'
says stderr 'abut: warning: equality `couple`: equality constraints are left out'
says stderr 'abut: warning: tendon `pull`: tendons are left out'
run 0 import -q "$models/hand.xml" -o hand.scene.json # its mesh of before is written over
run 0 import -q "$models/gripper.urdf" -o gripper.scene.json
if [ "$(grep -c '^v ' hand.wedge.obj) $(grep -c '^f ' hand.wedge.obj)" = '8 12' ]; then
  pass
else
  fail 'the mesh is not 8 vertices and 12 faces'
fi
if python3 "$here/imported.py" "$folder" > stdout 2> stderr; then pass; else fail 'the scenes are wrong'; fi

# Ranges without an end; MuJoCo 2.2 does not read them.
ranges='<mujoco><compiler angle="radian"/><worldbody><body quat="1 -0 0 0">
  <joint name="a" axis="0 0 1" limited="true" range="-inf inf"/>
  <joint name="b" axis="0 1 0" limited="true" range="-0.5 inf" damping="D"/><geom size="0.1"/></body></worldbody><actuator>
  <motor joint="a" forcelimited="true" forcerange="-inf inf"/><motor joint="b" forcelimited="true" forcerange="-1 inf"/>
  <position joint="b" ctrllimited="true" ctrlrange="-inf 3"/><position joint="b" ctrllimited="true" ctrlrange="-inf inf"/>
  </actuator></mujoco>'
echo "$ranges" | sed s/D/1/ > ranges.xml
"$abut" import ranges.xml -o ranges.scene.json > stdout 2> stderr
status=$?
if ! grep -q 'does not read it' stderr; then
  if [ $status -eq 0 ]; then pass; else fail "status $status of ranges without an end"; fi
  says stderr 'abut: warning: actuator 2: the control'\''s range -inf to 3 is left out'
  has stdout '; 1 warning$'
  has ranges.scene.json '"axis": \[0\.0, 1\.0, 0\.0\], "damping": 1\.0, "limits": \[-0\.5, 10000000000\.0\]'
  has ranges.scene.json '"kind": "motor", "joint": 1, "gear": 1\.0, "force_limits": \[-1\.0, 10000000000\.0\]'
  if grep -q 'inf[],]\|quaternion' ranges.scene.json; then fail 'a scene with what nobody reads'; else pass; fi
  json_is_valid ranges.scene.json
  echo "$ranges" | sed s/D/inf/ > endless.xml
  wrong 'endless.xml: the scene'\''s links[1].joint.damping is inf; scenes hold finite numbers alone' \
    import -q endless.xml -o no.scene.json
fi

# Python takes no modules from the folder where the command is called.
mkdir strange
for module in csv email json importlib argparse; do echo 'open("ran", "w")' > strange/$module.py; done
(cd strange && "$abut" --version && "$abut" import --help && "$abut" import "$models/arm.xml" -o arm.scene.json) > stdout 2> stderr
if [ -e strange/ran ]; then fail 'a file of the folder is run'; else pass; fi

# What options take away is not in the scene.
sed 's|<option [^>]*>|<option><flag gravity="disable" limit="disable" frictionloss="disable" contact="disable" actuation="disable"/></option>|' \
  "$models/arm.xml" > off.xml
run 0 import -q off.xml -o off.scene.json
says stderr 'abut: warning: contacts are off in the model, so that there are no pairs'
says stderr 'abut: warning: actuator 5: left out with its control: it is off in the model'
has off.scene.json '"gravity": \[0\.0, 0\.0, 0\.0\]'
if grep -qE 'limits|frictionloss|condim|kp' off.scene.json; then fail 'something is not off'; else pass; fi

# MuJoCo counts two geoms that are a pair twice twice; a scene has them once.
cat > twice.xml << 'END'
<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
  <body pos="0 0 1"><freejoint/><geom name="ball" size="0.1"/></body></worldbody>
  <contact><pair geom1="floor" geom2="ball"/><pair name="again" geom1="ball" geom2="floor"/></contact>
</mujoco>
END
run 0 import twice.xml -o twice.scene.json
has stdout ': 2 links, 2 bodies, 0 actuators, 1 pairs,'
says stderr 'abut: warning: pair `again`: its geoms are those of an earlier pair'

# A solver of one iteration is MJX's way, not one to take over.
sed 's|<option |<option iterations="1" |' "$models/arm.xml" > once.xml
run 0 import -q once.xml -o once.scene.json
says stderr 'abut: warning: iterations: 1 is left out, as Newton'\''s method would seldom end by then; the scene'\''s own number stays'
if grep -q iterations once.scene.json; then fail 'one iteration is taken over'; else pass; fi

# ---- what is wrong ----

echo '<mujoco><worldbody><geom/></worldbody></mujoco>' > bad.xml
run 2 import bad.xml -o no.scene.json
has stderr '^abut: bad\.xml: .*sizes? (0 )?must be positive'
echo '<mujoco><worldbody><gem/></worldbody></mujoco>' > bad.xml
run 2 import bad.xml -o no.scene.json
has stderr '^abut: bad\.xml: .*gem'
echo 'no XML' > bad.xml
run 2 import bad.xml -o no.scene.json
has stderr '^abut: bad\.xml: '
for mesh in part.dae part.GLB; do
  echo "<mujoco><asset><mesh name=\"part\" file=\"$mesh\"/></asset><worldbody><geom type=\"mesh\" mesh=\"part\"/></worldbody></mujoco>" > bad.xml
  echo > $mesh
  run 2 import bad.xml -o no.scene.json
  has stderr '^abut: bad\.xml: .*; MuJoCo'\''s meshes are \.obj, \.stl or \.msh, so convert it \(docs/import\.md#meshes\)'
done
echo '<mujoco/>' > empty.xml
wrong 'empty.xml: the model has no bodies' import empty.xml -o no.scene.json
absent MUJOCO_LOG.TXT
run 1 import "$models/arm.xml" -o nowhere/no.scene.json
has stderr '^abut: nowhere/no\.scene\.json: the folder nowhere/: '
# No mesh is written over that may be the model's, and none is left where the scene cannot be written.
mkdir mesh full
sed 1d hand.wedge.obj > mesh/x.wedge.obj
cp mesh/x.wedge.obj before.obj
echo '<mujoco><asset><mesh name="wedge" file="x.wedge.obj"/></asset><worldbody><body><freejoint/>
      <geom type="mesh" mesh="wedge"/></body></worldbody></mujoco>' > mesh/m.xml
wrong 'mesh/x.wedge.obj: is there, and not of an import; it is not written over' \
  import -q mesh/m.xml -o mesh/x.scene.json
if cmp -s before.obj mesh/x.wedge.obj; then pass; else fail 'the mesh is written over'; fi
message=$( (ulimit -f 0 && "$abut" import -q "$models/hand.xml" -o full/hand.scene.json) 2>&1)
status=$?
echo "$message" > stderr
if [ $status -eq 1 ]; then pass; else fail "status $status on a full disk"; fi
no_leftovers full
for file in full/hand.scene.json full/hand.wedge.obj mesh/x.scene.json no.scene.json; do
  absent $file
done

if [ -w /dev/full ]; then
  "$abut" import "$models/arm.xml" -o arm.scene.json > /dev/full 2> stderr
  status=$?
  if [ $status -eq 1 ]; then pass; else fail "status $status where the summary cannot be written"; fi
  says stderr 'abut: standard output: No space left on device'
fi
# What MuJoCo warns of is said once, and not written to a file; names need not be UTF-8, and an output may begin with a dash.
printf '<mujoco><worldbody><body name="b\374"><joint axis="0 0 1" damping="nan"/><geom size="0.1"/></body></worldbody></mujoco>' > odd.xml
run 2 import odd.xml -o odd.scene.json
has stderr '^abut: warning: MuJoCo: .*NaN'
absent MUJOCO_LOG.TXT
sed 's/nan/1/' odd.xml > -odd.xml
run 0 import -q -o=-odd.scene.json -- -odd.xml
json_is_valid ./-odd.scene.json

# MuJoCo runs in a process of its own, which may crash.
if [ -n "$failing" ]; then
  ABUT_TEST_SIGNAL=11 LD_PRELOAD="$failing" "$abut" import "$models/arm.xml" -o crashed.scene.json > stdout 2> stderr
  status=$?
  if [ $status -eq 2 ]; then pass; else fail "status $status where MuJoCo crashes"; fi
  has stderr '/arm\.xml: the process that reads it with MuJoCo was ended by a signal \(Segmentation fault\)$'
  absent crashed.scene.json
  # A signal that asks for the end leaves nothing that is half written.
  mkdir ended
  ABUT_TEST_SIGNAL=15 LD_PRELOAD="$failing" "$abut" import -q "$models/hand.xml" -o ended/hand.scene.json > stdout 2> stderr
  status=$?
  if [ $status -eq 143 ]; then pass; else fail "status $status where a signal asks for the end"; fi
  no_leftovers ended
  absent ended/hand.scene.json
  absent ended/hand.wedge.obj
  # Whoever calls may have children's ends ignored.
  (trap '' CHLD; exec "$abut" import bad.xml -o no.scene.json) > stdout 2> stderr
  status=$?
  if [ $status -eq 2 ]; then pass; else fail "status $status where SIGCHLD is ignored"; fi
fi
echo '<mujoco><worldbody><geom type="blob"/></worldbody></mujoco>' > blob.xml
run 2 import blob.xml -o blob.scene.json
has stderr '^abut: blob\.xml: MuJoCo [0-9.]+ does not read it: .*; what to do where it is too old: docs/import\.md$'
run 0 import --help
has stdout '^MuJoCo that reads models here: [0-9.]+$'
run 0 --version
has stdout '^models are imported by MuJoCo: [0-9.]+$'

finish
