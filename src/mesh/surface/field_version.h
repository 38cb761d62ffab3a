/* This is the version of the builder by which a field was made. */
#ifndef ABUT_SURFACE_FIELD_VERSION_H
#define ABUT_SURFACE_FIELD_VERSION_H

/* Fields that are kept on disk are found by it: it is raised with every change by which a mesh
 * gives another field or another report. */
#define FIELD_VERSION 5

#endif
