//===- CodeGen.cpp - From a function's tree to operations: entry and names ===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "BuiltinsImpl.h"
#include "CodeGenImpl.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace despina;
using namespace despina::codegen;

CodeGenerator::CodeGenerator(RegionBuilder &builder, Diagnostics &diags, const LanguageTarget &target,
                             const CodeGenOptions &options)
    : builder_(builder), diags_(diags), options_(options), semantic_(builder, diags, target, *this) {}

//===----------------------------------------------------------------------===//
// Positions and errors
//===----------------------------------------------------------------------===//

void CodeGenerator::at(SourceRange range) {
  semantic_.setPosition(range, frame_->function, frame_->callStack);
  builder_.setLocation(range, frame_->callRanges);
}

Value CodeGenerator::error(SourceRange range, ErrorKind kind, std::string message, std::string help) {
  Diagnostic diagnostic;
  diagnostic.kind = kind;
  diagnostic.message = std::move(message);
  diagnostic.help = std::move(help);
  diagnostic.range = range;
  diagnostic.function = frame_->function;
  diagnostic.callStack = frame_->callStack;
  diags_.report(std::move(diagnostic));
  return {};
}

Value CodeGenerator::error(const ast::Node *node, ErrorKind kind, std::string message, std::string help) {
  return error(node->range(), kind, std::move(message), std::move(help));
}

Flow CodeGenerator::fail(const ast::Node *node, ErrorKind kind, std::string message, std::string help) {
  error(node, kind, std::move(message), std::move(help));
  return Flow::failed();
}

Value CodeGenerator::unsupported(const ast::Node *node, std::string help) {
  return error(node, ErrorKind::UnsupportedConstruct,
               std::string("unsupported AST node type: ") + ast::nodeKindName(node->kind()), std::move(help));
}

Value CodeGenerator::resolutionError(const ast::Node *node, const Resolution &resolution) {
  return error(node, resolution.errorKind, resolution.message);
}

bool CodeGenerator::exceedsLimits(const ast::Node *node) {
  if (stack_.exhausted()) {
    error(
        node, ErrorKind::UnsupportedConstruct, "expression too deeply nested",
        "the thread's stack is too small for this kernel: split the expression or the call chain, or compile "
        "on a thread with a larger stack");
    return true;
  }
  if (++visits_ <= options_.maxVisits)
    return false;
  error(node, ErrorKind::UnsupportedConstruct,
        "the kernel expands to more than " + std::to_string(options_.maxVisits) +
            " statements and expressions",
        "tl.static_range and calls inside combine functions are expanded: use tl.range, or fewer iterations");
  return true;
}

