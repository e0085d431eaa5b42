//===- Arguments.cpp - What launch arguments mean -------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "Arguments.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace despina::python {

namespace {

constexpr std::array<const char *, code::Count> scalarNames = {
    "u1",    "i8",       "i16",     "i32",     "i64",      "u8",   "u16",  "u32",  "u64",
    "fp8e5", "fp8e5b16", "fp8e4nv", "fp8e4b8", "fp8e4b15", "fp16", "bf16", "fp32", "fp64"};

struct Alias {
  const char *name;
  TypeCode type;
};
/// Names of element types as hosts write them, after the last '.'.
constexpr Alias dtypeAliases[] = {{"bool", code::U1},
                                  {"int1", code::U1},
                                  {"uint1", code::U1},
                                  {"i1", code::U1},
                                  {"int8", code::I8},
                                  {"int16", code::I16},
                                  {"int32", code::I32},
                                  {"int64", code::I64},
                                  {"int", code::I32},
                                  {"short", code::I16},
                                  {"long", code::I64},
                                  {"uint8", code::U8},
                                  {"uint16", code::U16},
                                  {"uint32", code::U32},
                                  {"uint64", code::U64},
                                  {"float8_e5m2", code::FP8E5},
                                  {"float8e5", code::FP8E5},
                                  {"float8_e5m2fnuz", code::FP8E5B16},
                                  {"float8e5b16", code::FP8E5B16},
                                  {"float8_e4m3fn", code::FP8E4NV},
                                  {"float8e4nv", code::FP8E4NV},
                                  {"float8_e4m3fnuz", code::FP8E4B8},
                                  {"float8e4b8", code::FP8E4B8},
                                  {"float8e4b15", code::FP8E4B15},
                                  {"half", code::FP16},
                                  {"float16", code::FP16},
                                  {"bfloat16", code::BF16},
                                  {"float", code::FP32},
                                  {"float32", code::FP32},
                                  {"double", code::FP64},
                                  {"float64", code::FP64}};

std::optional<TypeCode> scalarFromName(std::string_view text) {
  for (TypeCode i = 0; i != code::Count; ++i)
    if (text == scalarNames[i])
      return i;
  for (const Alias &alias : dtypeAliases)
    if (text == alias.name)
      return alias.type;
  return std::nullopt;
}

/// How an object is read; found once for each Python type.
enum class HostKind : uint8_t {
  None,
  Bool,
  Int,
  Float,
  Tuple,
  NumPyArray,
  NumPyScalar,
  Tensor,
  Interface,
  CudaInterface,
  DLPack,
  Descriptor,
  Constexpr,
  Function,
  Unsupported
};

struct TypeInfo {
  HostKind kind = HostKind::Unsupported;
  bool hasIsCpu = false, hasIsCuda = false; ///< as torch's tensors
  bool isCuPy = false;
};

/// Where NumPy keeps the two fields that a launch needs. Checked against NumPy's own answers before use.
struct NumPyLayout {
  bool valid = false;
  PyTypeObject *arrayType = nullptr, *genericType = nullptr;
  size_t dataOffset = 0, dtypeOffset = 0;
};
NumPyLayout numpyLayout;

bool inherits(PyTypeObject *type, PyTypeObject *base) { return base && PyType_IsSubtype(type, base); }

bool hasAttribute(PyObject *object, PyObject *name) {
  Ref attribute = optionalAttr(object, name);
  return bool(attribute);
}

TypeInfo inspectType(PyObject *object) {
  const Registry &r = registry();
  PyTypeObject *type = Py_TYPE(object);
  auto isA = [&](PyObject *base) { return inherits(type, reinterpret_cast<PyTypeObject *>(base)); };
  if (object == Py_None)
    return {HostKind::None};
  if (PyBool_Check(object))
    return {HostKind::Bool};
  if (PyLong_Check(object))
    return {HostKind::Int};
  if (PyFloat_Check(object))
    return {HostKind::Float};
  if (isA(r.constexprClass))
    return {HostKind::Constexpr};
  if (isA(r.jitCallableClass))
    return {HostKind::Function};
  if (isA(r.descriptorClass))
    return {HostKind::Descriptor};
  if (PyTuple_Check(object))
    return {HostKind::Tuple};
  probeNumPy();
  if (numpyLayout.valid && inherits(type, numpyLayout.arrayType))
    return {HostKind::NumPyArray};
  if (inherits(type, numpyLayout.genericType))
    return {HostKind::NumPyScalar};
  if (PyType_Check(object))
    return {HostKind::Unsupported};
  if (hasAttribute(object, r.dataPtr) && hasAttribute(object, r.dtype))
    return {HostKind::Tensor, hasAttribute(object, r.isCpu),
            hasAttribute(object, r.isCuda) && hasAttribute(object, r.getDevice)};
  if (hasAttribute(object, r.cudaArrayInterface))
    return {HostKind::CudaInterface, false, false, std::string_view(type->tp_name).starts_with("cupy")};
  if (hasAttribute(object, r.arrayInterface))
    return {HostKind::Interface};
  if (hasAttribute(object, r.dlpack))
    return {HostKind::DLPack};
  return {HostKind::Unsupported};
}

TypeInfo typeInfo(PyObject *object) {
  // Types are kept alive by the table, so an address never comes to mean another type.
  static auto *table = new std::unordered_map<PyTypeObject *, TypeInfo>();
  PyTypeObject *type = Py_TYPE(object);
  if (auto it = table->find(type); it != table->end())
    return it->second;
  TypeInfo info = inspectType(object);
  // "Unsupported" is not kept: a module that is imported later may make the type known.
  if (info.kind != HostKind::Unsupported) {
    Py_INCREF(type);
    table->emplace(type, info);
  }
  return info;
}

/// Element type of a dtype object of any library, by its name; none when unknown.
std::optional<TypeCode> elementType(PyObject *dtype) {
  static auto *table = new std::unordered_map<PyObject *, TypeCode>();
  if (auto it = table->find(dtype); it != table->end())
    return it->second;
  std::string name = strOf(dtype);
  if (auto dot = name.rfind('.'); dot != std::string::npos)
    name = name.substr(dot + 1);
  std::optional<TypeCode> type = scalarFromName(name);
  // The table keeps dtype objects alive. Libraries have few, but a program may make them without end.
  if (type && table->size() < 4096) {
    Py_INCREF(dtype);
    table->emplace(dtype, *type);
  }
  return type;
}

uint16_t halfBits(double value) {
  // Round to nearest even from double, once.
  uint64_t bits = std::bit_cast<uint64_t>(value);
  uint16_t sign = uint16_t(bits >> 48) & 0x8000;
  if (std::isnan(value))
    return sign | 0x7e00;
  double magnitude = std::fabs(value);
  if (magnitude == 0)
    return sign;
  if (magnitude >= 65520.0)
    return sign | 0x7c00;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  int step = std::max(exponent - 11, -24);
  double units = std::nearbyint(std::ldexp(magnitude, -step));
  if (step == -24)
    return sign | uint16_t(units);
  return sign | uint16_t(((step + 24) << 10) + uint16_t(units));
}

uint16_t bfloatBits(double value) {
  if (std::isnan(value))
    return 0x7fc0;
  float narrow = float(value);
  // Going through fp32 rounds twice: make the first rounding to odd.
  uint32_t bits = std::bit_cast<uint32_t>(narrow);
  if (double(narrow) != value && !std::isinf(narrow) && !(bits & 1)) {
    bool tooLarge = std::fabs(double(narrow)) > std::fabs(value);
    bits = tooLarge ? bits - 1 : bits + 1;
  }
  return uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

unsigned integerBits(TypeCode type) {
  switch (type) {
  case code::I8:
  case code::U8: return 8;
  case code::I16:
  case code::U16: return 16;
  case code::I32:
  case code::U32: return 32;
  default: return 64;
  }
}
unsigned elementBytes(TypeCode type) {
  if (type < code::FP8E5)
    return type == code::U1 ? 1 : integerBits(type) / 8;
  return type < code::FP16 ? 1 : type < code::FP32 ? 2 : type == code::FP32 ? 4 : 8;
}
bool isSignedCode(TypeCode type) { return type >= code::I8 && type <= code::I64; }

bool packInteger(TypeCode type, PyObject *object, uint64_t &slot) {
  Ref index = Ref::steal(PyNumber_Index(object));
  if (!index)
    return false;
  unsigned bits = integerBits(type);
  bool fits = true;
  if (isSignedCode(type)) {
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
    fits = !overflow && (bits == 64 || (value >= -(1ll << (bits - 1)) && value < (1ll << (bits - 1))));
    slot = uint64_t(value);
  } else {
    slot = PyLong_AsUnsignedLongLong(index.get());
    fits = !PyErr_Occurred() && (bits == 64 || slot < (1ull << bits));
    PyErr_Clear();
  }
  if (!fits)
    PyErr_Format(PyExc_OverflowError, "%S is out of range for an argument of type %s", index.get(),
                 scalarNames[type]);
  return fits;
}

} // namespace

std::string signatureOf(TypeCode type) {
  std::string text = type & pointerBit ? (type & constBit ? "*k" : "*") : "";
  return text + scalarNames[type & 0x3f];
}

std::string descriptorSignature(const Classified &descriptor) {
  std::string text = "tensordesc<" + std::string(scalarNames[descriptor.elements.front().type & 0x3f]) + "[";
  for (size_t i = 0; i != descriptor.block.size(); ++i)
    text += (i ? ", " : "") + std::to_string(descriptor.block[i]);
  return text + (descriptor.padsNaN ? "]>:nan" : "]>");
}

std::optional<TypeCode> typeFromSignature(std::string_view text) {
  TypeCode bits = 0;
  if (!text.empty() && text.front() == '*') {
    bits = pointerBit;
    text.remove_prefix(1);
    if (!text.empty() && text.front() == 'k') {
      bits |= constBit;
      text.remove_prefix(1);
    }
  }
  std::optional<TypeCode> scalar = scalarFromName(text);
  if (!scalar)
    return std::nullopt;
  return TypeCode(*scalar | bits);
}

bool packScalar(TypeCode type, PyObject *object, uint64_t &slot) {
  if (type == code::U1) {
    int truth = PyObject_IsTrue(object);
    slot = truth > 0;
    return truth >= 0;
  }
  if (type < code::FP8E5)
    return packInteger(type, object, slot);
  double value = PyFloat_AsDouble(object);
  if (value == -1.0 && PyErr_Occurred())
    return false;
  switch (type) {
  case code::FP16: slot = halfBits(value); return true;
  case code::BF16: slot = bfloatBits(value); return true;
  case code::FP32: slot = std::bit_cast<uint32_t>(float(value)); return true;
  case code::FP64: slot = std::bit_cast<uint64_t>(value); return true;
  default:
    PyErr_Format(PyExc_TypeError, "a scalar argument cannot have the type %s", scalarNames[type]);
    return false;
  }
}

void probeNumPy() {
  if (numpyLayout.genericType)
    return;
  PyObject *modules = PyImport_GetModuleDict();
  Ref numpy = Ref::borrow(modules ? PyDict_GetItemString(modules, "numpy") : nullptr);
  if (!numpy)
    return;
  // NumPy's array header: object, data, nd, dimensions, strides, base, descr. Part of its stable ABI; still,
  // it is compared with what NumPy says of an array before it is relied upon.
  constexpr size_t data = sizeof(PyObject), dtype = data + 5 * sizeof(void *);
  Ref arrayType = Ref::steal(PyObject_GetAttrString(numpy.get(), "ndarray"));
  Ref genericType = Ref::steal(PyObject_GetAttrString(numpy.get(), "generic"));
  Ref sample = Ref::steal(PyObject_CallMethod(numpy.get(), "zeros", "i", 3));
  Ref descriptor = sample ? optionalAttr(sample.get(), registry().dtype) : Ref();
  Ref interface = sample ? Ref::steal(PyObject_GetAttrString(sample.get(), "ctypes")) : Ref();
  Ref address = interface ? Ref::steal(PyObject_GetAttrString(interface.get(), "data")) : Ref();
  void *expected = address ? PyLong_AsVoidPtr(address.get()) : nullptr;
  PyErr_Clear();
  if (!arrayType || !genericType || !PyType_Check(arrayType.get()) || !PyType_Check(genericType.get()))
    return;
  numpyLayout.genericType = reinterpret_cast<PyTypeObject *>(genericType.release());
  numpyLayout.arrayType = reinterpret_cast<PyTypeObject *>(arrayType.release());
  if (!sample || !descriptor || !expected ||
      numpyLayout.arrayType->tp_basicsize < Py_ssize_t(dtype + sizeof(void *)))
    return;
  const char *bytes = reinterpret_cast<const char *>(sample.get());
  void *foundData = nullptr, *foundDtype = nullptr;
  std::memcpy(&foundData, bytes + data, sizeof(void *));
  std::memcpy(&foundDtype, bytes + dtype, sizeof(void *));
  numpyLayout.dataOffset = data;
  numpyLayout.dtypeOffset = dtype;
  numpyLayout.valid = foundData == expected && foundDtype == descriptor.get();
}

bool ArgumentReader::refuse(PyObject *object, const char *why) {
  if (why)
    PyErr_Format(PyExc_TypeError, "failed to specialize argument of type: %s (%s)", Py_TYPE(object)->tp_name,
                 why);
  else
    PyErr_Format(PyExc_TypeError, "failed to specialize argument of type: %s", Py_TYPE(object)->tp_name);
  return false;
}

bool ArgumentReader::readConstant(PyObject *object, Classified &out) {
  out.kind = Classified::Kind::Constant;
  const Registry &r = registry();
  // constexpr(constexpr(v)) is v.
  for (int depth = 0; depth != 8; ++depth) {
    if (!inherits(Py_TYPE(object), reinterpret_cast<PyTypeObject *>(r.constexprClass)))
      break;
    Ref inner = Ref::steal(PyObject_GetAttr(object, r.value));
    if (!inner)
      return false;
    object = inner.get();
    keep(std::move(inner));
  }
  out.object = object;
  return true;
}

bool ArgumentReader::readInteger(const Parameter &parameter, PyObject *object, Classified &out) {
  out.kind = Classified::Kind::Runtime;
  if (parameter.forcedType) {
    out.type = *parameter.forcedType;
    if (out.type & pointerBit) {
      bool packed = packInteger(code::U64, object, out.slot);
      out.divisible = packed && parameter.specialize && parameter.specializeAlignment && out.slot % 16 == 0;
      return packed;
    }
    if (!packScalar(out.type, object, out.slot))
      return false;
    bool isInteger = out.type > code::U1 && out.type < code::FP8E5;
    out.divisible = isInteger && parameter.specialize && parameter.specializeAlignment && out.slot % 16 == 0;
    return true;
  }
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow) {
    out.type = code::U64;
    out.slot = PyLong_AsUnsignedLongLong(object);
    if (PyErr_Occurred()) {
      PyErr_SetString(PyExc_OverflowError, "integer to be specialized too large to represent");
      return false;
    }
  } else {
    if (value == 1 && parameter.specialize) {
      out.kind = Classified::Kind::Constant;
      out.object = object;
      return true;
    }
    out.type = value == int32_t(value) ? code::I32 : code::I64;
    out.slot = uint64_t(value);
  }
  out.divisible = parameter.specialize && parameter.specializeAlignment && out.slot % 16 == 0;
  return true;
}

