// Methods as requests write them.
#include "repair/method.h"

#include <gtest/gtest.h>

namespace looseleaf {
namespace {

std::string canonical(const char* text, bool has_documents = true) {
  const auto method = parse_method(text, has_documents);
  return method ? method->canonical() : "error: " + method.error().message;
}

std::string refusal(const char* text) {
  const auto method = parse_method(text, true);
  EXPECT_FALSE(method) << text;
  if (method) return "";
  EXPECT_EQ(method.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(method.error().param, "method");
  return method.error().message;
}

TEST(MethodTest, NamesOfTheTable) {
  for (const MethodInfo* info : methods_table()) {
    const std::string name(info->name);
    const auto method = parse_method(name, true);
    ASSERT_TRUE(method);
    EXPECT_EQ(method->info, info);
    EXPECT_EQ(method->options.size(), info->options.size()) << "defaults are filled in";
    EXPECT_FALSE(info->summary.empty());
    EXPECT_FALSE(info->citation.empty());
  }
}

TEST(MethodTest, CanonicalIsStable) {
  for (const char* text : {"full", "prefix", "block:inplace=0", "block:inplace=1", "reuse"}) {
    EXPECT_EQ(canonical(text), text);
    EXPECT_EQ(canonical(canonical(text).c_str()), canonical(text));
  }
  EXPECT_EQ(canonical("block:inplace=0"), canonical("block"));
}

TEST(MethodTest, Flags) {
  EXPECT_FALSE(parse_method("block", true)->flag("inplace"));
  EXPECT_TRUE(parse_method("block:inplace=1", true)->flag("inplace"));
}

TEST(MethodTest, Auto) {
  EXPECT_EQ(canonical("auto", true), "reuse");
  EXPECT_EQ(canonical("auto", false), "prefix");
  EXPECT_EQ(canonical("full", false), "full") << "a name means itself";
}

TEST(MethodTest, UnknownNamesListTheKnownOnes) {
  for (const char* text : {"", "Reuse", "reuse ", "lazy:0.15", "lazy:0.05..0.3/6", "legolink:16"}) {
    const std::string message = refusal(text);
    EXPECT_NE(message.find("is not a method"), std::string::npos) << message;
    EXPECT_NE(message.find("auto, full, prefix, block, reuse"), std::string::npos) << message;
  }
  EXPECT_NE(refusal("lazy:0.05..0.3/6").find("'lazy'"), std::string::npos);
}

TEST(MethodTest, NumbersWhereNoneIsTaken) {
  EXPECT_NE(refusal("reuse:0.15").find("'reuse' takes no number, but '0.15'"), std::string::npos);
  EXPECT_NE(refusal("auto:0.15").find("takes no number"), std::string::npos);
  refusal("reuse:");
  refusal("block:0.1:inplace=1");
  refusal("block::inplace=1");
}

TEST(MethodTest, NumbersOfRepairs) {
  EXPECT_EQ(parse_method("prophetkv:0.05", true)->number, 0.05);
  EXPECT_EQ(parse_method("prophetkv", true)->number, 0.2) << "the default";
  EXPECT_EQ(canonical("epic"), "epic:16:budget=off");
  EXPECT_EQ(canonical("prophetkv:1e-1:spans=2"),
            "prophetkv:0.1:context=causal:spans=2:softmax=all:rows=all:anchors=0:budget=off");
  EXPECT_EQ(canonical(canonical("weave").c_str()), canonical("weave"));
  for (const char* text : {"prophetkv:1.01", "prophetkv:-0.1", "prophetkv:nan", "prophetkv:",
                           "prophetkv:0.1x", "epic:1.5", "epic:-1", "relaxkv:0.05..0.3/6"})
    EXPECT_NE(refusal(text).find("but takes"), std::string::npos) << text;
  EXPECT_NE(refusal("epic:1.5").find("an integer"), std::string::npos);
  EXPECT_NE(refusal("prophetkv:spans=2:0.1").find("behind the name"), std::string::npos);
}

TEST(MethodTest, ABudgetTakesTheNumbersPlace) {
  const auto method = parse_method("relaxkv:budget=0.25", true);
  ASSERT_TRUE(method);
  EXPECT_FALSE(method->number);
  EXPECT_EQ(method->value("budget"), 0.25);
  EXPECT_EQ(parse_method("relaxkv:0.1", true)->value("budget"), std::nullopt);
  EXPECT_EQ(canonical(method->canonical().c_str()), method->canonical());
  EXPECT_NE(refusal("relaxkv:0.1:budget=0.25").find("not both"), std::string::npos);
  EXPECT_NE(refusal("relaxkv:budget=2").find("but takes off|0.0..1.0"), std::string::npos);
}

TEST(MethodTest, OptionsThatAreRanges) {
  EXPECT_EQ(parse_method("weave:spans=64", true)->integer("spans"), 64);
  for (const char* text : {"weave:spans=65", "weave:spans=1.5", "weave:spans=-1",
                           "weave:spans=", "weave:skip=1.5", "weave:skip=on", "weave:skip=0..1"})
    refusal(text);
  EXPECT_EQ(parse_method("weave:skip=0.50", true)->option("skip"), "0.5");
}

TEST(MethodTest, OptionsOfScoresAreSharedByTheMethodsThatScore) {
  for (const std::string name : {"weave", "relaxkv", "prophetkv"}) {
    EXPECT_EQ(parse_method(name, true)->value("rows"), std::nullopt) << name << ": all";
    EXPECT_EQ(parse_method(name + ":rows=1", true)->value("rows"), 1);
    EXPECT_EQ(parse_method(name + ":anchors=1024", true)->integer("anchors"), 1024);
    for (const char* wrong : {":rows=0", ":rows=1.5", ":rows=4097", ":rows=none", ":anchors=-1",
                              ":anchors=1025", ":anchors=all", ":layers=lower"})
      refusal((name + wrong).c_str());
  }
  EXPECT_EQ(parse_method("weave:layers=joint", true)->option("layers"), "joint");
  EXPECT_EQ(parse_method("relaxkv:layers=joint-late", true)->option("layers"), "joint-late");
  refusal("prophetkv:layers=joint");
  refusal("epic:rows=1");
}

TEST(MethodTest, UnknownOptions) {
  EXPECT_NE(refusal("block:context=union").find("its options: inplace"), std::string::npos);
  EXPECT_NE(refusal("reuse:inplace=1").find("its options: none"), std::string::npos);
  refusal("block:=1");
}

TEST(MethodTest, ValuesOutOfRange) {
  EXPECT_NE(refusal("block:inplace=2").find("inplace is '2', but takes 0|1"), std::string::npos);
  for (const char* text : {"block:inplace=", "block:inplace=true", "block:inplace=1=1"})
    refusal(text);
  EXPECT_NE(refusal("block:inplace=0|1"), "");
}

}  // namespace
}  // namespace looseleaf
