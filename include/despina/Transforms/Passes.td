//===- Passes.td - Passes on tile IR -----------------------*- tablegen -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_TRANSFORMS_PASSES
#define DESPINA_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def DespinaInline : Pass<"despina-inline", "::mlir::ModuleOp"> {
  let summary = "Moves functions into their callers";
  let description = [{
    Every `tt.call` of a function with a body becomes that body, from the leaves of the call graph upwards, and
    private functions that nobody calls any more disappear. `noinline` is a wish about code size that not every
    target can follow, so it counts only with `keep-noinline`.
  }];
  let options = [Option<"keepNoInline", "keep-noinline", "bool", "false", "Leave calls of `noinline` functions">];
}

def TTCombine : Pass<"tt-combine", "::despina::tt::FuncOp"> {
  let summary = "Merges operations that one operation expresses";
  let description = [{
    - `dot(a, b, 0) + c` becomes `dot(a, b, c)`.
    - `addptr(addptr(p, i), j)` becomes `addptr(p, i + j)` where the sum cannot wrap differently.
    - `select(m, load(p, m), x)` becomes `load(p, m, x)`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def TTReorderBroadcast : Pass<"tt-reorder-broadcast", "::despina::tt::FuncOp"> {
  let summary = "Computes before repeating";
  let description = [{
    Element-wise operations whose operands are all splats work on the scalars, and those whose operands are all
    broadcasts of one shape work on the small tiles. The result is then repeated.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def TTLoopUnroll : Pass<"tt-loop-unroll", "::despina::tt::FuncOp"> {
  let summary = "Unrolls loops marked with tt.loop_unroll_factor";
  let description = [{
    The marked `scf.for` makes that many steps in each iteration, and a second loop makes the steps left over.
    Both are exact for empty loops, unsigned bounds and bounds near the type's limits. A loop with a step that is
    no constant stays as it is, and so does one that would grow to more than 65,536 operations.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def TTLICM : Pass<"tt-licm", "::despina::tt::FuncOp"> {
  let summary = "Moves what a loop computes anew in each iteration out of it";
  let description = [{
    Pure operations move wherever their operands allow. A load moves too if the loop is known to run, reaches the
    load in its first iteration and writes no memory. Loops marked `tt.disable_licm` keep everything.
  }];
}

def TTRewriteDescriptors : Pass<"tt-rewrite-descriptors", "::mlir::ModuleOp"> {
  let summary = "Turns tensor descriptors into pointers and masks";
  let description = [{
    For targets that have no operation for moving blocks. A descriptor becomes its leaves, in loops, branches and
    calls too; an access becomes a load, a store or an atomic whose mask is false out of bounds.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::ub::UBDialect"];
}

def ConvertToTTG : Pass<"convert-to-ttg", "::mlir::ModuleOp"> {
  let summary = "Spreads tiles over threads";
  let description = [{
    Sets the module's attributes (`ttg.num-warps` and so on) and gives every tile a layout: the blocked one for its
    shape. Where an operation ties its tiles to other layouts (LayoutInference.h), `ttg.convert_layout` stands
    between.
  }];
  let options = [Option<"numWarps", "num-warps", "unsigned", "4", "Warps of a block">,
                 Option<"threadsPerWarp", "threads-per-warp", "unsigned", "32", "Threads of a warp">,
                 Option<"numCTAs", "num-ctas", "unsigned", "1", "Blocks of a cluster">,
                 Option<"target", "target", "std::string", "\"cuda:90\"", "What to compile for">];
  let dependentDialects = ["::despina::ttg::TTGDialect"];
}

def TTGCoalesce : Pass<"ttg-coalesce", "::despina::tt::FuncOp"> {
  let summary = "Lays tiles out for wide accesses to memory";
  let description = [{
    Loads, stores, atomics and copies through tiles of pointers get a blocked layout: the axis along which addresses
    are contiguous first, as many neighbours in a thread as alignment, mask and 128 bits allow, agreed among
    operations that exchange values. Descriptors count as contiguous along the last axis. Conversions are inserted
    around the operations.
  }];
  let dependentDialects = ["::despina::ttg::TTGDialect"];
}

def TTGRemoveLayoutConversions : Pass<"ttg-remove-layout-conversions", "::despina::tt::FuncOp"> {
  let summary = "Removes conversions between layouts that cost more than they save";
  let description = [{
    Layouts of loads, stores and dots are carried forward to what is computed from them; where several meet, the
    one with the least to convert wins. Sources of the conversions left are computed in the layout that is wanted,
    or converted before they grow and before loops, where that is cheaper.
  }];
  let dependentDialects = ["::despina::ttg::TTGDialect"];
}

def TTGOptimizeThreadLocality : Pass<"ttg-optimize-thread-locality", "::despina::tt::FuncOp"> {
  let summary = "Lets threads reduce on their own in loops and meet after them";
  let description = [{
    A loop that combines what it carries with the reduction of a tile carries partial results of each thread instead.
    They are reduced across threads once, after the loop.
  }];
  let dependentDialects = ["::despina::ttg::TTGDialect"];
}

def TTGReorderInstructions : Pass<"ttg-reorder-instructions", "::despina::tt::FuncOp"> {
  let summary = "Shortens the lives of tiles in registers";
  let description = [{
    Conversions and reads of shared memory move down to their first use, buffers that take a tile up to where it has
    been made.
  }];
  let dependentDialects = ["::despina::ttg::TTGDialect"];
}

#endif // DESPINA_TRANSFORMS_PASSES
