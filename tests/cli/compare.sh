#!/bin/sh
# Contact laws of the command beside each other: compare.sh ABUT ARRAYS GOLDEN, see support.sh.
# shellcheck disable=SC2016 # the marks are awk's
# shellcheck source=tests/cli/support.sh
. "$(dirname "$0")/support.sh"

# ---- scenes ----

cat > fall.scene.json << 'END'
{"timestep": 0.01, "gravity": [0, 0, -10],
 "links": [{"position": [0, 0, 5], "joint": {"type": "free"}, "density": 1000,
            "bodies": [{"box": [0.1, 0.1, 0.1]}]},
           {"joint": {"type": "slide", "axis": [1, 0, 0]}, "mass": 2,
            "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}],
 "actuators": [{"kind": "motor", "joint": 1}]}
END
# A box of 6 kg on a floor. What is of hard contacts alone, the soft ones leave aside.
cat > rest.scene.json << 'END'
{"timestep": 0.002, "lcp": {"most": 12},
 "links": [{"bodies": [{"plane": [2, 2]}]},
           {"position": [0, 0, 0.1], "joint": {"type": "free"}, "density": 500,
            "bodies": [{"box": [0.15, 0.1, 0.1]}]}],
 "pairs": [{"a": 1, "b": 0, "friction": 0.5}]}
END
sed 's/"timestep"/"contact_model": "lcp", "timestep"/' rest.scene.json > hard.scene.json
sed 's/"timestep"/"integrator": "rk4", "timestep"/' hard.scene.json > rk4.scene.json
compare() { # SCENE ARGUMENTS...: goes well
  scene=$1
  shift
  run 0 compare "$scene" --device "$device" --precision $wide "$@"
}
near() { # FILE ARRAY FILE ARRAY LIMIT
  if "$arrays" compare "$1" "$2" "$3" "$4" "$5" > compared; then pass; else
    fail "$2 of $1 is not $4 of $3: $(cat compared)"
  fi
}

# ---- what is warned about ----

# Hard contacts alone take a joint's damping as it is before the step.
sed 's/"slide", /"slide", "damping": 500, /' fall.scene.json > damped.scene.json
compare damped.scene.json --steps 2
has stderr '^abut: warning: damped\.scene\.json by "lcp": links\[1\]\.joint: its damping and stiffness are too much for steps of 10 ms, in which speeds swing up; steps of up to 8 ms hold near the start$'
if [ "$(grep -c 'swing up' stderr)" = 1 ]; then pass; else fail 'soft contacts take damping in, and are warned about'; fi

# ---- what nothing touches ----

# A coordinate of the end moves with its velocity by the time that is left.
compare fall.scene.json --steps 40 --coordinate 2 --models cone,lcp --series fall.npz
has stdout "^40 steps of 0\.01 s, 41 states; gradient of the end's z of link 0; on .*, f(32|64)$"
has stdout '^law +ms a step +end energy \[J\] +deepest \[mm\] +largest force \[N\] +gradient \[s\]  status$'
has stdout '^cone +[0-9.e-]+ +[0-9.e+-]+ +0 +0 +0\.4  ok$'
has stdout '^lcp +[0-9.e-]+ +[0-9.e+-]+ +0 +0 +0\.4  ok$'
empty stderr 'compare of what falls'
array fall.npz gradient '{ row = int((NR - 1) / 28); i = (NR - 1) % 14
  wanted = i == 2 ? 1 : i == 9 ? 0.4 - 0.01 * row : 0
  bad += $1 - wanted > 1e-6 || $1 - wanted < -1e-6 } END { exit bad || NR != 41 * 2 * 14 }'
array fall.npz time '{ e = $1 - 0.01 * (NR - 1); bad += e > 1e-12 || e < -1e-12 }
  END { exit bad || NR != 41 }'
array fall.npz force '$1 != 0 { exit 1 } END { exit NR != 82 }'
array fall.npz penetration '$1 != 0 { exit 1 } END { exit NR != 82 }'
array fall.npz status '$1 != 0 { exit 1 } END { exit NR != 2 }'
"$arrays" show fall.npz models > names
says names 'cone,lcp'
run 0 film fall.scene.json fall.npz --world 1 -o fall.png --frames 2 --width 20 --height 20 -q \
  --device "$device"

# The coordinate: of the last joint, else as it is asked for.
compare fall.scene.json --steps 3 --models lcp
has stdout "gradient of the end's length of link 1;"
compare fall.scene.json --steps 3 --models lcp --coordinate 4
has stdout "gradient of the end's turn about y of link 0;"
has stdout '^lcp .* 0\.03  ok$'
compare rest.scene.json --steps 3 --models lcp
has stdout "gradient of the end's x of link 1;"

# ---- a box that rests ----

# Each law holds its 6 * 9.81 N in the end; soft contacts give way by some hundredths of a millimetre.
compare rest.scene.json --steps 200 --record 7 --models lcp,cone --series rest.npz -o rest.png
has stdout '^200 steps of 0\.002 s, 30 states; '
if [ "$(head -c 4 rest.png | tail -c 3)" = PNG ]; then pass; else fail 'rest.png is no PNG'; fi
array rest.npz force 'NR > 58 { e = $1 - 58.86; bad += e > 0.06 || e < -0.06 }
  END { exit bad || NR != 60 }'
array rest.npz penetration '{ x[NR] = $1 } END { exit !(x[59] > 3e-5 && x[59] < 1e-3 && x[60] < 1e-6) }'
array rest.npz energy '{ e[NR] = $1 } END { exit NR != 120 || e[2] - 5.886 > 1e-3 || e[2] - 5.886 < -1e-3 }'

# Springs give way by their force over their stiffness. Under sanitizers they are not waited for: to come to rest takes many
# of the same steps.
settled() { if [ -z "$sanitized" ]; then array "$@"; fi; }
steps=400
if [ -n "$sanitized" ]; then steps=40; fi
compare rest.scene.json --steps $steps --record 7 --models spring --series rest.npz
settled rest.npz force 'NR > 58 { e = $1 - 58.86; bad += e > 1e-3 || e < -1e-3 } END { exit bad || NR != 59 }'
settled rest.npz penetration 'NR > 58 { e = $1 - 58.86 / 5000; bad += e > 1e-5 || e < -1e-5 }
  END { exit bad || NR != 59 }'

# Springs of the world that is chosen, whichever laws are beside it; and a law without derivatives.
"$arrays" fill weak.npz q=2x7:0,0,0.1,1,0,0,0 springs=2x1x6:5000,0.5,0.1,0.01,5e-4,2e-4,10000,0.5,0.1,0.01,5e-4,2e-4
compare rest.scene.json --steps $steps --record 7 --models cone,spring --states weak.npz --world 1 --series weak.out.npz
settled weak.out.npz penetration 'NR == 118 { e = $1 - 58.86 / 10000; bad += e > 1e-5 || e < -1e-5 } END { exit bad || NR != 118 }'
sed 's/"timestep"/"integrator": "euler", "timestep"/; s/"friction": 0.5/"contact": {"reaction": "plane"}/' rest.scene.json > plane.scene.json
compare plane.scene.json --steps 4 --models lcp,spring
has stderr '^abut: warning: spring has no gradient: '
has stdout '^spring .* nan  ok$'

# Numbers are those of other commands, whichever model the scene itself has.
compare rest.scene.json --steps 40 --record 6 --models cone --series soft.npz
run 0 simulate rest.scene.json --steps 40 --record 6 --device "$device" --precision $wide \
  -o soft-simulated.npz
compare rest.scene.json --steps 40 --record 6 --models lcp --series hard.npz
compare hard.scene.json --steps 40 --record 6 --models lcp --series own.npz
compare hard.scene.json --steps 40 --record 6 --models cone --series other.npz
run 0 simulate hard.scene.json --steps 40 --record 6 --device "$device" --precision $wide \
  -o hard-simulated.npz
for name in q v time status; do
  near soft.npz $name soft-simulated.npz $name 0
  near hard.npz $name hard-simulated.npz $name 0
  near own.npz $name hard-simulated.npz $name 0
  near other.npz $name soft-simulated.npz $name 0
done
near soft.npz energy soft-simulated.npz energy 1e-6
near hard.npz energy hard-simulated.npz energy 1e-6

# The gradient at the start is that of one call for all steps.
"$arrays" fill end.npz state=1x12:1,0,0,0,0,0,0,0,0,0,0,0
for model in rest hard; do
  law=cone
  if [ $model = hard ]; then law=lcp; fi
  compare $model.scene.json --steps 40 --record 6 --models $law --coordinate 0 --series g.npz
  run 0 rollout-gradient $model.scene.json --steps 40 --cotangents end.npz -o whole.npz \
    --device "$device" --precision $wide -q
  "$arrays" show g.npz gradient | head -n 12 > first
  { "$arrays" show whole.npz q; "$arrays" show whole.npz v; } > wanted
  if paste first wanted | awk '{ e = $1 - $2; m = $2 < 0 ? -$2 : $2; most = m > most ? m : most
    e = e < 0 ? -e : e; worst = e > worst ? e : worst } END { exit NR != 12 || !(worst <= 1e-3 * most) }'
  then pass; else fail "the gradient of $law is not that of rollout-gradient"; fi
