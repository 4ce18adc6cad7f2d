#pragma once

// The fields of a struct that is stored are listed once, in the function describe_fields(visit,
// of). It names each field to a visitor, in the order in which fields are written:
//
//   visit("os", of.os);                    the member `os` under the key "os"
//   visit.if_set("jobs", of.jobs, 1U);     the key is missing if the value is empty, or is 1
//   visit.as("cpus", get, set);            get() is what is written; set(value) takes what was read
//   visit.as_if_set("cpus", get, set);     the key is missing if get() is empty
//   visit.written("class", get);           get() is written for other readers; lauka reads nothing
//   visit.written_if_set("class", get);
//   visit.if_known(is_known, group);       group() names fields that are missing if !is_known
//
// Visitors write a struct, read it, or compare its fields with a description of the stored form.

#include <string_view>

namespace lauka {

/// A visitor that has no purpose but to ask if a struct is described.
struct AnyVisitor {};

/// True if describe_fields() is defined for `Struct`.
template <typename Struct>
concept HasFields = requires(AnyVisitor& visit, Struct& of) {
  describe_fields(visit, of);
};

/// The calls of a visitor that changes nothing, by its operator() and if_set(): it is shown what
/// would be written. `Visitor` is the class that is derived from this one.
template <typename Visitor>
class ShowingVisitor {
 public:
  template <typename Get, typename Set>
  void as(std::string_view key, const Get& get, const Set& /*set*/) {
    visitor()(key, get());
  }
  template <typename Get, typename Set>
  void as_if_set(std::string_view key, const Get& get, const Set& /*set*/) {
    visitor().if_set(key, get());
  }

  template <typename Get>
  void written(std::string_view key, const Get& get) {
    visitor()(key, get());
  }
  template <typename Get>
  void written_if_set(std::string_view key, const Get& get) {
    visitor().if_set(key, get());
  }

 private:
  Visitor& visitor() { return static_cast<Visitor&>(*this); }
};

/// Shows the fields of `value` to a visitor that changes nothing.
template <typename Visitor, typename Struct>
void show_fields(Visitor& visit, const Struct& value) {
  // describe_fields() takes a struct that can be changed, because other visitors read it.
  describe_fields(visit, const_cast<Struct&>(value));
}

}  // namespace lauka
