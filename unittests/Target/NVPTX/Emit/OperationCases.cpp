//===- OperationCases.cpp - A kernel for each operation and type ----------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "OperationCases.h"

#include "llvm/IR/Attributes.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/raw_ostream.h"

namespace despina::nvptx {

namespace {

using Names = std::vector<std::string>;

const Names integers = {"i1",  "i8",           "i16",           "i32",           "i64",          "i128",
                        "i24", "vector<4xi8>", "vector<2xi16>", "vector<2xi32>", "vector<3xi64>"};
const Names floats = {"f16",           "bf16",          "f32",  "f64", "vector<2xf16>", "vector<2xbf16>",
                      "vector<3xf32>", "vector<2xf64>", "f128", "tf32"};
const Names scalars = {"i1", "i8", "i16", "i32", "i64", "i128", "f16", "bf16", "f32", "f64"};

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

class Generator {
public:
  std::vector<std::vector<OperationCase>> groups;

  void beginGroup() { groups.emplace_back(); }

  /// A kernel with `body`, in which `T` stands for the type of %a, %b and %c, and %r, of type `result`, is
  /// stored. %g and %s point to global and shared memory.
  void add(const std::string &label, const std::string &type, std::string body, const std::string &result) {
    std::string name = "k" + std::to_string(count_++);
    body = replaced(replaced(body, "{T}", type), "{R}", result);
    std::string store = result.empty() ? "" : "  llvm.store %r, %g : " + result + ", !llvm.ptr<1>\n";
    groups.back().push_back(
        {label + " " + type, "llvm.func @" + name + "(%g: !llvm.ptr<1>, %s: !llvm.ptr<3>, %a: " + type +
                                 ", %b: " + type + ", %c: " + type + ") attributes {nvvm.kernel} {\n  " +
                                 body + "\n" + store + "  llvm.return\n}\n"});
  }

  /// A kernel with a call of an intrinsic, whose arguments are the kernel's.
  void addCall(const std::string &intrinsic, const Names &arguments, const std::vector<bool> &constants,
               const std::string &result) {
    std::string name = "k" + std::to_string(count_++), parameters, values, types, body;
    for (size_t i = 0; i < arguments.size(); ++i) {
      std::string value = "%a" + std::to_string(i);
      if (constants[i])
        body += "  " + value + " = llvm.mlir.constant(0 : " + arguments[i] + ") : " + arguments[i] + "\n";
      else
        parameters += ", " + value + ": " + arguments[i];
      values += (i ? ", " : "") + value;
      types += (i ? ", " : "") + arguments[i];
    }
    body += result.empty() ? "  " : "  %r = ";
    body += "llvm.call_intrinsic \"" + intrinsic + "\"(" + values + ") : (" + types + ") -> " +
            (result.empty() ? "()" : result) + "\n";
    if (!result.empty())
      body += "  llvm.store %r, %g : " + result + ", !llvm.ptr<1>\n";
    groups.back().push_back({intrinsic, "llvm.func @" + name + "(%g: !llvm.ptr<1>" + parameters +
                                            ") attributes {nvvm.kernel} {\n" + body + "  llvm.return\n}\n"});
  }

