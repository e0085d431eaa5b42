//===- HostObjects.cpp - Named tuples, dictionaries, formats -----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "HostObjects.h"
#include "PyNumber.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace despina;

static Resolution found(Value value) { return {Resolution::Status::Found, std::move(value), {}}; }
static Resolution failed(ErrorKind kind, std::string message) {
  return {Resolution::Status::Failed, {}, std::move(message), kind};
}

const HostItem *despina::hostItem(const Value &value) {
  return value.kind() == Value::Kind::Host ? static_cast<const HostItem *>(value.host().object.get())
                                           : nullptr;
}

static Value makeHost(SymbolResolver &resolver, std::shared_ptr<HostItem> item, std::string description,
                      std::string typeName, bool callable, unsigned depth = 0) {
  return Value::host(
      {std::move(item), &resolver, std::move(description), std::move(typeName), callable, depth});
}

//===----------------------------------------------------------------------===//
// Named tuples
//===----------------------------------------------------------------------===//

namespace {

class NamedTupleClass final : public HostItem {
public:
  NamedTupleClass(std::string name, std::vector<NamedTupleField> fields)
      : name_(std::move(name)), fields_(std::move(fields)) {}

  Resolution call(llvm::ArrayRef<Value> args, HostKeywords keywords) const override {
    if (args.size() > fields_.size())
      return failed(ErrorKind::Type, name_ + "() takes " + std::to_string(fields_.size()) + " fields but " +
                                         std::to_string(args.size()) + " were given");
    std::vector<Value> values(args.begin(), args.end());
    values.resize(fields_.size());
    for (const auto &[keyword, value] : keywords) {
      const auto field = llvm::find_if(fields_, [&](const NamedTupleField &f) { return f.name == keyword; });
      const bool exists = field != fields_.end();
      if (!exists || values[field - fields_.begin()])
        return failed(ErrorKind::Type, name_ + "() got " +
                                           (exists ? "multiple values for" : "an unexpected keyword") +
                                           " argument '" + keyword + "'");
      values[field - fields_.begin()] = value;
    }
    std::vector<std::string> names;
    for (auto [field, value] : llvm::zip_equal(fields_, values)) {
      names.push_back(field.name);
      if (!value)
        value = field.defaultValue;
      if (!value)
        return failed(ErrorKind::Type, name_ + "() missing a required argument: '" + field.name + "'");
    }
    return found(Value::tuple(std::move(values), std::move(names), name_));
  }

private:
  std::string name_;
  std::vector<NamedTupleField> fields_;
};

class NamedTupleFactory final : public HostItem {
public:
  explicit NamedTupleFactory(SymbolResolver &resolver) : resolver_(resolver) {}

  Resolution call(llvm::ArrayRef<Value> args, HostKeywords keywords) const override {
    if (args.size() != 2 || !keywords.empty() || !isText(args[0]))
      return failed(ErrorKind::Type, "namedtuple() needs Python unless it is given a name and its fields");
    std::vector<NamedTupleField> fields;
    if (isText(args[1])) {
      std::string text = args[1].constant().string();
      std::replace(text.begin(), text.end(), ',', ' ');
      llvm::SmallVector<llvm::StringRef, 8> names;
      llvm::SplitString(text, names, " \t\n");
      for (llvm::StringRef name : names)
        fields.push_back({name.str(), {}});
    } else if (args[1].isTuple() && llvm::all_of(args[1].tuple().elements, isText)) {
      for (const Value &name : args[1].tuple().elements)
        fields.push_back({name.constant().string(), {}});
    } else {
      return failed(ErrorKind::Type, "namedtuple() takes its field names as strings");
    }
    return found(namedTupleClass(resolver_, "__main__", args[0].constant().string(), std::move(fields)));
  }

private:
  static bool isText(const Value &value) { return value.isConstant() && value.constant().isString(); }

  SymbolResolver &resolver_;
};

//===----------------------------------------------------------------------===//
// Dictionaries
//===----------------------------------------------------------------------===//

struct Entries {
  std::vector<Value> keys, values;

  unsigned depth() const {
    unsigned deepest = 0;
    for (const std::vector<Value> *side : {&keys, &values})
      for (const Value &value : *side)
        deepest = std::max(deepest, value.depth());
    return deepest + 1;
  }

