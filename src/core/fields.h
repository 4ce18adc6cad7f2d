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

namespace lauka {

/// A visitor that has no purpose but to ask if a struct is described.
struct AnyVisitor {};

/// True if describe_fields() is defined for `Struct`.
template <typename Struct>
concept HasFields = requires(AnyVisitor& visit, Struct& of) {
  describe_fields(visit, of);
};

/// Shows the fields of `value` to a visitor that changes nothing.
template <typename Visitor, typename Struct>
void show_fields(Visitor& visit, const Struct& value) {
  // describe_fields() takes a struct that can be changed, because other visitors read it.
  describe_fields(visit, const_cast<Struct&>(value));
}

}  // namespace lauka
