//===- ModuleLoaderNames.cpp - What the names of a module mean ---------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// A module is not executed: each name knows the statements that bind it, and the last one that applies is
// evaluated when somebody asks.
//
//===----------------------------------------------------------------------===//
#include "HostEval.h"
#include "HostObjects.h"
#include "ModuleLoaderImpl.h"
#include "despina/Lang/Builtins.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"

#include <cstdlib>

using namespace despina;

static Resolution found(Value value) { return {Resolution::Status::Found, std::move(value), {}}; }
static Resolution failed(std::string message, ErrorKind kind = ErrorKind::Runtime) {
  return {Resolution::Status::Failed, {}, std::move(message), kind};
}

//===----------------------------------------------------------------------===//
// Collecting
//===----------------------------------------------------------------------===//

void ModuleLoader::Impl::collectTarget(LoadedModule &module, const ast::Stmt *stmt, const ast::Expr *target,
                                       const ast::Expr *value, llvm::ArrayRef<unsigned> path,
                                       const Binding &pattern) {
  if (const auto *name = llvm::dyn_cast<ast::Name>(target)) {
    Binding binding = pattern;
    binding.kind = path.empty() ? Binding::Kind::Expression : Binding::Kind::Element;
    binding.stmt = stmt;
    binding.value = value;
    binding.path.assign(path.begin(), path.end());
    module.bindings[name->id].push_back(std::move(binding));
    return;
  }
  const auto *tuple = llvm::dyn_cast<ast::Tuple>(target);
  if (!tuple || path.size() > 8)
    return;
  llvm::SmallVector<unsigned, 4> inner(path.begin(), path.end());
  inner.push_back(0);
  for (auto [i, element] : llvm::enumerate(tuple->elts)) {
    inner.back() = static_cast<unsigned>(i);
    collectTarget(module, stmt, element, value, inner, pattern);
  }
}

void ModuleLoader::Impl::collectImports(LoadedModule &module, const ast::Stmt *stmt, const Binding &pattern) {
  Binding binding = pattern;
  binding.stmt = stmt;
  if (const auto *import = llvm::dyn_cast<ast::Import>(stmt)) {
    binding.kind = Binding::Kind::Import;
    for (const ast::Alias &alias : import->names) {
      // `import a.b` binds a; `import a.b as c` binds a.b.
      const llvm::StringRef top = alias.name.split('.').first;
      binding.module = alias.asName.empty() ? top.str() : alias.name.str();
      module.bindings[alias.asName.empty() ? top : alias.asName].push_back(binding);
    }
    return;
  }
  const auto *from = llvm::cast<ast::ImportFrom>(stmt);
  std::string base = from->module.str();
  if (from->level) {
    llvm::StringRef package = module.name;
    const unsigned drop = from->level - (module.isPackage ? 1 : 0);
    for (unsigned i = 0; i < drop; ++i)
      package = package.contains('.') ? package.rsplit('.').first : "";
    base = (package + (package.empty() || base.empty() ? "" : ".") + base).str();
  }
  binding.kind = Binding::Kind::ImportFrom;
  binding.module = base;
  for (const ast::Alias &alias : from->names) {
    binding.member = alias.name.str();
    const llvm::StringRef name = alias.name == "*" ? "*" : alias.asName.empty() ? alias.name : alias.asName;
    module.bindings[name].push_back(binding);
  }
}

/// `if TYPE_CHECKING:` and `if __name__ == "__main__":` never hold here.
static bool isNeverTaken(const ast::Expr *test) {
  if (const auto *name = llvm::dyn_cast<ast::Name>(test))
    return name->id == "TYPE_CHECKING";
  if (const auto *attribute = llvm::dyn_cast<ast::Attribute>(test))
    return attribute->attr == "TYPE_CHECKING";
  const auto *compare = llvm::dyn_cast<ast::Compare>(test);
  const auto *left = compare ? llvm::dyn_cast<ast::Name>(compare->left) : nullptr;
  return left && left->id == "__name__";
}

