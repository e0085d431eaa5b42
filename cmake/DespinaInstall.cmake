# What `cmake --install` installs: the shared library, the public headers and the CMake package (component
# "development"), the tools ("tools"). The component "python" is what goes into a wheel (python/CMakeLists.txt).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS despina EXPORT DespinaTargets COMPONENT development LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(header IN ITEMS despina.h device.h host.h interpreter.h c.h)
  if(EXISTS ${CMAKE_SOURCE_DIR}/include/despina/${header})
    install(FILES ${CMAKE_SOURCE_DIR}/include/despina/${header} DESTINATION include/despina COMPONENT development)
  endif()
endforeach()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Despina)
install(EXPORT DespinaTargets NAMESPACE Despina:: DESTINATION ${package_folder} COMPONENT development)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/DespinaConfig.cmake.in
                              ${CMAKE_BINARY_DIR}/DespinaConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/DespinaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/DespinaConfig.cmake ${CMAKE_BINARY_DIR}/DespinaConfigVersion.cmake
        DESTINATION ${package_folder} COMPONENT development)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/NOTICE
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/despina COMPONENT development)

foreach(tool IN ITEMS despina-tool despina-opt)
  if(TARGET ${tool})
    install(TARGETS ${tool} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
    set_target_properties(${tool} PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  endif()
endforeach()
