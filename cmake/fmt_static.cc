// The part of fmt that is compiled once, as its shared library has it.
#include <fmt/format-inl.h>

// Templates that are defined in the header above and declared only in the others: gcc leaves them
// behind unasked.
FMT_BEGIN_NAMESPACE
namespace detail {
template thousands_sep_result<char> thousands_sep_impl<char>(locale_ref);
template char decimal_point_impl<char>(locale_ref);
#if FMT_VERSION >= 100000 && FMT_VERSION < 110000
template void vformat_to<char>(buffer<char>&, string_view, vformat_args<char>::type, locale_ref);
#endif
}  // namespace detail
FMT_END_NAMESPACE