done

# ---- states, controls, worlds that stop ----

"$arrays" fill states.npz q=2x8:0,0,5,1,0,0,0,0 v=2x7:0 gravity=2x3:0,0,-1,0,0,-2
"$arrays" fill rows.npz u=3x2x1:2,8,4,16,6,24
compare fall.scene.json --states states.npz --world 1 --controls rows.npz --models cone \
  --series second.npz
has stdout '^3 steps '
array second.npz v 'NR == 24 { z = $1 } NR == 28 { u = $1 } END { z += 0.06; u -= 0.24
  exit NR != 28 || z > 1e-6 || z < -1e-6 || u > 1e-6 || u < -1e-6 }'
"$arrays" fill held.npz u=2x1:4,8
compare fall.scene.json --states states.npz --world 1 --controls held.npz --steps 5 --models cone \
  --series held-out.npz
array held-out.npz v 'END { exit NR != 42 || $1 < 0.199999 || $1 > 0.200001 }'
sed 's/"timestep"/"divergence": 1, "timestep"/' fall.scene.json > fast.scene.json
compare fast.scene.json --steps 40 --record 3 --models cone,lcp --series stopped.npz -o stopped.png \
  --json
json_is_valid stdout
has stdout '"seconds_per_step": null'
has stdout '"status_text": "diverged"'
array stopped.npz gradient '$1 !~ /nan/ { exit 1 } END { exit NR != 15 * 2 * 14 }'
array stopped.npz v '(NR - 1) % 7 == 2 && $1 < -1.01 { exit 1 }'

