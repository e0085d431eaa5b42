//===- CodeGenCall.cpp - Calls ------------------------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// A jit function becomes one `tt.func` for each combination of argument types and constants, called wherever
// it is used (spec triton_language 2.5). Functions that builtins call (combine functions) are visited in
// place.
//
//===----------------------------------------------------------------------===//
#include "CodeGenImpl.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace despina;
using namespace despina::codegen;

//===----------------------------------------------------------------------===//
// Call expressions
//===----------------------------------------------------------------------===//

Value CodeGenerator::visitCall(const ast::Call *expr) {
  Value callee = visit(expr->func);
  if (!callee)
    return {};
  ValueList args;
  KeywordList keywords;
  if (!visitArguments(expr, args, keywords))
    return {};
  return callValue(expr, callee, args, keywords);
}

bool CodeGenerator::visitArguments(const ast::Call *expr, ValueList &args, KeywordList &keywords) {
  args.reserve(expr->args.size());
  for (const ast::Expr *arg : expr->args) {
    const auto *starred = llvm::dyn_cast<ast::Starred>(arg);
    Value value = visit(starred ? starred->value : arg);
    if (!value)
      return false;
    if (!starred)
      args.push_back(value.withRange(arg->range()));
    else if (!appendStarred(starred, value, args))
      return false;
  }
  for (const ast::Keyword &keyword : expr->keywords) {
    if (keyword.name.empty()) {
      error(keyword.range, ErrorKind::UnsupportedConstruct, "`**` in a call is not supported inside kernels");
      return false;
    }
    Value value = visit(keyword.value);
    if (!value)
      return false;
    // What users' own builtins hand on to others: the compiler needs no such object.
    if (keyword.name == "_semantic" || keyword.name == "_generator" || keyword.name == "_builder")
      continue;
    keywords.emplace_back(keyword.name.str(), value.withRange(keyword.value->range()));
  }
  return true;
}

Value CodeGenerator::callValue(const ast::Node *node, const Value &callee, llvm::ArrayRef<Value> args,
                               Keywords keywords) {
  at(node);
  callRange_ = node->range();
  switch (callee.kind()) {
  case Value::Kind::Builtin:
    if (isBuiltin(callee, "language.aggregate_replace"))
      return replaceFields(node, args, keywords);
    return semantic_.callBuiltin(*callee.builtin(), args, keywords);
  case Value::Kind::Function:
    if (callee.function()->kind == FunctionInfo::Kind::Jit)
      return callJit(node, callee.function(), args, keywords);
    return callHost(node, callee, callee.function()->resolver, args, keywords);
  case Value::Kind::Host:
    if (std::shared_ptr<const AggregateClass> type = aggregateClass(callee))
      return construct(node, type, args, keywords);
    if (callee.host().callable)
      return callHost(node, callee, callee.host().resolver, args, keywords);
    break;
  case Value::Kind::BoundMethod: {
    ValueList all{callee.boundMethod().self};
    llvm::append_range(all, args);
    return callValue(node, callee.boundMethod().callee, all, keywords);
  }
  default: break;
  }
  return error(node, ErrorKind::Type, "'" + className(callee) + "' object is not callable");
}

Value CodeGenerator::callHost(const ast::Node *node, const Value &callee, SymbolResolver *resolver,
                              llvm::ArrayRef<Value> args, Keywords keywords) {
  if (!resolver)
    return error(node, ErrorKind::Type, "'" + className(callee) + "' object is not callable");
  Resolution resolution = resolver->call(callee, args, keywords);
  if (resolution.status == Resolution::Status::Found)
    return resolution.value;
  if (resolution.message.empty())
    resolution.message = "'" + className(callee) + "' object is not callable";
  return resolutionError(node, resolution);
}

Value CodeGenerator::callFunction(const Value &callee, llvm::ArrayRef<Value> args, Keywords keywords) {
  // Called by a builtin: the expression that called the builtin is the place users know.
  const bool insideBuiltin = semantic_.insideBuiltin;
  const bool inlineCalls = frame_->inlineCalls;
  const SourceRange range = callRange_;
  semantic_.insideBuiltin = false;
  frame_->inlineCalls = true;
  const CallNode node(range);
  Value result = callValue(&node, callee, args, keywords);
  frame_->inlineCalls = inlineCalls;
  callRange_ = range;
  at(range);
  semantic_.insideBuiltin = insideBuiltin;
  return result;
}

//===----------------------------------------------------------------------===//
// Binding
//===----------------------------------------------------------------------===//