void ArgumentReader::reset() {
  kept_.clear();
  pointers_.clear();
  depth_ = 0;
  sawTorch_ = sawCuPy_ = false;
}

bool ArgumentReader::readPointer(const Parameter &parameter, void *data, PyObject *dtype, PyObject *owner,
                                 int device, Classified &out) {
  std::optional<TypeCode> element = elementType(dtype);
  if (!element) {
    std::string why = "the language has no element type " + strOf(dtype);
    return refuse(owner, why.c_str());
  }
  out.kind = Classified::Kind::Runtime;
  out.type = TypeCode(*element | pointerBit | (parameter.isConst ? constBit : 0));
  out.slot = reinterpret_cast<uintptr_t>(data);
  pointers_.push_back({device, out.slot, parameter.name.get()});
  out.divisible = parameter.specialize && parameter.specializeAlignment && out.slot % 16 == 0;
  return true;
}

bool ArgumentReader::readTensorDevice(PyObject *object, int &device) {
  const Registry &r = registry();
  TypeInfo info = typeInfo(object);
  if (info.hasIsCuda) {
    Ref onCuda = optionalAttr(object, r.isCuda);
    if (onCuda.get() == Py_True) {
      Ref number = Ref::steal(PyObject_CallMethodNoArgs(object, r.getDevice));
      long value = number ? PyLong_AsLong(number.get()) : -1;
      if (PyErr_Occurred())
        return false;
      device = int(value);
      sawTorch_ = true;
      return true;
    }
  }
  if (info.hasIsCpu) {
    Ref onCpu = optionalAttr(object, r.isCpu);
    if (onCpu.get() == Py_False) {
      PyErr_SetString(
          PyExc_ValueError,
          "Pointer argument cannot be accessed from the CPU target (a tensor of another device?)");
      return false;
    }
    if (onCpu.get() == Py_True)
      device = PointerPlace::host;
  }
  return true;
}

