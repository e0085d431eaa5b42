//===- Arguments.h - What launch arguments mean -----------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Classification and specialisation of launch arguments (spec triton_language 3.3). On the hot path of every
// launch: an argument's kind is found from its Python type through a table, its element type from the dtype
// object through another.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_PYTHON_ARGUMENTS_H
#define DESPINA_PYTHON_ARGUMENTS_H

#include "Support.h"

#include <optional>
#include <unordered_map>
#include <vector>

namespace despina::python {

/// A scalar type; with `pointerBit` a pointer to it, with `constBit` a pointer to constant data.
using TypeCode = uint8_t;
constexpr TypeCode pointerBit = 0x40, constBit = 0x80;
namespace code {
enum : TypeCode {
  U1,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  FP8E5,
  FP8E5B16,
  FP8E4NV,
  FP8E4B8,
  FP8E4B15,
  FP16,
  BF16,
  FP32,
  FP64,
  Count
};
} // namespace code
/// "*fp32", "i64".
std::string signatureOf(TypeCode type);
/// Reads "i32", "fp32", "*kfp16"; none when it is no such type.
std::optional<TypeCode> typeFromSignature(std::string_view text);

/// One parameter of a kernel, as far as its arguments are concerned.
struct Parameter {
  Ref name, defaultValue; ///< interned; default may be null
  bool isConstexpr = false, isConst = false, isVariadic = false;
  bool specialize = true, specializeAlignment = true;
  std::optional<TypeCode> forcedType; ///< of an annotation
};

/// What one argument turned into.
struct Classified {
  enum class Kind : uint8_t { Constant, Runtime, Tuple, Descriptor };
  Kind kind = Kind::Constant;
  TypeCode type = 0;
  bool divisible = false;
  uint64_t slot = 0;
  PyObject *object = nullptr; ///< constant or tuple; borrowed from the reader or the caller
  /// Of a tuple. Of a tensor descriptor, what it passes: address, extents, strides but the last.
  std::vector<Classified> elements;
  std::vector<int64_t> block; ///< shape of a descriptor's blocks
  bool padsNaN = false;       ///< a descriptor's padding
};

/// "tensordesc<fp16[64, 64]>".
std::string descriptorSignature(const Classified &descriptor);

/// Where a pointer points, as far as the object says that it came from.
struct PointerPlace {
  static constexpr int unknown = -2, host = -1;
  int device = unknown; ///< or the number of a CUDA device
  uint64_t address = 0;
  PyObject *parameter = nullptr; ///< its name, borrowed; null inside a tuple
};

/// Classifies the arguments of one launch and keeps alive what they borrowed.
class ArgumentReader {
public:
  /// False after setting a Python error.
  bool read(const Parameter &parameter, PyObject *object, Classified &out);
  /// A runtime value for a known type (launch of a compiled kernel).
  bool readAs(TypeCode type, PyObject *object, uint64_t &slot);
  void keep(Ref object) { kept_.push_back(std::move(object)); }
  const std::vector<PointerPlace> &pointers() const { return pointers_; }
  /// Whether tensors of torch, or arrays of CuPy, in a GPU's memory were among the arguments.
  bool sawTorch() const { return sawTorch_; }
  bool sawCuPy() const { return sawCuPy_; }
  /// Ready for the next launch; memory is kept.
  void reset();

private:
  bool readConstant(PyObject *object, Classified &out);
  bool readInteger(const Parameter &parameter, PyObject *object, Classified &out);
  /// `device` as in PointerPlace.
  bool readPointer(const Parameter &parameter, void *data, PyObject *dtype, PyObject *owner, int device,
                   Classified &out);
  bool readTuple(const Parameter &parameter, PyObject *object, Classified &out);
  bool readInterface(const Parameter &parameter, PyObject *object, Classified &out);
  bool readCudaInterface(const Parameter &parameter, PyObject *object, Classified &out);
  /// An __array_interface__ or __cuda_array_interface__.
  bool readInterfaceDict(const Parameter &parameter, PyObject *object, Ref interface, int device,
                         Classified &out);
  /// Where a tensor lies. False after setting a Python error.
  bool readTensorDevice(PyObject *object, int &device);
  bool readDLPack(const Parameter &parameter, PyObject *object, Classified &out);
  bool readDescriptor(PyObject *object, Classified &out);
  bool readTensor(const Parameter &parameter, PyObject *object, Classified &out);
  bool refuse(PyObject *object, const char *why = nullptr);

  std::vector<Ref> kept_;
  std::vector<PointerPlace> pointers_;
  unsigned depth_ = 0; ///< of the tuples being read
  bool sawTorch_ = false, sawCuPy_ = false;
};

/// Packs a Python number into a slot of a scalar type. False after setting a Python error.
bool packScalar(TypeCode type, PyObject *object, uint64_t &slot);

/// Finds how NumPy lays out its arrays; called once NumPy is imported, and harmless without it.
void probeNumPy();

} // namespace despina::python

#endif // DESPINA_PYTHON_ARGUMENTS_H
