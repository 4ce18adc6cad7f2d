#include "on_model/on_model.h"

#include <string>

#include <doctest/doctest.h>

// Why a program is faster, from the counts of the model's processor to the line.

namespace lauka::darwin {

TEST_CASE("a program that does half the work on the model is faster by that, at the same clock") {
  const Mac mac;
  const std::string old = mac.folder.program("old", "run 8ms\nsleep 2ms");
  const std::string now = mac.folder.program("new", "run 4ms\nsleep 5ms");
  const Told told =
      mac.lauka({"-v", "-r12", "-w0", "--export-json", mac.folder.file("all.json"), old, now});
  CAPTURE(told.out);
  CHECK_MESSAGE(told.status == 0, told.err);
  CHECK(told.out.find("\nwhy: ") != std::string::npos);
  CHECK(told.out.find("x fewer instructions") != std::string::npos);
  CHECK(told.out.find("x less busy") != std::string::npos);
  CHECK(told.out.find("not counted") == std::string::npos);
  const auto json = nlohmann::json::parse(mac.text_of("all.json"));
  const auto& of_new = json.at("results").at(1).at("lauka");
  double product = 1.0;
  for (const auto& factor : of_new.at("why").at("factors"))
    product *= factor.at("of_wall_time").get<double>();
  const double percent = of_new.at("metrics").at("wall_time").at("delta").at("percent");
  CHECK(product == doctest::Approx(1.0 + percent / 100.0).epsilon(1e-9));
  CHECK(of_new.at("why").at("factors").at(0).at("part") == "instructions");
  CHECK(of_new.at("why").at("factors").at(0).at("ratio").get<double>() ==
        doctest::Approx(0.5).epsilon(0.05));
}

}  // namespace lauka::darwin