  static bool equal(const Value &lhs, const Value &rhs) {
    if (!lhs.isConstant() || !rhs.isConstant())
      return lhs.identical(rhs);
    const PyResult result = pyCompare(ast::CompareOperator::Eq, lhs.constant(), rhs.constant());
    const auto *answer = std::get_if<Constant>(&result);
    return answer && answer->truthy();
  }
  const Value *find(const Value &key) const {
    for (auto [known, value] : llvm::zip_equal(keys, values))
      if (equal(known, key))
        return &value;
    return nullptr;
  }
};

class DictMethod final : public HostItem {
public:
  DictMethod(std::shared_ptr<const Entries> entries, std::string name)
      : entries_(std::move(entries)), name_(std::move(name)) {}

  Resolution call(llvm::ArrayRef<Value> args, HostKeywords keywords) const override {
    const bool isGet = name_ == "get";
    if (!keywords.empty() || (isGet ? args.empty() || args.size() > 2 : !args.empty()))
      return failed(ErrorKind::Type, "wrong arguments of the dict's method " + name_ + "()");
    if (isGet) {
      const Value *value = entries_->find(args[0]);
      return found(value ? *value : args.size() == 2 ? args[1] : Value::none());
    }
    if (name_ != "items")
      return found(Value::tuple(name_ == "keys" ? entries_->keys : entries_->values));
    std::vector<Value> items;
    for (auto [key, value] : llvm::zip_equal(entries_->keys, entries_->values))
      items.push_back(Value::tuple({key, value}));
    return found(Value::tuple(std::move(items)));
  }

private:
  std::shared_ptr<const Entries> entries_;
  std::string name_;
};

class Dict final : public HostItem {
public:
  Dict(SymbolResolver &resolver, std::shared_ptr<const Entries> entries)
      : resolver_(resolver), entries_(std::move(entries)) {}

  Resolution subscript(const Value &index) const override {
    const Value *value = entries_->find(index);
    return value ? found(*value) : failed(ErrorKind::Key, index.str());
  }
  Resolution attribute(llvm::StringRef name) const override {
    if (name != "get" && name != "keys" && name != "values" && name != "items")
      return {};
    return found(makeHost(resolver_, std::make_shared<DictMethod>(entries_, name.str()),
                          ("<method '" + name + "' of 'dict' objects>").str(), "builtin_function_or_method",
                          /*callable=*/true, entries_->depth() + 1));
  }
  const std::vector<Value> *keys() const override { return &entries_->keys; }

private:
  SymbolResolver &resolver_;
  std::shared_ptr<const Entries> entries_;
};

} // namespace

Value despina::namedTupleClass(SymbolResolver &resolver, std::string module, std::string name,
                               std::vector<NamedTupleField> fields) {
  const std::string description = "<class '" + module + "." + name + "'>";
  return makeHost(resolver, std::make_shared<NamedTupleClass>(std::move(name), std::move(fields)),
                  description, "type", /*callable=*/true);
}

Value despina::namedTupleFactory(SymbolResolver &resolver) {
  return makeHost(resolver, std::make_shared<NamedTupleFactory>(resolver), "<function namedtuple>",
                  "function",
                  /*callable=*/true);
}

Value despina::hostDict(SymbolResolver &resolver, llvm::ArrayRef<std::pair<Value, Value>> entries) {
  auto table = std::make_shared<Entries>();
  for (const auto &[key, value] : entries) {
    if (const Value *known = table->find(key)) {
      table->values[known - table->values.data()] = value;
      continue;
    }
    table->keys.push_back(key);
    table->values.push_back(value);
  }
  const unsigned depth = table->depth();
  return makeHost(resolver, std::make_shared<Dict>(resolver, std::move(table)), "a dict", "dict",
                  /*callable=*/false, depth);
}

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