bool ArgumentReader::readTensor(const Parameter &parameter, PyObject *object, Classified &out) {
  const Registry &r = registry();
  int device = PointerPlace::unknown;
  if (!readTensorDevice(object, device))
    return false;
  Ref address = Ref::steal(PyObject_CallMethodNoArgs(object, r.dataPtr));
  if (!address)
    return false;
  if (!PyLong_Check(address.get())) {
    PyErr_SetString(PyExc_TypeError, "data_ptr method of Pointer object must return 64-bit int");
    return false;
  }
  void *data = PyLong_AsVoidPtr(address.get());
  Ref dtype = PyErr_Occurred() ? Ref() : Ref::steal(PyObject_GetAttr(object, r.dtype));
  return dtype && readPointer(parameter, data, dtype.get(), object, device, out);
}

bool ArgumentReader::readInterface(const Parameter &parameter, PyObject *object, Classified &out) {
  Ref interface = Ref::steal(PyObject_GetAttr(object, registry().arrayInterface));
  return interface && readInterfaceDict(parameter, object, std::move(interface), PointerPlace::host, out);
}

bool ArgumentReader::readCudaInterface(const Parameter &parameter, PyObject *object, Classified &out) {
  Ref interface = Ref::steal(PyObject_GetAttr(object, registry().cudaArrayInterface));
  if (!interface)
    return false;
  sawCuPy_ |= typeInfo(object).isCuPy;
  return readInterfaceDict(parameter, object, std::move(interface), PointerPlace::unknown, out);
}

