#include "os/machine.h"

#include <doctest/doctest.h>

namespace lauka::os {

TEST_CASE("the processor's model is read from /proc/cpuinfo") {
  CHECK(parse_cpu_model("processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel\t\t: 49\n"
                        "model name\t: AMD EPYC 7502 \r\nmodel name\t: other\n") ==
        "AMD EPYC 7502");
}

TEST_CASE("an ARM processor without a model's name gets its maker and part") {
  CHECK(parse_cpu_model("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n") ==
        "implementer 0x41, part 0xd0c");
  CHECK(parse_cpu_model("").empty());
  CHECK(parse_cpu_model("no separator\n\n").empty());
}

TEST_CASE("the system's name is read from /etc/os-release") {
  CHECK(parse_os_name("ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n") ==
        "Debian GNU/Linux 12 (bookworm)");
  CHECK(parse_os_name("PRETTY_NAME=Void") == "Void");
  CHECK(parse_os_name("PRETTY_NAME=\"").size() == 1);
  CHECK(parse_os_name("ID=debian\n").empty());
}

TEST_CASE("this machine has a name for its system, its kernel and at least one processor") {
  const Machine machine = this_machine();
  CHECK_FALSE(machine.kernel_name.empty());
  CHECK_FALSE(machine.kernel_release.empty());
  CHECK_FALSE(machine.architecture.empty());
  CHECK(machine.cpu_count >= 1);
}

}  // namespace lauka::os
