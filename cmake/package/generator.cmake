# Read by cpack for each kind of package: a .deb for each component, an archive for each group.
if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_COMPONENTS_GROUPING IGNORE)
  list(FILTER CPACK_COMPONENTS_ALL EXCLUDE REGEX "_licence$")
else()
  list(FILTER CPACK_COMPONENTS_ALL EXCLUDE REGEX "^python")  # archives are moved; pip makes wheels
  set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
endif()
