// Undefines the names of certificate.inl, for the next kind.
#undef CN
#undef CCD_KIND
#undef CCD_FIRST
#undef CCD_SECOND
#undef CCD_PAIRS
#undef CCD_EDGE_COUNT
#undef CCD_EDGE_TAIL
#undef CCD_EDGE_HEAD
#undef CCD_DIRECTIONS
#undef CCD_HAS_PLANE