bool ArgumentReader::readInterfaceDict(const Parameter &parameter, PyObject *object, Ref interface,
                                       int device, Classified &out) {
  if (!PyDict_Check(interface.get()))
    return refuse(object, "its array interface is no dict");
  PyObject *data = PyDict_GetItemString(interface.get(), "data");
  PyObject *typestr = PyDict_GetItemString(interface.get(), "typestr");
  if (!data || !PyTuple_Check(data) || PyTuple_GET_SIZE(data) < 1 || !PyLong_Check(PyTuple_GET_ITEM(data, 0)))
    return refuse(object, "its array interface holds no address");
  void *address = PyLong_AsVoidPtr(PyTuple_GET_ITEM(data, 0));
  if (PyErr_Occurred())
    return false;
  std::string_view text = textOf(typestr);
  static constexpr Alias types[] = {{"b1", code::U1},   {"i1", code::I8},   {"i2", code::I16},
                                    {"i4", code::I32},  {"i8", code::I64},  {"u1", code::U8},
                                    {"u2", code::U16},  {"u4", code::U32},  {"u8", code::U64},
                                    {"f2", code::FP16}, {"f4", code::FP32}, {"f8", code::FP64}};
  if (text.size() == 3 && text[0] != '>')
    for (const Alias &type : types)
      if (text.substr(1) == type.name) {
        Ref name = makeStr(scalarNames[type.type]);
        keep(std::move(interface));
        return name && readPointer(parameter, address, name.get(), object, device, out);
      }
  std::string why = "the language has no element type " + std::string(text);
  return refuse(object, why.c_str());
}

