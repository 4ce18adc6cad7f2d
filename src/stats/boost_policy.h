#pragma once

#include <boost/math/policies/policy.hpp>

namespace lauka::stats {

/// Boost.Math reports what it cannot do as NaN or infinity, never by an exception: callers here
/// keep their arguments in range, and a NaN would show in every golden case.
using BoostPolicy = boost::math::policies::policy<
    boost::math::policies::domain_error<boost::math::policies::ignore_error>,
    boost::math::policies::pole_error<boost::math::policies::ignore_error>,
    boost::math::policies::overflow_error<boost::math::policies::ignore_error>,
    boost::math::policies::evaluation_error<boost::math::policies::ignore_error>>;

}  // namespace lauka::stats
