/* Declarations common to the subcommands. They use only the public API of the library. */
#ifndef ABUT_CLI_CLI_H
#define ABUT_CLI_CLI_H

#include <abut/abut.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Functions that can fail return one of these after printing the reason to stderr. */
typedef enum exit_code {
  EXIT_GOOD = 0,
  EXIT_RUN = 1,  /* device, memory, writing; derivatives that disagree */
  EXIT_INPUT = 2 /* usage or input */
} exit_code;

#define CLI_TRY(call)                   \
  do {                                  \
    const exit_code try_code_ = (call); \
    if (try_code_ != EXIT_GOOD) {       \
      return try_code_;                 \
    }                                   \
  } while (0)

/* The same in a function with one exit, labelled `done`, and a variable `code`. */
#define CLI_TRY_DONE(call)   \
  do {                       \
    code = (call);           \
    if (code != EXIT_GOOD) { \
      goto done;             \
    }                        \
  } while (0)

/* Alphabetical, like src/cli/help/options.txt. */
typedef enum option_id {
  OPTION_ALL,
  OPTION_ALSO,
  OPTION_APART,
  OPTION_AS,
  OPTION_AZIMUTH,
  OPTION_BATCH,
  OPTION_BLOCK,
  OPTION_BY,
  OPTION_CELLS,
  OPTION_CENTER1,
  OPTION_CENTER2,
  OPTION_CHUNK,
  OPTION_COMPACT,
  OPTION_CONTACTS,
  OPTION_CONTROLS,
  OPTION_COORDINATE,
  OPTION_COTANGENTS,
  OPTION_CUTOFF,
  OPTION_DEVICE,
  OPTION_DISTANCES,
  OPTION_EDGES,
  OPTION_EACH_POSE,
  OPTION_ELEVATION,
  OPTION_EPSILON,
  OPTION_ERROR,
  OPTION_EXPORT,
  OPTION_FAMILY,
  OPTION_FOLLOW,
  OPTION_FORCES,
  OPTION_FRAMES,
  OPTION_FROM,
  OPTION_FULL_HESSIAN,
  OPTION_GRADIENT,
  OPTION_HEIGHT,
  OPTION_HELP,
  OPTION_HESSIAN,
  OPTION_IMPORT,
  OPTION_INDEX,
  OPTION_ITERATIONS,
  OPTION_JACOBIAN,
  OPTION_JSON,
  OPTION_KEEP,
  OPTION_LANES,
  OPTION_LEVEL,
  OPTION_LINK_POSES,
  OPTION_LIST_PAIRS,
  OPTION_LISTEN,
  OPTION_MAX_PRIMITIVES,
  OPTION_MEAN_DISTANCE,
  OPTION_MEMORY,
  OPTION_MODELS,
  OPTION_MODULE,
  OPTION_MOTION,
  OPTION_NO_CACHE,
  OPTION_NO_CONTACTS,
  OPTION_OPEN,
  OPTION_OUTPUT,
  OPTION_PAIRS,
  OPTION_PARAMETERS,
  OPTION_PLAIN,
  OPTION_PORT,
  OPTION_POSES,
  OPTION_PRECISION,
  OPTION_PRIMITIVES,
  OPTION_QUIET,
  OPTION_RATE,
  OPTION_RECORD,
  OPTION_REDUCE,
  OPTION_RESUME,
  OPTION_SAMPLES,
  OPTION_SCALE,
  OPTION_SECONDS,
  OPTION_SEED,
  OPTION_SEPARATION,
  OPTION_SERIES,
  OPTION_SHAPES,
  OPTION_SHARD,
  OPTION_SHOW_SMOOTHING,
  OPTION_SMOOTHING,
  OPTION_SOFT,
  OPTION_START,
  OPTION_STATES,
  OPTION_STEP,
  OPTION_STEPS,
  OPTION_TANGENTS,
  OPTION_TEMPERATURE,
  OPTION_THRESHOLD,
  OPTION_TIMELINE,
  OPTION_TIMEOUT,
  OPTION_TO,
  OPTION_TOLERANCE,
  OPTION_UNION,
  OPTION_VARIANT,
  OPTION_VERBOSE,
  OPTION_VERSION,
  OPTION_VERTICES,
  OPTION_VIEW,
  OPTION_WHAT,
  OPTION_WIDTH,
  OPTION_WORLD,
  OPTION_WORLDS,
  OPTION_YES,
  OPTION_ZOOM,
  OPTION_COUNT
} option_id;