void ModuleLoader::Impl::collect(LoadedModule &module, ast::StmtList body, llvm::ArrayRef<Guard> guards,
                                 bool inTry) {
  Binding pattern;
  pattern.guards.assign(guards.begin(), guards.end());
  pattern.inTry = inTry;
  for (const ast::Stmt *stmt : body) {
    switch (stmt->kind()) {
    case ast::NodeKind::Assign:
      for (const ast::Expr *target : llvm::cast<ast::Assign>(stmt)->targets)
        collectTarget(module, stmt, target, llvm::cast<ast::Assign>(stmt)->value, {}, pattern);
      break;
    case ast::NodeKind::AnnAssign:
      if (llvm::cast<ast::AnnAssign>(stmt)->value)
        collectTarget(module, stmt, llvm::cast<ast::AnnAssign>(stmt)->target,
                      llvm::cast<ast::AnnAssign>(stmt)->value, {}, pattern);
      break;
    case ast::NodeKind::FunctionDef:
    case ast::NodeKind::AsyncFunctionDef:
    case ast::NodeKind::ClassDef: {
      Binding binding = pattern;
      const auto *def = llvm::dyn_cast<ast::FunctionDef>(stmt);
      binding.kind = def ? Binding::Kind::Function : Binding::Kind::Class;
      binding.stmt = stmt;
      module.bindings[def ? def->name : llvm::cast<ast::ClassDef>(stmt)->name].push_back(std::move(binding));
      break;
    }
    case ast::NodeKind::Import:
    case ast::NodeKind::ImportFrom: collectImports(module, stmt, pattern); break;
    case ast::NodeKind::If: {
      // An `elif` chain nests as deep as it is long, so it is walked in a loop.
      llvm::SmallVector<Guard, 4> chain(guards.begin(), guards.end());
      ast::StmtList rest{};
      for (const auto *branch = llvm::cast<ast::If>(stmt); branch;) {
        if (isNeverTaken(branch->test)) {
          rest = branch->orelse;
        } else {
          chain.push_back({branch->test, true});
          collect(module, branch->body, chain, inTry);
          chain.back().expected = false;
          rest = branch->orelse;
        }
        branch = rest.size() == 1 ? llvm::dyn_cast<ast::If>(rest.front()) : nullptr;
      }
      collect(module, rest, chain, inTry);
      break;
    }
    case ast::NodeKind::Try: {
      const auto *attempt = llvm::cast<ast::Try>(stmt);
      for (const ast::ExceptHandler &handler : attempt->handlers)
        collect(module, handler.body, guards, inTry);
      collect(module, attempt->body, guards, !attempt->handlers.empty() || inTry);
      collect(module, attempt->orelse, guards, inTry);
      collect(module, attempt->finalbody, guards, inTry);
      break;
    }
    default: break;
    }
  }
}

//===----------------------------------------------------------------------===//
// Lookup
//===----------------------------------------------------------------------===//

/// Asks the modules of `from module import *`; two that import each other hold what one of them binds.
Resolution ModuleLoader::Impl::lookupInStars(LoadedModule &module, llvm::StringRef name) {
  auto star = module.bindings.find("*");
  if (star == module.bindings.end() || !module.searchedInStars.insert(name).second)
    return {};
  const llvm::scope_exit done([&] { module.searchedInStars.erase(name); });
  for (const Binding &binding : llvm::reverse(star->second)) {
    if (isLanguageModule(binding.module)) {
      if (std::optional<Value> value = languageAttribute(binding.module, name))
        return found(*value);
      continue;
    }
    std::string failure;
    LoadedModule *source = import(module, binding.module, failure);
    if (!source || source->isOpaque)
      continue;
    Resolution resolution = lookup(*source, name);
    if (resolution.status != Resolution::Status::NotFound)
      return resolution;
  }
  return {};
}

Resolution ModuleLoader::Impl::lookup(LoadedModule &module, llvm::StringRef name) {
  auto known = module.values.find(name);
  if (known != module.values.end())
    return known->second;
  if (module.isOpaque)
    return {};
  if (name == "__name__")
    return found(Value::constant(module.name));
  auto bindings = module.bindings.find(name);
  if (bindings == module.bindings.end())
    return lookupInStars(module, name);
  bool &evaluating = module.evaluating[name];
  if (evaluating)
    return failed("the value of `" + name.str() + "` depends on itself in a way that needs Python");
  evaluating = true;
  Resolution result;
  for (const Binding &binding : llvm::reverse(bindings->second)) {
    std::optional<Resolution> failure;
    bool applies = true;
    for (const Guard &guard : binding.guards) {
      Resolution test = evaluate(module, guard.test);
      if (test.status != Resolution::Status::Found) {
        failure = std::move(test);
        break;
      }
      applies &= hostTruth(test.value) == guard.expected;
    }
    if (failure) {
      result = std::move(*failure);
      break;
    }
    if (!applies)
      continue;
    result = resolve(module, name, binding);
    if (result.status == Resolution::Status::Found || !binding.inTry)
      break;
  }
  module.evaluating[name] = false;
  module.values[name] = result;
  return result;
}

