//===- fuzz_parser.cpp - Any bytes as a module ----------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Any input gives a tree or exactly one error, with ranges inside the text, on a stack of 512 KB.
//
//===----------------------------------------------------------------------===//
#include "ASTWalk.h"

#include "despina/Lang/Parser.h"

#include <cstdio>
#include <cstdlib>

#include <pthread.h>

using namespace despina;

namespace {

struct Input {
  const uint8_t *data;
  size_t size;
};

void require(bool condition, const char *what) {
  if (condition)
    return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

void checkTree(const ast::Module &module) {
  size_t size = module.file().text().size();
  std::vector<const ast::Node *> roots(module.body().begin(), module.body().end());
  ast::walk(roots, [&](const ast::Node *node) {
    require(node->range().begin <= node->range().end && node->range().end <= size, "ranges lie in the text");
    require(node->height() >= 1 && node->height() <= ParserLimits::maxTreeDepth, "the tree is not too deep");
    llvm::SmallVector<const ast::Node *> children;
    ast::appendChildren(node, children);
    for (const ast::Node *child : children) {
      require(child->height() < node->height(), "a node is taller than its children");
      require(child->range().begin >= node->range().begin && child->range().end <= node->range().end,
              "a node encloses its children");
    }
    return true;
  });
}

void *parse(void *argument) {
  auto *input = static_cast<const Input *>(argument);
  auto file = std::make_shared<SourceFile>(
      "fuzz.py", std::string(reinterpret_cast<const char *>(input->data), input->size));
  Diagnostics diags;
  std::unique_ptr<ast::Module> module = parseModule(file, diags);
  require(diags.all().size() == (module ? 0 : 1), "a tree or one error");
  if (module) {
    checkTree(*module);
    return nullptr;
  }
  const Diagnostic &error = diags.all().front();
  require(error.kind == ErrorKind::Syntax && !error.message.empty(), "a syntax error with a text");
  require(error.range.file == file.get() && error.range.begin <= error.range.end &&
              error.range.end <= file->text().size(),
          "an error inside the text");
  require(!render(error, /*color=*/true).empty() && !pythonText(error).empty(), "an error that can be shown");
  return nullptr;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Input input{data, size};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 512 * 1024);
  pthread_t thread;
  require(pthread_create(&thread, &attributes, parse, &input) == 0, "a thread");
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  return 0;
}