namespace {
// The part of DLPack's public ABI that is read here (its version 0 structure; consumers of version 0 remain
// supported by every producer).
struct DLDevice {
  int32_t deviceType, deviceId;
};
struct DLTensor {
  void *data;
  DLDevice device;
  int32_t ndim;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } dtype;
  int64_t *shape, *strides;
  uint64_t byteOffset;
};

std::optional<TypeCode> dlpackType(const DLTensor &tensor) {
  if (tensor.dtype.lanes != 1)
    return std::nullopt;
  unsigned bits = tensor.dtype.bits;
  bool isWhole = bits == 8 || bits == 16 || bits == 32 || bits == 64;
  if (!isWhole)
    return std::nullopt;
  switch (tensor.dtype.code) {
  case 0: // signed
    return bits == 8 ? code::I8 : bits == 16 ? code::I16 : bits == 32 ? code::I32 : code::I64;
  case 1: // unsigned
    return bits == 8 ? code::U8 : bits == 16 ? code::U16 : bits == 32 ? code::U32 : code::U64;
  case 2: // float
    if (bits == 8)
      return std::nullopt;
    return bits == 16 ? code::FP16 : bits == 32 ? code::FP32 : code::FP64;
  case 4: // bfloat
    return bits == 16 ? std::optional<TypeCode>(code::BF16) : std::nullopt;
  case 6: // bool
    return bits == 8 ? std::optional<TypeCode>(code::U1) : std::nullopt;
  default: return std::nullopt;
  }
}
} // namespace

