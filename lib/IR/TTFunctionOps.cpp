//===- TTFunctionOps.cpp - Functions, calls and returns -------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/IR/TT.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace despina::tt;

//===----------------------------------------------------------------------===//
// FuncOp
//===----------------------------------------------------------------------===//

void FuncOp::build(OpBuilder &builder, OperationState &state, StringRef name, FunctionType type,
                   ArrayRef<NamedAttribute> attrs, ArrayRef<DictionaryAttr> argAttrs) {
  state.addAttribute(SymbolTable::getSymbolAttrName(), builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  state.attributes.append(attrs.begin(), attrs.end());
  state.addRegion();
  if (argAttrs.size() == type.getNumInputs() && !argAttrs.empty())
    call_interface_impl::addArgAndResultAttrs(builder, state, argAttrs, /*resultAttrs=*/{},
                                              getArgAttrsAttrName(state.name),
                                              getResAttrsAttrName(state.name));
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  auto makeType = [](Builder &builder, ArrayRef<Type> inputs, ArrayRef<Type> results,
                     function_interface_impl::VariadicFlag,
                     std::string &) { return builder.getFunctionType(inputs, results); };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false, getFunctionTypeAttrName(result.name), makeType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void FuncOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
                                           getArgAttrsAttrName(), getResAttrsAttrName());
}

bool FuncOp::isNoInline() {
  auto flag = (*this)->getAttr("noinline");
  if (auto boolean = dyn_cast_or_null<BoolAttr>(flag))
    return boolean.getValue();
  return static_cast<bool>(flag);
}

//===----------------------------------------------------------------------===//
// CallOp
//===----------------------------------------------------------------------===//

static LogicalResult verifyCallTypes(CallOp call, const char *what, TypeRange actual, TypeRange expected) {
  if (actual.size() != expected.size())
    return call.emitOpError() << "has " << actual.size() << " " << what << "s, but @" << call.getCallee()
                              << " has " << expected.size();
  for (auto [index, pair] : llvm::enumerate(llvm::zip(actual, expected)))
    if (std::get<0>(pair) != std::get<1>(pair))
      return call.emitOpError() << what << " " << index << " is " << std::get<0>(pair) << ", but @"
                                << call.getCallee() << " has " << std::get<1>(pair);
  return success();
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto callee = symbolTable.lookupNearestSymbolFrom<FuncOp>(*this, getCalleeAttr());
  if (!callee)
    return emitOpError() << "calls @" << getCallee() << ", which is no function of the module";
  if (failed(verifyCallTypes(*this, "argument", getArgs().getTypes(), callee.getArgumentTypes())))
    return failure();
  return verifyCallTypes(*this, "result", getResultTypes(), callee.getResultTypes());
}

//===----------------------------------------------------------------------===//
// ReturnOp
//===----------------------------------------------------------------------===//

LogicalResult ReturnOp::verify() {
  auto func = dyn_cast_or_null<FuncOp>((*this)->getParentOp());
  if (!func)
    return success(); // the parent's trait reports it
  ArrayRef<Type> expected = func.getResultTypes();
  if (getNumOperands() != expected.size())
    return emitOpError() << "returns " << getNumOperands() << " values, but @" << func.getSymName() << " has "
                         << expected.size() << " results";
  for (auto [index, type] : llvm::enumerate(expected))
    if (getOperand(index).getType() != type)
      return emitOpError() << "value " << index << " is " << getOperand(index).getType() << ", but @"
                           << func.getSymName() << " returns " << type;
  return success();
}
