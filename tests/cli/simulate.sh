#!/bin/sh
# Worlds and films of the command: simulate.sh ABUT ARRAYS GOLDEN, see support.sh.
# shellcheck disable=SC2016 # the marks are awk's
# shellcheck source=tests/cli/support.sh
. "$(dirname "$0")/support.sh"

# ---- scenes ----

cat > fall.scene.json << 'END'
{"timestep": 0.01, "gravity": [0, 0, -10],
 "links": [{"name": "stone", "position": [0, 0, 5], "joint": {"type": "free"}, "density": 1000,
            "bodies": [{"box": [0.1, 0.1, 0.1]}]},
           {"name": "cart", "joint": {"type": "slide", "axis": [1, 0, 0]}, "mass": 2,
            "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}],
 "actuators": [{"kind": "motor", "joint": "cart"}]}
END
cat > rest.scene.json << 'END'
{"timestep": 0.002,
 "links": [{"name": "floor", "bodies": [{"plane": [2, 2]}]},
           {"name": "box", "position": [0, 0, 0.1], "joint": {"type": "free"}, "density": 500,
            "bodies": [{"box": [0.15, 0.1, 0.1]}]}],
 "pairs": [{"a": "box", "b": "floor"}]}
END
sed 's/"timestep": 0.01/"divergence": 1, "timestep": 0.01/' fall.scene.json > slow.scene.json
simulate() { # SCENE OUT ARGUMENTS...: goes well
  scene=$1
  out=$2
  shift 2
  run 0 simulate "$scene" -o "$out" --device "$device" --precision $wide "$@"
}
same() { # ARRAY FILE FILE: to the bit
  if "$arrays" compare "$2" "$1" "$3" "$1" 0 > compared; then pass; else
    fail "$1 of $2 is not that of $3: $(cat compared)"
  fi
}

# ---- steps ----

# z = 5 - 10 h^2 n (n + 1) / 2 by semi-implicit Euler
simulate fall.scene.json fall.npz --steps 40 --record 4
has stdout '^1 world, 40 steps of 0\.01 s, 11 states of each kept, [0-9.e+-]+ s on .*, f(32|64)$'
empty stderr simulate
array fall.npz time '{ bad += $1 - 0.04 * (NR - 1) > 1e-12 || $1 - 0.04 * (NR - 1) < -1e-12 }
  END { exit bad || NR != 11 }'
array fall.npz q '(NR - 1) % 8 == 2 { n = 4 * int((NR - 1) / 8); e = $1 - (5 - 0.0005 * n * (n + 1))
  bad += e > 1e-5 || e < -1e-5; ++count } END { exit bad || count != 11 || NR != 88 }'
array fall.npz v '(NR - 1) % 7 == 2 { e = $1 + 0.4 * int((NR - 1) / 7); bad += e > 1e-5 || e < -1e-5 }
  END { exit bad || NR != 77 }'
# A cube of 8 kg: what falls loses m g z and gains m v^2 / 2, but for what the step's length costs.
array fall.npz energy '{ e[NR] = $1 } END { n = 40; v = 4; z = 5 - 0.0005 * n * (n + 1)
  exit NR != 22 || e[1] != 0 || e[21] - 4 * v * v > 1e-3 || e[21] - 4 * v * v < -1e-3 || \
    e[2] - e[22] - 80 * (5 - z) > 1e-2 || e[2] - e[22] - 80 * (5 - z) < -1e-2 }'
array fall.npz status '$1 != 0 { exit 1 } END { exit NR != 1 }'
array fall.npz w '{ n++ } END { exit n != 7 }'

# The same from an earlier end, from another one kept, of several worlds, without a state between.
simulate fall.scene.json half.npz --steps 20 --record 20
simulate fall.scene.json whole.npz --steps 20 --record 20 --states half.npz
simulate fall.scene.json ends.npz --steps 40 --record 40
"$arrays" show ends.npz q | tail -n 8 > ends
"$arrays" show whole.npz q | tail -n 8 > whole
if cmp -s ends whole; then pass; else fail 'two halves are not the whole'; fi
simulate fall.scene.json seven.npz --steps 40 --record 7
"$arrays" show seven.npz q | sed -n '33,40p' > seven # after 28 steps
"$arrays" show fall.npz q | sed -n '57,64p' > four
if cmp -s seven four; then pass; else fail 'every 7th state is another than every 4th'; fi

# The last state is kept also where --record does not meet it, and what goes on from the file is, to
# the bit, what one long run gives.
last() { # ARRAY FILE COUNT: its last numbers
  "$arrays" show "$2" "$1" | tail -n "$3"
}
last_same() { # ARRAY FILE FILE COUNT
  last "$1" "$2" "$4" > one
  last "$1" "$3" "$4" > other
  if cmp -s one other; then pass; else fail "the last $1 of $2 is not that of $3"; fi
}
has stdout ', 7 states of each kept, '
array seven.npz time '{ e = $1 - 0.01 * (NR < 7 ? 7 * (NR - 1) : 40); bad += e > 1e-12 || e < -1e-12 }
  END { exit bad || NR != 7 }'