bool ArgumentReader::readDLPack(const Parameter &parameter, PyObject *object, Classified &out) {
  constexpr int32_t cpuDevice = 1, cudaDevice = 2, cudaHostDevice = 3, rocmHostDevice = 11,
                    cudaManagedDevice = 13;
  int place = PointerPlace::host;
  if (Ref device = Ref::steal(PyObject_CallMethodNoArgs(object, registry().dlpackDevice));
      device && PyTuple_Check(device.get()) && PyTuple_GET_SIZE(device.get()) == 2) {
    long type = PyLong_AsLong(PyTuple_GET_ITEM(device.get(), 0));
    long number = PyLong_AsLong(PyTuple_GET_ITEM(device.get(), 1));
    if (type == cudaDevice || type == cudaManagedDevice) {
      place = int(number);
    } else if (!PyErr_Occurred() && type != cpuDevice && type != cudaHostDevice && type != rocmHostDevice) {
      PyErr_SetString(
          PyExc_ValueError,
          "Pointer argument cannot be accessed from the CPU target (a tensor of another device?)");
      return false;
    }
  }
  PyErr_Clear();
  Ref capsule = Ref::steal(PyObject_CallMethodNoArgs(object, registry().dlpack));
  if (!capsule)
    return false;
  auto *tensor = static_cast<DLTensor *>(PyCapsule_GetPointer(capsule.get(), "dltensor"));
  if (!tensor)
    return false;
  std::optional<TypeCode> type = dlpackType(*tensor);
  if (!type)
    return refuse(object, "the language has no such element type");
  Ref name = makeStr(scalarNames[*type]);
  void *data = static_cast<char *>(tensor->data) + tensor->byteOffset;
  // The capsule was not consumed: it frees the tensor when it goes, after the launch.
  keep(std::move(capsule));
  return name && readPointer(parameter, data, name.get(), object, place, out);
}

