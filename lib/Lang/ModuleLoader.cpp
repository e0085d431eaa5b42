//===- ModuleLoader.cpp - Reads .py files without Python ---------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Lang/ModuleLoader.h"

#include "HostEval.h"
#include "HostObjects.h"
#include "ModuleLoaderImpl.h"
#include "despina/Lang/Parser.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace despina;
namespace fs = llvm::sys::fs;

ModuleLoader::ModuleLoader(std::vector<std::string> searchPaths)
    : impl_(std::make_unique<Impl>(*this, std::move(searchPaths))) {}
ModuleLoader::~ModuleLoader() = default;

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static void reportPlain(Diagnostics &diags, ErrorKind kind, std::string message, std::string help = {}) {
  Diagnostic diagnostic;
  diagnostic.kind = kind;
  diagnostic.message = std::move(message);
  diagnostic.help = std::move(help);
  diags.report(std::move(diagnostic));
}

LoadedModule *ModuleLoader::Impl::find(llvm::StringRef path) const {
  auto it = byPath.find(path.str());
  return it == byPath.end() ? nullptr : it->second;
}

LoadedModule *ModuleLoader::Impl::load(std::string path, std::string name, std::string text,
                                       Diagnostics &diags) {
  auto file = std::make_shared<SourceFile>(path, std::move(text));
  files.push_back(file);
  std::shared_ptr<ast::Module> tree = parseModule(file, diags);
  if (!tree)
    return nullptr;
  auto module = std::make_unique<LoadedModule>();
  module->name = std::move(name);
  module->path = path;
  module->isPackage = llvm::sys::path::filename(path) == "__init__.py";
  module->tree = std::move(tree);
  collect(*module, module->tree->body(), {}, false);
  modules.push_back(std::move(module));
  byPath[path] = modules.back().get();
  return modules.back().get();
}

LoadedModule *ModuleLoader::Impl::loadPath(const std::string &path, const std::string &name,
                                           Diagnostics &diags) {
  if (LoadedModule *known = find(path))
    return known;
  uint64_t size = 0;
  if (std::error_code failure = fs::file_size(path, size)) {
    reportPlain(diags, ErrorKind::Import, "cannot read " + path + ": " + failure.message());
    return nullptr;
  }
  if (size > ParserLimits::maxFileBytes) {
    reportPlain(diags, ErrorKind::Import,
                "cannot read " + path + ": the file is larger than " +
                    std::to_string(ParserLimits::maxFileBytes >> 20) + " MB");
    return nullptr;
  }
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) {
    reportPlain(diags, ErrorKind::Import, "cannot read " + path + ": " + buffer.getError().message());
    return nullptr;
  }
  return load(path, name, (*buffer)->getBuffer().str(), diags);
}

bool ModuleLoader::loadFile(llvm::StringRef path, Diagnostics &diags) {
  return impl_->loadPath(path.str(), llvm::sys::path::stem(path).str(), diags) != nullptr;
}

bool ModuleLoader::loadText(llvm::StringRef path, std::string text, Diagnostics &diags) {
  return impl_->load(path.str(), llvm::sys::path::stem(path).str(), std::move(text), diags) != nullptr;
}

LoadedModule *ModuleLoader::Impl::import(const LoadedModule &from, llvm::StringRef name,
                                         std::string &failure) {
  std::string relative = name.str();
  std::replace(relative.begin(), relative.end(), '.', '/');
  // The root of the importing file's package: as many folders up as its name has parents.
  llvm::SmallString<128> root(llvm::sys::path::parent_path(from.path));
  const size_t parents = llvm::StringRef(from.name).count('.') + (from.isPackage ? 1 : 0);
  for (size_t i = 0; i < parents; ++i)
    root = llvm::sys::path::parent_path(root);
  std::vector<std::string> folders{root.str().str()};
  folders.insert(folders.end(), searchPaths.begin(), searchPaths.end());
  for (const std::string &folder : folders)
    for (const char *suffix : {".py", "/__init__.py"}) {
      llvm::SmallString<128> path(folder);
      llvm::sys::path::append(path, relative + suffix);
      if (!find(path) && !fs::is_regular_file(path))
        continue;
      Diagnostics diags;
      if (LoadedModule *module = loadPath(path.str().str(), name.str(), diags))
        return module;
      const Diagnostic *first = diags.firstError();
      failure = "cannot import " + name.str() + " from " + path.str().str() + ": " +
                (first ? first->message : std::string("unknown error"));
      if (first && first->range)
        failure += " (line " + std::to_string(first->range.file->lineColumn(first->range.begin).line) + ")";
      return nullptr;
    }
  LoadedModule *&module = opaque[name];
  if (!module) {
    modules.push_back(std::make_unique<LoadedModule>());
    module = modules.back().get();
    module->name = name.str();
    module->isOpaque = true;
  }
  return module;
}

