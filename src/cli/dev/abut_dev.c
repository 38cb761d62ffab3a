/* The program `abut-dev`: subcommands that developers of abut need. */
#include "dev/commands.h"

static const command commands[] = {
  {"gradcheck", COMMAND_GRADCHECK, " A B --poses P | SCENE", "",
   "check derivatives against differences",
   "Compares every derivative with central differences, or with another derivative that must say\n"
   "the same, in float64, and prints a table. Exit status 1 where they part.\n"
   "Of a SCENE (.scene.json) gradients and tangents of a step and of a rollout of --steps (10)\n"
   "are compared along random directions, at --states or near the scene's own start. Worlds with "
   "a\n"
   "status are left out. Derivatives hold what a step chooses (zones of the cone, limits, limits "
   "of\n"
   "forces): next to such a border entries are not smooth, and not compared.",
   NULL,
   "abut-dev gradcheck assets/figure.body.json assets/part.body.json --poses assets/poses.npz",
   cmd_gradcheck},
  {"bench", COMMAND_BENCH, " [A B|SCENE]", "", "measure poses, or steps, a second",
   "Times batches end to end, from the caller's poses to results in its memory, after one warm-up\n"
   "call. Without A and B: two built-in figures of 18 superquadrics each. Without --poses: random\n"
   "poses around touching, from a fixed seed. --precision may name both, f32,f64, and\n"
   "--what several calls, which then take turns: forward,mean-gradient,vjp,jvp,hessian,list.\n"
   "Of a SCENE (.scene.json) steps of its worlds are timed, from all states of --states, over and\n"
   "over, or from its start; a call makes --steps of them (1).",
   NULL,
   "abut-dev bench assets/figure.body.json assets/part.body.json --batch 1024 --what forward,vjp",
   cmd_bench},
  {"tune", COMMAND_TUNE, " [A B]", "", "find the fastest settings of a device and keep them",
   "Measures how wide and how large a device's work should be: lanes, work-groups, scratch\n"
   "memory. What a setting answers is checked against the host's float64 before it is timed, by\n"
   "turns with the best one so far, forward and gradient. The fastest goes into the user's file\n"
   "of settings, which every later run reads, or into -o FILE; other devices' entries there are\n"
   "kept. Several devices are measured one after the other. Without A and B: two built-in figures\n"
   "of 18 superquadrics each.",
   ".json: settings of devices", "abut-dev tune --device cpu --seconds 60", cmd_tune},
};

int main(int argc, char **argv)
{
  const program p = {.name = "abut-dev",
                     .about = "checks and measurements of abut, for its developers",
                     .commands = commands,
                     .command_count = sizeof commands / sizeof *commands};
  return run_program(&p, argc, argv);
}