# ---- what is left out ----

# A law that the scene's own file cannot have; what another one has no meaning for is left aside.
compare rk4.scene.json --steps 5 --models cone,lcp --series left.npz
has stderr '^abut: warning: lcp is left out: rk4\.scene\.json:1: integrator: .*"euler" alone$'
"$arrays" show left.npz models > names
says names 'cone'
run 2 compare rk4.scene.json --steps 5 --models lcp --series none.npz --device "$device"
has stderr '^abut: rk4\.scene\.json:1: integrator: .*"euler" alone$'
empty stdout 'compare without a law'
absent none.npz
sed 's/"contact_model": "lcp", //' rk4.scene.json > soft-rk4.scene.json
compare soft-rk4.scene.json --steps 5 --models cone,lcp
empty stderr 'rk4 of a soft scene'
has stdout '^lcp '
compare rest.scene.json --steps 4 --json
json_is_valid stdout
has stdout '"left_out": \['
has stdout '"model": "lcp"'
compare rest.scene.json --steps 4 --models lcp -o /dev/stdout
if [ "$(head -c 4 stdout | tail -c 3)" = PNG ]; then pass; else fail 'no PNG on standard output'; fi

# ---- what is wrong ----

usage 'compare needs a scene' compare --steps 3
usage '--steps T is needed where no controls of shape (T, N, nu) tell how many there are' \
  compare rest.scene.json
usage '--models: there is no `soft`; possible: cone, lcp, spring' \
  compare rest.scene.json --steps 3 --models cone,soft
usage '--models names lcp twice' compare rest.scene.json --steps 3 --models lcp,cone,lcp
usage '--world is of --states' compare rest.scene.json --steps 3 --world 1
usage '-o no.npz: compare writes files that end with .png' compare rest.scene.json --steps 3 -o no.npz
usage '-o -: name a file; standard output is /dev/stdout' compare rest.scene.json --steps 3 -o -
usage '--series no.png: compare writes files that end with .npz' \
  compare rest.scene.json --steps 3 --series no.png
usage "--coordinate: 6 is not in 0 to 5, the scene's" \
  compare rest.scene.json --steps 3 --models cone --coordinate 6 --device "$device"
usage 'compare has no option --worlds' compare rest.scene.json --steps 3 --worlds 2
usage 'compare has no option --contacts' compare rest.scene.json --steps 3 --contacts
usage 'simulate has no option --models' simulate rest.scene.json --steps 3 -o no.npz --models cone
wrong 'states.npz: there is no world 2; it holds 2, from 0 on' \
  compare fall.scene.json --steps 3 --states states.npz --world 2 --models cone --device "$device"
run 2 compare none.scene.json --steps 3 --models cone,lcp -o no.png
has stderr '^abut: none\.scene\.json: '
echo '{"links": [{}], "what": 1}' > wrong.scene.json
run 2 compare wrong.scene.json --steps 3 --models cone,lcp -o no.png --device "$device"
has stderr '^abut: wrong\.scene\.json:1: what: '
if [ "$(wc -l < stderr)" -eq 1 ]; then pass; else fail 'what is wrong is told more than once'; fi
echo '{"links": [{}]}' > still.scene.json
wrong 'still.scene.json: nothing moves: there is no end to differentiate' \
  compare still.scene.json --steps 3 --models cone -o no.png --device "$device"
cat > given.scene.json << 'END'
{"links": [{"joint": {"type": "free"}, "mass": 1, "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}],
 "pairs": [{}]}
END
wrong 'given.scene.json: pairs[0] has no bodies, whose contacts could be compared' \
  compare given.scene.json --steps 3 --models cone -o no.png --device "$device"
run 1 compare rest.scene.json --steps 3 --models cone --device "$device" --series none/s.npz
absent no.png
absent no.npz
no_leftovers .

finish