array seven.npz q 'END { exit NR != 7 * 8 }'
last_same q seven.npz fall.npz 8
last_same v seven.npz fall.npz 7
last_same energy seven.npz fall.npz 2
simulate fall.scene.json beyond.npz --steps 5 --record 9
array beyond.npz time 'END { exit NR != 2 || $1 < 0.04999 || $1 > 0.05001 }'
simulate rest.scene.json long.npz --steps 47 --worlds 2 --contacts
simulate rest.scene.json odd.npz --steps 17 --record 5 --worlds 2 --contacts
array odd.npz time 'END { exit NR != 5 || $1 < 0.033999 || $1 > 0.034001 }'
array odd.npz contact_count 'END { exit NR != 5 * 2 }'
simulate rest.scene.json on.npz --steps 30 --record 100 --states odd.npz --contacts
array on.npz time '{ t[NR] = $1 } END { exit NR != 2 || t[1] != 0 || t[2] < 0.05999 || t[2] > 0.06001 }'
last_same q on.npz long.npz 14
last_same v on.npz long.npz 12
last_same w on.npz long.npz 12
last_same energy on.npz long.npz 4
last_same contact_count on.npz long.npz 2
last_same contact_d on.npz long.npz 8

simulate fall.scene.json none.npz --steps 0
has stdout '1 world, 0 steps of 0\.01 s, 1 state of each kept'
array none.npz q 'NR == 3 && $1 != 5 { exit 1 } END { exit NR != 8 }'
simulate fall.scene.json three.npz --steps 4 --worlds 3 -q
empty stdout -q
array three.npz q 'END { exit NR != 5 * 3 * 8 }'

# ---- controls, states, parameters ----

# A force u moves 2 kg: v = 0.01 / 2 times the sum of u.
"$arrays" fill held.npz u=2x1:4,8
"$arrays" fill each.npz u=40x2x1:4,8
"$arrays" fill rising.npz u=3x1x1:2,4,6
simulate fall.scene.json held-out.npz --steps 40 --worlds 2 --controls held.npz
simulate fall.scene.json each-out.npz --steps 40 --worlds 2 --controls each.npz
same q held-out.npz each-out.npz
same v held-out.npz each-out.npz
array held-out.npz v '(NR - 1) % 7 == 6 { last[NR / 7 % 2] = $1 }
  END { exit last[1] < 0.79999 || last[1] > 0.80001 || last[0] < 1.59999 || last[0] > 1.60001 }'
simulate fall.scene.json rising-out.npz --controls rising.npz
has stdout '^1 world, 3 steps of 0\.01 s, 4 states of each kept, '
array rising-out.npz v '(NR - 1) % 7 == 6 { e = $1 - 0.005 * (k * k + k); ++k; bad += e > 1e-6 || e < -1e-6 }
  END { exit bad || k != 4 }'
"$arrays" fill states.npz q=2x8:0,0,1,2,0,0,0,0.5 v=2x7:0 gravity=2x3:0,0,-1,0,0,-2 mass_scale=2x2:1
simulate fall.scene.json states-out.npz --states states.npz --steps 1
array states-out.npz v 'NR == 17 { bad += $1 > -0.00999 || $1 < -0.01001 } NR == 24 { bad += $1 > -0.01999 || $1 < -0.02001 }
  END { exit bad }'
"$arrays" fill extra.npz q=1x8:0,0,5,1,0,0,0,0 qq=1x8:0
simulate fall.scene.json extra-out.npz --states extra.npz --steps 40 --record 4
says stderr "abut: warning: extra.npz: array 'qq' is nothing that worlds have; it is left out"
same q extra-out.npz fall.npz
# Numbers that the solver raises, which nobody means.
"$arrays" fill below.npz q=3x7:0,0,0.1,1,0,0,0 friction=3x1:0.5,-1,-2 stiffness=3x1:1,-1,0
"$arrays" fill raised.npz q=3x7:0,0,0.1,1,0,0,0 friction=3x1:0.5,1e-5,1e-5 stiffness=3x1:1,1e-6,1e-6
simulate rest.scene.json below-out.npz --states below.npz --steps 5
says stderr "abut: warning: below.npz: array 'friction': 2 of 3 worlds (1, 2) have negative numbers, which count as 1e-5"
says stderr "abut: warning: below.npz: array 'stiffness': 1 of 3 worlds (1) has negative numbers, which count as 1e-6"
simulate rest.scene.json raised-out.npz --states raised.npz --steps 5
empty stderr 'numbers as the solver takes them'
same q below-out.npz raised-out.npz

# ---- springs ----