/* Bits, so that an option can name all commands that accept it. */
typedef enum command_bit {
  COMMAND_DEVICES = 1,
  COMMAND_CONTACTS = 2,
  COMMAND_RENDER = 4,
  COMMAND_BENCH = 8,
  COMMAND_GRADIENT = 16,
  COMMAND_JVP = 32,
  COMMAND_JACOBIAN = 64,
  COMMAND_GRADCHECK = 128,
  COMMAND_TUNE = 256,
  COMMAND_FIELD = 512,
  COMMAND_IMPORT = 1024,
  COMMAND_SIMULATE = 2048,
  COMMAND_FILM = 4096,
  COMMAND_TRANSITION = 8192,
  COMMAND_ROLLOUT_GRADIENT = 16384,
  COMMAND_COMPARE = 32768,
  COMMAND_CLOSEST = 65536,
  COMMAND_CCD = 131072,
  COMMAND_REMESH = 524288,
  COMMAND_INSPECT = 1048576,
  COMMAND_SUGGEST = 2097152,
  COMMAND_DECOMPOSE = 4194304,
  COMMAND_MERGE = 8388608,
  COMMAND_VIEW = 16777216,
  COMMAND_ALL = INT_MAX /* including future commands */
} command_bit;

/* Commands whose results do not include a smoothing: each pair of a scene has its own, and shapes
 * have none. */
#define UNSMOOTHED_COMMANDS \
  (COMMAND_SIMULATE | COMMAND_TRANSITION | COMMAND_ROLLOUT_GRADIENT | COMMAND_CLOSEST | COMMAND_CCD)

struct options;

/* Its options and its help text are in src/cli/help. */
typedef struct command {
  const char *name;
  command_bit bit;
  exit_code (*run)(const struct options *o);
} command;

/* A program with subcommands: `abut`, or `abut-dev`. */
typedef struct program {
  const char *name;
  const command *commands;
  size_t command_count;
  const char *const *of_developers; /* commands that abut-dev has, terminated by NULL; or NULL */
  void (*print_readers)(const command *c); /* prints the readers of other programs' files after a
                                              command's help or, without a command, after the
                                              version; or NULL */
  void (*remove_unfinished)(void); /* called by a signal handler: removes unfinished files that are
                                      not the library's; or NULL */
} program;

/* The command line: words of the subcommand, and the text of every given option. */
typedef struct options {
  const program *program;
  const command *command;                 /* NULL if none was named */
  const char *value[OPTION_COUNT];        /* "" for a flag, NULL if not given */
  const char *devices[ABUT_DEVICES_MOST]; /* every --device */
  int device_count;
  const char **also; /* every --also; free it */
  int also_count;
  const char **operands; /* words after the subcommand; free it */
  int operand_count;
} options;

exit_code cmd_devices(const options *o);
exit_code cmd_contacts(const options *o);
exit_code cmd_gradient(const options *o);
exit_code cmd_merge(const options *o);
exit_code cmd_jvp(const options *o);
exit_code cmd_jacobian(const options *o);
exit_code cmd_render(const options *o);
exit_code cmd_field(const options *o);
exit_code cmd_decompose(const options *o);
exit_code cmd_import(const options *o);

/* Returns the reader of models: a version of MuJoCo, or a text that there is none. */
const char *reader_of_models(void);

/* Returns the reader of .glb, .gltf and .dae meshes: a version of Assimp, or a text that there is
 * none. */