namespace {

struct FormatSpec {
  char fill = ' ', align = 0, sign = '-', type = 0;
  unsigned width = 0;
  std::optional<unsigned> precision;
};

std::optional<FormatSpec> parseSpec(llvm::StringRef text) {
  constexpr unsigned maxWidth = 1000;
  const auto isAlign = [](char c) { return c == '<' || c == '>' || c == '^'; };
  FormatSpec spec;
  if (text.size() > 1 && isAlign(text[1])) {
    spec.fill = text[0];
    text = text.drop_front();
  }
  if (!text.empty() && isAlign(text[0])) {
    spec.align = text[0];
    text = text.drop_front();
  }
  if (!text.empty() && (text[0] == '+' || text[0] == '-' || text[0] == ' ')) {
    spec.sign = text[0];
    text = text.drop_front();
  }
  if (text.starts_with("0") && !spec.align) {
    spec.fill = '0';
    spec.align = '=';
  }
  if (!text.empty() && llvm::isDigit(text[0]) && text.consumeInteger(10, spec.width))
    return std::nullopt;
  if (text.consume_front(".")) {
    spec.precision = 0;
    if (text.consumeInteger(10, *spec.precision))
      return std::nullopt;
  }
  if (text.size() > 1 || spec.width > maxWidth || spec.precision.value_or(0) > maxWidth)
    return std::nullopt;
  spec.type = text.empty() ? 0 : text[0];
  return spec;
}

/// The digits without the sign.
std::optional<std::string> formatMagnitude(const Constant &value, const FormatSpec &spec) {
  if (value.isIntLike() && llvm::StringRef("dxXob").contains(spec.type ? spec.type : 'd')) {
    std::optional<int64_t> number = value.asInt64();
    if (!number || spec.precision)
      return std::nullopt;
    const uint64_t magnitude = *number < 0 ? 0 - static_cast<uint64_t>(*number) : *number;
    const unsigned radix = spec.type == 'b'                  ? 2
                           : spec.type == 'o'                ? 8
                           : llvm::toLower(spec.type) == 'x' ? 16
                                                             : 10;
    std::string digits =
        llvm::APInt(64, magnitude).isZero() ? "0" : llvm::toString(llvm::APInt(64, magnitude), radix, false);
    return spec.type == 'x' ? llvm::StringRef(digits).lower() : digits;
  }
  const double real = std::abs(value.asDouble());
  if (!std::isfinite(real))
    return std::nullopt;
  if (!spec.type)
    return spec.precision ? std::nullopt : std::optional(floatRepr(real));
  if (!llvm::StringRef("feEgG").contains(spec.type))
    return std::nullopt;
  const char format[] = {'%', '.', '*', spec.type, 0};
  const int precision = static_cast<int>(spec.precision.value_or(6));
  std::string text(std::snprintf(nullptr, 0, format, precision, real) + 1, 0);
  std::snprintf(text.data(), text.size(), format, precision, real);
  text.pop_back();
  return text;
}

} // namespace

std::optional<std::string> despina::formatConstant(const Constant &value, llvm::StringRef text) {
  if (text.empty())
    return value.str();
  std::optional<FormatSpec> spec = parseSpec(text);
  if (!spec)
    return std::nullopt;
  std::string sign, body;
  if (value.isString()) {
    if ((spec->type && spec->type != 's') || spec->align == '=' ||
        llvm::any_of(value.string(), [](char c) { return !llvm::isASCII(c); }))
      return std::nullopt;
    body = value.string().substr(0, spec->precision.value_or(value.string().size()));
  } else if (value.isNumber() && !(value.isBool() && !spec->type)) {
    std::optional<std::string> magnitude = formatMagnitude(value, *spec);
    if (!magnitude)
      return std::nullopt;
    body = std::move(*magnitude);
    const bool isNegative = value.isFloat() ? std::signbit(value.real()) : value.integer() < 0;
    sign = isNegative ? "-" : spec->sign == '-' ? "" : std::string(1, spec->sign);
  } else {
    return std::nullopt;
  }
  const size_t size = sign.size() + body.size();
  const size_t padding = spec->width > size ? spec->width - size : 0;
  if (spec->align == '=')
    return sign + std::string(padding, spec->fill) + body;
  const char align = spec->align ? spec->align : value.isString() ? '<' : '>';
  const size_t before = align == '>' ? padding : align == '^' ? padding / 2 : 0;
  return std::string(before, spec->fill) + sign + body + std::string(padding - before, spec->fill);
}
