/* The command `abut`: its subcommands, and the readers of other programs' files. */
#include "world/film/video.h"

#include <stdio.h>

static const command commands[] = {
  {"devices", COMMAND_DEVICES, cmd_devices},
  {"field", COMMAND_FIELD, cmd_field},
  {"remesh", COMMAND_REMESH, cmd_remesh},
  {"inspect", COMMAND_INSPECT, cmd_inspect},
  {"decompose", COMMAND_DECOMPOSE, cmd_decompose},
  {"import", COMMAND_IMPORT, cmd_import},
  {"simulate", COMMAND_SIMULATE, cmd_simulate},
  {"transition", COMMAND_TRANSITION, cmd_transition},
  {"rollout-gradient", COMMAND_ROLLOUT_GRADIENT, cmd_rollout_gradient},
  {"compare", COMMAND_COMPARE, cmd_compare},
  {"film", COMMAND_FILM, cmd_film},
  {"contacts", COMMAND_CONTACTS, cmd_contacts},
  {"suggest", COMMAND_SUGGEST, cmd_suggest},
  {"gradient", COMMAND_GRADIENT, cmd_gradient},
  {"jvp", COMMAND_JVP, cmd_jvp},
  {"jacobian", COMMAND_JACOBIAN, cmd_jacobian},
  {"merge", COMMAND_MERGE, cmd_merge},
  {"closest", COMMAND_CLOSEST, cmd_closest},
  {"ccd", COMMAND_CCD, cmd_ccd},
  {"render", COMMAND_RENDER, cmd_render},
  {"view", COMMAND_VIEW, cmd_view},
};

/* For the commands that read such files, and for --version. */
static void print_readers(const command *c)
{
  if (!c) {
    printf("MuJoCo imports models: %s\nAssimp reads meshes in .glb, .gltf and .dae files: %s\n",
           reader_of_models(), reader_of_meshes());
  } else if (c->bit == COMMAND_IMPORT) {
    printf("\nInstalled MuJoCo, which reads models: %s\n", reader_of_models());
  } else if (c->bit == COMMAND_FIELD) {
    printf("\nInstalled Assimp, which reads .glb, .gltf and .dae: %s\n", reader_of_meshes());
  }
}

int main(int argc, char **argv)
{
  static const char *const of_developers[] = {"gradcheck", "bench", "tune", NULL};
  const program p = {.name = "abut",
                     .commands = commands,
                     .command_count = sizeof commands / sizeof *commands,
                     .of_developers = of_developers,
                     .print_readers = print_readers,
                     .remove_unfinished = video_remove_unfinished};
  return run_program(&p, argc, argv);
}