const char *reader_of_meshes(void);
exit_code cmd_simulate(const options *o);
exit_code cmd_film(const options *o);
exit_code cmd_view(const options *o);
exit_code cmd_transition(const options *o);
exit_code cmd_rollout_gradient(const options *o);
exit_code cmd_compare(const options *o);
exit_code cmd_closest(const options *o);
exit_code cmd_ccd(const options *o);
exit_code cmd_remesh(const options *o);
exit_code cmd_inspect(const options *o);
exit_code cmd_suggest(const options *o);

/* ---- program.c ---- */

/* Runs the program for main; returns the exit status. */
int run_program(const program *p, int argc, char **argv);

/* ---- options.c ---- */

exit_code read_options(const program *p, int argc, char **argv, options *o);
/* "--name" */
const char *option_name(option_id id);
exit_code need_operands(const options *o, int count, const char *names);
exit_code need_option(const options *o, option_id id);

/* ---- option_values.c ---- */

/* Reads --temperature of a soft distance, if it is given. */
exit_code option_temperature(const options *o, abut_batch *batch);
/* Accepts only a finite decimal number without blanks. */
bool read_real(const char *text, double *out);
/* Read values strictly: no blanks, no trailing characters. *out is unchanged if the option is
 * absent. */
exit_code option_real(const options *o, option_id id, double least, double most, double *out);
exit_code option_whole(const options *o, option_id id, size_t least, size_t most, size_t *out);
/* Reads pairs of numbers, all separated by commas; at most `room` pairs. */
exit_code option_pairs(const options *o, option_id id, size_t room, double (*out)[2],
                       size_t *count);
/* Reads `count` numbers separated by commas. */
exit_code option_reals(const options *o, option_id id, size_t count, double *out);
exit_code option_precision(const options *o, abut_precision *out);

/* Splits a comma-separated list into numbers, or into indices in `words`. `out` has room for
 * LIST_ROOM. */
#define LIST_ROOM 64
exit_code option_whole_list(const options *o, option_id id, size_t *out, size_t *count);
exit_code option_word_list(const options *o, option_id id, const char *const *words,
                           size_t word_count, size_t *out, size_t *count);

/* Reads one of `words`; *out is its index. */
exit_code option_word(const options *o, option_id id, const char *const *words, size_t word_count,
                      size_t *out);

/* ---- report.c ---- */

/* Reports an error in the command line and how to get help. `c` may be NULL. */
__attribute__((format(printf, 2, 3))) exit_code usage_error(const command *c, const char *format,
                                                            ...);
/* Prints "abut: text", with the program's name; returns `code`. */
__attribute__((format(printf, 2, 3))) exit_code report(exit_code code, const char *format, ...);
/* Reports that element `index` of `count` elements of a file does not exist. */
exit_code report_beyond(const char *path, const char *element, size_t index, size_t count);
/* The same with abut_last_error(), if there is a failure. */
exit_code report_status(abut_status status);
exit_code status_exit_code(abut_status status);
__attribute__((format(printf, 1, 2))) void warn(const char *format, ...);

/* Returns the plural ending of a noun: "" for one, else "s". */
const char *plural(size_t count);
/* Sets the program's name in messages; "abut" by default. */
void report_as_program(const char *name);
const char *program_name(void);
/* Sets the rank of this process among several: errors are held back from here on, and only the
 * first rank prints warnings. */
void report_as_rank(int rank);
/* Prints the errors that were held back. */
void report_kept(void);
/* Sets whether warnings concern only this rank. Any rank then prints them itself. */
void warn_of_rank(bool own);

/* A line that reports a slow step. On a terminal the next report overwrites it; elsewhere the first
 * rank prints a whole line every ten seconds. */
typedef struct progress {
  bool enabled; /* stderr is a terminal, and --quiet is not given */
  double lines; /* interval of whole lines elsewhere [s]; 0: never */
  double start; /* [s] */
  double last;  /* when the line was written */
  const char *what;
  char step[128];         /* last reported step of `what` */
  size_t contacts;        /* contacts per pose; 0 if irrelevant */
  double bytes;           /* bytes that will be written; 0: few */
  double measured;        /* since when steps are measured; earlier ones included preparation */
  size_t before;          /* steps done by then */
  size_t of_all, earlier; /* for calls in blocks: steps in all blocks, and steps before this block;
                             0: one call */
  bool foreseen;
} progress;