Resolution ModuleLoader::Impl::evaluate(LoadedModule &module, const ast::Expr *expr) {
  HostEvaluator evaluator(
      owner, [this, &module](llvm::StringRef name) { return lookup(module, name); }, steps);
  return evaluator.evaluate(expr);
}

Resolution ModuleLoader::Impl::resolve(LoadedModule &module, llvm::StringRef name, const Binding &binding) {
  switch (binding.kind) {
  case Binding::Kind::Expression: return evaluate(module, binding.value);
  case Binding::Kind::Element: {
    Resolution resolution = evaluate(module, binding.value);
    for (unsigned index : binding.path) {
      if (resolution.status != Resolution::Status::Found)
        return resolution;
      const Value value = resolution.value;
      if (!value.isTuple() || index >= value.tuple().elements.size())
        return failed("the value assigned to `" + name.str() + "` cannot be unpacked", ErrorKind::Value);
      resolution.value = value.tuple().elements[index];
    }
    return resolution;
  }
  case Binding::Kind::Function: return resolveFunction(module, llvm::cast<ast::FunctionDef>(binding.stmt));
  case Binding::Kind::Class: return resolveClass(module, name, binding);
  case Binding::Kind::Import: return importValue(module, binding.module);
  case Binding::Kind::ImportFrom:
    // `from . import x` in a package names a file, not itself.
    return binding.module == module.name ? importValue(module, binding.module + "." + binding.member)
                                         : member(module, binding.module, binding.member);
  }
  return {};
}

Resolution ModuleLoader::Impl::resolveClass(LoadedModule &module, llvm::StringRef name,
                                            const Binding &binding) {
  const auto *def = llvm::dyn_cast<ast::ClassDef>(binding.stmt);
  const bool isNamedTuple = def && def->decorators.empty() && def->bases.size() == 1 &&
                            qualifiedName(module, def->bases.front()) == "typing.NamedTuple";
  if (!isNamedTuple)
    return failed("the class `" + name.str() + "` (" + module.path + ":" +
                  std::to_string(module.tree->file().lineColumn(binding.stmt->range().begin).line) +
                  ") needs Python");
  std::vector<NamedTupleField> fields;
  for (const ast::Stmt *stmt : def->body) {
    const auto *field = llvm::dyn_cast<ast::AnnAssign>(stmt);
    const auto *target = field ? llvm::dyn_cast<ast::Name>(field->target) : nullptr;
    if (!target)
      continue;
    Resolution value;
    if (field->value)
      value = evaluate(module, field->value);
    if (value.status == Resolution::Status::Failed)
      return value;
    fields.push_back({target->id.str(), value.value});
  }
  return found(namedTupleClass(owner, module.name, name.str(), std::move(fields)));
}

Resolution ModuleLoader::Impl::member(const LoadedModule &from, llvm::StringRef module,
                                      llvm::StringRef name) {
  if (isLanguageModule(module)) {
    if (std::optional<Value> value = languageAttribute(module, name))
      return found(*value);
    const std::string submodule = (module + "." + name).str();
    if (isLanguageModule(submodule))
      return found(Value::module({submodule, nullptr, nullptr}));
    return failed(("cannot import name '" + name + "' from '" + module + "'").str(), ErrorKind::Import);
  }
  if (module.empty()) // `from . import name` at the top
    return importValue(from, name);
  std::string failure;
  LoadedModule *source = import(from, module, failure);
  return source ? memberOf(*source, name) : failed(failure, ErrorKind::Import);
}

