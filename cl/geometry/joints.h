// The joints of links. The kernels, the library and its reader of scenes share this table.
// docs/dev/extending.md describes the requirements of a new line.
//
// JOINT(word, ID, moves, turns): the word in scene files; the suffix of JOINT_*; the number of
// translational degrees of freedom, which are the first ones; and the number of rotational ones.
// moves is 1 along the joint's axis or 3 along the world's axes, and then its parent is the world.
// turns is 1 about its axis or 3; then the position is a quaternion, the last in the joint's
// positions. A moved joint has no degrees of freedom: controls set the pose of its link, whose
// parent is the world.
#ifndef GEOMETRY_JOINTS_H
#define GEOMETRY_JOINTS_H

#define JOINTS(JOINT)       \
  JOINT(fixed, FIXED, 0, 0) \
  JOINT(hinge, HINGE, 0, 1) \
  JOINT(slide, SLIDE, 1, 0) \
  JOINT(ball, BALL, 0, 3)   \
  JOINT(free, FREE, 3, 3)   \
  JOINT(moved, MOVED, 0, 0)

#define JOINT_NUMBER(word, id, moves, turns) JOINT_##id,
typedef enum joint_type { JOINTS(JOINT_NUMBER) JOINT_TYPES } joint_type;

// Columns of the table, by number: four bits per joint, for at most eight joints.
#define JOINT_MOVES_BITS(word, id, moves, turns) | moves##u << 4 * JOINT_##id
#define JOINT_TURNS_BITS(word, id, moves, turns) | turns##u << 4 * JOINT_##id
#define JOINT_MOVES(type) (int)((0u JOINTS(JOINT_MOVES_BITS)) >> 4 * (type)&15u)
#define JOINT_TURNS(type) (int)((0u JOINTS(JOINT_TURNS_BITS)) >> 4 * (type)&15u)

#define JOINT_DOFS(type) (JOINT_MOVES(type) + JOINT_TURNS(type))
#define JOINT_IS_OF_WORLD(type) (JOINT_MOVES(type) == 3)
#define JOINT_HAS_QUATERNION(type) (JOINT_TURNS(type) == 3)
// The number of controls of a moved link: a displacement [m] along the world's axes, and a rotation
// vector [rad] in these axes, by which the link is rotated from its stated pose.
#define MOVED_CONTROLS 6
#define JOINT_CONTROLS(type) ((type) == JOINT_MOVED ? MOVED_CONTROLS : 0)
// The number of numbers before the quaternion, in positions and in degrees of freedom.
#define JOINT_PLAIN(type) (JOINT_HAS_QUATERNION(type) ? JOINT_MOVES(type) : JOINT_DOFS(type))
#define JOINT_POSITIONS(type) (JOINT_PLAIN(type) + 4 * JOINT_HAS_QUATERNION(type))

#endif