progress progress_begin(const options *o, const char *what);
/* Reports the current step, for steps without a measurable progress. Nothing is printed in the
 * first second after progress_begin; then an alarm shows the line. */
__attribute__((format(printf, 2, 3))) void progress_say(progress *p, const char *format, ...);
/* Warns once if the steps, at the speed measured so far, will take more than a minute. */
void progress_foresee(progress *p, size_t done, size_t total);
/* An abut_progress whose user is a progress. Prints nothing in the first second except the warning
 * above. */
bool progress_step(size_t done, size_t total, void *user);
/* The same for fractions of `what`, for abut_field_options and abut_scene_options. */
bool progress_share(void *user, const char *what, double share);
/* For abut_context_def: reports after a second that kernels are built. user is the options. */
void progress_building(void *user, const char *what, bool done);
void progress_end(progress *p);

/* Monotonic time [s]. */
double now(void);
const char *precision_name(abut_precision precision); /* "f32" */
const char *device_type_name(abut_device_type type);

/* ---- session.c ---- */

/* A device, two bodies and their smoothing. */
typedef struct session {
  abut_context context;
  bool open;
  bool named;              /* by --device; otherwise the library skips devices that fail */
  abut_device_info device; /* the first one */
  char devices[512];       /* all chosen devices, by name */
  abut_precision precision;
  abut_body bodies[2];
  abut_smoothing smoothing;
  abut_pair pair;
  abut_pair derivatives;         /* of --soft; else ABUT_SAME_PAIR */
  abut_smoothing soft_smoothing; /* if --soft was given */
  abut_layout layout;            /* with --pairs, the widest */
  const char *smoothing_text;    /* the text to store as smoothing; NULL: that of `smoothing` */
} session;

/* A suggestion for systems with only the host path. */
#define OPENCL_DRIVER "an OpenCL driver such as PoCL (Debian's package pocl-opencl-icd)"
/* Finds the devices of every --device, or the default one. choices: room for ABUT_DEVICES_MOST. */
exit_code find_devices(const options *o, abut_device_choice *choices, size_t *count);
/* Opens every --device, or the library's preferred one, at a precision with --lanes and --chunk.
 * Close it after a failure, too. */
exit_code session_open(session *s, const options *o, abut_precision precision);
/* Runs the next two functions, and creates the pair. */
exit_code session_load(session *s, const options *o);
/* Loads the bodies of the operands. */
exit_code session_bodies(session *s, const options *o);
/* Reads --smoothing, or fits values to the bodies. With `tell`, reports fitted values unless
 * --quiet is given, and prints them with --show-smoothing. */
exit_code session_smoothing(session *s, const options *o, bool tell);
/* Reports that coefficients were fitted and how to print them, or prints them; `how` comes last. */
void tell_fitted(const options *o, const char *how, const char *text);
/* Reads --edges as a number; 0 for auto and if it is absent. */
exit_code option_edges(const options *o, size_t *edges);
/* Creates the pair of --soft, if it was given. */
exit_code session_soft(session *s, const options *o);
/* The names of the devices that computed the results: for batches those that had a share, else the
 * first one that works. */
typedef struct workers_text {
  char text[512];
} workers_text;

workers_text session_workers(const session *s);
/* Also reports which devices failed, and why. */
void session_close(session *s);

/* The poses of a batch and their status; the batch points to them. */
typedef struct pose_arrays {
  void *pose1, *pose2;
  uint8_t *status;
} pose_arrays;

exit_code pose_arrays_open(pose_arrays *a, abut_batch *batch, const session *s,
                           const abut_poses *poses);
void pose_arrays_close(pose_arrays *a);
/* Warns that the poses' pair indices are ignored. */
void warn_pairs(void);
/* A note on rows whose status has these bits under the mask. Lists end with a NULL `what`. */
typedef struct status_note {
  uint32_t mask, bits;
  const char *what;   /* the rows, in the plural */
  const char *effect; /* consequence for the rows; NULL: stated by the caller */
} status_note;