bool ArgumentReader::readTuple(const Parameter &parameter, PyObject *object, Classified &out) {
  if (depth_ == maxNesting) {
    PyErr_Format(PyExc_RecursionError, "a tuple argument is nested over %u levels deep", maxNesting);
    return false;
  }
  Parameter plain;
  plain.isConst = parameter.isConst;
  ++depth_;
  Py_ssize_t size = PyTuple_GET_SIZE(object);
  out.object = object;
  out.elements.resize(size_t(size));
  bool allConstant = true;
  for (Py_ssize_t i = 0; i != size; ++i) {
    if (!read(plain, PyTuple_GET_ITEM(object, i), out.elements[size_t(i)]))
      return false;
    allConstant &= out.elements[size_t(i)].kind == Classified::Kind::Constant;
  }
  --depth_;
  out.kind = allConstant ? Classified::Kind::Constant : Classified::Kind::Tuple;
  return true;
}

/// Reads a list of integers into the elements from `first` on, as values of a type.
static bool readExtents(PyObject *owner, const char *name, TypeCode type, size_t count,
                        std::vector<Classified> &elements, size_t first) {
  Ref list = Ref::steal(PyObject_GetAttrString(owner, name));
  Ref items =
      list ? Ref::steal(PySequence_Fast(list.get(), "the extents of a tensor descriptor must be a list"))
           : Ref();
  if (!items)
    return false;
  if (size_t(PySequence_Fast_GET_SIZE(items.get())) < count) {
    PyErr_Format(PyExc_ValueError, "rank mismatch: %s of a tensor descriptor has too few elements", name);
    return false;
  }
  for (size_t i = 0; i != count; ++i) {
    Classified &element = elements[first + i];
    element.kind = Classified::Kind::Runtime;
    element.type = type;
    element.divisible = false;
    if (!packScalar(type, PySequence_Fast_GET_ITEM(items.get(), Py_ssize_t(i)), element.slot))
      return false;
  }
  return true;
}

static bool readBlock(PyObject *object, std::vector<int64_t> &block) {
  Ref list = Ref::steal(PyObject_GetAttrString(object, "block_shape"));
  Ref items =
      list ? Ref::steal(PySequence_Fast(list.get(), "the block_shape of a tensor descriptor must be a list"))
           : Ref();
  if (!items)
    return false;
  block.clear();
  for (Py_ssize_t i = 0; i != PySequence_Fast_GET_SIZE(items.get()); ++i) {
    block.push_back(PyLong_AsLongLong(PySequence_Fast_GET_ITEM(items.get(), i)));
    if (PyErr_Occurred())
      return false;
  }
  constexpr size_t maxRank = 5;
  if (!block.empty() && block.size() <= maxRank)
    return true;
  PyErr_SetString(PyExc_ValueError, "a tensor descriptor has one to five dimensions");
  return false;
}