# A box comes to rest m g / k deep: 6 kg, 5000 N/m; with k of its own twice as stiff.
sed 's/"timestep": 0.002/"contact_model": "spring", "timestep": 0.005/' rest.scene.json > soft.scene.json
"$arrays" fill springs.npz q=2x7:0,0,0.1,1,0,0,0 springs=2x1x6:5000,0.5,0.1,0.01,5e-4,2e-4,10000,0.5,0.1,0.01,5e-4,2e-4
simulate soft.scene.json soft.npz --steps 400 --record 400
simulate soft.scene.json springs-out.npz --states springs.npz --steps 400 --record 400
says stderr "abut: warning: soft.scene.json: pairs[0]: at rest its spring gives way by 12 mm, 2.9 % of the smaller body's diagonal; a k of 1.4e+04 N/m makes that 1 % (docs/spring.md#worlds)"
array soft.npz q 'NR == 10 { exit $1 > 0.08823 || $1 < 0.08822 }'
array springs-out.npz q 'NR == 17 { bad += $1 > 0.08823 || $1 < 0.08822 } NR == 24 { bad += $1 > 0.09412 || $1 < 0.09411 }
  END { exit bad }'
run 0 film soft.scene.json soft.npz -o soft.png --frames 1 --width 40 --height 30 --device "$device"
"$arrays" fill bad-springs.npz q=2x7:0,0,0.1,1,0,0,0 friction=2x1:1 \
  springs=2x1x6:5000,0,0.1,0.01,5e-4,2e-4,5000,0.5,0.1,0.01,5e-4,0
simulate soft.scene.json bad-out.npz --states bad-springs.npz --steps 4
says stderr "abut: warning: bad-springs.npz: array 'friction' is left out, for 'springs' has every pair's mu"
says stderr "abut: warning: bad-springs.npz: array 'springs': 1 of 2 worlds (1) has numbers that are not above 0 (mu: below 0)"
has stderr '^abut: warning: 1 of 2 worlds \(1\) .*, and keeps the state before, first in step [0-9]+$'
# What the solver raises stops worlds of springs; mu of listed pairs is that of 'springs', where there are some.
"$arrays" fill below.npz q=3x7:0,0,0.1,1,0,0,0 friction=3x1:0.5,-1,0 stiffness=3x1:1,1,0
simulate soft.scene.json below-out.npz --states below.npz --steps 5
says stderr "abut: warning: below.npz: array 'friction': 1 of 3 worlds (1) has negative numbers"
says stderr "abut: warning: below.npz: array 'stiffness': 1 of 3 worlds (2) has numbers that are not above 0"
array below-out.npz status 'NR == 1 ? $1 % 64 >= 32 : $1 % 64 < 32 { ++bad } END { exit bad || NR != 3 }'
"$arrays" fill flat-springs.npz q=2x7:0,0,0.1,1,0,0,0 springs=2x6:1
wrong "flat-springs.npz: array 'springs': shape (2, 6), not (2, 1, 6): k, mu, v_d, v_s, eps2, eps3 of each pair" \
  simulate soft.scene.json -o x.npz --states flat-springs.npz --steps 1 --device "$device"
wrong "springs.npz: array 'springs': the scene's contacts are no springs" \
  simulate rest.scene.json -o x.npz --states springs.npz --steps 1 --device "$device"
unlisted='its contacts are springs between whole bodies, of which there is no list'
sed '1s/{/{"clouds": true, /' soft.scene.json > clouds.scene.json
simulate soft.scene.json listed.npz --steps 1 --contacts
wrong "clouds.scene.json: --contacts: $unlisted" simulate clouds.scene.json -o x.npz --steps 1 --contacts --device "$device"
wrong "clouds.scene.json: --contacts: $unlisted" film clouds.scene.json soft.npz -o x.png --contacts --device "$device"
cat > automatic.scene.json << 'END'
{"links": [{"bodies": [{"plane": [5, 5]}]},
 {"joint": {"type": "free"}, "density": 500, "position": [0, 0, 0.1], "bodies": [{"box": [0.1, 0.1, 0.1]}]},
 {"joint": {"type": "free"}, "density": 500, "position": [0, 0.15, 0.1], "bodies": [{"box": [0.1, 0.1, 0.1]}]}],
 "automatic": true}
END
by_slot='it is of listed pairs alone, and the scene has automatic ones (docs/scenes.md#automatic-pairs)'
run 0 simulate automatic.scene.json -o automatic.npz --steps 3 --device "$device"
has stdout ', 3 pairs of 3 bodies that may touch, of 2 kinds, '
has stderr "^abut: warning: automatic\\.scene\\.json: links\\[1\\]\\.bodies\\[0\\] and links\\[2\\]\\.bodies\\[0\\] overlap by [0-9.]+ mm at the start"
sed 's/"automatic": true/"actuators": [{"kind": "velocity", "joint": 3, "kv": 500}]/; s/}]}],$/}]},\
 {"joint": {"type": "slide"}, "mass": 0.2, "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}],/' automatic.scene.json > driven.scene.json