Resolution ModuleLoader::Impl::importValue(const LoadedModule &from, llvm::StringRef name) {
  if (isLanguageModule(name))
    return {Resolution::Status::Found, Value::module({name.str(), nullptr, nullptr}), {}};
  std::string failure;
  LoadedModule *module = import(from, name, failure);
  if (!module)
    return {Resolution::Status::Failed, {}, failure, ErrorKind::Import};
  return {Resolution::Status::Found, Value::module({name.str(), module, &owner}), {}};
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

std::vector<std::string> ModuleLoader::kernels(llvm::StringRef path) const {
  std::vector<std::string> names;
  LoadedModule *module = impl_->find(path);
  if (!module)
    return names;
  for (const ast::Stmt *stmt : module->tree->body())
    if (const auto *def = llvm::dyn_cast<ast::FunctionDef>(stmt))
      if (impl_->decorators(*module, def).isJit)
        names.push_back(def->name.str());
  return names;
}

/// The signature text of an annotation: a string, a dtype of the language, or a Python class.
static std::optional<std::string> annotationText(const ast::Expr *annotation) {
  if (const auto *text = llvm::dyn_cast_or_null<ast::Constant>(annotation))
    return text->type == ast::Constant::Type::Str ? std::optional(text->string.str()) : std::nullopt;
  llvm::StringRef name;
  if (const auto *plain = llvm::dyn_cast_or_null<ast::Name>(annotation))
    name = plain->id;
  else if (const auto *attribute = llvm::dyn_cast_or_null<ast::Attribute>(annotation))
    name = attribute->attr;
  if (name == "int")
    return "i32";
  if (name == "float")
    return "fp32";
  if (name == "bool")
    return "u1";
  if (std::optional<ScalarKind> kind = scalarByPublicName(name))
    return scalarInfo(*kind).signature;
  return std::nullopt;
}

static bool isConstexprAnnotated(const ast::Expr *annotation) {
  if (const auto *name = llvm::dyn_cast_or_null<ast::Name>(annotation))
    return name->id == "constexpr";
  if (const auto *attribute = llvm::dyn_cast_or_null<ast::Attribute>(annotation))
    return attribute->attr == "constexpr";
  const auto *text = llvm::dyn_cast_or_null<ast::Constant>(annotation);
  return text && text->type == ast::Constant::Type::Str && text->string.contains("constexpr");
}

std::optional<LoadedKernel> ModuleLoader::kernel(llvm::StringRef path, llvm::StringRef name,
                                                 Diagnostics &diags) {
  LoadedModule *module = impl_->find(path);
  if (!module) {
    reportPlain(diags, ErrorKind::Value, path.str() + " is not loaded");
    return std::nullopt;
  }
  const ast::FunctionDef *found = nullptr;
  for (const ast::Stmt *stmt : module->tree->body())
    if (const auto *def = llvm::dyn_cast<ast::FunctionDef>(stmt))
      if (def->name == name && impl_->decorators(*module, def).isJit)
        found = def;
  if (!found) {
    const std::vector<std::string> known = kernels(path);
    reportPlain(diags, ErrorKind::Name, path.str() + " has no kernel `" + name.str() + "`",
                known.empty() ? "no function in it has the decorator @triton.jit"
                              : "its kernels are: " + llvm::join(known, ", "));
    return std::nullopt;
  }
  const Decorators decorators = impl_->decorators(*module, found);
  LoadedKernel kernel;
  kernel.function = impl_->function(*module, found);
  kernel.autotuned = decorators.autotuned;
  kernel.hasHeuristics = decorators.hasHeuristics;
  for (const ast::Parameter &param : found->params) {
    LoadedKernel::Param entry;
    entry.name = param.name.str();
    entry.isConstexpr = isConstexprAnnotated(param.annotation);
    if (!entry.isConstexpr)
      entry.annotation = annotationText(param.annotation);
    entry.hasDefault = param.defaultValue != nullptr;
    if (entry.hasDefault) {
      Resolution value = impl_->evaluate(*module, param.defaultValue);
      if (value.status == Resolution::Status::Found && value.value.isConstant())
        entry.defaultValue = value.value.constant();
    }
    kernel.params.push_back(std::move(entry));
  }
  return kernel;
}

//===----------------------------------------------------------------------===//
// The resolver
//===----------------------------------------------------------------------===//

Resolution ModuleLoader::lookup(const FunctionInfo &function, llvm::StringRef name, bool evaluatingDefaults) {
  auto *module = static_cast<LoadedModule *>(function.scope);
  if (!module)
    return {};
  Resolution resolution = impl_->lookup(*module, name);
  if (resolution.status == Resolution::Status::Found && !evaluatingDefaults &&
      !impl_->isReadable(*module, name, resolution.value))
    return {Resolution::Status::NotAllowed, {}, {}};
  return resolution;
}

Resolution ModuleLoader::attribute(const Value &object, llvm::StringRef name) {
  if (const HostItem *item = hostItem(object))
    return item->attribute(name);
  if (object.kind() != Value::Kind::Module || !object.module().host)
    return {};
  return impl_->memberOf(*static_cast<LoadedModule *>(object.module().host), name);
}

Resolution ModuleLoader::call(const Value &callee, llvm::ArrayRef<Value> args,
                              llvm::ArrayRef<std::pair<std::string, Value>> keywords) {
  if (const HostItem *item = hostItem(callee))
    return item->call(args, keywords);
  if (callee.kind() != Value::Kind::Function || !callee.function()->scope)
    return {};
  const FunctionInfo &function = *callee.function();
  auto *module = static_cast<LoadedModule *>(function.scope);
  HostEvaluator evaluator(
      *this, [this, module](llvm::StringRef name) { return impl_->lookup(*module, name); }, impl_->steps);
  return evaluator.call(function, args, keywords);
}

Resolution ModuleLoader::subscript(const Value &object, const Value &index) {
  const HostItem *item = hostItem(object);
  return item ? item->subscript(index) : Resolution();
}

bool ModuleLoader::same(const Value &lhs, const Value &rhs) { return lhs.identical(rhs); }