Value CodeGenerator::limited(const ast::Node *node, Value value) {
  if (!value.isTooLarge())
    return value;
  if (value.depth() > TupleValue::maxDepth)
    return error(node, ErrorKind::Overflow,
                 "tuples are nested more than " + std::to_string(TupleValue::maxDepth) + " levels deep");
  return error(node, ErrorKind::Overflow,
               "the tuple is too large (more than " + std::to_string(TupleValue::maxWeight) + " values)");
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static std::string globalNotAllowed(llvm::StringRef name) {
  return ("Cannot access global variable " + name +
          " from within @jit'ed function. Triton kernels can only access global variables that are "
          "instanstiated as "
          "constexpr (`x = triton.language.constexpr(42)`). Note that this is different from annotating a "
          "variable "
          "as constexpr (`x: triton.language.constexpr = 42`), which is not supported.  Alternatively, set "
          "the "
          "envvar TRITON_ALLOW_NON_CONSTEXPR_GLOBALS=1, but we do not promise to support this forever.")
      .str();
}

Value CodeGenerator::lookup(llvm::StringRef name, const ast::Node *node) {
  auto it = scope().find(name);
  if (it != scope().end())
    return it->second;
  // A default value may read any host value, so its answers are not shared.
  if (frame_->evaluatingDefaults)
    return lookupGlobal(name, node);
  Value &cached = globals_[{frame_->info.get(), name}];
  if (cached)
    return cached;
  Value value = lookupGlobal(name, node);
  if (value)
    globals_[{frame_->info.get(), name}] = value;
  return value;
}

Value CodeGenerator::lookupGlobal(llvm::StringRef name, const ast::Node *node) {
  Resolution resolution;
  if (frame_->info->resolver)
    resolution = frame_->info->resolver->lookup(*frame_->info, name, frame_->evaluatingDefaults);
  switch (resolution.status) {
  case Resolution::Status::Found: return resolution.value;
  case Resolution::Status::NotAllowed: return error(node, ErrorKind::Name, globalNotAllowed(name));
  case Resolution::Status::Failed: return resolutionError(node, resolution);
  case Resolution::Status::NotFound: break;
  }
  if (const BuiltinDef *def = findBuiltin(("builtins." + name).str()))
    return Value::builtin(def);
  const bool isOurs = languageAttribute("triton.language", name).has_value();
  return error(node, ErrorKind::Name, (name + " is not defined").str(),
               isOurs ? ("the language has it: write tl." + name).str() : "");
}

void CodeGenerator::noteAnnotation(const ast::Expr *annotation) {
  const auto *attribute = llvm::dyn_cast_or_null<ast::Attribute>(annotation);
  if (attribute && languageAttribute("triton.language", attribute->attr))
    semantic_.noteName(publicPath("triton.language", attribute->attr));
}

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

std::string codegen::describeType(const Value &value) {
  switch (value.kind()) {
  case Value::Kind::Tensor: return value.type().str();
  case Value::Kind::Descriptor: return value.str();
  case Value::Kind::Constant: return "constexpr_type[" + value.constant().str() + "]";
  case Value::Kind::Tuple: {
    const TupleValue &tuple = value.tuple();
    std::string text = "[";
    for (size_t i = 0; i < tuple.elements.size(); ++i) {
      text += i ? "," : "";
      if (i < tuple.fields.size())
        text += tuple.fields[i] + ":";
      text += describeType(tuple.elements[i]);
    }
    return text + "]";
  }
  default: return className(value);
  }
}

std::string codegen::className(const Value &value) {
  switch (value.kind()) {
  case Value::Kind::Null: return "null";
  case Value::Kind::Tensor: return "tensor";
  case Value::Kind::Constant: return value.constant().typeName();
  case Value::Kind::Tuple: return value.tuple().typeName.empty() ? "tuple" : value.tuple().typeName;
  case Value::Kind::Descriptor: return "tensor_descriptor";
  case Value::Kind::Slice: return "slice";
  case Value::Kind::DType: return "dtype";
  case Value::Kind::Function:
    return value.function()->kind == FunctionInfo::Kind::Jit ? "JITFunction" : "ConstexprFunction";
  case Value::Kind::Builtin: return "function";
  case Value::Kind::Module: return "module";
  case Value::Kind::Host: return value.host().typeName;
  case Value::Kind::BoundMethod: return "method";
  }
  return "object";
}

std::string codegen::classText(const Value &value) {
  if (value.isConstant())
    return "<class 'triton.language.core.constexpr'>";
  switch (value.kind()) {
  case Value::Kind::Tensor:
  case Value::Kind::Tuple:
  case Value::Kind::Descriptor:
  case Value::Kind::Slice:
  case Value::Kind::DType: return "<class 'triton.language.core." + className(value) + "'>";
  case Value::Kind::Function: return "<class 'triton.runtime.jit." + className(value) + "'>";
  default: return "<class '" + className(value) + "'>";
  }
}

bool codegen::isBuiltin(const Value &value, llvm::StringRef path) {
  return value.kind() == Value::Kind::Builtin && value.builtin() && path == value.builtin()->path;
}

bool codegen::isConstexprAnnotation(const ast::Expr *annotation) {
  if (const auto *name = llvm::dyn_cast_or_null<ast::Name>(annotation))
    return name->id == "constexpr";
  if (const auto *attribute = llvm::dyn_cast_or_null<ast::Attribute>(annotation))
    return attribute->attr == "constexpr";
  if (const auto *text = llvm::dyn_cast_or_null<ast::Constant>(annotation))
    return text->type == ast::Constant::Type::Str && text->string.contains("constexpr");
  return false;
}

SourceRange codegen::functionRange(const FunctionInfo &info) {
  SourceRange range = info.def->range();
  range.begin = info.def->defOffset;
  return range;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

void CodeGenerator::staticPrint(llvm::StringRef text) {
  if (options_.staticPrint)
    return options_.staticPrint(text);
  llvm::outs() << text;
  llvm::outs().flush();
}

namespace {

/// Appends a parameter's runtime leaves to the signature.
void addParameter(RegionBuilder::FunctionSpec &spec, const KernelArgument &arg, const std::string &name) {
  if (arg.constant)
    return;
  if (!arg.isTuple && !arg.type.isDescriptor()) {
    spec.argTypes.push_back(arg.type);
    spec.argNames.push_back(name);
    spec.divisibility.push_back(arg.divisibility);
    return;
  }
  for (auto [i, element] : llvm::enumerate(arg.elements))
    addParameter(spec, element, name + "_" + std::to_string(i));
}

Value parameterValue(Semantic &semantic, const KernelArgument &arg, llvm::ArrayRef<Handle> &handles);

std::vector<Value> elementValues(Semantic &semantic, llvm::ArrayRef<KernelArgument> args,
                                 llvm::ArrayRef<Handle> &handles) {
  std::vector<Value> values;
  values.reserve(args.size());
  for (const KernelArgument &arg : args)
    values.push_back(parameterValue(semantic, arg, handles));
  return values;
}

/// The descriptor of a parameter, made at the start of the kernel.
Value parameterDescriptor(Semantic &semantic, const KernelArgument &arg, llvm::ArrayRef<Handle> &handles) {
  std::vector<Value> leaves = elementValues(semantic, arg.elements, handles);
  size_t rank = arg.type.describedBlock().rank();
  if (leaves.size() != 2 * rank || !llvm::all_of(leaves, [](const Value &leaf) { return leaf.isTensor(); }))
    return {};
  auto strides = leaves.begin() + 1 + ptrdiff_t(rank);
  std::vector<Value> extents(leaves.begin() + 1, strides), steps(strides, leaves.end());
  steps.push_back(Value::tensor(ScalarKind::Int64, semantic.builder().constantInt(ScalarKind::Int64, 1)));
  return makeDescriptor(semantic, arg.type, leaves.front(), Value::tuple(std::move(extents)),
                        Value::tuple(std::move(steps)), arg.padsNaN);
}

/// The value of a parameter; runtime leaves take the next handles.
Value parameterValue(Semantic &semantic, const KernelArgument &arg, llvm::ArrayRef<Handle> &handles) {
  if (arg.constant)
    return *arg.constant;
  if (arg.type.isDescriptor())
    return parameterDescriptor(semantic, arg, handles);
  if (!arg.isTuple) {
    if (handles.empty())
      return {};
    Value value = Value::tensor(arg.type, handles.front());
    handles = handles.drop_front();
    return value;
  }
  return Value::tuple(elementValues(semantic, arg.elements, handles), arg.fields, arg.tupleTypeName);
}

} // namespace

Value despina::argumentValue(Semantic &semantic, const KernelArgument &arg, llvm::ArrayRef<Handle> handles) {
  return parameterValue(semantic, arg, handles);
}

KernelArgument despina::descriptorArgument(std::string name, const Type &type, bool padsNaN) {
  Type block = type.describedBlock();
  constexpr int64_t alignment = 16;
  int64_t itemBytes = std::max<int64_t>(block.bits() / 8, 1);
  KernelArgument argument;
  argument.name = std::move(name);
  argument.type = type;
  argument.padsNaN = padsNaN;
  auto add = [&](const Type &leaf, int64_t divisibility) {
    KernelArgument element;
    element.type = leaf;
    element.divisibility = divisibility;
    argument.elements.push_back(std::move(element));
  };
  add(Type::pointer(block.scalar()), alignment);
  for (unsigned i = 0; i < block.rank(); ++i)
    add(ScalarKind::Int32, 0);
  for (unsigned i = 0; i + 1 < block.rank(); ++i)
    add(ScalarKind::Int64, alignment / itemBytes > 1 ? alignment / itemBytes : 0);
  return argument;
}

bool CodeGenerator::kernel(const std::shared_ptr<const FunctionInfo> &info,
                           llvm::ArrayRef<KernelArgument> args) {
  Frame frame;
  frame.info = info;
  frame.function = functionRange(*info);
  frame.isKernel = true;
  frame_ = &frame;
  at(info->def->nameRange);
  if (args.size() != info->def->params.size()) {
    error(info->def->nameRange, ErrorKind::Type,
          "kernel `" + info->name + "` has " + std::to_string(info->def->params.size()) +
              " parameters, but " + std::to_string(args.size()) + " arguments were given");
    return false;
  }
  RegionBuilder::FunctionSpec spec;
  spec.name = uniqueSymbol(options_.kernelName.empty() ? info->name : options_.kernelName);
  spec.isKernel = true;
  for (const KernelArgument &arg : args)
    addParameter(spec, arg, arg.name);
  Handles handles = builder_.beginFunction(spec);
  llvm::ArrayRef<Handle> unused = handles;
  for (auto [param, arg] : llvm::zip_equal(info->def->params, args)) {
    scope()[param.name] = parameterValue(semantic_, arg, unused).withRange(param.range);
    noteAnnotation(param.annotation);
  }
  Value result = visitBody(frame);
  if (!result) {
    builder_.abandon();
    return false;
  }
  if (!result.isNone()) {
    at(info->def->nameRange);
    semantic_.warn("the value that kernel `" + info->name + "` returns is ignored");
  }
  builder_.endFunction({}, {});
  if (options_.namesUsed)
    *options_.namesUsed = semantic_.takeNamesUsed();
  return !diags_.hasErrors();
}

Value CodeGenerator::visitBody(Frame &frame) {
  Frame *caller = frame_;
  frame_ = &frame;
  Flow flow = visitSequence(Sequence{frame.info->def->body}, /*functionLevel=*/true);
  frame_ = caller;
  return flow.isFailed() ? Value() : flow.result;
}

std::string CodeGenerator::uniqueSymbol(llvm::StringRef base) {
  const unsigned count = symbols_[base]++;
  return count ? (base + "." + llvm::Twine(count)).str() : base.str();
}

bool despina::generateKernel(RegionBuilder &builder, Diagnostics &diags, const LanguageTarget &target,
                             const std::shared_ptr<const FunctionInfo> &kernel,
                             llvm::ArrayRef<KernelArgument> args, const CodeGenOptions &options) {
  CodeGenerator generator(builder, diags, target, options);
  return generator.kernel(kernel, args);
}
