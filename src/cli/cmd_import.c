#include "cli.h"

#if ABUT_WITH_MUJOCO
#include "import_model.h"
#else
static exit_code import_model(const options *o)
{
  return report(EXIT_INPUT, "%s: this abut is built without MuJoCo, which reads models; its option "
                "`mujoco` of meson setup names one (docs/import.md)", o->operands[0]);
}
#endif

exit_code cmd_import(const options *o)
{
  CLI_TRY(need_operands(o, 1, "a model"));
  CLI_TRY(need_option(o, OPTION_OUTPUT));
  CLI_TRY(check_inputs(o));
  CLI_TRY(check_not_input(o, o->value[OPTION_OUTPUT]));
  CLI_TRY(check_own_output(o));
  return import_model(o);
}