run 0 simulate driven.scene.json -o driven.npz --steps 3 --device "$device"
has stderr '^abut: warning: driven\.scene\.json: actuators\[0\], on links\[3\]: its kp and kv are too much for steps of 2 ms, in which speeds swing up; steps of up to 0\.8 ms hold'
run 0 transition automatic.scene.json -o automatic-t.npz --parameters --device "$device"
run 0 film automatic.scene.json automatic.npz -o automatic.png --contacts --frames 2 --width 40 --height 30 --device "$device"
run 0 simulate automatic.scene.json -o touching.npz --steps 3 --contacts --device "$device"
has stdout 'kept with [0-9]+ contacts in all, 3 pairs of 3 bodies'
array touching.npz contact_count '{ n += $1; some += $1 > 0 } END { exit NR != 4 || some != 4 || n < 16 }'
array touching.npz contact_bodies '{ bad += $1 < 0 || $1 > 2 } END { exit bad || NR % 2 || NR < 32 }'
same_rows() { # of an array with one row a contact
  [ "$("$arrays" show touching.npz "$1" | wc -l)" = "$(($2 * $("$arrays" show touching.npz contact_slot | wc -l)))" ] && pass ||
    fail "touching.npz: $1 has not $2 numbers a contact"
}
same_rows contact_bodies 2
same_rows contact_p 3
same_rows contact_activity 1
run 0 simulate automatic.scene.json --states touching.npz -o on.npz --steps 1 --device "$device"
if grep -q contact_ stderr; then fail 'arrays of contacts are not known to states'; else pass; fi
run 0 film automatic.scene.json touching.npz -o touching.png --contacts --frames 2 --width 40 --height 30 --device "$device"
wrong "automatic.scene.json: compare: $by_slot" compare automatic.scene.json --steps 2 --device "$device"
dev wrong "automatic.scene.json: --what contacts and list: $by_slot" bench automatic.scene.json --what step,list --device "$device"
dev wrong "clouds.scene.json: --what contacts and list: $unlisted" bench clouds.scene.json --what step,list --device "$device"

# A plate of 12 triangles is too coarse for clouds, which the command says.
cat > plate.obj << 'END'
v -0.2 -0.2 -0.01
v 0.2 -0.2 -0.01
v 0.2 0.2 -0.01
v -0.2 0.2 -0.01
v -0.2 -0.2 0.01
v 0.2 -0.2 0.01
v 0.2 0.2 0.01
v -0.2 0.2 0.01
f 1 3 2
f 1 4 3
f 5 6 7
f 5 7 8
f 1 2 6
f 1 6 5
f 2 3 7
f 2 7 6
f 3 4 8
f 3 8 7
f 4 1 5
f 4 5 8
END
sed 's/"plane": \[[0-9, ]*\]/"file": "plate.obj"/' clouds.scene.json > coarse.scene.json
simulate coarse.scene.json coarse.npz --steps 1
says stderr 'abut: warning: coarse.scene.json: links[0].bodies[0]: the field of its cloud is up to 12 % of its diagonal off, at its faces or in its hollows: the mesh is too coarse or too hollow for springs, and bodies may fall through it, lie on its openings or gain energy (docs/scenes.md#springs)'

