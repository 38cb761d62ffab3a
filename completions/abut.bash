# Completion of abut for bash.

# The extensions of meshes.
_abut_meshes()
{
  abut field --help | sed -n 's/.*mesh (\(.*\)):.*/\1/p' | tr -d '.;' | sed 's/by Assimp //'
}

_abut()
{
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command='' word
  local options='--help --quiet --version' pair='--device --poses --smoothing --timeout'
  local meshes='--cells --scale --vertices'
  local kernels='--lanes --chunk --show-smoothing' arrays='--output --precision --timeline'
  local folders='--block --resume --shard --yes'
  local i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      help | devices | field | decompose | remesh | inspect | import | simulate | transition | rollout-gradient | compare | film | contacts | suggest | gradient | jvp | jacobian | merge | closest | ccd | render | view)
        command=${COMP_WORDS[i]}
        break
        ;;
    esac
  done

  case $prev in
    --poses | --from | --to) _abut_files npz npy csv; return ;;
    --pairs) _abut_files csv; return ;;
    --import | --export) _abut_files csv txt npy body.json; return ;;
    --shapes | --smoothing | --soft) _abut_files json; return ;;
    --cotangents | --hessian | --tangents | --states | --controls | --series) _abut_files npz; return ;;
    -o | --output) _abut_files npz png mp4 json obj html; return ;;
    --timeline) _abut_files json png; return ;;
    --precision) word='f32 f64' ;;
    --by) word='poses shape' ;;
    --jacobian) word='exact gumbel gaussian zeroth finite' ;;
    --as) word='hull superquadrics polyhedra' ;;
    --motion) word='linear arc' ;;
    --kind) word='pt ee' ;;
    --method) word='certified additive' ;;
    --full-hessian) word='1 2 both' ;;
    --reduce) word=$(abut gradient --reduce '' 2>&1 | sed -n 's/.*possible: //p' | tr -d ,) ;;
    --models) word='cone lcp spring' ;;
    --lanes) word='1 4 8 16' ;;
    --device) word='all cpu gpu host pocl' ;;
    --vertices) word='all' ;;
    --edges) word='auto' ;;
    --azimuth | --block | --cells | --center1 | --center2 | --chunk | --compact | --coordinate | --cutoff | --elevation | --epsilon | --error | --frames | --height | --index | \
      --iterations | --keep | --level | --listen | --max-primitives | --memory | --port | --primitives | --rate | --record | --samples | --scale | --seed | --separation | --shard | --steps | --temperature | --threshold | --timeout | \
      --tolerance | --union | --view | --width | --world | --worlds | --zoom) return ;;
  esac
  if [[ -n $word ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$word" -- "$cur")
    return
  fi

  pair+=" $meshes"
  case $command in
    help) options='devices field decompose remesh inspect import simulate transition rollout-gradient compare film contacts suggest gradient jvp jacobian merge closest ccd render view' ;;
    '') options+=' help devices field decompose remesh inspect import simulate transition rollout-gradient compare film contacts suggest gradient jvp jacobian merge closest ccd render view' ;;
    devices) options+=' --json' ;;
    field) options+=" $meshes --output --memory --no-cache --tolerance" ;;
    remesh) options+=' --device --json --output --smoothing --timeout --vertices' ;;
    inspect)
      options+=" $meshes --azimuth --device --elevation --json --output --smoothing --timeout"
      ;;
    decompose)
      options+=' --device --error --export --family --import --json --max-primitives --output --precision --primitives'
      options+=' --scale --seed --timeout --union --vertices'
      ;;
    import) options+=' --list-pairs --output --verbose' ;;
    simulate)
      options+=" $folders"
      options+=' --contacts --controls --device --distances --forces --link-poses --output --precision --record --start'
      options+=' --states --steps --threshold --timeout --worlds'
      ;;
    transition) options+=" $folders --controls --device --output --parameters --precision --start --states --timeout --worlds" ;;
    rollout-gradient)
      options+=" $folders"
      options+=' --controls --cotangents --device --output --precision --record --start --states --steps'
      options+=' --timeout --worlds'
      ;;
    compare)
      options+=' --controls --coordinate --device --json --models --output --precision --record'
      options+=' --series --start --states --steps --timeout --world'
      ;;
    film)
      options+=' --contacts --device --follow --frames --height --output --rate --threshold'
      options+=' --timeout --view --width --world --zoom'
      ;;
    contacts) options+=" $pair $arrays $folders $kernels --compact --edges --pairs --temperature" ;;
    suggest)
      options+=" $meshes --device --json --output --samples --seed --smoothing --timeout"
      ;;
    gradient)
      options+=" $pair $arrays $folders $kernels --reduce --mean-distance --cotangents --hessian"
      options+=' --full-hessian --soft --temperature --by --each-pose --follow'
      ;;
    jvp) options+=" $pair $arrays $folders $kernels --tangents --soft --by --each-pose --follow" ;;
    jacobian) options+=" $pair $arrays $folders $kernels --threshold --soft" ;;
    closest)
      options+=" --device --poses --timeout $arrays $folders --lanes --chunk --as --cutoff --scale --shapes"
      options+=' --jacobian --temperature --level --epsilon --samples --seed'
      ;;
    ccd)
      options+=" --device --timeout $arrays $folders --lanes --chunk --scale --from --to --motion --center1 --center2"
      options+=' --separation --keep --tolerance --iterations --gradient'
      ;;
    render)
      options+=" $pair --also --output --index --azimuth --elevation --width --height --zoom"
      options+=' --no-contacts --show-smoothing --threshold'
      ;;
    view) options+=" $pair --controls --output --index --listen --open --port --show-smoothing --threshold --world" ;;
  esac
  if [[ $cur == -* || -z $command || $command == help ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
  elif [[ $command == field || $command == decompose ]]; then
    _abut_files $(_abut_meshes)
  elif [[ $command == remesh ]]; then
    _abut_files body.json
  elif [[ $command == import ]]; then
    _abut_files xml urdf
  elif [[ $command == simulate || $command == transition || $command == rollout-gradient || $command == compare ]]; then
    _abut_files scene.json
  elif [[ $command == film ]]; then
    _abut_files scene.json npz
  elif [[ $command == view ]]; then
    _abut_files body.json scene.json npz $(_abut_meshes)
  elif [[ $command == merge ]]; then
    _abut_files
  elif [[ $command != devices ]]; then
    _abut_files json $(_abut_meshes)
  fi
}

# Folders, and files that end with one of the given suffixes.
_abut_files()
{
  local suffix
  compopt -o filenames 2> /dev/null
  mapfile -t COMPREPLY < <(
    compgen -d -- "$cur"
    for suffix; do
      compgen -f -X "!*.$suffix" -- "$cur"
    done
  )
}

complete -F _abut abut
