//===- LinearLayoutText.cpp - The text form of linear layouts -------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//   layout := '{' [inputs (';' inputs)*] '}' '->' '(' [name ':' size (',' name ':' size)*] ')'
//   inputs := name ':' tuple*
//   tuple  := '(' [number (',' number)*] ')'
//
// Outputs, and so coordinates in tuples, stand in the reverse of their order in the layout: dim0 first.
//
//===----------------------------------------------------------------------===//
#include "despina/Analysis/LinearLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <bit>

namespace despina {

namespace {

constexpr std::pair<LayoutDim, llvm::StringLiteral> placeNames[] = {
    {LayoutDim::Register, "register"}, {LayoutDim::Lane, "lane"},       {LayoutDim::Warp, "warp"},
    {LayoutDim::Block, "block"},       {LayoutDim::Offset, "offset"},   {LayoutDim::Vector, "vector"},
    {LayoutDim::Bank, "bank"},         {LayoutDim::Segment, "segment"}, {LayoutDim::Iteration, "iteration"}};

/// Reads the text form from left to right.
class LayoutParser {
public:
  explicit LayoutParser(llvm::StringRef text) : rest(text) {}

  std::optional<LinearLayout> parse() {
    if (!eat("{") || !parseInputs() || !eat("}") || !eat("->") || !eat("(") || !parseOutputs() ||
        !rest.ltrim().empty())
      return std::nullopt;
    std::reverse(outs.begin(), outs.end());
    return LinearLayout::fromBases(ins, outs);
  }

private:
  bool eat(llvm::StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }

  std::optional<LayoutDim> parseName() {
    rest = rest.ltrim();
    llvm::StringRef name = rest.take_while([](char c) { return llvm::isAlnum(c); });
    rest = rest.drop_front(name.size());
    return parseLayoutDim(name);
  }

  std::optional<uint64_t> parseNumber() {
    uint64_t value;
    rest = rest.ltrim();
    if (rest.consumeInteger(10, value))
      return std::nullopt;
    return value;
  }

  bool parseInputs() {
    if (rest.ltrim().starts_with("}"))
      return true;
    do {
      std::optional<LayoutDim> name = parseName();
      if (!name || !eat(":"))
        return false;
      ins.push_back({*name, {}});
      while (eat("("))
        if (!parseTuple())
          return false;
    } while (eat(";"));
    return true;
  }

  bool parseTuple() {
    auto &tuple = ins.back().images.emplace_back();
    if (eat(")"))
      return true;
    do {
      std::optional<uint64_t> value = parseNumber();
      if (!value)
        return false;
      tuple.push_back(*value);
    } while (eat(","));
    std::reverse(tuple.begin(), tuple.end());
    return eat(")");
  }

  bool parseOutputs() {
    if (eat(")"))
      return true;
    do {
      std::optional<LayoutDim> name = parseName();
      if (!name || !eat(":"))
        return false;
      std::optional<uint64_t> size = parseNumber();
      if (!size || !std::has_single_bit(*size))
        return false;
      outs.push_back({*name, static_cast<unsigned>(std::countr_zero(*size))});
    } while (eat(","));
    return eat(")");
  }

  llvm::StringRef rest;
  llvm::SmallVector<LinearLayout::InBases, 4> ins;
  LinearLayout::Dims outs;
};

} // namespace

std::string layoutDimName(LayoutDim dim) {
  if (isTensorDim(dim))
    return "dim" + std::to_string(tensorAxis(dim));
  for (auto [name, text] : placeNames)
    if (name == dim)
      return text.str();
  return "place" + std::to_string(static_cast<unsigned>(dim));
}

std::optional<LayoutDim> parseLayoutDim(llvm::StringRef name) {
  for (auto [dim, text] : placeNames)
    if (text == name)
      return dim;
  unsigned axis;
  if (!name.consume_front("dim") || name.getAsInteger(10, axis) || axis >= 32)
    return std::nullopt;
  return tensorDim(axis);
}

std::string LinearLayout::toString() const {
  std::string text = "{";
  for (const DimBits &in : inDims) {
    if (text.size() > 1)
      text += "; ";
    text += layoutDimName(in.dim) + ":";
    for (unsigned bit = 0; bit < in.bits; ++bit) {
      text += " (";
      for (unsigned i = outDims.size(); i-- > 0;)
        text += std::to_string(basis(in.dim, bit, outDims[i].dim)) + (i ? "," : "");
      text += ")";
    }
  }
  text += "} -> (";
  for (unsigned i = outDims.size(); i-- > 0;)
    text += layoutDimName(outDims[i].dim) + ": " + std::to_string(outSize(outDims[i].dim)) + (i ? ", " : "");
  return text + ")";
}

std::optional<LinearLayout> LinearLayout::parse(llvm::StringRef text) { return LayoutParser(text).parse(); }

} // namespace despina