Resolution ModuleLoader::Impl::memberOf(LoadedModule &source, llvm::StringRef name) {
  const std::string &module = source.name;
  if (source.isOpaque && module == "math")
    if (Resolution known = mathMember(owner, name); known.status == Resolution::Status::Found)
      return known;
  if (source.isOpaque && module == "collections" && name == "namedtuple")
    return found(namedTupleFactory(owner));
  if (source.isOpaque)
    return failed("`" + module + "." + name.str() + "` needs Python: `" + module +
                  "` is not a module that can be read without it");
  Resolution resolution = lookup(source, name);
  if (resolution.status != Resolution::Status::NotFound)
    return resolution;
  // A submodule that nobody imported explicitly.
  Resolution submodule = importValue(source, module + "." + name.str());
  const bool isFile = submodule.status == Resolution::Status::Found && submodule.value.module().host &&
                      !static_cast<LoadedModule *>(submodule.value.module().host)->isOpaque;
  if (isFile || submodule.status == Resolution::Status::Failed)
    return submodule;
  return failed("module '" + module + "' has no attribute '" + name.str() + "'", ErrorKind::Attribute);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

const Binding *ModuleLoader::Impl::lastBinding(LoadedModule &module, llvm::StringRef name) {
  auto it = module.bindings.find(name);
  return it == module.bindings.end() || it->second.empty() ? nullptr : &it->second.back();
}

std::string ModuleLoader::Impl::qualifiedName(LoadedModule &module, const ast::Expr *expr) {
  std::string suffix;
  while (const auto *attribute = llvm::dyn_cast<ast::Attribute>(expr)) {
    suffix = "." + attribute->attr.str() + suffix;
    expr = attribute->value;
  }
  const auto *name = llvm::dyn_cast<ast::Name>(expr);
  if (!name)
    return {};
  const Binding *binding = lastBinding(module, name->id);
  if (!binding)
    return name->id.str() + suffix;
  if (binding->kind == Binding::Kind::Import)
    return binding->module + suffix;
  if (binding->kind == Binding::Kind::ImportFrom)
    return binding->module + "." + binding->member + suffix;
  const auto *alias = binding->kind == Binding::Kind::Expression ? binding->value : nullptr;
  // `jit = triton.jit`: one step is enough in practice and cannot loop.
  if (alias && alias != expr && !llvm::isa<ast::Name>(alias) && llvm::isa<ast::Attribute>(alias)) {
    const auto *root = llvm::dyn_cast<ast::Name>(llvm::cast<ast::Attribute>(alias)->value);
    const Binding *import = root ? lastBinding(module, root->id) : nullptr;
    if (import && import->kind == Binding::Kind::Import)
      return import->module + "." + llvm::cast<ast::Attribute>(alias)->attr.str() + suffix;
  }
  return name->id.str() + suffix;
}

/// True for `keyword=True` in a decorator call.
static bool isTrue(const ast::Call *call, llvm::StringRef keyword) {
  return call && llvm::any_of(call->keywords, [&](const ast::Keyword &item) {
           const auto *value = llvm::dyn_cast_or_null<ast::Constant>(item.value);
           return item.name == keyword && value && value->type == ast::Constant::Type::Bool && value->boolean;
         });
}

Decorators ModuleLoader::Impl::decorators(LoadedModule &module, const ast::FunctionDef *def) {
  Decorators result;
  for (const ast::Expr *decorator : def->decorators) {
    const auto *call = llvm::dyn_cast<ast::Call>(decorator);
    const std::string full = qualifiedName(module, call ? call->func : decorator);
    const auto [path, name] = llvm::StringRef(full).rsplit('.');
    if (name.empty() || !isLanguageModule(llvm::StringRef(full).split('.').first))
      continue;
    result.isJit |= name == "jit";
    result.isConstexprFunction |= name == "constexpr_function";
    result.autotuned |= name == "autotune";
    result.hasHeuristics |= name == "heuristics";
    result.noinline |= name == "jit" && isTrue(call, "noinline");
    if (name == "must_use_result") {
      const auto *text =
          call && call->args.size() == 1 ? llvm::dyn_cast<ast::Constant>(call->args[0]) : nullptr;
      result.mustUseResult =
          text && text->type == ast::Constant::Type::Str ? text->string.str() : std::string();
    }
  }
  return result;
}

std::shared_ptr<const FunctionInfo> ModuleLoader::Impl::function(LoadedModule &module,
                                                                 const ast::FunctionDef *def) {
  const std::string key = std::to_string(def->defOffset);
  std::shared_ptr<const FunctionInfo> &known = module.functions[key];
  if (known)
    return known;
  const Decorators decorators = this->decorators(module, def);
  auto info = std::make_shared<FunctionInfo>();
  info->kind =
      decorators.isConstexprFunction ? FunctionInfo::Kind::ConstexprFunction : FunctionInfo::Kind::Jit;
  info->name = def->name.str();
  info->qualifiedName = module.name + "." + info->name;
  info->module = module.tree;
  info->def = def;
  info->noinline = decorators.noinline;
  info->mustUseResult = decorators.mustUseResult;
  info->resolver = &owner;
  info->scope = &module;
  known = info;
  return known;
}

Resolution ModuleLoader::Impl::resolveFunction(LoadedModule &module, const ast::FunctionDef *def) {
  const Decorators decorators = this->decorators(module, def);
  if (decorators.isJit || decorators.isConstexprFunction)
    return found(Value::function(function(module, def)));
  return failed(
      "Unsupported function referenced: <function " + def->name.str() + "> (" + module.path + ":" +
      std::to_string(module.tree->file().lineColumn(def->nameRange.begin).line) +
      "); decorate it with @triton.jit, or with @triton.constexpr_function to run it at compile time");
}

//===----------------------------------------------------------------------===//
// Which globals kernels may read
//===----------------------------------------------------------------------===//

bool ModuleLoader::Impl::isConstexprInstance(LoadedModule &module, const ast::Expr *expr, unsigned depth) {
  if (depth > 64)
    return false;
  // What several expressions share is looked at once.
  auto [known, isNew] = constexprInstances.try_emplace(expr, false);
  if (!isNew)
    return known->second;
  const bool result = findConstexprInstance(module, expr, depth);
  constexprInstances[expr] = result;
  return result;
}

bool ModuleLoader::Impl::findConstexprInstance(LoadedModule &module, const ast::Expr *expr, unsigned depth) {
  switch (expr->kind()) {
  case ast::NodeKind::Call: {
    Resolution callee = evaluate(module, llvm::cast<ast::Call>(expr)->func);
    return callee.status == Resolution::Status::Found && callee.value.kind() == Value::Kind::Builtin &&
           callee.value.builtin() == findBuiltin("language.constexpr");
  }
  case ast::NodeKind::BinOp:
    return isConstexprInstance(module, llvm::cast<ast::BinOp>(expr)->left, depth + 1) ||
           isConstexprInstance(module, llvm::cast<ast::BinOp>(expr)->right, depth + 1);
  case ast::NodeKind::UnaryOp:
    return isConstexprInstance(module, llvm::cast<ast::UnaryOp>(expr)->operand, depth + 1);
  case ast::NodeKind::IfExp:
    return isConstexprInstance(module, llvm::cast<ast::IfExp>(expr)->body, depth + 1) &&
           isConstexprInstance(module, llvm::cast<ast::IfExp>(expr)->orelse, depth + 1);
  case ast::NodeKind::Name: {
    const Binding *binding = lastBinding(module, llvm::cast<ast::Name>(expr)->id);
    if (binding && binding->kind == Binding::Kind::Expression)
      return isConstexprInstance(module, binding->value, depth + 1);
    Resolution value = lookup(module, llvm::cast<ast::Name>(expr)->id);
    return value.status == Resolution::Status::Found &&
           isReadable(module, llvm::cast<ast::Name>(expr)->id, value.value);
  }
  default: return false;
  }
}

bool ModuleLoader::Impl::isReadable(LoadedModule &module, llvm::StringRef name, const Value &value) {
  // Of host objects kernels see classes; dictionaries and Python's functions are not constexpr.
  const bool isHostData = value.kind() == Value::Kind::Host && value.host().typeName != "type";
  if (!isHostData && !value.isTuple() && (!value.isConstant() || value.isNone()))
    return true;
  const char *allow = std::getenv("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS");
  if (allow && llvm::StringRef(allow) == "1")
    return true;
  const Binding *binding = lastBinding(module, name);
  if (!binding)
    return true; // came through `from module import *`, where the language's own constants are
  if (binding->kind == Binding::Kind::Expression)
    return isConstexprInstance(module, binding->value);
  if (binding->kind != Binding::Kind::ImportFrom)
    return false;
  if (isLanguageModule(binding->module))
    return true;
  std::string failure;
  LoadedModule *source = import(module, binding->module, failure);
  return source && source != &module && !source->isOpaque && isReadable(*source, binding->member, value);
}