  /// `operation` on each of `types`, with a result of the same type.
  void addForEach(const std::string &operation, const Names &types, const std::string &operands) {
    beginGroup();
    for (const std::string &type : types)
      add(operation, type, "%r = " + operation + operands, type);
  }

private:
  unsigned count_ = 0;
};

void addArithmetic(Generator &g) {
  for (const char *name :
       {"add", "sub", "mul", "sdiv", "udiv", "srem", "urem", "and", "or", "xor", "shl", "lshr", "ashr"})
    g.addForEach("llvm." + std::string(name), integers, " %a, %b : {T}");
  for (const char *name : {"fadd", "fsub", "fmul", "fdiv", "frem"})
    g.addForEach("llvm." + std::string(name), floats, " %a, %b : {T}");
  g.addForEach("llvm.fneg", floats, " %a : {T}");
  for (const char *name : {"smax", "smin", "umax", "umin", "sadd.sat", "uadd.sat", "ssub.sat", "usub.sat"})
    g.addForEach("llvm.intr." + std::string(name), integers, "(%a, %b) : ({T}, {T}) -> {T}");
  for (const char *name : {"fshl", "fshr"})
    g.addForEach("llvm.intr." + std::string(name), integers, "(%a, %b, %c) : ({T}, {T}, {T}) -> {T}");
  for (const char *name : {"bitreverse", "bswap", "ctpop"})
    g.addForEach("llvm.intr." + std::string(name), integers, "(%a) : ({T}) -> {T}");
  g.addForEach("llvm.intr.abs", integers, "(%a) <{is_int_min_poison = false}> : ({T}) -> {T}");
  for (const char *name : {"ctlz", "cttz"})
    g.addForEach("llvm.intr." + std::string(name), integers,
                 "(%a) <{is_zero_poison = false}> : ({T}) -> {T}");
  for (const Names *types : {&integers, &floats}) {
    g.addForEach("llvm.freeze", *types, " %a : {T}");
    g.beginGroup();
    for (const std::string &type : *types)
      g.add("llvm.select", type, "%q = llvm.mlir.constant(true) : i1 %r = llvm.select %q, %a, %b : i1, {T}",
            type);
  }
}

void addFloatFunctions(Generator &g) {
  for (const char *name : {"fabs", "ceil", "floor", "trunc", "rint", "nearbyint", "round", "roundeven",
                           "sqrt", "exp",  "exp2",  "exp10", "log",  "log2",      "log10", "sin",
                           "cos",  "tan",  "asin",  "acos",  "atan", "sinh",      "cosh",  "tanh"})
    g.addForEach("llvm.intr." + std::string(name), floats, "(%a) : ({T}) -> {T}");
  for (const char *name : {"maxnum", "minnum", "maximum", "minimum", "copysign", "pow", "atan2"})
    g.addForEach("llvm.intr." + std::string(name), floats, "(%a, %b) : ({T}, {T}) -> {T}");
  for (const char *name : {"fma", "fmuladd"})
    g.addForEach("llvm.intr." + std::string(name), floats, "(%a, %b, %c) : ({T}, {T}, {T}) -> {T}");
  for (const char *name : {"lround", "llround", "lrint", "llrint"}) {
    g.beginGroup();
    for (const std::string &type : floats)
      g.add(name, type, "%r = llvm.intr." + std::string(name) + "(%a) : ({T}) -> i64", "i64");
  }
  g.beginGroup();
  for (const std::string &type : floats) {
    g.add("powi", type,
          "%e = llvm.mlir.constant(3 : i32) : i32 %r = llvm.intr.powi(%a, %e) : ({T}, i32) -> {T}", type);
    g.add("ldexp", type,
          "%e = llvm.mlir.constant(3 : i32) : i32 %r = llvm.intr.ldexp(%a, %e) : ({T}, i32) -> {T}", type);
  }
}

void addComparisons(Generator &g) {
  for (const char *predicate : {"eq", "slt", "ule"}) {
    g.beginGroup();
    for (const std::string &type : integers)
      if (type[0] == 'i')
        g.add("llvm.icmp", type, "%r = llvm.icmp \"" + std::string(predicate) + "\" %a, %b : {T}", "i1");
  }
  for (const char *predicate : {"oeq", "olt", "une", "uno", "ord", "ueq"}) {
    g.beginGroup();
    for (const std::string &type : floats)
      if (type[0] != 'v')
        g.add("llvm.fcmp", type, "%r = llvm.fcmp \"" + std::string(predicate) + "\" %a, %b : {T}", "i1");
  }
}

void addConversions(Generator &g) {
  for (const char *name :
       {"sitofp", "uitofp", "fptosi", "fptoui", "fpext", "fptrunc", "sext", "zext", "trunc", "bitcast"})
    for (const std::string &from : scalars) {
      g.beginGroup();
      for (const std::string &to : scalars)
        g.add(std::string("llvm.") + name + " to " + to + " from", from,
              "%r = llvm." + std::string(name) + " %a : {T} to {R}", to);
    }
}

void addMemory(Generator &g) {
  Names types = integers;
  types.insert(types.end(), floats.begin(), floats.end());
  for (const char *space : {"", "<1>", "<3>", "<4>", "<5>"}) {
    g.beginGroup();
    for (const std::string &type : types)
      g.add("load" + std::string(space), type,
            "%q = llvm.mlir.zero : !llvm.ptr" + std::string(space) + " %r = llvm.load %q : !llvm.ptr" +
                space + " -> {T}",
            type);
  }
}

void addAtomics(Generator &g) {
  Names types = scalars;
  types.insert(types.end(), {"vector<2xf16>", "vector<2xbf16>", "vector<4xf32>", "!llvm.ptr"});
  const Names scopes = {"", "syncscope(\"device\") ", "syncscope(\"block\") ", "syncscope(\"cluster\") ",
                        "syncscope(\"agent\") "};
  for (const std::string &scope : scopes)
    for (const char *order : {"monotonic", "acquire", "release", "acq_rel", "seq_cst"})
      for (const char *kind :
           {"xchg", "add", "_and", "nand", "_or", "_xor", "max", "min", "umax", "umin", "fadd", "fsub",
            "fmax", "fmin", "fmaximum", "uinc_wrap", "udec_wrap", "usub_cond"}) {
        // All kinds in one order and scope, and the other way round.
        if (scope.empty() && order != std::string("acq_rel") && kind != std::string("add") &&
            kind != std::string("fadd"))
          continue;
        if (!scope.empty() && kind != std::string("max"))
          continue;
        g.beginGroup();
        for (const std::string &type : types) {
          std::string body =
              "%r = llvm.atomicrmw " + std::string(kind) + " {M}, %a " + scope + order + " : {P}, {T}";
          for (const char *memory : {"%g", "%s"})
            g.add("atomicrmw " + std::string(kind) + " " + scope + order, type,
                  replaced(replaced(body, "{M}", memory), "{P}",
                           memory == std::string("%g") ? "!llvm.ptr<1>" : "!llvm.ptr<3>"),
                  type);
        }
      }
  for (const std::string &scope : scopes) {
    g.beginGroup();
    for (const std::string &type : types) {
      g.add(
          "cmpxchg " + scope, type,
          "%x = llvm.cmpxchg %g, %a, %b " + scope +
              "acq_rel monotonic : !llvm.ptr<1>, {T} %r = llvm.extractvalue %x[0] : !llvm.struct<({T}, i1)>",
          type);
      g.add("atomic load " + scope, type,
            "%r = llvm.load %g atomic " + scope + "acquire {alignment = 16 : i64} : !llvm.ptr<1> -> {T}",
            type);
      g.add("atomic store " + scope, type,
            "llvm.store %a, %g atomic " + scope + "release {alignment = 16 : i64} : {T}, !llvm.ptr<1>", "");
    }
    g.add("fence " + scope, "i32", "llvm.fence " + scope + "acq_rel", "");
  }
}

void addReductions(Generator &g) {
  for (const char *name : {"add", "and", "mul", "or", "smax", "smin", "umax", "umin", "xor"}) {
    g.beginGroup();
    for (const char *element : {"i8", "i16", "i32", "i64"})
      g.add("reduce " + std::string(name), "vector<4x" + std::string(element) + ">",
            "%r = \"llvm.intr.vector.reduce." + std::string(name) + "\"(%a) : ({T}) -> {R}", element);
  }
  for (const char *name : {"fmax", "fmin", "fmaximum", "fminimum"}) {
    g.beginGroup();
    for (const char *element : {"f16", "bf16", "f32", "f64"})
      g.add("reduce " + std::string(name), "vector<4x" + std::string(element) + ">",
            "%r = llvm.intr.vector.reduce." + std::string(name) + "(%a) : ({T}) -> {R}", element);
  }
}

/// As MLIR writes it; empty for void, "?" for what it has no word for.
std::string typeName(llvm::Type *type) {
  if (type->isVoidTy())
    return "";
  if (type->isHalfTy())
    return "f16";
  if (type->isBFloatTy())
    return "bf16";
  if (type->isFloatTy() || type->isDoubleTy())
    return type->isFloatTy() ? "f32" : "f64";
  if (type->isIntegerTy())
    return "i" + std::to_string(type->getIntegerBitWidth());
  if (type->isPointerTy())
    return "!llvm.ptr<" + std::to_string(type->getPointerAddressSpace()) + ">";
  if (auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
    return "vector<" + std::to_string(vector->getNumElements()) + "x" + typeName(vector->getElementType()) +
           ">";
  auto *structure = llvm::dyn_cast<llvm::StructType>(type);
  if (!structure)
    return "?";
  std::string elements;
  for (llvm::Type *element : structure->elements())
    elements += (elements.empty() ? "" : ", ") + typeName(element);
  return "!llvm.struct<(" + elements + ")>";
}

/// Textures, surfaces and parameters have operands of their own kind, which no kernel of ours has; votes
/// without
/// ".sync" are for the assembler to reject.
bool isOfOurWorld(llvm::StringRef name) {
  for (const char *vote : {"all", "any", "uni", "ballot"})
    if (name == "llvm.nvvm.vote." + std::string(vote))
      return false;
  for (const char *prefix : {"tex.", "tld4.", "suld.", "sust.", "suq.", "txq.", "istypep.", "texsurf."})
    if (name.starts_with("llvm.nvvm." + std::string(prefix)))
      return false;
  return name.starts_with("llvm.nvvm.");
}

/// All intrinsics of LLVM's NVPTX target whose types are fixed.
void addIntrinsics(Generator &g) {
  llvm::LLVMContext context;
  std::string family;
  for (llvm::Intrinsic::ID id = 1; id < llvm::Intrinsic::num_intrinsics; ++id) {
    if (llvm::Intrinsic::isOverloaded(id) || !isOfOurWorld(llvm::Intrinsic::getBaseName(id)))
      continue;
    llvm::StringRef name = llvm::Intrinsic::getBaseName(id);
    llvm::FunctionType *type = llvm::Intrinsic::getType(context, id);
    llvm::AttributeList attributes = llvm::Intrinsic::getAttributes(context, id, type);
    Names arguments;
    std::vector<bool> constants;
    for (unsigned i = 0; i < type->getNumParams(); ++i) {
      arguments.push_back(typeName(type->getParamType(i)));
      constants.push_back(attributes.hasParamAttr(i, llvm::Attribute::ImmArg));
    }
    std::string thisFamily = name.substr(0, 22).str();
    if (thisFamily != family || g.groups.back().size() > 40)
      g.beginGroup();
    family = thisFamily;
    g.addCall(name.str(), arguments, constants, typeName(type->getReturnType()));
  }
}

} // namespace

std::vector<std::vector<OperationCase>> operationCases() {
  Generator g;
  addArithmetic(g);
  addFloatFunctions(g);
  addComparisons(g);
  addConversions(g);
  addMemory(g);
  addAtomics(g);
  addReductions(g);
  addIntrinsics(g);
  return std::move(g.groups);
}

} // namespace despina::nvptx
