// The outputs of a contact: the one table, which kernels, the library, the command, Python and XLA
// read. docs/dev/extending.md says what a new line needs.
//
// OUTPUT(member, ID, reals): the member of the public structs (abut_batch, abut_compact,
// abut_cotangents, abut_tangents), by which files and Python call the output, too; the end of
// WANT_*, VALUE_* and SCRATCH_*; and how many reals a contact has. AND() stands between lines.
#ifndef GEOMETRY_OUTPUTS_H
#define GEOMETRY_OUTPUTS_H

// Outputs that lists of active contacts compute by themselves, and that Jacobian blocks have rows
// of. They are the default of what Python computes.
// clang-format off
#define LISTED_OUTPUTS(OUTPUT, AND) \
  OUTPUT(p, P, 3) AND()             \
  OUTPUT(d, D, 1) AND()             \
  OUTPUT(n, N, 3) AND()             \
  OUTPUT(activity, ACTIVITY, 1)

// Outputs that take the whole manifold.
#define WHOLE_OUTPUTS(OUTPUT, AND) \
  OUTPUT(weight, WEIGHT, 1)
// clang-format on

#define CONTACT_OUTPUTS(OUTPUT, AND) LISTED_OUTPUTS(OUTPUT, AND) AND() WHOLE_OUTPUTS(OUTPUT, AND)

#define AND_NOTHING()
#define AND_COMMA() ,

// The outputs' numbers, and the bits of `want`, which say what a call wants.
#define OUTPUT_NUMBER(member, id, reals) OUTPUT_##id
#define OUTPUT_WANT(member, id, reals) WANT_##id = 1 << OUTPUT_##id
enum { CONTACT_OUTPUTS(OUTPUT_NUMBER, AND_COMMA), OUTPUTS };
enum { CONTACT_OUTPUTS(OUTPUT_WANT, AND_COMMA) };
#define OUTPUT_ONE(member, id, reals) +1
#define OUTPUTS_LISTED (0 LISTED_OUTPUTS(OUTPUT_ONE, AND_NOTHING))
#define OUTPUT_BIT(member, id, reals) | WANT_##id
#define WANT_LISTED (0 LISTED_OUTPUTS(OUTPUT_BIT, AND_NOTHING))
#define WANT_NORMALS WANT_N // outputs that are made of normals
#define WANT_WHOLE (0 WHOLE_OUTPUTS(OUTPUT_BIT, AND_NOTHING))

// The places of an entry's numbers in a row, and of its values' planes: those of listed outputs,
// VALUE_PLANES, and behind them the others.
#define OUTPUT_PLACE(member, id, reals) VALUE_##id, VALUE_LAST_##id = VALUE_##id + (reals)-1
enum {
  LISTED_OUTPUTS(OUTPUT_PLACE, AND_COMMA),
  VALUE_PLANES,
  VALUE_LAST_LISTED = VALUE_PLANES - 1,
  WHOLE_OUTPUTS(OUTPUT_PLACE, AND_COMMA),
  COMPACT_REALS
};

// The arguments of kernels that have all outputs, or all cotangents of them.
#define OUTPUT_ARRAY(member, id, reals) GLOBAL real *member
#define OUTPUT_VALUES(member, id, reals) GLOBAL const real *member
#define OUTPUT_BARS(member, id, reals) GLOBAL const real *member##_bar
#define OUTPUT_MEMBER(member, id, reals) member
#define OUTPUT_MAY_STAY(member, id, reals) (void)member;
#define OUTPUT_BARS_MAY_STAY(member, id, reals) (void)member##_bar;
#define OUTPUT_MEMBERS CONTACT_OUTPUTS(OUTPUT_MEMBER, AND_COMMA)
#define OUTPUT_ARRAYS_TO_WRITE CONTACT_OUTPUTS(OUTPUT_ARRAY, AND_COMMA)
#define OUTPUT_ARRAYS_TO_READ CONTACT_OUTPUTS(OUTPUT_VALUES, AND_COMMA)
#define OUTPUT_BARS_TO_READ CONTACT_OUTPUTS(OUTPUT_BARS, AND_COMMA)

#endif
