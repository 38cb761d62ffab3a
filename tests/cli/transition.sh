#!/bin/sh
# Derivatives of worlds as a user meets them, by transition, rollout-gradient and gradcheck:
# transition.sh ABUT ARRAYS GOLDEN, see support.sh.
# shellcheck disable=SC2016 # the marks are awk's
# shellcheck source=tests/cli/support.sh
. "$(dirname "$0")/support.sh"
answers=$golden/../golden-dynamics
on="--device $device"

# near FILE NAME OTHER NAME LIMIT
near() {
  if "$arrays" compare "$@" > compared; then pass; else fail "$2 of $1 is not $4 of $3: $(cat compared)"; fi
}
# shape FILE TEXT: an array's line
shape() {
  "$arrays" show "$1" > shown
  says shown "$2"
}
# limits: of trees, of contacts, of float32
if [ $wide = f64 ]; then exact=1e-10 close=1e-6; else exact=1e-3 close=1e-2; fi

# shellcheck disable=SC2086 # several words
{
  # ---- matrices of a step ----

  tree=$answers/cone-random-tree
  "$arrays" pick tree.npz q=$tree/inputs.npz:q v=$tree/inputs.npz:v
  "$arrays" pick u.npz u=$tree/inputs.npz:u
  run 0 transition $tree/scene.json --states tree.npz --controls u.npz --parameters --precision $wide -o ab.npz $on
  has stdout '^3 worlds, A of 24 x 24, B of 24 x 4, [0-9.e+-]+ s on .*, f(32|64)$'
  empty stderr transition
  for name in A B P_mass_scale P_gravity; do
    near ab.npz $name $tree/expected.npz $name $exact
  done
  shape ab.npz "A $type 3 24 24"
  shape ab.npz "P_friction $type 3 24 0" # no pairs
  shape ab.npz 'status uint32 3'
  run 0 transition $tree/scene.json --states tree.npz --controls u.npz -o short.npz -q $on
  empty stdout -q
  near short.npz A $tree/expected.npz A 1e-3 # float32
  if "$arrays" show short.npz | grep -q P_; then fail 'parameters that nobody asked for'; else pass; fi
  # Controls of one step are those of a rollout of one.
  "$arrays" pick pushed.npz u=$tree/inputs.npz:u:1
  "$arrays" pick one.npz q=$tree/inputs.npz:q:1 v=$tree/inputs.npz:v:1
  "$arrays" pick first.npz B=$tree/expected.npz:B:1
  run 0 transition $tree/scene.json --states one.npz --controls pushed.npz --precision $wide -o ab1.npz $on
  near ab1.npz B first.npz B $exact

  boxes=$answers/cone-boxes-resting
  "$arrays" pick boxes.npz q=$boxes/inputs.npz:q v=$boxes/inputs.npz:v
  run 0 transition $boxes/scene.json --states boxes.npz --parameters --precision $wide -o boxes-ab.npz $on
  for name in A P_mass_scale P_friction P_stiffness P_gravity; do
    near boxes-ab.npz $name $boxes/expected.npz $name $close
  done
  shape boxes-ab.npz "B $type 3 12 0"
  # At the scene's own start, of worlds alike, and of one that stops.
  run 0 transition $tree/scene.json --worlds 2 --precision $wide -o start.npz $on
  shape start.npz "A $type 2 24 24"
  "$arrays" fill stop.npz q=1x14:nan
  run 0 transition $tree/scene.json --states stop.npz -o stopped.npz $on
  has stderr '^abut: warning: 1 of 1 world \(0\) has numbers that are not finite'
  array stopped.npz A '$1 != 0 { exit 1 } END { exit NR != 576 }'
  array stopped.npz status '$1 != 32 { exit 1 }'

  # ---- gradients of a rollout ----

  # World 2 becomes too fast.
  long=$answers/cone-tree-rollout
  "$arrays" pick long.npz q=$long/inputs.npz:q v=$long/inputs.npz:v
  "$arrays" pick push.npz u^=$long/inputs.npz:u_rollout
  "$arrays" pick bar.npz state=$long/inputs.npz:cotangent_rollout
  run 0 rollout-gradient $long/scene.json --states long.npz --controls push.npz --cotangents bar.npz \
    --precision $wide -o g.npz $on
  has stdout '^3 worlds, 20 steps of 0\.005 s, gradients of the last state, [0-9.e+-]+ s on .*, f(32|64)$'
  has stderr "^abut: warning: 1 of 3 worlds \(2\) became faster than the scene's .divergence."
  shape g.npz "u $type 20 3 3"
  shape g.npz "friction $type 3 0"
  "$arrays" pick u-of-worlds.npz u^=g.npz:u
  for name in q v mass_scale gravity u; do
    from=g.npz
    if [ $name = u ]; then from=u-of-worlds.npz; fi
    "$arrays" pick got.npz x=$from:$name:2
    "$arrays" pick want.npz x=$long/expected.npz:rollout_grad_$name:2
    near got.npz x want.npz x $exact
  done
  array g.npz v 'NR > 22 && $1 != 0 { exit 1 } END { exit NR != 33 }'
  array g.npz status '{ s = s $1 " " } END { exit s != "0 0 2 " }'
  # The same cotangents in two parts, or as those of the last state that is kept.
  awk 'BEGIN { for (i = 0; i < 66; i++) print 0.1 * (i % 7) - 0.3 }' > bars
  list=$(paste -sd, bars)
  zeros=$(awk 'BEGIN { for (i = 0; i < 330; i++) printf "0," }')
  tail=$(awk -v c=$list 'BEGIN { n = split(c, x, ","); for (w = 0; w < 3; w++) { for (i = 1; i <= 11; i++) printf "%s,", x[22 * w + i] } }')
  ends=$(awk -v c=$list 'BEGIN { n = split(c, x, ","); for (w = 0; w < 3; w++) { for (i = 12; i <= 22; i++) printf "%s,", x[22 * w + i] } }')
  "$arrays" fill whole.npz state=3x22:$list
  "$arrays" fill parts.npz q=3x11:${tail%,} v=3x11:${ends%,}
  "$arrays" fill kept.npz record=6x3x22:$zeros$list
  for bar in whole parts kept; do
    more=
    if [ $bar = kept ]; then more='--record 4'; fi
    run 0 rollout-gradient $long/scene.json --states long.npz --controls push.npz --cotangents $bar.npz \
      --precision $wide -o g-$bar.npz $more $on
  done
  has stdout 'gradients of 6 states, '
  for name in q v u mass_scale gravity; do
    near g-parts.npz $name g-whole.npz $name 0
    near g-kept.npz $name g-whole.npz $name 0
  done
  # Cotangents of the start are gradients, but of worlds that stop; those of one half alone are taken.
  "$arrays" fill begin.npz record=1x3x22:$list
  "$arrays" fill begins.npz q=3x11:${tail%,} v=3x11:${ends%,}
  run 0 rollout-gradient $long/scene.json --states long.npz --controls push.npz --cotangents begin.npz \
    --record 21 --precision f32 -o g-begin.npz $on
  "$arrays" pick got.npz x=g-begin.npz:q:2
  "$arrays" pick want.npz x=begins.npz:q:2
  near got.npz x want.npz x 1e-6
  array g-begin.npz v 'NR > 22 && $1 != 0 { exit 1 } END { exit NR != 33 }'
  array g-begin.npz u '$1 != 0 { exit 1 }'
  "$arrays" fill half.npz v=3x11:1
  "$arrays" fill half-whole.npz state=3x22:0,0,0,0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,1,1,1
  run 0 rollout-gradient $long/scene.json --states long.npz --controls push.npz --cotangents half.npz -o g-half.npz $on
  run 0 rollout-gradient $long/scene.json --states long.npz --controls push.npz --cotangents half-whole.npz -o g-ones.npz $on
  near g-half.npz q g-ones.npz q 0
  # Held controls: their gradient is the sum over steps.
  "$arrays" fill held.npz u=3x3:0.2,-0.1,0.3
  "$arrays" fill repeated.npz u=7x3x3:0.2,-0.1,0.3
  run 0 rollout-gradient $long/scene.json --states long.npz --controls held.npz --steps 7 --cotangents whole.npz \
    --precision $wide -o g-held.npz $on
  run 0 rollout-gradient $long/scene.json --states long.npz --controls repeated.npz --cotangents whole.npz \
    --precision $wide -o g-repeated.npz $on
  near g-held.npz q g-repeated.npz q 0
  "$arrays" show g-repeated.npz u | awk '{ s[(NR - 1) % 9] += $1 } END { for (i = 0; i < 9; i++) printf "%s%.17g", i ? "," : "", s[i] }' > sums
  "$arrays" fill sums.npz u=3x3:"$(cat sums)"
  near g-held.npz u sums.npz u $exact
  # Contacts over 60 steps; two worlds, without controls.
  "$arrays" pick two.npz q=$boxes/inputs.npz:q:2 v=$boxes/inputs.npz:v:2
  "$arrays" pick boxes-bar.npz state=$boxes/inputs.npz:cotangent_rollout
  run 0 rollout-gradient $boxes/scene.json --states two.npz --steps 60 --cotangents boxes-bar.npz \
    --precision $wide -o boxes-g.npz $on
  for name in q v mass_scale friction stiffness gravity; do
    near boxes-g.npz $name $boxes/expected.npz rollout_grad_$name $close
  done
  shape boxes-g.npz "u $type 2 0"

  # A finger pushes a T, by springs, over 200 steps; a control holds for eight.
  springs=$answers/spring-t26-finger
  list() { "$arrays" show $springs/rollout.npz "$1" | tr '\n' ',' | sed 's/,$//'; }
  "$arrays" fill spring.npz q=1x5:"$(list q0)" v=1x5:"$(list v0)"
  "$arrays" fill spring-bar.npz state=1x10:"$(list end_bar)"
  "$arrays" fill spring-u.npz u=200x1x2:"$("$arrays" show $springs/rollout.npz controls | awk '
    NR > 50 { exit } NR % 2 { x = $1; next } { for (i = 0; i < 8; i++) printf "%s%s,%s", n++ ? "," : "", x, $1 }')"
  "$arrays" fill spring-g.npz q=1x5:"$(list euler_2_q0_bar)" v=1x5:"$(list euler_2_v0_bar)" \
    springs=1x1x6:"$(list euler_2_parameters_bar)"
  run 0 rollout-gradient $springs/scene.json --states spring.npz --controls spring-u.npz --cotangents spring-bar.npz \
    --precision $wide -o spring-out.npz $on
  for name in q v springs; do
    near spring-out.npz $name spring-g.npz $name $close
  done
  shape spring-out.npz "springs $type 1 1 6"

  # ---- differences ----

  if [ $wide = f64 ]; then
    dev run 0 gradcheck $boxes/scene.json --states two.npz --steps 5 $on
    has stdout '^2 of 2 worlds, a step and a rollout of 5 steps, float64 on '
    has stdout '^not smooth: a border where a step chooses \(zones of the cone, '
    for name in 'step: vjp by q' 'step: jvp by v' 'rollout: vjp by friction' 'rollout: vjp by gravity' \
      'rollout: jvp by mass_scale'; do
      has stdout "^$name +[a-z ]+ +[0-9.e+-]+ +1e-0[58] +8 .* ok *\$"
    done
    if [ "$(grep -c ' ok *$' stdout)" -eq 24 ]; then pass; else fail 'not 24 are right'; fi
    empty stderr gradcheck
    # With the numbers of springs, of which there are no tangents.
    dev run 0 gradcheck $springs/scene.json --states spring.npz --steps 5 $on
    has stdout '^rollout: vjp by springs +differences of states +[0-9.e+-]+ +1e-05 +4 .* ok *$'
    has stdout '^not smooth: a limit of forces, or a pose from which worlds part, '
    if [ "$(grep -c ' ok *$' stdout)" -eq 30 ]; then pass; else fail 'not 30 are right'; fi
    # Far from touch they have derivatives of 1e-200 and less.
    echo '{"contact_model": "spring", "integrator": "euler", "timestep": 0.001, "links": [{"bodies": [{"plane": [5, 5]}]},
      {"position": [0, 0, 0.23], "quaternion": [0.045426, -0.334452, -0.894187, -0.294124], "joint": {"type": "free"}, "density": 500,
       "bodies": [{"box": [0.15, 0.1, 0.03]}]}],
      "pairs": [{"a": 1, "b": 0}]}' > air.scene.json
    dev run 0 gradcheck air.scene.json $on
    if [ "$(grep -c ' ok *$' stdout)" -eq 26 ]; then pass; else fail 'not 26 are right'; fi
    # Near the start; controls tell the steps; a world with a status is left out.
    dev run 0 gradcheck $long/scene.json --worlds 2 --step 1e-3 $on
    has stdout '^2 of 2 worlds, a step and a rollout of 10 steps, '
    has stdout 'h = 0\.001 of q, .*; 0\.01 of v, u; 0\.1 of gravity'
    if [ "$(grep -c ' ok *$' stdout)" -eq 20 ]; then pass; else fail 'not 20 are right'; fi
    dev run 0 gradcheck $long/scene.json --states long.npz --controls push.npz $on
    has stdout '^2 of 3 worlds, a step and a rollout of 20 steps, '
    says stderr 'abut-dev: warning: 1 of 3 worlds are left out: what they do is not all told by derivatives'
    # Steps across the borders of all zones confirm nothing; under sanitizers none of a shorter rollout.
    across='--steps 10'
    if [ -n "$sanitized" ]; then across='--steps 2'; fi
    dev run 1 gradcheck $boxes/scene.json --states two.npz --step 100 $across $on
    has stdout ' (NOT SMOOTH|PARTS)'
    has stderr '^abut-dev: [0-9]+ of 24 derivatives are not confirmed$'
    dev wrong 'stop.npz: there are no worlds that can be checked' gradcheck $tree/scene.json --states stop.npz $on
  else
    dev run 2 gradcheck $boxes/scene.json $on
    has stderr '^abut-dev: .* has no float64$'
  fi

  # ---- what is refused ----

  mkdir untouched
  to='-o untouched/no.npz'
  rollout="rollout-gradient $long/scene.json --states long.npz $to"
  usage 'transition needs a scene' transition $to
  usage 'transition needs -o OUT.npz' transition $tree/scene.json
  usage 'transition has no option --steps' transition $tree/scene.json --steps 2 $to
  usage '-o untouched/no.txt: transition writes files that end with .npz' transition $tree/scene.json -o untouched/no.txt
  usage '--states tells how many worlds there are: no --worlds with it' \
    transition $tree/scene.json --states tree.npz --worlds 2 $to
  usage 'rollout-gradient needs --cotangents C.npz' $rollout --controls push.npz
  usage '--steps T is needed where no controls of shape (T, N, nu) tell how many there are' $rollout --cotangents bar.npz
  usage '--steps: 0 is not in 1 to 1099511627776' $rollout --cotangents bar.npz --steps 0
  usage '--record: 0 is not in 1 to 9223372036854775807' $rollout --cotangents bar.npz --steps 2 --record 0
  dev usage '--states is of a scene, not of two bodies' gradcheck cube.body.json slab.body.json --poses poses.csv --states two.npz
  dev usage '--poses is of two bodies, not of a scene' gradcheck $long/scene.json --poses poses.csv
  dev usage 'gradcheck has no option --output' gradcheck $long/scene.json $to
  run 2 $rollout --controls held.npz --cotangents bar.npz $on
  says stderr 'abut: --steps T is needed where no controls of shape (T, N, nu) tell how many there are'
  wrong 'none.npz: No such file or directory' transition $tree/scene.json --states none.npz $to $on
  wrong 'none.npz: No such file or directory' $rollout --controls push.npz --cotangents none.npz $on
  wrong "tree.npz: array 'q': shape (3, 14), not (3, 7): 3 worlds of the scene, whose q has 7 numbers" \
    transition $boxes/scene.json --states tree.npz $to $on
  wrong "push.npz: array 'u': shape (20, 3, 3), not (1, 3, 3): 1 step of 3 worlds, and 3 actuators" \
    transition $long/scene.json --states long.npz --controls push.npz $to $on
  wrong "push.npz: array 'u': shape (20, 3, 3), not (19, 3, 3): 19 steps of 3 worlds, and 3 actuators" \
    $rollout --controls push.npz --steps 19 --cotangents bar.npz $on
  wrong 'long.npz: is an input of this command too' \
    rollout-gradient $long/scene.json --states long.npz --cotangents bar.npz --steps 2 -o long.npz
  cotangents() { # TEXT CONTENT...
    text=$1
    shift
    "$arrays" fill bad.npz "$@"
    wrong "bad.npz: $text" $rollout --controls push.npz --cotangents bad.npz $on
  }
  cotangents 'holds none of state, q, v, record' other=3x22:1
  has stderr "^abut: warning: bad\.npz: array 'other' is no cotangent; it is left out$"
  cotangents 'holds both state and q or v' state=3x22:1 v=3x11:1
  cotangents "array 'state': shape (2, 22), not (3, 22): 3 worlds of 11 velocities" state=2x22:1
  cotangents "array 'q': shape (3, 13), not (3, 11): 3 worlds of 11 velocities" q=3x13:1
  cotangents "array 'v': number 12, counted from 0, is nan" v=3x11:0,0,0,0,0,0,0,0,0,0,0,0,nan
  cotangents "array 'record' needs --record K, the states that it is of" record=6x3x22:1
  wrong 'whole.npz: holds no record, the cotangents of --record 4' \
    $rollout --controls push.npz --cotangents whole.npz --record 4 $on
  wrong "kept.npz: array 'record': shape (6, 3, 22), not (5, 3, 22): the start and every state of --record 5 in 20 steps, 3 worlds of 11 velocities" \
    $rollout --controls push.npz --cotangents kept.npz --record 5 $on
  "$arrays" fill nothing.npz u=0x3x3:1
  wrong "nothing.npz: array 'u': no steps" $rollout --controls nothing.npz --cotangents bar.npz $on
  if [ -z "$(ls -A untouched)" ]; then pass; else fail 'something was written'; fi
}

finish
