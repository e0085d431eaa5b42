# Finds LLVM and MLIR 22 and links them statically.

# Debian's package answers only an exact version, so the version is checked here.
find_package(MLIR CONFIG REQUIRED HINTS /usr/lib/llvm-22/lib/cmake/mlir)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "Despina needs LLVM and MLIR 22; ${MLIR_DIR} has ${LLVM_PACKAGE_VERSION}. "
                      "Install libmlir-22-dev or set MLIR_DIR.")
endif()
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
include_directories(${CMAKE_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/include)
separate_arguments(_despina_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
add_definitions(${_despina_llvm_definitions})

# Debian's exported MLIR targets name the LLVM shared library. Beside the static one it aborts at start
# ("option registered more than once"), so it is taken out, and the static components are linked.
get_property(_despina_mlir_libs GLOBAL PROPERTY MLIR_ALL_LIBS)
list(APPEND _despina_mlir_libs ${MLIR_EXPORTED_TARGETS})
list(REMOVE_DUPLICATES _despina_mlir_libs)
foreach(_lib IN LISTS _despina_mlir_libs)
  if(TARGET ${_lib})
    get_target_property(_links ${_lib} INTERFACE_LINK_LIBRARIES)
    if(_links)
      list(REMOVE_ITEM _links LLVM)
      set_target_properties(${_lib} PROPERTIES INTERFACE_LINK_LIBRARIES "${_links}")
    endif()
  endif()
endforeach()

set(DESPINA_LLVM_COMPONENTS
    core support passes orcjit target bitreader bitwriter irreader linker
    x86codegen x86asmparser x86desc x86info
    nvptxcodegen nvptxdesc nvptxinfo
    amdgpucodegen amdgpuasmparser amdgpudesc amdgpuinfo)
llvm_map_components_to_libnames(DESPINA_LLVM_LIBS ${DESPINA_LLVM_COMPONENTS})

set(DESPINA_MLIR_LIBS
    MLIRIR MLIRParser MLIRPass MLIRTransforms MLIRTransformUtils MLIRAnalysis MLIRSupport
    MLIRArithDialect MLIRMathDialect MLIRSCFDialect MLIRControlFlowDialect MLIRFuncDialect MLIRUBDialect
    MLIRVectorDialect MLIRMemRefDialect MLIRLLVMDialect MLIRAMXDialect MLIRX86VectorDialect MLIRDLTIDialect MLIRNVVMDialect
    MLIRSCFTransforms MLIRSCFUtils MLIRArithUtils MLIRMathTransforms MLIRVectorTransforms
    MLIRSCFToControlFlow MLIRControlFlowToLLVM MLIRFuncToLLVM MLIRArithToLLVM MLIRMathToLLVM MLIRMathToLibm MLIRVectorToLLVM
    MLIRVectorToLLVMPass MLIRUBToLLVM MLIRIndexToLLVM MLIRMemRefToLLVM MLIRReconcileUnrealizedCasts
    MLIRLLVMCommonConversion MLIRAMXTransforms MLIRX86VectorTransforms
    MLIRNVVMToLLVM
    MLIRTargetLLVMIRExport MLIRBuiltinToLLVMIRTranslation MLIRLLVMToLLVMIRTranslation MLIRNVVMToLLVMIRTranslation)

# Compiler flags.
add_compile_options(-Wall -Wextra -Wno-unused-parameter -fno-math-errno)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options(-Wno-c++98-compat -Wno-nullability-completeness)
endif()
find_program(DESPINA_LLD NAMES ld.lld-22 ld.lld)
if(DESPINA_LLD)
  add_link_options(-fuse-ld=lld)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    add_link_options(--ld-path=${DESPINA_LLD})
  endif()
endif()
# LLVM's libraries name more system libraries (libz3, 26 MB) than what we take of them needs.
add_link_options(-Wl,--as-needed)
find_program(DESPINA_CCACHE ccache)
if(DESPINA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers need these two; base_dir makes hits work across checkouts.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${DESPINA_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${DESPINA_CCACHE})
endif()
if(DESPINA_SANITIZER)
  add_compile_options(-fsanitize=${DESPINA_SANITIZER} -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${DESPINA_SANITIZER})
endif()
if(DESPINA_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link,address -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=address)
endif()