static std::string plural(size_t count, llvm::StringRef noun) {
  return std::to_string(count) + " " + noun.str() + (count == 1 ? "" : "s");
}

/// "'a' and 'b'", "'a', 'b', and 'c'", as Python lists missing arguments.
static std::string quotedList(llvm::ArrayRef<llvm::StringRef> names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i)
      text += names.size() > 2 ? ", " : " ";
    if (i && i + 1 == names.size())
      text += "and ";
    text += "'" + names[i].str() + "'";
  }
  return text;
}

bool CodeGenerator::bindArguments(const ast::Node *node, const FunctionInfo &info, llvm::ArrayRef<Value> args,
                                  Keywords keywords, ValueList &bound) {
  using Kind = ast::Parameter::Kind;
  const llvm::ArrayRef<ast::Parameter> params = info.def->params;
  bound.assign(params.size(), Value());
  size_t next = 0, positional = 0;
  for (auto [i, param] : llvm::enumerate(params)) {
    if (param.kind == Kind::VarKeyword) {
      error(node, ErrorKind::UnsupportedConstruct,
            "function `" + info.name + "` takes `**" + param.name.str() + "`, which kernels do not support");
      return false;
    }
    if (param.kind == Kind::VarPositional) {
      bound[i] = limited(node, Value::tuple(std::vector<Value>(args.begin() + next, args.end())));
      if (!bound[i])
        return false;
      next = args.size();
    } else if (param.kind != Kind::KeywordOnly) {
      ++positional;
      if (next < args.size())
        bound[i] = args[next++];
    }
  }
  if (next < args.size()) {
    error(node, ErrorKind::Type,
          info.name + "() takes " + plural(positional, "positional argument") + " but " +
              std::to_string(args.size()) + (args.size() == 1 ? " was given" : " were given"));
    return false;
  }
  for (const auto &[name, value] : keywords) {
    const auto *param = llvm::find_if(params, [&](const ast::Parameter &p) {
      return p.name == name && (p.kind == Kind::Positional || p.kind == Kind::KeywordOnly);
    });
    if (param == params.end()) {
      error(node, ErrorKind::Type, info.name + "() got an unexpected keyword argument '" + name + "'");
      return false;
    }
    Value &slot = bound[param - params.begin()];
    if (slot) {
      error(node, ErrorKind::Type, info.name + "() got multiple values for argument '" + name + "'");
      return false;
    }
    slot = value;
  }
  llvm::SmallVector<llvm::StringRef> missing;
  for (auto [param, value] : llvm::zip_equal(params, bound))
    if (!value && !param.defaultValue)
      missing.push_back(param.name);
  if (missing.empty())
    return true;
  error(node, ErrorKind::Type,
        info.name + "() missing " + plural(missing.size(), "required positional argument") + ": " +
            quotedList(missing));
  return false;
}

/// Evaluates the defaults of parameters that got no argument, where the function was defined.
bool CodeGenerator::bindDefaults(ValueList &bound, Frame &frame) {
  Frame *caller = frame_;
  frame_ = &frame;
  frame.evaluatingDefaults = true;
  bool succeeded = true;
  for (auto [param, value] : llvm::zip_equal(frame.info->def->params, bound))
    if (succeeded && !value) {
      value = visit(param.defaultValue);
      succeeded = bool(value);
    }
  frame.evaluatingDefaults = false;
  frame_ = caller;
  return succeeded;
}

//===----------------------------------------------------------------------===//
// Jit functions
//===----------------------------------------------------------------------===//

bool CodeGenerator::openCall(const ast::Node *node, const std::shared_ptr<const FunctionInfo> &info,
                             llvm::ArrayRef<Value> args, Keywords keywords, ValueList &bound, Frame &frame) {
  if (exceedsLimits(node))
    return false;
  if (!info->def) {
    error(node, ErrorKind::Value, "@jit functions should be defined in a Python file");
    return false;
  }
  if (callDepth_ >= options_.maxCallDepth) {
    recursionError(node, *info,
                   "maximum call depth (" + std::to_string(options_.maxCallDepth) +
                       ") exceeded in call of `" + info->name + "`");
    return false;
  }
  if (!bindArguments(node, *info, args, keywords, bound))
    return false;
  frame.info = info;
  frame.function = functionRange(*info);
  frame.inlineCalls = frame_->inlineCalls;
  frame.callStack = frame_->callStack;
  frame.callStack.push_back({node->range(), info->name, frame_->function});
  frame.callRanges = frame_->callRanges;
  frame.callRanges.push_back(node->range());
  return bindDefaults(bound, frame);
}

