//===- TypeTest.cpp - Types ------------------------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Lang/Type.h"

#include <gtest/gtest.h>

using namespace despina;

namespace {

TEST(TypeTest, ScalarsKnowTheirNames) {
  for (const ScalarInfo &info : allScalars()) {
    EXPECT_EQ(scalarInfo(info.kind).name, info.name);
    EXPECT_EQ(scalarByName(info.name), info.kind);
    EXPECT_EQ(scalarByPublicName(info.publicName), info.kind);
    EXPECT_EQ(Type(info.kind).str(), info.name);
    if (info.kind != ScalarKind::Void)
      EXPECT_EQ(scalarBySignature(info.signature), info.kind);
  }
  EXPECT_EQ(scalarBySignature("i1"), ScalarKind::Int1);
  EXPECT_EQ(scalarBySignature("B"), ScalarKind::Int1);
  EXPECT_FALSE(scalarByName("float32"));
  EXPECT_FALSE(scalarBySignature("void"));
}

TEST(TypeTest, Predicates) {
  EXPECT_TRUE(Type(ScalarKind::Int1).isUnsigned());
  EXPECT_FALSE(Type(ScalarKind::Int1).isSigned());
  EXPECT_TRUE(Type(ScalarKind::Int8).isSigned());
  EXPECT_TRUE(Type(ScalarKind::UInt64).isUnsigned());
  EXPECT_TRUE(Type(ScalarKind::FP8E5).isFP8());
  EXPECT_FALSE(Type(ScalarKind::FP8E5).isStandardFloat());
  EXPECT_TRUE(Type(ScalarKind::BF16).isStandardFloat());
  EXPECT_FALSE(Type(ScalarKind::FP16).isInt());
  EXPECT_TRUE(Type().isVoid());
  // Questions about the scalar of a pointer have the answer no, never undefined behaviour.
  Type pointer = Type::pointer(ScalarKind::FP32);
  EXPECT_FALSE(pointer.isInt());
  EXPECT_FALSE(pointer.isFloating());
  EXPECT_EQ(pointer.bits(), 64u);
}

TEST(TypeTest, TextForms) {
  Type fp32 = ScalarKind::FP32;
  EXPECT_EQ(Type::pointer(fp32).str(), "pointer<fp32>");
  EXPECT_EQ(Type::pointer(fp32, true).str(), "const_pointer<fp32>");
  EXPECT_EQ(Type::pointer(fp32, true).signature(), "*kfp32");
  EXPECT_EQ(Type::block(fp32, {16, 32}).str(), "<[16, 32], fp32>");
  EXPECT_EQ(Type::block(fp32, {16, 32}).mangle(), "fp32S16_32S");
  EXPECT_EQ(Type::pointer(fp32).mangle(), "Pfp32");
  EXPECT_EQ(Type::tuple({fp32, ScalarKind::Int1}).str(), "[fp32,int1]");
  EXPECT_EQ(Type::tuple({fp32, fp32}, {"x", "y"}).str(), "[x:fp32,y:fp32]");
}

TEST(TypeTest, MangledNamesTellTypesApart) {
  std::vector<Type> types;
  for (const ScalarInfo &info : allScalars()) {
    Type scalar(info.kind);
    types.insert(types.end(),
                 {scalar, Type::pointer(scalar), Type::pointer(scalar, true), Type::block(scalar, {4}),
                  Type::block(scalar, {4, 2}), Type::block(Type::pointer(scalar), {4}), Type::tuple({scalar}),
                  Type::tuple({scalar, scalar})});
  }
  for (size_t i = 0; i < types.size(); ++i)
    for (size_t j = 0; j < types.size(); ++j)
      EXPECT_EQ(i == j, types[i].mangle() == types[j].mangle()) << types[i].str() << " " << types[j].str();
}

TEST(TypeTest, EqualityIsStructural) {
  Type fp16 = ScalarKind::FP16;
  EXPECT_EQ(Type::block(fp16, {8}), Type::block(fp16, {8}));
  EXPECT_NE(Type::block(fp16, {8}), Type::block(fp16, {4}));
  EXPECT_NE(Type::block(fp16, {1}), fp16);
  EXPECT_NE(Type::pointer(fp16), Type::pointer(fp16, true));
  EXPECT_NE(Type::pointer(fp16), Type::pointer(fp16, false, 3));
  EXPECT_NE(Type::tuple({fp16}), Type::tuple({fp16}, {"x"}));
}

TEST(TypeTest, Shapes) {
  Type block = Type::block(ScalarKind::Int8, {4, 8});
  EXPECT_EQ(block.numel(), 32);
  EXPECT_EQ(block.rank(), 2u);
  EXPECT_EQ(block.scalar(), Type(ScalarKind::Int8));
  EXPECT_EQ(block.withScalar(ScalarKind::FP64), Type::block(ScalarKind::FP64, {4, 8}));
  EXPECT_EQ(block.withShape({}), Type(ScalarKind::Int8));
  EXPECT_EQ(Type(ScalarKind::Int8).numel(), 1);
}

TEST(TypeTest, Signatures) {
  for (const char *text : {"fp32", "u1", "i64", "*fp16", "*kfp32", "**i8", "*fp8e4nv"}) {
    std::optional<Type> type = Type::fromSignature(text);
    ASSERT_TRUE(type) << text;
    EXPECT_EQ(type->signature(), text);
  }
  for (const std::string &text : {std::string(), std::string("*"), std::string("k"), std::string("fp"),
                                  std::string("float32"), std::string(100000, '*') + "i8"})
    EXPECT_FALSE(Type::fromSignature(text)) << text.substr(0, 20);
}

} // namespace
