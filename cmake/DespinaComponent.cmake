# despina_component(NAME [MLIR] [DEPENDS targets...] [LINK libs...])
#
# One folder of lib/ is one static library DespinaNAME of all its .cpp files. MLIR components share one
# precompiled header (cmake/MLIRPrecompiled.h).
function(despina_component name)
  cmake_parse_arguments(ARG "MLIR" "" "DEPENDS;LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(NOT sources)
    # Nothing there yet: others may name it all the same.
    add_library(Despina${name} INTERFACE)
    return()
  endif()
  add_library(Despina${name} STATIC ${sources})
  target_link_libraries(Despina${name} PUBLIC ${ARG_LINK})
  if(ARG_DEPENDS)
    add_dependencies(Despina${name} ${ARG_DEPENDS})
  endif()
  if(ARG_MLIR)
    target_precompile_headers(Despina${name} REUSE_FROM DespinaPrecompiled)
    add_dependencies(Despina${name} DespinaPrecompiled)
  endif()
endfunction()

# The precompiled MLIR headers, made once.
function(despina_precompiled_mlir)
  file(WRITE ${CMAKE_BINARY_DIR}/precompiled.cpp.in "// Makes the precompiled header.\n")
  configure_file(${CMAKE_BINARY_DIR}/precompiled.cpp.in ${CMAKE_BINARY_DIR}/precompiled.cpp COPYONLY)
  add_library(DespinaPrecompiled OBJECT ${CMAKE_BINARY_DIR}/precompiled.cpp)
  target_precompile_headers(DespinaPrecompiled PRIVATE ${CMAKE_SOURCE_DIR}/cmake/MLIRPrecompiled.h)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # A time stamp inside the header would defeat ccache.
    target_compile_options(DespinaPrecompiled PUBLIC -Xclang -fno-pch-timestamp)
  endif()
endfunction()