Value CodeGenerator::callJit(const ast::Node *node, const std::shared_ptr<const FunctionInfo> &info,
                             llvm::ArrayRef<Value> args, Keywords keywords) {
  if (options_.callHostFunction && info->scope)
    return exceedsLimits(node) ? Value() : options_.callHostFunction(Value::function(info), args, keywords);
  ValueList bound;
  Frame frame;
  if (!openCall(node, info, args, keywords, bound, frame))
    return {};
  ++callDepth_;
  Value result = frame.inlineCalls ? callInPlace(bound, frame) : callInstance(node, bound, frame);
  --callDepth_;
  return result;
}

Value CodeGenerator::callInPlace(llvm::ArrayRef<Value> bound, Frame &frame) {
  for (auto [param, value] : llvm::zip_equal(frame.info->def->params, bound))
    frame.scope[param.name] = value;
  return visitBody(frame);
}

static void appendPointer(const void *pointer, std::string &key) {
  key += llvm::utohexstr(reinterpret_cast<uintptr_t>(pointer));
}

void codegen::appendKey(const Value &value, std::string &key) {
  switch (value.kind()) {
  case Value::Kind::Null: key += '?'; break;
  case Value::Kind::Tensor: {
    const Type scalar = value.type().scalar();
    key += 't';
    key += value.type().str();
    if (scalar.isPointer())
      key += '@' + std::to_string(scalar.addressSpace());
    break;
  }
  case Value::Kind::Constant:
    key += 'c';
    key += value.constant().typeName();
    key += ' ';
    key += value.constant().repr();
    break;
  case Value::Kind::Tuple:
  case Value::Kind::Descriptor: {
    const TupleValue &tuple = value.tuple();
    key += value.isDescriptor() ? 'D' : 'T';
    key += '(' + (tuple.aggregate ? tuple.aggregate->key : tuple.typeName) + ':';
    for (size_t i = 0; i < tuple.elements.size(); ++i) {
      if (i < tuple.fields.size())
        key += tuple.fields[i] + '=';
      appendKey(tuple.elements[i], key);
    }
    key += ')';
    break;
  }
  case Value::Kind::Slice:
    key += '[';
    appendKey(value.slice().lower, key);
    appendKey(value.slice().upper, key);
    appendKey(value.slice().step, key);
    key += ']';
    break;
  case Value::Kind::DType: key += 'd' + value.dtype().str(); break;
  case Value::Kind::Function:
    key += 'f';
    appendPointer(value.function()->def, key);
    key += '/';
    appendPointer(value.function()->scope, key);
    break;
  case Value::Kind::Builtin:
    key += 'b';
    appendPointer(value.builtin(), key);
    break;
  case Value::Kind::Module:
    key += 'm' + value.module().name;
    appendPointer(value.module().host, key);
    break;
  case Value::Kind::Host:
    key += 'h';
    appendPointer(value.host().object.get(), key);
    break;
  case Value::Kind::BoundMethod:
    key += 'M';
    appendKey(value.boundMethod().self, key);
    appendKey(value.boundMethod().callee, key);
    break;
  }
  key += ',';
}

/// A readable, unique-enough name; `uniqueSymbol` makes it unique.
static std::string symbolBase(const FunctionInfo &info, llvm::ArrayRef<Value> bound) {
  std::string text = (info.qualifiedName.empty() ? info.name : info.qualifiedName) + "__";
  llvm::SmallVector<TensorValue, 8> leaves;
  for (const Value &value : bound)
    flatten(value, leaves);
  for (const TensorValue &leaf : leaves)
    text += leaf.type.mangle() + "_";
  if (!leaves.empty())
    text.pop_back();
  for (char &c : text)
    if (!llvm::isAlnum(c) && c != '_' && c != '.')
      c = '_';
  return text;
}

Value CodeGenerator::recursionError(const ast::Node *node, const FunctionInfo &info, std::string message) {
  // The calls that are being generated, from the last one of this function on.
  constexpr size_t maxShown = 16;
  llvm::SmallVector<llvm::StringRef, maxShown> cycle{info.name};
  const std::vector<Diagnostic::CallSite> &calls = frame_->callStack;
  auto site = calls.rbegin();
  while (site != calls.rend() && site->callee != info.name && cycle.size() < maxShown)
    cycle.push_back((site++)->callee);
  if (site != calls.rend() && site->callee == info.name) {
    cycle.push_back(info.name);
    std::reverse(cycle.begin(), cycle.end());
    message += " (" + llvm::join(cycle, " -> ") + ")";
  }
  return error(node, ErrorKind::UnsupportedConstruct, std::move(message),
               "a jit function may call itself only where a compile-time `if` ends the recursion");
}

