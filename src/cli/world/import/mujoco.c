/* MuJoCo's library, opened when it is asked for: the command needs none of it otherwise. */
#include "world/import/model.h"

#include "world/import/import.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

typedef struct library {
  void *handle;
  mjModel *(*load)(const char *path, const mjVFS *vfs, char *error, int error_size);
  void (*delete)(mjModel *m);
} library;

/* ---- its messages ---- */

/* A line of several. */
static void flatten(char *text)
{
  for (char *c = text; *c; ++c) {
    *c = *c == '\n' ? ' ' : *c;
  }
  for (size_t n = strlen(text); n && text[n - 1] == ' '; --n) {
    text[n - 1] = '\0';
  }
}

static void tell_warning(const char *text)
{
  warn("MuJoCo: %s", text);
}

/* MuJoCo cannot go on, and writes no log where it is asked this way. Nothing is half written. */
static void end_by_error(const char *text)
{
  const exit_code code = report(EXIT_RUN, "MuJoCo: %s", text);
  fflush(NULL);
  _exit((int)code);
}

/* ---- the library ---- */

const char *import_mujoco_version(void)
{
  static char text[32];
  snprintf(text, sizeof text, "%d.%d.%d", MUJOCO_MAJOR, MUJOCO_MINOR, MUJOCO_PATCH);
  return text;
}

static void *open_any(void)
{
  static const char *const places[] = {ABUT_MUJOCO_FOLDER "/", ABUT_MUJOCO_FOLDER "/lib/", ""};
  void *handle = NULL;
  for (size_t i = *ABUT_MUJOCO_FOLDER ? 0 : 2; i < sizeof places / sizeof *places && !handle; ++i) {
    char path[4096];
    snprintf(path, sizeof path, "%slibmujoco.so.%s", places[i], import_mujoco_version());
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  }
  return handle;
}

/* `out` is a pointer to a function or to a variable, which C does not convert from void *. */
static bool find(const library *l, const char *name, void *out)
{
  void *symbol = dlsym(l->handle, name);
  memcpy(out, &symbol, sizeof symbol);
  return symbol;
}

static exit_code open_library(library *l)
{
  int (*version)(void) = NULL;
  void (**on_error)(const char *) = NULL, (**on_warning)(const char *) = NULL;
  const char *built_for = import_mujoco_version();
  l->handle = open_any();
  if (!l->handle) {
    return report(EXIT_RUN, "MuJoCo %s, with which this command was built, is not there: %s",
                  built_for, dlerror());
  }
  if (!find(l, "mj_version", &version) || !find(l, "mj_loadXML", &l->load) ||
      !find(l, "mj_deleteModel", &l->delete) || !find(l, "mju_user_error", &on_error) ||
      !find(l, "mju_user_warning", &on_warning) || version() != mjVERSION_HEADER) {
    return report(EXIT_RUN, "libmujoco.so.%s is not MuJoCo %s", built_for, built_for);
  }
  *on_error = end_by_error;
  *on_warning = tell_warning;
  return EXIT_GOOD;
}

/* ---- a model ---- */

/* Meshes that abut reads by Assimp are none for MuJoCo, whose own reader a model's meshes go through. */
static const char *mesh_hint(const char *text)
{
  static const char *const endings[] = {".dae", ".glb", ".gltf"};
  for (size_t i = 0; i < sizeof endings / sizeof *endings; ++i) {
    const size_t length = strlen(endings[i]);
    for (const char *c = text; *c; ++c) {
      if (strncasecmp(c, endings[i], length) == 0) {
        return "; MuJoCo's meshes are .obj, .stl or .msh, so convert it (docs/import.md#meshes)";
      }
    }
  }
  return "";
}

static exit_code read_model(const library *l, const char *path, mjModel **out)
{
  char text[1024] = "";
  *out = l->load(path, NULL, text, (int)sizeof text);
  flatten(text);
  if (!*out) {
    return report(EXIT_INPUT, "%s: MuJoCo %s does not read it%s%s%s; what to do where it is too old: docs/import.md", path,
                  import_mujoco_version(), *text ? ": " : "", text, mesh_hint(text));
  }
  if (*text) {
    warn("%s: %s", path, text);
  }
  return EXIT_GOOD;
}

static void summarise(const import *im)
{
  char automatic[32] = "";
  if (im->automatic_count) {
    snprintf(automatic, sizeof automatic, " (%d automatic)", im->automatic_count);
  }
  printf("%s: %d links, %d bodies, %d actuators, %d pairs%s, by MuJoCo %s; ", im->o->operands[0],
         im->link_count, im->body_count, im->actuator_count, im->pair_count, automatic, import_mujoco_version());
  if (im->warnings) {
    printf("%zu warning%s\n", im->warnings, im->warnings == 1 ? "" : "s");
  } else {
    printf("nothing left out\n");
  }
}

static exit_code write_scene(import *im)
{
  const char *path = im->o->value[OPTION_OUTPUT];
  exit_code code = write_meshes(im);
  if (code == EXIT_GOOD) {
    code = report_status(abut_write_file(path, im->json.text, im->json.length));
  }
  if (code != EXIT_GOOD) {
    remove_meshes(im);
  }
  return code;
}

static exit_code import_from(const options *o, const mjModel *m)
{
  import im;
  exit_code code = import_begin(&im, o, m);
  CLI_TRY_DONE(code);
  if (!im.link_count) {
    code = report(EXIT_INPUT, "%s: the model has no bodies", o->operands[0]);
    goto done;
  }
  CLI_TRY_DONE(check_meshes(&im));
  CLI_TRY_DONE(import_scene(&im));
  CLI_TRY_DONE(write_scene(&im));
  if (!o->value[OPTION_QUIET]) {
    summarise(&im);
  }
done:
  import_end(&im);
  return code;
}

exit_code import_model(const options *o)
{
  library l = {0};
  mjModel *m = NULL;
  exit_code code = EXIT_GOOD;
  CLI_TRY_DONE(open_library(&l));
  CLI_TRY_DONE(read_model(&l, o->operands[0], &m));
  CLI_TRY_DONE(import_from(o, m));
done:
  if (m) {
    l.delete(m);
  }
  return code; /* the library stays open, as it does not give back what it keeps for itself */
}