#define NOTES_MOST 12

/* Number of rows for each note of a list. */
typedef struct noted {
  size_t rows, counts[NOTES_MOST], first[NOTES_MOST];
} noted;

/* Notes on rejected poses, by reason. */
extern const status_note pose_notes[];

/* Adds the statuses of further rows, uint8 or uint32, the first of which has this index. */
void noted_add(noted *n, const status_note *of, const abut_array *status, size_t index);
/* Prints one line per note that applies to any row. */
void noted_warn(const noted *n, const status_note *of, const char *effect);
/* Do both for one batch, and for one batch of poses. */
void warn_noted(const status_note *of, const uint8_t *status, size_t count, const char *effect);
void warn_rejected(const abut_batch *batch, const char *effect);

/* Converts poses of --poses to the context's precision. Numbers beyond float's range saturate, so
 * that a finite pose remains finite. Free with free(). */
exit_code poses_to_reals(const double *poses, size_t count, abut_precision precision, void **out);
size_t pose_width(abut_pose_kind kind);
size_t real_bytes(abut_precision precision);
double real_at(const void *reals, abut_precision precision, size_t i);
/* Allocates zeros: `width` reals for each of `count` of `what`, such as "poses", which is used in
 * the error text. Free with free(). */
exit_code reals_of(const char *what, size_t count, size_t width, abut_precision precision,
                   void **out);

/* Warns that a file with this number of poses is empty, if it is. */
void warn_empty(const char *path, size_t poses);
/* Bytes of p, d, n and activity of all contacts. */
double dense_bytes(const session *s, size_t poses);
/* Warns before the computation if a call has very many contacts per pose, or gigabytes to write. */
void warn_large(const session *s, size_t poses, double bytes);

/* Computes a * b * c in bytes; returns false on overflow. */
bool multiply(size_t a, size_t b, size_t c, size_t *out);

/* ---- paths.c ---- */

/* Find missing files, and folders that cannot hold the output, before any work starts. */
exit_code check_readable(const char *path);
exit_code check_output(const char *path);
/* The same for -o, which must also have the extension of the command's output, unless it is a
 * device. */
exit_code check_own_output(const options *o);
/* Returns whether a path ends with this extension, in any case, and has a name before it. */
bool ends_with(const char *path, const char *ending);
/* Returns the file name of a path, without its folder. */
const char *base_name(const char *path);
/* Checks a second output for -o NAME.body.json: NAME with another extension must be writable and
 * must not be an input. */
exit_code check_beside(const options *o, const char *ending);
/* The same for --series. */
exit_code check_series(const options *o);
/* Returns whether a command prints a summary: not with --quiet or if its output is on stdout. */
bool sums_up(const options *o);
/* Returns whether no output of a command goes to stdout. */
bool keeps_stdout(const options *o);
/* Checks the inputs of a command: its operands, and the files named by options. */
exit_code check_inputs(const options *o);
/* Refuses an output that is one of those inputs. */
exit_code check_not_input(const options *o, const char *path);
/* The same for an input that no option names. */
exit_code check_not_body(const char *output, const char *body);

/* Finds a file that belongs to abut: beside the command, as in a build folder; in `folder`/abut
 * relative to the parent of the command's folder; or in `whole`/abut, the configured path. */
bool find_own_file(const char *name, const char *folder, const char *whole, char *path,
                   size_t room);

/* ---- timeline.c ---- */

/* Called around the calls that --timeline records. The work of each device on each chunk is written
 * to NAME.json, a trace, and NAME.png. Does nothing without the option. */
exit_code timeline_check(const options *o);
/* Returns the path of a file of --timeline with this ending; the caller frees it. NULL without
 * memory. */
char *timeline_file(const char *name, const char *ending);
exit_code timeline_start(const session *s, const options *o);
exit_code timeline_write(const session *s, const options *o);

#endif
