/* The part of `import` that is built where MuJoCo's headers are. */
#ifndef ABUT_CLI_IMPORT_MODEL_H
#define ABUT_CLI_IMPORT_MODEL_H

#include "core/cli.h"

/* The operand's model becomes the scene of -o, and mesh files beside it. */
exit_code import_model(const options *o);

/* MuJoCo's version, "4.0.0", that this was built for. */
const char *import_mujoco_version(void);

#endif