bool ArgumentReader::readDescriptor(PyObject *object, Classified &out) {
  out.kind = Classified::Kind::Descriptor;
  out.object = object;
  Ref base = Ref::steal(PyObject_GetAttrString(object, "base"));
  Ref padding = base ? Ref::steal(PyObject_GetAttrString(object, "padding")) : Ref();
  if (!padding || !readBlock(object, out.block))
    return false;
  out.padsNaN = textOf(padding.get()) == "nan";
  size_t rank = out.block.size();
  out.elements.resize(2 * rank);
  Parameter plain;
  if (!read(plain, base.get(), out.elements[0]))
    return false;
  keep(std::move(base));
  const Classified &pointer = out.elements[0];
  if (pointer.kind != Classified::Kind::Runtime || !(pointer.type & pointerBit))
    return refuse(object, "its base is no tensor");
  if (pointer.slot % 16 != 0) {
    PyErr_SetString(PyExc_ValueError, "the base of a tensor descriptor must be 16-byte aligned");
    return false;
  }
  if (!readExtents(object, "shape", code::I32, rank, out.elements, 1) ||
      !readExtents(object, "strides", code::I64, rank - 1, out.elements, 1 + rank))
    return false;
  // Code is made for what the class checked; its fields may have changed since.
  for (size_t i = 1 + rank; i != out.elements.size(); ++i)
    if (out.elements[i].slot * elementBytes(pointer.type & 0x3f) % 16 != 0) {
      PyErr_SetString(PyExc_ValueError, "the strides of a tensor descriptor must be 16-byte aligned");
      return false;
    }
  return true;
}

bool ArgumentReader::read(const Parameter &parameter, PyObject *object, Classified &out) {
  // It may hold what another launch put there.
  out.divisible = false;
  if (parameter.isConstexpr)
    return readConstant(object, out);
  switch (TypeInfo info = typeInfo(object); info.kind) {
  case HostKind::NumPyArray: {
    void *data = nullptr;
    PyObject *dtype = nullptr;
    const char *bytes = reinterpret_cast<const char *>(object);
    std::memcpy(&data, bytes + numpyLayout.dataOffset, sizeof(void *));
    std::memcpy(&dtype, bytes + numpyLayout.dtypeOffset, sizeof(void *));
    return readPointer(parameter, data, dtype, object, PointerPlace::host, out);
  }
  case HostKind::Int: return readInteger(parameter, object, out);
  case HostKind::Bool:
  case HostKind::Float:
    out.kind = Classified::Kind::Runtime;
    out.type = parameter.forcedType.value_or(info.kind == HostKind::Bool ? code::U1 : code::FP32);
    return packScalar(out.type, object, out.slot);
  case HostKind::None:
  case HostKind::Function:
  case HostKind::Constexpr: return readConstant(object, out);
  case HostKind::Tuple: return readTuple(parameter, object, out);
  case HostKind::Descriptor: return readDescriptor(object, out);
  case HostKind::Tensor: return readTensor(parameter, object, out);
  case HostKind::Interface: return readInterface(parameter, object, out);
  case HostKind::CudaInterface: return readCudaInterface(parameter, object, out);
  case HostKind::DLPack: return readDLPack(parameter, object, out);
  case HostKind::NumPyScalar: {
    Ref number = Ref::steal(PyObject_CallMethodNoArgs(object, registry().item));
    if (!number)
      return false;
    bool isNumber = PyLong_Check(number.get()) || PyFloat_Check(number.get());
    PyObject *borrowed = number.get();
    keep(std::move(number));
    return isNumber ? read(parameter, borrowed, out) : refuse(object);
  }
  case HostKind::Unsupported: break;
  }
  return refuse(object);
}

bool ArgumentReader::readAs(TypeCode type, PyObject *object, uint64_t &slot) {
  if (!(type & pointerBit))
    return packScalar(type, object, slot);
  if (object == Py_None) {
    slot = 0;
    return true;
  }
  if (PyLong_Check(object))
    return packInteger(code::U64, object, slot);
  Classified classified;
  if (!read(Parameter(), object, classified))
    return false;
  if (classified.kind != Classified::Kind::Runtime || !(classified.type & pointerBit)) {
    PyErr_SetString(PyExc_TypeError, "Pointer argument must be either uint64 or have data_ptr method");
    return false;
  }
  slot = classified.slot;
  return true;
}

} // namespace despina::python