Value CodeGenerator::callInstance(const ast::Node *node, llvm::ArrayRef<Value> bound, Frame &frame) {
  const FunctionInfo &info = *frame.info;
  std::string key;
  appendKey(Value::function(frame.info), key);
  for (const Value &value : bound)
    appendKey(value, key);
  auto [it, isNew] = instances_.try_emplace(key);
  Instance &instance = it->second;
  if (isNew) {
    if (!generateInstance(node, bound, frame, instance)) {
      instances_.erase(key);
      return {};
    }
  } else if (!instance.done) {
    return recursionError(node, info,
                          "`" + info.name + "` calls itself with the same argument types and constants");
  }
  llvm::SmallVector<TensorValue, 8> leaves, results;
  for (const Value &value : bound)
    flatten(value, leaves);
  Handles args;
  for (const TensorValue &leaf : leaves)
    args.push_back(leaf.handle);
  llvm::SmallVector<Type, 4> types;
  flatten(instance.result, results);
  for (const TensorValue &leaf : results)
    types.push_back(leaf.type);
  at(node);
  const Handles handles = builder_.call(instance.symbol, args, types);
  llvm::ArrayRef<Handle> left = handles;
  return unflatten(instance.result, left).withRange(node->range());
}

bool CodeGenerator::generateInstance(const ast::Node *node, llvm::ArrayRef<Value> bound, Frame &frame,
                                     Instance &instance) {
  const FunctionInfo &info = *frame.info;
  RegionBuilder::FunctionSpec spec;
  spec.name = instance.symbol = uniqueSymbol(symbolBase(info, bound));
  spec.noinline = info.noinline;
  for (auto [param, value] : llvm::zip_equal(info.def->params, bound)) {
    llvm::SmallVector<TensorValue, 4> leaves;
    flatten(value, leaves);
    for (auto [i, leaf] : llvm::enumerate(leaves)) {
      if (info.noinline && leaf.type.numel() > 1) {
        error(node, ErrorKind::UnsupportedConstruct,
              "Function " + info.name + " is marked noinline, but was called with non-scalar argument " +
                  param.name.str() + ":" + leaf.type.str());
        return false;
      }
      spec.argTypes.push_back(leaf.type);
      spec.argNames.push_back(leaves.size() == 1 ? param.name.str()
                                                 : param.name.str() + "_" + std::to_string(i));
      spec.divisibility.push_back(0);
    }
  }
  const Handles handles = builder_.beginFunction(spec);
  llvm::ArrayRef<Handle> left = handles;
  for (auto [param, value] : llvm::zip_equal(info.def->params, bound))
    frame.scope[param.name] = unflatten(value, left);
  instance.result = visitBody(frame);
  if (!instance.result) {
    builder_.abandon();
    return false;
  }
  llvm::SmallVector<TensorValue, 4> results;
  flatten(instance.result, results);
  Handles resultHandles;
  llvm::SmallVector<Type, 4> types;
  for (const TensorValue &leaf : results) {
    resultHandles.push_back(leaf.handle);
    types.push_back(leaf.type);
  }
  builder_.endFunction(resultHandles, types);
  instance.done = true;
  return true;
}

//===----------------------------------------------------------------------===//
// Calls from outside
//===----------------------------------------------------------------------===//

Value CodeGenerator::callInline(const Value &callee, llvm::ArrayRef<Value> args, Keywords keywords) {
  Frame outside;
  outside.inlineCalls = true;
  Frame *caller = std::exchange(frame_, &outside);
  const CallNode node({});
  Value result = callValue(&node, callee, args, keywords);
  frame_ = caller;
  return result;
}

namespace {

class Calls : public InlineCalls {
public:
  Calls(RegionBuilder &builder, Diagnostics &diags, const LanguageTarget &target, CodeGenOptions options)
      : options_(std::move(options)), generator_(builder, diags, target, options_) {}

  Value call(const Value &callee, llvm::ArrayRef<Value> args, Keywords keywords) override {
    return generator_.callInline(callee, args, keywords);
  }

private:
  CodeGenOptions options_;
  CodeGenerator generator_;
};

} // namespace

std::unique_ptr<InlineCalls> InlineCalls::create(RegionBuilder &builder, Diagnostics &diags,
                                                 const LanguageTarget &target, CodeGenOptions options) {
  return std::make_unique<Calls>(builder, diags, target, std::move(options));
}