# A box in millimetres, and how many others are suspicious.
awk '$1 == "v" { print "v", 1000 * $2, 1000 * $3, 1000 * $4; next } { print }' plate.obj > large.obj
cat > large.scene.json << 'END'
{"links": [{"bodies": [{"plane": [1, 1]}]}, {"position": [0, 0, 300], "joint": {"type": "free"}, "mass": 1,
 "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "bodies": [{"file": "large.obj"}, {"file": "large.obj"}]}],
 "pairs": [{"a": [1, 0], "b": 0}]}
END
simulate large.scene.json large.npz --steps 1
has stderr '^abut: warning: large.scene.json: links\[1\].bodies\[0\]: unit: the box.s diagonal is .* m; if the file is in millimetres'

# Springs that give way too much at rest, and bodies too fast for a step, are named.
cat > sink.scene.json << 'END'
{"contact_model": "spring", "links": [{"bodies": [{"plane": [1, 1]}]},
  {"position": [0, 0, 0.1], "joint": {"type": "free"}, "density": 500, "bodies": [{"box": [0.1, 0.1, 0.1]}]},
  {"position": [0, 0, 0.3], "joint": {"type": "free"}, "density": 500, "bodies": [{"box": [0.1, 0.1, 0.1]}]}],
 "pairs": [{"a": 1, "b": 0}, {"a": 2, "b": 1}]}
END
simulate sink.scene.json sink.npz --steps 1
says stderr "abut: warning: sink.scene.json: pairs[0]: at rest its spring gives way by 16 mm, 4.5 % of the smaller body's diagonal, as 1 more by less; a k of 2.3e+04 N/m makes that 1 % (docs/spring.md#worlds)"
cat > fast.scene.json << 'END'
{"gravity": [0, 0, 0], "links": [{"bodies": [{"box": [1, 1, 0.005]}]},
  {"position": [0, 0, 0.2], "joint": {"type": "free"}, "density": 1000, "bodies": [{"sphere": 0.05}]}],
 "pairs": [{"a": 1, "b": 0}]}
END
"$arrays" fill fast-start.npz q=1x7:0,0,0.2,1,0,0,0 v=1x6:0,0,-20,0,0,0
simulate fast.scene.json fast.npz --states fast-start.npz --steps 10
has stderr '^abut: warning: 1 of 1 world \(0\) had bodies that went farther in a step than half of the thinner one, and may have passed through each other, first in step [0-9]+, of link 1 and link 0$'

# What cannot be swept is named by its own place, not by that of the body that it meets.
printf 'v 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\nl 1 2\nl 2 3\n' > bare.obj
printf '{"mesh": "bare.obj", "superquadrics": [{"axes": [0.1, 0.1, 0.1], "exponents": [1, 1], "position": [0, 0, 0], "quaternion": [1, 0, 0, 0]}]}' \
  > bare.body.json
cat > sweep.scene.json << 'END'
{"timestep": 0.01, "sweep": true, "automatic": true, "links": [
  {"bodies": [{"box": [0.5, 0.5, 0.1]}]},
  {"position": [0, 0, 0.5], "joint": {"type": "free"}, "mass": 1, "com": [0, 0, 0],
   "inertia": [[0.01, 0, 0], [0, 0.01, 0], [0, 0, 0.01]], "bodies": [{"file": "bare.body.json"}]}]}
END
run 2 simulate sweep.scene.json -o no.npz --steps 1 --device "$device"
has stderr '^abut: sweep\.scene\.json:[0-9]+: links\[1\]\.bodies\[0\]: its file, bare\.body\.json: '

# The T of docs/spring.md, which a finger turns by 0.96 rad. Under sanitizers the finger goes but a part of its way.
moves=250
if [ -n "$sanitized" ]; then moves=25; fi
"$arrays" fill t-start.npz q=1x5:0,0,0,0.06,0.04
"$arrays" fill t-way.npz u=${moves}x1x2:"$(awk -v moves=$moves 'BEGIN { for (i = 0; i < moves; i++) printf "%s0.06,%.17g", i ? "," : "", 0.04 - 0.2 * i / 249 }')"
simulate "$golden/../../assets/push_t.scene.json" t.npz --states t-start.npz --controls t-way.npz --record $moves
if [ -z "$sanitized" ]; then array t.npz q 'NR == 8 { exit $1 > -0.94 || $1 < -0.97 }'; fi

# ---- worlds that stop ----

"$arrays" fill stop.npz q=3x8:0,0,5,1,0,0,0,0,0,0,5,0,0,0,0,0,0,0,nan,1,0,0,0,0
simulate fall.scene.json stopped.npz --states stop.npz --steps 40 --record 4
says stderr 'abut: warning: 2 of 3 worlds (1, 2) have numbers that are not finite, or a quaternion of length 0, and keep the state before, first in step 0'
"$arrays" fill stop1.npz q=2x8:0,0,5,1,0,0,0,0,0,0,nan,1,0,0,0,0
simulate fall.scene.json stopped1.npz --states stop1.npz --steps 1
says stderr 'abut: warning: 1 of 2 worlds (1) has numbers that are not finite, or a quaternion of length 0, and keeps the state before, first in step 0'
array stopped.npz status '{ s = s $1 " " } END { exit s != "0 32 32 " }'
array stopped.npz status_step 'NR > 12 && NR % 12 == 6 && $1 != 0 { exit 1 } END { exit NR != 36 }'
"$arrays" show stopped.npz q | awk '(NR - 1) % 24 < 8' > one
"$arrays" show fall.npz q > alone
if cmp -s one alone; then pass; else fail 'a world is disturbed by those that stop'; fi
array stopped.npz q '(NR - 1) % 24 == 10 && $1 != 5 { exit 1 }'
# It stays where it stopped, over many calls of the library.
simulate slow.scene.json slow.npz --steps 400
has stderr '^abut: warning: 1 of 1 world \(0\) became faster than the scene.s `divergence`, and keeps the last state that it had, first in step [0-9]+$'
array slow.npz status '$1 != 2 { exit 1 }'
array slow.npz status_step '{ s = s $1 " " } END { exit s !~ /^4294967295 10 4294967295 4294967295 4294967295 4294967295 4294967295 4294967295 4294967295 4294967295 4294967295 4294967295 $/ }'
array slow.npz v '(NR - 1) % 7 == 2 { if ($1 < -1.00001) bad++; last = $1 } END { exit bad || last > -0.98 }'
array slow.npz energy 'NR % 2 { n++; k[n] = $1 } END { exit k[n] != k[60] || k[n] < 3.5 || k[n] > 4.1 }'
array slow.npz q '(NR - 1) % 8 == 2 { n++; z[n] = $1 } END { exit z[n] != z[20] || z[n] > 4.96 || n != 401 }'

# ---- contacts ----

simulate rest.scene.json rest.npz --steps 20 --record 10 --worlds 2 --contacts
has stdout 'kept with [0-9]+ contacts in all'
array rest.npz contact_count '{ bad += $1 != 4; n++ } END { exit bad || n != 6 }'
array rest.npz contact_d '{ bad += $1 > 0.0001 || $1 < -0.002 } END { exit bad || NR != 24 }'
array rest.npz contact_n 'NR % 3 == 0 { bad += $1 < 0.99 } END { exit bad || NR != 72 }'
array rest.npz contact_activity '{ bad += $1 < 0.05 || $1 > 1 } END { exit bad || NR != 24 }'
array rest.npz contact_slot 'END { exit NR != 24 }'
simulate rest.scene.json few.npz --steps 20 --record 10 --worlds 2 --contacts --threshold 1
array few.npz contact_count '{ n += $1 } END { exit n }'
"$arrays" fill stop7.npz q=1x7:nan
run 0 simulate rest.scene.json --states stop7.npz --steps 2 --contacts -o nowhere.npz --device "$device"
array nowhere.npz contact_count '{ n += $1 } END { exit n || NR != 3 }'

# ---- what is refused ----

mkdir untouched
usage '--steps T is needed where no controls of shape (T, N, nu) tell how many there are' \
  simulate fall.scene.json -o untouched/no.npz
usage '--steps T is needed where no controls of shape (T, N, nu) tell how many there are' \
  simulate fall.scene.json --worlds 2 --controls held.npz -o untouched/no.npz --device "$device"
usage 'simulate needs -o OUT.npz' simulate fall.scene.json --steps 3
usage 'simulate needs a scene' simulate --steps 3 -o untouched/no.npz
usage '--steps: `-1` is not a whole number from 0 on' simulate fall.scene.json --steps -1 -o untouched/no.npz
usage '--record: 0 is not in 1 to 9223372036854775807' \
  simulate fall.scene.json --steps 1 --record 0 -o untouched/no.npz
usage '--threshold is of --contacts' simulate fall.scene.json --steps 1 --threshold 0.1 -o untouched/no.npz
usage '--states tells how many worlds there are: no --worlds with it' \
  simulate fall.scene.json --steps 1 --worlds 2 --states stop.npz -o untouched/no.npz
usage '-o untouched/no.txt: simulate writes files that end with .npz' \
  simulate fall.scene.json --steps 1 -o untouched/no.txt
refused() { # TEXT ARGUMENTS...
  text=$1
  shift
  wrong "$text" simulate --steps 2 -o untouched/no.npz --device "$device" "$@"
}
refused 'none.scene.json: No such file or directory' none.scene.json
refused 'none.npz.not: No such file or directory' fall.scene.json --states none.npz.not
printf '{"links": [\n {"mas": 1}]}' > bad.scene.json
run 2 simulate bad.scene.json --steps 2 -o untouched/no.npz --device "$device"
has stderr '^abut: bad\.scene\.json:2: .*mas'
wrong 'stop.npz: is an input of this command too' \
  simulate fall.scene.json --steps 2 --states stop.npz -o stop.npz
"$arrays" fill noq.npz v=1x7:0
refused 'noq.npz: holds no q, where worlds begin' fall.scene.json --states noq.npz
"$arrays" fill flat.npz q=8:0
refused "flat.npz: array 'q': shape neither (worlds, nq) nor (states, worlds, nq)" fall.scene.json --states flat.npz
"$arrays" fill wide.npz q=2x9:0
refused "wide.npz: array 'q': shape (2, 9), not (2, 8): 2 worlds of the scene, whose q has 8 numbers" \
  fall.scene.json --states wide.npz
"$arrays" fill other.npz q=2x8:0 v=3x7:0
refused "other.npz: array 'v': shape (3, 7), not (2, 7): 2 worlds of the scene, whose v has 7 numbers" \
  fall.scene.json --states other.npz
"$arrays" fill links.npz q=1x8:0 mass_scale=1x3:1
refused "links.npz: array 'mass_scale': shape (1, 3), not (1, 2): one a link" fall.scene.json --states links.npz
"$arrays" fill text.npz q=8:text
refused "text.npz: array 'q': a text, not numbers" fall.scene.json --states text.npz
refused 'fall.npz: holds no u, the controls' fall.scene.json --controls fall.npz
refused "held.npz: array 'u': shape (2, 1), not (1, 1): 2 steps of 1 world, and 1 actuator" \
  fall.scene.json --controls held.npz
refused "each.npz: array 'u': shape (40, 2, 1), not (2, 1, 1): 2 steps of 1 world, and 1 actuator" \
  fall.scene.json --controls each.npz
if [ -z "$(ls -A untouched)" ]; then pass; else fail 'something was written'; fi

# ---- bench ----

# Each row takes half a second: the usual run has fewer of them.
dev run 0 bench rest.scene.json --batch 1,2 --steps 2 --states rest.npz --precision $wide --device "$device"
has stdout '^what +batch +steps +slots +median \[s\] +least \[s\] +steps/s +x step$'
has stdout '^step +1 +2 +[0-9]+ +[0-9.e+-]+ +[0-9.e+-]+ +[0-9.]+ +1\.00$'
has stdout '^step +2 +2 '
dev run 0 bench fall.scene.json --batch 1 --json --device "$device"
json_is_valid stdout
has stdout '"steps_per_s": [0-9]'
if [ -z "$usual" ]; then
  dev run 0 bench fall.scene.json --what step,step-vjp,transition --batch 2 --device "$device"
  has stdout '^step-vjp +2 +1 +0 .* [0-9.]+$'
  has stdout '^transition +2 +1 +0 .* [0-9.]+$'
  dev run 0 bench fall.scene.json --what step-vjp,step --batch 1 --steps 3 --json --device "$device"
  json_is_valid stdout
  has stdout '"ratio_to_step": [0-9]'
  dev run 0 bench fall.scene.json --what step-vjp --batch 1 --device "$device"
  has stdout '^step-vjp +1 .* -$'
fi
dev run 0 bench rest.scene.json --batch 2 --states rest.npz --what step,contacts,list --json --device "$device"
json_is_valid stdout
has stdout '"iterations": [1-9]'
has stdout '"entries_per_world": 4.0' # a box rests on its four corners
has stdout '"contacts": 4.0'
has stdout '"items": 1\.0'
has stdout '"entries": 1\.0'
has stdout '"islands": 1\.0'
has stdout '"panel_numbers": [1-9][0-9]'
has stdout '"launches": [1-9]'
has stdout '"bytes_per_world": [1-9][0-9]{3}'
if [ -z "$usual" ]; then
  dev run 0 bench automatic.scene.json --batch 2 --steps 2 --device "$device"
  has stdout '^ +3 items and [23] entries a world; [0-9.]+ launches a step, [0-9.]+ kB a world$'
fi
sed 's/"timestep"/"contact_model": "lcp", "timestep"/' rest.scene.json > hard.scene.json
if [ -z "$usual" ]; then
  dev run 0 bench hard.scene.json --batch 3 --states rest.npz --what step,transition,list --device "$device"
  has stdout '^ +3 (warm|pivoted)$'
fi
dev run 0 bench hard.scene.json --batch 3 --states rest.npz --what step --json --device "$device"
json_is_valid stdout
has stdout '"solved": \{'
if grep -q '"iterations"' stdout; then fail 'hard contacts have iterations'; else pass; fi
dev usage '--what transition is of one step, without --steps' bench fall.scene.json --what transition --steps 2
dev usage '--poses is of two bodies, not of a scene' bench fall.scene.json --poses poses.csv
dev usage '--what: there is no `forward`; possible: step, step-vjp, transition, contacts, list' bench fall.scene.json --what forward
dev usage '--states and --steps are of scenes' bench --steps 3
dev wrong 'noq.npz: holds no q of shape (worlds, 8) or (states, worlds, 8)' \
  bench fall.scene.json --states noq.npz --json --device "$device"

# ---- films ----

size_of() { # FILE: width and height of a PNG
  od -An -tu1 -j16 -N8 "$1" | awk '{ print ($1 * 256 + $2) * 65536 + $3 * 256 + $4, ($5 * 256 + $6) * 65536 + $7 * 256 + $8 }'
}
film() { # STATUS ARGUMENTS...
  status=$1
  shift
  run "$status" film --device "$device" "$@"
}
simulate fall.scene.json way.npz --steps 50 --record 5 --worlds 2
film 0 fall.scene.json way.npz -o sheet.png --frames 6 --width 40 --height 30
has stdout '^world 0, 6 pictures of 40 x 30 pixels, '
if [ "$(size_of sheet.png)" = '160 60' ]; then pass; else fail "a sheet of $(size_of sheet.png)"; fi
film 0 fall.scene.json way.npz -o views.png --frames 1 --width 40 --height 30 --view 0,0,90,0,45,30 --world 1 -q
if [ "$(size_of views.png)" = '80 60' ]; then pass; else fail "three views of $(size_of views.png)"; fi
empty stdout -q
film 0 fall.scene.json way.npz -o follow.png --frames 6 --width 40 --height 30 --follow --contacts
if cmp -s follow.png sheet.png; then fail 'the camera does not follow'; else pass; fi
# 0.5 s at 10 pictures a second, from 0 on
film 0 fall.scene.json way.npz -o frames/ --rate 10 --width 24 --height 20
if [ "$(echo frames/*)" = "$(printf 'frames/%06d.png\n' 0 1 2 3 4 5 | tr '\n' ' ' | sed 's/ $//')" ]; then pass; else
  fail "the frames are $(echo frames/*)"
fi
if [ "$(size_of frames/000005.png)" = '24 20' ]; then pass; else fail 'a frame of another size'; fi
if cmp -s frames/000000.png frames/000005.png; then fail 'nothing moves'; else pass; fi
# The last state also where it does not come as long after the one before as others do: 0.4 s of
# states after 0.07, 0.14, ... 0.35 and 0.4 s.
film 0 fall.scene.json seven.npz -o uneven/ --rate 10 --width 48 --height 40
film 0 fall.scene.json fall.npz -o even/ --rate 10 --width 48 --height 40
if [ "$(ls uneven)" = "$(ls even)" ] && cmp -s uneven/000004.png even/000004.png &&
  ! cmp -s uneven/000002.png even/000002.png; then pass; else fail 'the film of odd times'; fi
film 2 fall.scene.json way.npz -o frames --rate 10
says stderr 'abut: frames: the folder is not empty'
mkdir empty
film 0 fall.scene.json way.npz -o empty --rate 1 --width 24 --height 20
there empty/000000.png
film 1 fall.scene.json way.npz -o missing/folder/ --rate 1 --width 24 --height 20
says stderr 'abut: missing/folder/: No such file or directory'

# ffmpeg is a program that reads pictures, here one that counts them.
mkdir films tools bare
cat > tools/ffmpeg << 'END'
#!/bin/sh
for word; do last=$word; done
echo "$*" > arguments
wc -c > counted
[ -e "$last" ] && cp counted "$last"
END
cat > broken << 'END'
#!/bin/sh
exit 3
END
chmod +x tools/ffmpeg broken
for tool in sh wc cp; do ln -s "$(command -v $tool)" bare/$tool; done
PATH=$PWD/bare "$abut" film fall.scene.json way.npz -o films/none.mp4 --device "$device" > stdout 2> stderr
status=$?
if [ $status = 1 ]; then pass; else fail "status $status without ffmpeg"; fi
says stderr "abut: films/none.mp4: films are made by ffmpeg, which is not installed (Debian's package ffmpeg); -o FRAMES/ and -o SHEET.png do without"
usual=$PATH
PATH=$PWD/tools:$PATH
film 0 fall.scene.json way.npz -o films/fall.mp4 --rate 10 --width 25 --height 20
has arguments '-s 25x20 -r 10 -i pipe:0 '
if [ "$(tr -d ' ' < films/fall.mp4)" = $((6 * 25 * 20 * 3)) ]; then pass; else
  fail "ffmpeg was given $(cat films/fall.mp4) bytes"
fi
cp broken tools/ffmpeg
film 1 fall.scene.json way.npz -o films/broken.mp4 --rate 10 --width 25 --height 20
has stderr '^abut: films/broken\.mp4: ffmpeg (ended with status 3|takes no more pictures: .*)$'
PATH=$usual
if [ "$(ls -A films)" = fall.mp4 ]; then pass; else fail "films holds $(ls -A films)"; fi

usage 'film needs a scene, and what simulate wrote of it' film fall.scene.json -o no.png
usage 'film needs -o FILM.mp4, FRAMES/ or SHEET.png' film fall.scene.json way.npz
usage '-o no.txt: film writes NAME.mp4, SHEET.png or a folder, whose name ends with /' \
  film fall.scene.json way.npz -o no.txt
usage '--view: `1,2,3` is not pairs of numbers' film fall.scene.json way.npz -o no.png --view 1,2,3
usage '--view: `up` is not a number' film fall.scene.json way.npz -o no.png --view up,2
usage '--view: 10,91 is not within 360 and 90 degrees' film fall.scene.json way.npz -o no.png --view 10,91
usage '--rate is of a film; a sheet has --frames N pictures' film fall.scene.json way.npz -o no.png --rate 3
usage '--frames is of a sheet; a film has --rate R pictures a second' \
  film fall.scene.json way.npz -o no/ --frames 3
wrong 'way.npz: there is no world 2; it holds 2, from 0 on' \
  film fall.scene.json way.npz -o no.png --world 2 --device "$device"
wrong "way.npz: array 'q': shape (11, 2, 8), not (11, 2, 7): the scene has 7 positions a world" \
  film rest.scene.json way.npz -o no.png --device "$device"
wrong 'states.npz: holds no q of shape (states, worlds, nq) and time (states), which simulate writes' \
  film fall.scene.json states.npz -o no.png --device "$device"
wrong 'stopped.npz: state 0 of world 2: position 2, counted from 0, is nan' \
  film fall.scene.json stopped.npz -o no.png --world 2 --device "$device"
wrong 'way.npz: is an input of this command too' film fall.scene.json way.npz -o way.npz
absent no.png
absent no

finish
